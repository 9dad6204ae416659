//===- Ranks.h - ranks of a test --------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     TestJob job(3);                               // three ranks, threads of this process
//     auto errors = job.run([&](ControlChannel &channel) { channel.agree({}); });
//     EXPECT_EQ(errors[1], "");
//
// A `Stranger` is a peer that speaks to the server by hand: a rank that does something wrong.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_CONTROL_RANKS_H
#define HEDDLE_TEST_UNIT_RUNTIME_CONTROL_RANKS_H

#include "test/unit/runtime/Programs.h"

#include "runtime/control/ControlServer.h"
#include "runtime/control/Job.h"

#include <poll.h>
#include <thread>
#include <unistd.h>

namespace heddle::test {

using namespace std::chrono_literals;

/// A server that a thread polls, as heddle-launch does.
class ServerThread {
public:
  explicit ServerThread(ServerOptions options)
      : server(std::move(options)), endpoint(server.endpoint()), thread([this] { run(); }) {}
  ~ServerThread() { stop(); }
  /// Ends it as if its process ended.
  void stop() {
    stopping = true;
    if (thread.joinable())
      thread.join();
  }
  /// After `stop`.
  ControlServer server;
  const Endpoint endpoint;

private:
  std::atomic<bool> stopping{false};
  std::thread thread;
  void run() {
    std::vector<pollfd> polled;
    while (!stopping) {
      polled.clear();
      server.addTo(polled);
      poll(polled.data(), nfds_t(polled.size()), 5);
      server.serve(polled);
    }
  }
};

class TestJob {
public:
  explicit TestJob(int ranks, std::chrono::milliseconds timeout = 20s) {
    static std::atomic<int> jobs{0};
    base.ranks = base.localRanks = ranks;
    base.timeout = timeout;
    base.threads = 2;
    base.control = "file:" + testing::TempDir() + "heddle-job-" + std::to_string(getpid()) + "-" +
                   std::to_string(++jobs);
  }
  /// Meets at an address instead of a file.
  void meetAt(const Endpoint &endpoint, bool launcherServes) {
    base.control = endpoint.str();
    base.key = {1, 2};
    base.launcherServes = launcherServes;
  }
  RankInfo info(int rank) const {
    RankInfo mine = base;
    mine.rank = mine.localRank = rank;
    return mine;
  }

  /// Runs `body` on the ranks from `first` to `last`, all by default, each on a thread; returns the
  /// message of each one's exception.
  template <typename Body>
  std::vector<std::string> run(Body &&body, int first = 0, int last = -1) {
    std::vector<std::string> errors(static_cast<size_t>(base.ranks));
    std::vector<std::thread> threads;
    for (int r = first; r <= (last < 0 ? base.ranks - 1 : last); ++r)
      threads.emplace_back([&, r] {
        errors[size_t(r)] = errorOf([&] {
          if constexpr (std::is_invocable_v<Body, Job &>) {
            auto job = Job::join(info(r));
            body(*job);
          } else {
            auto channel = ControlChannel::join(info(r));
            body(*channel);
          }
        });
      });
    for (std::thread &thread : threads)
      thread.join();
    return errors;
  }

  RankInfo base;
};

/// A connection to a server, by hand.
class Stranger {
public:
  explicit Stranger(const Endpoint &endpoint, JobKey key = {1, 2})
      : socket(connectTo(endpoint, ControlClock::now() + 10s, reason)), key(key),
        reader(key, mostValueBytes + 4096) {
    EXPECT_TRUE(socket) << reason;
  }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t sent = write(socket.get(), bytes.data(), bytes.size());
      if (sent < 0 && errno == EAGAIN)
        wait(POLLOUT);
      else if (sent <= 0)
        return; // it has closed the connection
      else
        bytes.remove_prefix(size_t(sent));
    }
  }
  void send(const Frame &frame) { send(packFrame(key, frame)); }
  /// The next frame; none after the end of the stream. At most `part` bytes at a time.
  std::optional<Frame> next(size_t part = 1 << 16) {
    std::string bytes(part, '\0');
    for (;;) {
      if (auto frame = reader.next())
        return frame;
      ssize_t got = read(socket.get(), bytes.data(), part);
      if (got < 0 && errno == EAGAIN)
        wait(POLLIN);
      else if (got <= 0)
        return std::nullopt;
      else
        reader.append({bytes.data(), size_t(got)});
    }
  }
  /// The next frame of this kind.
  std::optional<Frame> next(FrameKind kind, size_t part = 1 << 16) {
    for (;;)
      if (auto frame = next(part); !frame || frame->kind == kind)
        return frame;
  }
  /// Says which rank it is.
  void introduce(int rank, int ranks) {
    auto greeting = next(FrameKind::Greeting);
    ASSERT_TRUE(greeting);
    BodyWriter hello;
    hello.number(BodyReader(greeting->body).number()).number(uint64_t(ranks));
    packMember(hello, {rank, "stranger", 1});
    send({FrameKind::Hello, hello.take()});
  }
  /// Why it was refused; empty if it was not.
  std::string refusal() {
    auto frame = next(FrameKind::Refuse);
    return frame ? BodyReader(frame->body).text() : "";
  }
  void close() { socket = Socket(); }

private:
  std::string reason;
  Socket socket;
  JobKey key;
  FrameReader reader;
  void wait(short events) {
    pollfd one{socket.get(), events, 0};
    poll(&one, 1, 30000);
  }
};

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_CONTROL_RANKS_H
