//===- ChannelState.cpp - a rank's end of the control channel -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/ChannelState.h"

#include <sys/eventfd.h>
#include <system_error>

using namespace heddle;
using namespace std::chrono_literals;
using Clock = ControlClock;

ControlChannel::State::State(const RankInfo &info)
    : info(info), place(info), wakening(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      callerWakening(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wakening || !callerWakening)
    throw Error("can't make a control channel: no file descriptor is available");
  self = {info.rank, hostName(), getpid()};
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Makes the server of a job without a launcher.
void ControlChannel::State::serveJob() {
  ServerRendezvous::Address at = place.forServer();
  server = std::make_unique<ControlServer>(ServerOptions{
      .ranks = info.ranks, .key = at.key, .at = at.endpoint, .timeout = info.timeout});
  at.endpoint.port = server->endpoint().port;
  place.publish(at);
}

void ControlChannel::State::join() {
  auto deadline = Clock::now() + info.timeout;
  std::string reason;
  if (info.rank == 0 && !info.launcherServes)
    serveJob();
  try {
    thread = std::thread([this] { run(); });
  } catch (const std::system_error &error) {
    throw Error("can't make a control channel: can't start a thread: " + std::string(error.what()));
  }
  while (!tryToJoin(deadline, reason)) {
    if (Clock::now() >= deadline)
      throw Error("rank " + std::to_string(info.rank) + " can't join its job at '" +
                  place.describe() + "': " + reason);
    std::this_thread::sleep_for(20ms);
  }
  place.withdraw();
}

/// Returns false and sets `reason` if a later attempt may succeed. Throws Error if none can.
bool ControlChannel::State::tryToJoin(Clock::time_point deadline, std::string &reason) {
  auto address = place.find();
  reason = "rank 0 has not written it";
  if (!address)
    return false;
  Socket socket = connectTo(address->endpoint, deadline, reason);
  if (!socket)
    return false;
  Lock lock(mutex);
  refusal.clear();
  greeted = false;
  heard = Clock::now();
  connection = std::make_unique<Connection>(std::move(socket), address->key, mostValueBytes + 4096);
  wakeThread(); // it has to poll this socket as well
  auto settled = [&] { return ready || failed || !refusal.empty(); };
  if (!wait(lock, deadline, [&] { return settled() || greeted; }))
    refusal = "the process that listens there is not a control server: it sends no greeting";
  wait(lock, std::nullopt, settled); // the server reports which ranks are missing
  if (ready)
    return true;
  if (failed)
    throw JobError(*failed);
  connection.reset();
  if (place.mayBeOld() && !greeted) {
    reason = refusal;
    return false;
  }
  throw Error("rank " + std::to_string(info.rank) + " can't join its job: the control server at " +
              address->endpoint.str() + ": " + refusal);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void ControlChannel::State::requireUsable() const {
  if (failed)
    throw JobError(*failed);
  if (left)
    throw Error(self.describe() + " has left its job");
  if (over || !connection)
    throw Error("the job is over: the process that runs its control server has ended it");
}

std::string ControlChannel::State::request(FrameKind kind,
                                           const std::function<void(BodyWriter &)> &fill,
                                           std::optional<std::chrono::milliseconds> limit,
                                           const std::string &what) {
  Lock lock(mutex);
  requireUsable();
  Answer answer;
  uint64_t id = ++lastRequest;
  BodyWriter writer;
  writer.number(id);
  fill(writer);
  struct Entry { // removed before `answer` is destroyed
    std::map<uint64_t, Answer *> &waiting;
    uint64_t id;
    ~Entry() { waiting.erase(id); }
  } entry{waiting, id};
  waiting[id] = &answer;
  send({kind, writer.take()});
  auto settled = [&] { return answer.arrived || failed || over || left || !connection; };
  std::optional<Clock::time_point> deadline;
  if (limit)
    deadline = Clock::now() + *limit;
  wait(lock, deadline, settled);
  if (!answer.arrived) {
    requireUsable();
    throw Error(what + " within " + std::to_string(limit.value_or(0ms).count()) + " ms");
  }
  if (!answer.succeeded)
    throw Error(answer.text);
  return std::move(answer.text);
}

void ControlChannel::State::agree(const Agreement &values) {
  // `calls` is counted under the mutex, which `request` holds.
  request(FrameKind::Agree, [&](BodyWriter &body) { body.text(sayCall(++calls, values)); }, {}, "");
}

//===----------------------------------------------------------------------===//
// Failures and the end
//===----------------------------------------------------------------------===//

void ControlChannel::State::fail(Failure failure) {
  std::lock_guard lock(mutex);
  if (failed || left)
    return;
  failure.member = self;
  if (server) // at once: the process may end before its thread runs again
    server->fail(failure);
  else if (connection)
    send({FrameKind::Abort, failure.pack()});
  failed = std::move(failure);
  changed.notify_all();
  wake(callerWakening);
  wakeThread();
}

std::optional<Failure> ControlChannel::State::failure(Clock::duration most) {
  Lock lock(mutex);
  wait(lock, Clock::now() + most, [&] { return failed || left || !connection; });
  return failed;
}

int ControlChannel::State::onAbort(AbortCallback callback) {
  std::lock_guard running(callbackMutex);
  std::optional<Failure> happened;
  {
    std::lock_guard lock(mutex);
    if (announced)
      happened = failed;
  }
  if (happened)
    callback(*happened);
  callbacks[++lastCallback] = std::move(callback);
  return lastCallback;
}

void ControlChannel::State::removeAbortCallback(int number) {
  std::lock_guard running(callbackMutex);
  callbacks.erase(number);
}

void ControlChannel::State::leave() {
  Lock lock(mutex);
  if (std::exchange(left, true))
    return;
  auto deadline = Clock::now() + info.timeout;
  if (connection)
    send({FrameKind::Leave});
  if (server && !failed)
    wait(lock, deadline, [&] { return failed || server->isOver(); });
  if (server)
    server->end();
  wait(lock, deadline, [&] { return !connection || connection->queued() == 0; });
  changed.notify_all();
  lock.unlock();
  stop();
  connection.reset();
  server.reset();
}
