//===- ControlServer.h - joins the ranks of a job ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// heddle-launch runs the server of a control channel; without a launcher rank 0 runs it. It has no
// thread of its own; its owner polls its sockets:
//
//     ControlServer server({.ranks = 4, .key = key});
//     for (;;) {
//       std::vector<pollfd> polled;
//       server.addTo(polled);
//       poll(polled.data(), polled.size(), server.period());
//       server.serve(polled);
//     }
//
// A process joins by answering the server's greeting in a frame that is signed with the job's key.
// A process without the key, or whose rank is taken or out of range, is refused, and the job
// continues without it. An error of a rank that has joined ends the job: all ranks get the first
// failure.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_CONTROLSERVER_H
#define HEDDLE_RUNTIME_CONTROL_CONTROLSERVER_H

#include "runtime/control/Connection.h"
#include "runtime/control/FailureRecord.h"
#include "runtime/control/ValueStore.h"

#include <deque>
#include <map>
#include <memory>
#include <vector>

struct pollfd;

namespace heddle {

/// The most bytes of a value that ranks exchange.
inline constexpr size_t mostValueBytes = 64 << 20;

struct ServerOptions {
  int ranks = 1;
  JobKey key = {};
  Endpoint at = {"127.0.0.1", 0}; ///< port 0: any free one
  /// How long a rank may be silent, and how long the others wait for it.
  std::chrono::milliseconds timeout{60000};
  /// After a connection has closed, how long to wait for a call of `fail` that tells the cause
  /// before the loss itself becomes the failure.
  std::chrono::milliseconds lossGrace{0};
  bool byLauncher = false; ///< run by a process that is not a rank
  /// Limits: bytes queued for a rank that does not read, and bytes of stored values.
  size_t mostQueuedBytes = 4 * mostValueBytes, mostStoredBytes = 8 * mostValueBytes;
};

/// Not thread-safe.
class ControlServer {
public:
  /// Throws Error if it can't listen there.
  explicit ControlServer(ServerOptions options);
  ~ControlServer();

  const Endpoint &endpoint() const { return address; }
  /// Appends the sockets to poll.
  void addTo(std::vector<pollfd> &polled) const;
  /// Handles the events that `poll` reported, and timeouts.
  void serve(const std::vector<pollfd> &polled);
  /// The same for frames that have arrived already.
  void serveArrived();
  /// The number of connections so far. If it has grown, the owner has to call `addTo` again.
  uint64_t accepted() const { return connections; }
  /// True if sent bytes are queued because peers have not read them.
  bool hasQueued() const;
  /// The longest time between two calls of `serve`, in milliseconds.
  int period() const;

  /// Ends the job with this failure, and sends it to all ranks; only the first call has an effect.
  /// Fields of the failure's member that are empty are filled in.
  void fail(Failure failure);
  const std::optional<Failure> &failure() const { return failed; }
  /// True if other ranks wait for this one to join.
  bool isAwaited(int rank) const {
    return joined > 0 && !failed && seats[size_t(rank)].presence == Presence::Absent;
  }
  /// True if every rank has joined, and then has left or its process has ended.
  bool isOver() const;
  /// Tells the ranks that the job is over, so that a closed connection is not a failure.
  void end();
  /// Why the last few refused processes were refused.
  const std::deque<std::string> &refusals() const { return refused; }

private:
  using Time = ControlClock::time_point;
  struct Peer {
    Connection connection;
    std::string name; ///< its address
    Time since;
    uint64_t nonce;
    int rank = -1;       ///< -1: not joined yet
    bool closed = false; ///< to be removed
  };
  enum class Presence : uint8_t { Absent, Here, Lost, Left };
  struct Seat {
    Member member;
    Presence presence = Presence::Absent;
    Peer *peer = nullptr;
    Time heard = {}; ///< last frame, or when it was lost
  };
  struct Arrival {
    uint64_t id = 0;
    std::string said;
    bool here = false;
  };

  ServerOptions settings;
  Endpoint address;
  Socket listening;
  std::map<int, std::unique_ptr<Peer>> peers; ///< by descriptor
  std::vector<Seat> seats;                    ///< by rank
  int joined = 0, unauthenticated = 0;
  uint64_t connections = 0;
  Time firstJoined = {}, lastServed = {}, pausedUntil = {};
  ValueStore store;
  std::vector<Arrival> arrivals; ///< by rank, at the current call
  int arrived = 0;
  Time firstArrived = {};
  std::optional<Failure> failed;
  std::deque<std::string> refused;

  void acceptAll();
  void serve(Peer &peer);
  void handle(Peer &peer, const Frame &frame);
  void admit(Peer &peer, const Frame &frame);
  void refuse(Peer &peer, const std::string &reason);
  void agree(Peer &peer, BodyReader &body);
  void requireEveryone();
  void lose(Peer &peer);
  void reply(int rank, uint64_t id, bool succeeded, std::string_view text);
  void sendAll(const Frame &frame);
  void failFor(int rank, Failure::Kind kind, std::string reason);
  void checkTimes(Time now);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_CONTROLSERVER_H
