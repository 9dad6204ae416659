//===- ControlServer.h - joins the ranks of a job ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The server of a control channel is run by heddle-launch, or by rank 0 where there is no launcher.
// It has no thread of its own; whoever owns it polls its sockets:
//
//     ControlServer server({.ranks = 4, .key = key});
//     for (;;) {
//       std::vector<pollfd> polled;
//       server.addTo(polled);
//       poll(polled.data(), polled.size(), server.period());
//       server.serve(polled);
//     }
//
// A process joins by answering the server's greeting in a frame with the key of the job. One that
// lacks the key, or whose rank is taken or too great, is refused, and the job goes on without it.
// An error of a rank that has joined ends the job: all ranks get the first failure.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_CONTROLSERVER_H
#define HEDDLE_RUNTIME_CONTROL_CONTROLSERVER_H

#include "runtime/control/Connection.h"
#include "runtime/control/Failure.h"

#include <deque>
#include <functional>
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
  /// How long a rank may be silent, or be waited for.
  std::chrono::milliseconds timeout{60000};
  /// How long the failure of a rank whose connection has ended waits for a call of `fail` that
  /// knows more.
  std::chrono::milliseconds lossGrace{0};
  bool byLauncher = false; ///< run by a process that is no rank
  /// Limits of the bytes that a rank has not read yet, and of those that ranks store.
  size_t mostQueuedBytes = 4 * mostValueBytes, mostStoredBytes = 8 * mostValueBytes;
};

/// One thread at a time may use it.
class ControlServer {
public:
  /// Throws Error if it can't listen there.
  explicit ControlServer(ServerOptions options);
  ~ControlServer();

  const Endpoint &endpoint() const { return address; }
  /// Adds what it waits for.
  void addTo(std::vector<pollfd> &polled) const;
  /// Handles what `poll` has found, and whatever is due.
  void serve(const std::vector<pollfd> &polled);
  /// The same for what has arrived already.
  void serveArrived();
  /// Grows with each connection, which whoever polls does not know yet.
  uint64_t accepted() const { return connections; }
  /// True if it waits for peers to take what it has sent.
  bool hasQueued() const;
  /// The longest time between two calls of `serve`, in milliseconds.
  int period() const;

  /// Ends the job with a failure, of which all ranks hear; nothing after the first. What the failure
  /// does not say of its member is added.
  void fail(Failure failure);
  const std::optional<Failure> &failure() const { return failed; }
  /// True if ranks wait for this one, which has not joined.
  bool isAwaited(int rank) const {
    return joined > 0 && !failed && seats[size_t(rank)].presence == Presence::Absent;
  }
  /// True if every rank has joined and left again, or its process has ended.
  bool isOver() const;
  /// Tells the ranks that the job is over, so that they do not take it for a failure.
  void end();
  /// Why processes were refused, the last few.
  const std::deque<std::string> &refusals() const { return refused; }

private:
  using Time = ControlClock::time_point;
  struct Peer;
  enum class Presence : uint8_t { Absent, Here, Lost, Left };
  struct Seat {
    Member member;
    Presence presence = Presence::Absent;
    Peer *peer = nullptr;
    Time heard = {}; ///< or when it was lost
  };
  struct Value {
    std::string text;
    uint64_t readers; ///< that are to come, after which it goes; 0: it stays
  };
  struct Arrival {
    uint64_t id = 0;
    std::string said;
    bool here = false;
  };

  ServerOptions settings;
  Endpoint address;
  Socket listening;
  std::map<int, std::unique_ptr<Peer>> peers; ///< by the descriptor
  std::vector<Seat> seats;                    ///< of each rank
  int joined = 0, strangers = 0;
  uint64_t connections = 0;
  Time firstJoined = {}, lastServed = {}, pausedUntil = {};
  std::map<std::string, Value> store;
  size_t storedBytes = 0; ///< of the keys and values in it
  std::map<std::string, std::vector<std::pair<int, uint64_t>>> waiting; ///< ranks that asked
  std::vector<Arrival> arrivals; ///< of each rank, at the call that ranks are coming to
  int arrived = 0;
  Time firstArrived = {};
  std::optional<Failure> failed;
  std::deque<std::string> refused;

  void acceptAll();
  void serve(Peer &peer);
  void handle(Peer &peer, const Frame &frame);
  void admit(Peer &peer, const Frame &frame);
  void refuse(Peer &peer, const std::string &reason);
  void put(Peer &peer, BodyReader &body);
  void get(Peer &peer, BodyReader &body);
  void answer(int rank, uint64_t id, const std::string &key);
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
