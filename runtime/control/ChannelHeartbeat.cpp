//===- ChannelHeartbeat.cpp - heartbeats and failures of a channel --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/ChannelState.h"

#include <poll.h>

using namespace heddle;
using namespace std::chrono_literals;

void ControlChannel::State::run() {
  Lock lock(mutex);
  while (!stopping || (failed && !announced)) {
    if (failed && !announced) {
      lock.unlock();
      announce();
      lock.lock();
    } else if (callerPolls || std::exchange(callerPolled, false))
      idle.wait_for(lock, callerPolls ? 50ms : 10ms);
    else
      turn(lock, wakening, 1h);
  }
}

/// Polls the sockets once, for at most `most`, and handles what has arrived.
void ControlChannel::State::turn(Lock &lock, const Socket &wakening, Clock::duration most) {
  std::vector<pollfd> polled(1, {wakening.get(), POLLIN, 0});
  if (connection)
    polled.push_back({connection->descriptor(), connection->events(), 0});
  if (server)
    server->addTo(polled);
  if (server && &wakening == &this->wakening)
    polledConnections = server->accepted();
  lock.unlock();
  auto period = std::min(most, std::clamp<Clock::duration>(info.timeout / 4, 10ms, 500ms));
  poll(polled.data(), nfds_t(polled.size()),
       int(std::chrono::ceil<std::chrono::milliseconds>(period).count()));
  uint64_t count;
  if (polled[0].revents)
    (void)!read(wakening.get(), &count, sizeof count);
  lock.lock();
  try {
    if (connection)
      serve();
    if (server)
      server->serve(polled);
    beat();
  } catch (const std::exception &error) { // for example, out of memory
    if (!failed)
      failed = Failure{Failure::Kind::Reported, self, error.what()};
  }
  changed.notify_all();
  if (callerPolls && &wakening == &this->wakening) // it may have begun to poll before this happened
    wake(callerWakening);
}

void ControlChannel::State::serve() {
  connection->flush();
  bool open = connection->receive();
  try {
    while (auto frame = connection->next()) {
      heard = Clock::now();
      handle(*frame);
    }
  } catch (const Error &error) {
    if (!ready && refusal.empty())
      refusal = error.what();
    loseServer(Failure::Kind::Damaged, std::string("sent a bad frame: ") + error.what());
    return;
  }
  if (!open)
    loseServer(Failure::Kind::Lost, "ended without leaving the job");
}

void ControlChannel::State::loseServer(Failure::Kind kind, const std::string &reason) {
  connection.reset();
  if (!ready && refusal.empty())
    refusal = "it closed the connection";
  if (!ready || left || over || failed)
    return;
  failed = Failure{kind, launcherServes ? Member{} : members[0], reason};
}

void ControlChannel::State::handle(const Frame &frame) {
  BodyReader body(frame.body);
  switch (frame.kind) {
  case FrameKind::Greeting: {
    greeted = true;
    BodyWriter hello;
    hello.number(body.number()).number(uint64_t(info.ranks));
    packMember(hello, self);
    return send({FrameKind::Hello, hello.take()});
  }
  case FrameKind::Ready:
    launcherServes = body.number() != 0;
    members.clear();
    for (int count = body.smallNumber(info.ranks); count > 0; --count)
      members.push_back(unpackMember(body));
    ready = members.size() == size_t(info.ranks);
    return;
  case FrameKind::Refuse:
    refusal = body.text();
    return;
  case FrameKind::Reply: {
    auto asked = waiting.find(body.number());
    if (asked == waiting.end()) // the caller stopped waiting
      return;
    bool succeeded = body.number() != 0;
    *asked->second = {true, succeeded, body.text()};
    return;
  }
  case FrameKind::Abort:
    if (Failure first = Failure::unpack(frame.body); !failed)
      failed = std::move(first);
    return;
  case FrameKind::Bye:
    over = true;
    return;
  default: // a heartbeat
    return;
  }
}

/// Sends a heartbeat if it is time, and notices a server that is silent.
void ControlChannel::State::beat() {
  auto now = Clock::now();
  if (now - std::exchange(looked, now) > info.timeout / 2 + 500ms)
    heard = now; // this process was stopped
  if (!connection || !greeted)
    return;
  if (now - sent >= info.timeout / 5)
    send({FrameKind::Heartbeat});
  if (now - heard > info.timeout)
    loseServer(Failure::Kind::Silent, "is dead or hung: its server does not answer");
}

void ControlChannel::State::announce() {
  std::lock_guard running(callbackMutex);
  Failure failure;
  {
    std::lock_guard lock(mutex);
    announced = true;
    failure = *failed;
  }
  for (const auto &[number, callback] : callbacks)
    callback(failure);
}

void ControlChannel::State::stop() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  wakeThread();
  thread.join();
}
