//===- ControlChannel.cpp - what the ranks of a job tell each other -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/ControlChannel.h"

#include "runtime/control/ControlServer.h"
#include "runtime/control/MeetingPlace.h"
#include "runtime/device/Fork.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace heddle;
using namespace std::chrono_literals;
using Clock = ControlClock;

/// `mutex` guards all that changes, the server included; it is not held while `poll` waits or
/// while a callback runs.
///
/// A caller that waits for an answer polls the sockets itself, because each thread that a message
/// wakes on its way costs as much as the way itself. The channel's thread keeps out of that, and
/// polls again when no caller has done so for some milliseconds.
class ControlChannel::State {
public:
  explicit State(const RankInfo &info)
      : info(info), place(info), wakening(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        callerWakening(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wakening || !callerWakening)
      throw Error("can't make a control channel: no file descriptor can be had");
    self = {info.rank, hostName(), getpid()};
  }
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
  MeetingPlace place;
  Member self;
  Socket wakening, callerWakening; ///< these end a wait of the thread, and of the caller that polls
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed, idle; ///< what callers, and the thread, wait for without polling
  bool callerPolls = false, callerPolled = false; ///< now; since the thread last looked
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

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

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

/// Waits until something happens, for some time at most, and handles it.
void ControlChannel::State::turn(Lock &lock, const Socket &wakening, Clock::duration most) {
  std::vector<pollfd> polled(1, {wakening.get(), POLLIN, 0});
  if (connection)
    polled.push_back({connection->descriptor(), connection->events(), 0});
  if (server)
    server->addTo(polled);
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
  } catch (const std::exception &error) { // memory is exhausted, say
    if (!failed)
      failed = Failure{Failure::Kind::Reported, self, error.what()};
  }
  changed.notify_all();
  if (callerPolls) // which may have begun to wait before this happened
    wake(callerWakening);
}

/// Waits until `settled()`, false after the deadline. One caller polls meanwhile.
template <typename Settled>
bool ControlChannel::State::wait(Lock &lock, std::optional<Clock::time_point> deadline,
                                 Settled settled) {
  while (!settled()) {
    auto left = deadline ? *deadline - Clock::now() : Clock::duration(1h);
    if (left <= 0s)
      return false;
    if (callerPolls) {
      changed.wait_for(lock, left);
      continue;
    }
    callerPolls = callerPolled = true;
    turn(lock, callerWakening, left);
    callerPolls = false;
    changed.notify_all(); // the next caller polls
  }
  if (failed && !announced)
    wakeThread();
  return true;
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
    if (asked == waiting.end()) // its caller has given up
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

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Makes the server of a job without a launcher.
void ControlChannel::State::serveJob() {
  MeetingPlace::Address at = place.forServer();
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
  thread = std::thread([this] { run(); });
  while (!tryToJoin(deadline, reason)) {
    if (Clock::now() >= deadline)
      throw Error("rank " + std::to_string(info.rank) + " can't join its job at '" +
                  place.describe() + "': " + reason);
    std::this_thread::sleep_for(20ms);
  }
  place.withdraw();
}

/// False, and why, if it may be too early. Throws Error where trying again does not help.
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
  auto settled = [&] { return ready || failed || !refusal.empty(); };
  if (!wait(lock, deadline, [&] { return settled() || greeted; }))
    refusal = "what listens there is no control server: it says nothing";
  wait(lock, std::nullopt, settled); // the server says which ranks do not come
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
  waiting[id] = &answer;
  send({kind, writer.take()});
  auto settled = [&] { return answer.arrived || failed || over || left || !connection; };
  std::optional<Clock::time_point> deadline;
  if (limit)
    deadline = Clock::now() + *limit;
  wait(lock, deadline, settled);
  waiting.erase(id);
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

//===----------------------------------------------------------------------===//
// ControlChannel
//===----------------------------------------------------------------------===//

ControlChannel::ControlChannel(std::unique_ptr<State> state) : state(std::move(state)) {}

ControlChannel::~ControlChannel() {
  if (!state->isHere()) { // its thread is in the parent, and perhaps held the mutex
    (void)state.release();
    return;
  }
  if (std::uncaught_exceptions() > 0)
    state->fail({.reason = "it was ended by an exception"});
  state->leave();
}

std::shared_ptr<ControlChannel> ControlChannel::join(const RankInfo &info) {
  auto state = std::make_unique<State>(info);
  state->join();
  return std::shared_ptr<ControlChannel>(new ControlChannel(std::move(state)));
}

static void requireHere(bool isHere) {
  if (!isHere)
    throw Error("a child of fork has no part in the job of its parent");
}

int ControlChannel::rank() const { return state->info.rank; }
const std::vector<Member> &ControlChannel::members() const { return state->members; }

void ControlChannel::put(const std::string &key, std::string_view value) {
  requireHere(state->isHere());
  if (value.size() > mostValueBytes)
    throw Error("the value '" + key + "' has " + std::to_string(value.size()) +
                " bytes, expected at most " + std::to_string(mostValueBytes));
  state->request(FrameKind::Put, [&](BodyWriter &body) { body.text(key).text(value); }, {}, "");
}

std::string ControlChannel::get(const std::string &key,
                                std::optional<std::chrono::milliseconds> timeout) {
  requireHere(state->isHere());
  return state->request(
      FrameKind::Get, [&](BodyWriter &body) { body.text(key); },
      timeout.value_or(state->info.timeout), "no rank has put the value '" + key + "'");
}

void ControlChannel::agree(const Agreement &values) {
  requireHere(state->isHere());
  state->agree(values);
}

void ControlChannel::fail(const std::string &reason, const std::string &entry,
                          const std::string &step, const std::string &location) {
  requireHere(state->isHere());
  state->fail({Failure::Kind::Reported, {}, reason, entry, step, location});
}

std::optional<Failure> ControlChannel::failure(std::chrono::milliseconds wait) const {
  requireHere(state->isHere());
  return state->failure(wait);
}

int ControlChannel::onAbort(AbortCallback callback) {
  requireHere(state->isHere());
  return state->onAbort(std::move(callback));
}

void ControlChannel::removeAbortCallback(int number) {
  if (state->isHere())
    state->removeAbortCallback(number);
}

void ControlChannel::leave() {
  requireHere(state->isHere());
  state->leave();
}
