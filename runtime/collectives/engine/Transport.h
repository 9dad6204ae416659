//===- Transport.h - messages between two ranks -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives of this folder consist of messages between two ranks. An engine that uses them
// provides a Transport, which has:
//
//     channels     one per group: messages from one member to another arrive in order
//     reports      whether another rank has reported a failure, or is gone
//     sleep        a thread sleeps until something may have arrived
//
// Only `sleep` blocks. The context calls all functions with its lock held, except `ticket`,
// `cancel`, `sleep` and `wake`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_ENGINE_TRANSPORT_H
#define HEDDLE_RUNTIME_COLLECTIVES_ENGINE_TRANSPORT_H

#include "runtime/collectives/Collectives.h"
#include "runtime/collectives/engine/World.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::collectives {

/// All-reduces and broadcasts of at least this size are split: each member combines one block, and
/// then sends it to the others. An all-reduce below it may overwrite its input once that was sent.
constexpr int64_t splitBytes = 32 << 10;

/// Describes a member's call. It is sent with the data; each receiver compares it with its own
/// call.
struct Signature {
  int64_t number;   ///< of the operation in its group
  int64_t elements; ///< of this message in point-to-point operations, else of the operation
  uint32_t counts;  ///< a hash of the counts of all members
  int32_t root;     ///< of a broadcast
  uint8_t kind, element, combiner, reserved = 0;
  int32_t spare = 0;

  bool operator==(const Signature &) const = default;
};
static_assert(sizeof(Signature) == 32);

/// Data sent from one member to another, or only a signature.
struct Message {
  HeddlePending *operation;
  int32_t member; ///< the peer
  char *data;     ///< null if it is received in pieces (`Channel::peek`)
  int64_t bytes;
  Signature signature; ///< that is sent, or expected
  bool isSigned;       ///< the first message between two members in an operation
  int64_t pieceBytes;  ///< size in which it is received; 0: as a whole
  bool begun = false;  ///< the signature was sent or received; always set for unsigned messages
  int64_t done = 0;    ///< bytes received, or that the sender may overwrite

  bool finished() const { return begun && done == bytes; }
  /// Compares the signature that arrived; throws Failure if it differs. Sets `begun`.
  void hear(const Signature &arrived);
};

/// Carries messages between the members of a group. In each direction between two members at most
/// one message is in flight: the next begins when the last is `finished`.
class Channel {
public:
  virtual ~Channel() = default;
  /// Sends as much of a message as possible without blocking.
  virtual void send(Message &message) = 0;
  virtual void receive(Message &message) = 0;
  /// The next `bytes` of a message that is received in pieces (at most one piece), or null if they
  /// have not arrived. Valid until `drop`, which removes them.
  virtual const char *peek(Message &message, int64_t bytes) = 0;
  virtual void drop(Message &message, int64_t bytes) = 0;
};

class Transport {
public:
  virtual ~Transport() = default;

  int32_t rank = 0, size = 1;
  bool crowded = false; ///< there are more ranks than cores, so they should not spin

  /// The size of the pieces in which a message of this size is received for combining: a multiple
  /// of 8, equal on all ranks.
  virtual int64_t pieceBytes(int64_t message) const = 0;

  /// A unique number for a new group of `members`. Only the group's first member calls it, and
  /// tells the others. Channels of group 0 always exist for all ranks.
  virtual int64_t newGroup(int32_t members) = 0;
  /// Opens a channel of a group; `kind`: 0 for collectives, 1 for messages between two members.
  virtual std::unique_ptr<Channel> channel(int64_t group, const std::vector<int32_t> &ranks,
                                           int32_t self, int kind) = 0;

  /// No data moves until then; for emulated faults.
  Clock::time_point pausedUntil{};

  /// Called when an operation starts.
  virtual void starting(const HeddlePending & /*operation*/) {}
  /// Reports to all ranks that this one has failed. Called at most once.
  virtual void report(const Failure &failure) = 0;
  /// The failure that another rank has reported, if any.
  virtual std::optional<Failure> reported() = 0;
  /// The reason why no more data can come from a rank ("its process 17 is gone"); none if more can.
  /// May be slow.
  virtual std::optional<std::string> gone(int32_t rank) = 0;

  /// A thread takes a ticket, checks once more whether it has to wait, and then sleeps until
  /// something arrives that is newer than the ticket, or until the time limit.
  virtual uint32_t ticket() = 0;
  virtual void cancel() = 0;
  virtual void sleep(uint32_t ticket, std::chrono::nanoseconds limit) = 0;
  /// Wakes this rank's threads.
  virtual void wake() = 0;
};

/// The name of the engine. Each engine defines this and the next function.
extern const char engineName[];
/// Connects this rank to the others. Throws Failure.
std::unique_ptr<Transport> openTransport(World &world);

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_ENGINE_TRANSPORT_H
