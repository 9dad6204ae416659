//===- Transport.h - messages between two ranks -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives of this folder are made of messages between two ranks. An engine that uses them
// provides a Transport, which has:
//
//     channels     of each group: messages from one member to another arrive in their order
//     news         whether another rank reported a failure, or is gone
//     a bed        in which a thread sleeps until something may have arrived
//
// No function waits, except `sleep`. The context calls all of them with its lock held, except
// `ticket`, `cancel`, `sleep` and `wake`.
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

/// All-reduces and broadcasts of at least so many bytes are split: each member combines a block, and
/// then sends it to the others. The input of a shorter all-reduce may be overwritten once it was sent.
constexpr int64_t splitBytes = 32 << 10;

/// Describes the call of a member. It is sent with the data, and each receiver compares it with its
/// own call.
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

/// Data that travels from a member to another, or nothing but a signature.
struct Message {
  HeddlePending *operation;
  int32_t member; ///< the other one
  char *data;     ///< null if it is received in pieces (`Channel::peek`)
  int64_t bytes;
  Signature signature; ///< that is sent, or expected
  bool isSigned;       ///< The first between two members in an operation is.
  int64_t pieceBytes;  ///< The receiver takes it in such pieces; 0: as a whole.
  bool begun = false;  ///< the signature was sent or received; always set for unsigned messages
  int64_t done = 0;    ///< bytes that were received, or may be overwritten by the sender

  bool finished() const { return begun && done == bytes; }
  /// Compares with the signature that arrived, and throws Failure if it is another. Sets `begun`.
  void hear(const Signature &arrived);
};

/// Carries messages of a group, from each member to each. At most one message to each member and one
/// from it are under way at a time: the next begins when `finished`.
class Channel {
public:
  virtual ~Channel() = default;
  /// Moves a message on as far as possible without waiting.
  virtual void send(Message &message) = 0;
  virtual void receive(Message &message) = 0;
  /// The next `bytes` of a message that is received in pieces (at most one of them), or null if they
  /// have not arrived. Valid until `drop`, which takes them off.
  virtual const char *peek(Message &message, int64_t bytes) = 0;
  virtual void drop(Message &message, int64_t bytes) = 0;
};

class Transport {
public:
  virtual ~Transport() = default;

  int32_t rank = 0, size = 1;
  bool crowded = false; ///< there are more ranks than cores, so they should not spin

  /// The size of the pieces in which a message of so many bytes is received to be combined, a
  /// multiple of 8. Equal on all ranks.
  virtual int64_t pieceBytes(int64_t message) const = 0;

  /// A number for a new group of so many members, which no other group gets. Only the group's first
  /// member calls it and tells the others. Channels of the group 0 always exist for all ranks.
  virtual int64_t newGroup(int32_t members) = 0;
  /// A channel of a group; `kind`: 0 for collectives, 1 for messages between two members.
  virtual std::unique_ptr<Channel> channel(int64_t group, const std::vector<int32_t> &ranks,
                                           int32_t self, int kind) = 0;

  /// No data moves until then. For faults.
  Clock::time_point pausedUntil{};

  /// An operation starts.
  virtual void starting(const HeddlePending & /*operation*/) {}
  /// Tells all ranks that this one has failed. Called at most once.
  virtual void report(const Failure &failure) = 0;
  /// The failure that another rank reported, with the rank.
  virtual std::optional<Failure> reported() = 0;
  /// The reason why no more data can come from a rank ("its process 17 is gone"); none if it still
  /// can. May be slow.
  virtual std::optional<std::string> gone(int32_t rank) = 0;

  /// A thread takes a ticket, looks once more whether it has to wait, and then sleeps until
  /// something arrives that came after the ticket, or the time is over.
  virtual uint32_t ticket() = 0;
  virtual void cancel() = 0;
  virtual void sleep(uint32_t ticket, std::chrono::nanoseconds limit) = 0;
  /// Ends the sleep of this rank's threads.
  virtual void wake() = 0;
};

/// The name of the engine. Each engine defines both of these.
extern const char engineName[];
/// Connects this rank with the others. Throws Failure.
std::unique_ptr<Transport> openTransport(World &world);

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_ENGINE_TRANSPORT_H
