//===- ChannelState.h - a rank's end of the control channel -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a ControlChannel. `mutex` guards everything that changes, including the server. It
// is not held while `poll` waits or while a callback runs.
//
// A caller that waits for an answer polls the sockets itself, because waking a thread costs as much
// as sending a message. Meanwhile the channel's thread does not poll; it resumes when no caller has
// polled for some milliseconds.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_CHANNELSTATE_H
#define HEDDLE_RUNTIME_CONTROL_CHANNELSTATE_H

#include "runtime/base/Fork.h"
#include "runtime/control/ControlChannel.h"
#include "runtime/control/ControlServer.h"
#include "runtime/control/ServerRendezvous.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace heddle {

class ControlChannel::State {
public:
  using Clock = ControlClock;

  explicit State(const RankInfo &info);
  ~State() { stop(); }

  const RankInfo info;
  std::vector<Member> members; ///< does not change once the channel has joined

  void join();
  std::string request(FrameKind kind, const std::function<void(BodyWriter &)> &fill,
                      std::optional<std::chrono::milliseconds> limit, const std::string &what);
  void agree(const Agreement &values);
  void fail(Failure failure);
  std::optional<Failure> failure(Clock::duration most);
  int onAbort(AbortCallback callback);
  void removeAbortCallback(int number);
  void leave();
  bool isHere() const { return age == processAge(); }

private:
  struct Answer {
    bool arrived = false, succeeded = false;
    std::string text = {};
  };

  const uint32_t age = processAge();
  ServerRendezvous place;
  Member self;
  Socket wakening, callerWakening; ///< wake the thread, and the caller that polls
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed, idle; ///< callers and the thread wait here if they do not poll
  bool callerPolls = false, callerPolled = false; ///< now; since the thread's last check
  uint64_t polledConnections = 0; ///< `server->accepted()` when the thread last polled
  std::unique_ptr<ControlServer> server;
  std::unique_ptr<Connection> connection;
  bool greeted = false, ready = false, left = false, over = false, stopping = false;
  bool launcherServes = false;
  std::string refusal; ///< why this process can't join
  std::optional<Failure> failed;
  uint64_t lastRequest = 0, calls = 0;
  std::map<uint64_t, Answer *> waiting;
  Clock::time_point heard = {}, sent = {}, looked = Clock::now();

  std::mutex callbackMutex; ///< held while callbacks run; taken before `mutex`
  std::map<int, AbortCallback> callbacks;
  int lastCallback = 0;
  bool announced = false;

  static void wake(const Socket &wakening) {
    uint64_t one = 1;
    (void)!write(wakening.get(), &one, sizeof one);
  }
  void wakeThread() {
    wake(wakening);
    idle.notify_all();
  }
  /// Called after a caller has polled: the thread may lack a socket to poll, or have to run
  /// callbacks.
  void wakeIfNeeded() {
    if ((failed && !announced) || (connection && connection->queued()) ||
        (server && (server->accepted() != polledConnections || server->hasQueued())))
      wakeThread();
  }
  void send(const Frame &frame) {
    connection->send(frame);
    sent = Clock::now();
    if (connection->queued())
      wakeThread();
  }
  using Lock = std::unique_lock<std::mutex>;
  void run();
  void turn(Lock &lock, const Socket &wakening, Clock::duration most);
  template <typename Settled>
  bool wait(Lock &lock, std::optional<Clock::time_point> deadline, Settled settled);
  void serve();
  void handle(const Frame &frame);
  void loseServer(Failure::Kind kind, const std::string &reason);
  void beat();
  void announce();
  void serveJob();
  bool tryToJoin(Clock::time_point deadline, std::string &reason);
  void requireUsable() const;
  void stop();
};

/// Waits until `settled()`, false after the deadline. One caller polls meanwhile.
template <typename Settled>
bool ControlChannel::State::wait(Lock &lock, std::optional<Clock::time_point> deadline,
                                 Settled settled) {
  while (!settled()) {
    auto left = deadline ? *deadline - Clock::now() : Clock::duration(std::chrono::hours(1));
    if (left <= Clock::duration::zero()) {
      wakeIfNeeded();
      return false;
    }
    if (callerPolls) {
      changed.wait_for(lock, left);
      continue;
    }
    callerPolls = callerPolled = true;
    turn(lock, callerWakening, left);
    callerPolls = false;
    changed.notify_all(); // the next caller polls
  }
  wakeIfNeeded();
  return true;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_CHANNELSTATE_H
