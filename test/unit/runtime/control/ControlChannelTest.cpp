//===- ControlChannelTest.cpp - what ranks tell each other ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/control/Ranks.h"

#include "heddle/Error.h"
#include "runtime/control/ServerRendezvous.h"
#include "test/unit/runtime/InChild.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>

using namespace heddle;
using namespace heddle::test;

static const Agreement train = {{"entry", "'train'"}, {"size N", "64"}};

TEST(ControlChannel, RanksMeetAndExchangeValues) {
  for (int ranks : {1, 2, 3, 4}) {
    TestJob job(ranks);
    auto errors = job.run([&](ControlChannel &channel) {
      EXPECT_EQ(channel.size(), ranks);
      EXPECT_EQ(channel.members()[size_t(channel.rank())].pid, getpid());
      EXPECT_EQ(channel.members()[0].host, hostName());
      std::string mine(size_t(1) << (5 * channel.rank()), char('a' + channel.rank()));
      channel.put("value/" + std::to_string(channel.rank()), mine);
      for (int r = 0; r < ranks; ++r)
        EXPECT_EQ(channel.get("value/" + std::to_string(r)),
                  std::string(size_t(1) << (5 * r), char('a' + r)));
      for (int call = 0; call < 50; ++call)
        channel.agree(train);
      EXPECT_FALSE(channel.failure());
    });
    EXPECT_EQ(errors, std::vector<std::string>(size_t(ranks)));
    EXPECT_FALSE(std::filesystem::exists(job.base.control.substr(5)));
  }
}

TEST(ControlChannel, ValuesAreLargeAndWrittenOnce) {
  TestJob job(2);
  std::string large(20 << 20, 'x');
  auto errors = job.run([&](ControlChannel &channel) {
    if (channel.rank() == 0) {
      channel.put("empty", "");
      channel.put("large", large);
      channel.put("large", large); // the same again
      EXPECT_EQ(errorOf([&] { channel.put("large", "other"); }),
                "the value 'large' exists already, and differs");
      expectIn("has 67108865 bytes, expected at most 67108864",
               errorOf([&] { channel.put("huge", std::string((64 << 20) + 1, 'x')); }));
      channel.put("done", "");
    }
    EXPECT_TRUE(channel.get("large") == large);
    EXPECT_EQ(channel.get("empty"), "");
    EXPECT_EQ(errorOf([&] { channel.get("nothing", 10ms); }),
              "no rank has put the value 'nothing' within 10 ms");
    channel.get("done");
    channel.agree(train); // it goes on
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(ControlChannel, ThreadsOfARankAskAtOnce) {
  TestJob job(2);
  auto errors = job.run([&](ControlChannel &channel) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          std::string name = std::to_string(t) + "/" + std::to_string(i) + "/";
          channel.put(name + std::to_string(channel.rank()), name);
          EXPECT_EQ(channel.get(name + std::to_string(1 - channel.rank())), name);
        }
      });
    for (int call = 0; call < 50; ++call)
      channel.agree(train);
    for (std::thread &thread : threads)
      thread.join();
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(ControlChannel, DisagreementsNameTheValueOnEveryRank) {
  struct Case {
    Agreement other;
    const char *message;
  };
  for (const Case &each : {Case{{{"entry", "'eval'"}, {"size N", "64"}},
                                ") has the entry 'eval' at call 2 (entry 'eval'), but rank 0 ("},
                           Case{{{"entry", "'train'"}, {"size N", "63"}},
                                ") has the size N 63 at call 2 (entry 'train'), but rank 0 ("}})
    for (int ranks : {2, 4}) {
      TestJob job(ranks);
      auto errors = job.run([&](ControlChannel &channel) {
        channel.agree(train);
        if (channel.rank() == ranks - 1)
          channel.get("others", 20s); // so that both differ from the same
        else if (channel.rank() == 0)
          channel.put("others", "");
        channel.agree(channel.rank() == ranks - 1 ? each.other : train);
      });
      for (const std::string &error : errors) {
        expectIn("rank " + std::to_string(ranks - 1) + " (host ", error);
        if (ranks == 2)
          expectIn(each.message, error);
      }
      EXPECT_EQ(std::set(errors.begin(), errors.end()).size(), 1u); // the first failure, on all
    }
}

TEST(ControlChannel, CallsThatARankDoesNotMakeFail) {
  TestJob leaves(2);
  auto errors = leaves.run([&](ControlChannel &channel) {
    channel.agree(train);
    if (channel.rank() == 1)
      return channel.leave();
    channel.agree(train);
  });
  expectIn("rank 1 (host", errors[0]);
  expectIn("left the job before call 2 (entry 'train'), to which rank 0 has come", errors[0]);
  EXPECT_EQ(errors[1], "");

  TestJob waits(3, 300ms);
  errors = waits.run([&](ControlChannel &channel) {
    if (channel.rank() != 1)
      return channel.agree(train);
    while (!channel.failure())
      std::this_thread::sleep_for(5ms);
    channel.agree(train);
  });
  for (const std::string &error : errors) {
    expectIn("rank 1 (host", error);
    expectIn(") has not come to call 1 (entry 'train') within 0.3 s; ranks 0, 2 wait", error);
  }
}

TEST(ControlChannel, OneThreadOfARankCalls) {
  TestJob job(2);
  auto errors = job.run([&](ControlChannel &channel) {
    if (channel.rank() == 1)
      return void(channel.get("never"));
    std::thread other([&] { errorOf([&] { channel.agree({{"entry", "'eval'"}}); }); });
    std::string error = errorOf([&] { channel.agree(train); });
    other.join();
    throw Error(error);
  });
  for (const std::string &error : errors)
    expectIn("one thread of a rank at a time may call", error);
}

TEST(ControlChannel, FailuresReachEveryRank) {
  TestJob job(4);
  std::atomic<int> called{0};
  auto errors = job.run([&](ControlChannel &channel) {
    int removed = channel.onAbort([&](const Failure &) { ADD_FAILURE() << "was removed"; });
    channel.onAbort([&](const Failure &failure) {
      EXPECT_EQ(failure.member.rank, 2);
      EXPECT_EQ(failure.step, "dense");
      ++called;
    });
    channel.removeAbortCallback(removed);
    channel.agree(train); // all have
    if (channel.rank() == 0)
      channel.get("never"); // each waits in another way
    if (channel.rank() == 1)
      channel.agree(train);
    if (channel.rank() == 2) {
      channel.fail("out of memory", "train", "dense", "net.cpp:3:9");
      channel.fail("something else"); // which is not the first
    }
    while (!channel.failure())
      std::this_thread::sleep_for(1ms);
    EXPECT_EQ(channel.failure()->location, "net.cpp:3:9");
    channel.put("more", "");
  });
  for (const std::string &error : errors)
    expectIn(") failed in 'train' at 'dense' (net.cpp:3:9): out of memory", error);
  EXPECT_EQ(called, 4);
}

TEST(ControlChannel, CallbacksAfterAFailureRunAtOnce) {
  TestJob job(2);
  auto errors = job.run([&](ControlChannel &channel) {
    std::atomic<int> early{0};
    channel.onAbort([&](const Failure &) { ++early; });
    if (channel.rank() == 0)
      channel.fail("broken");
    while (early == 0)
      std::this_thread::sleep_for(1ms);
    int late = 0;
    channel.onAbort([&](const Failure &failure) { late += failure.reason == "broken"; });
    EXPECT_EQ(late, 1);
    EXPECT_EQ(early, 1);
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(ControlChannel, AnExceptionThatEndsARankIsAFailure) {
  TestJob job(2);
  auto errors = job.run([&](ControlChannel &channel) {
    if (channel.rank() == 1)
      throw Error("a mistake");
    channel.agree(train);
  });
  expectIn("rank 1 (host", errors[0]);
  expectIn(") failed: it was ended by an exception", errors[0]);
  EXPECT_EQ(errors[1], "a mistake");
}

TEST(ControlChannel, WhatComesAfterTheEndIsRefused) {
  TestJob job(2);
  auto errors = job.run([&](ControlChannel &channel) {
    channel.agree(train);
    channel.leave();
    channel.leave();
    expectIn("has left its job", errorOf([&] { channel.agree(train); }));
    channel.fail("too late");
    EXPECT_FALSE(channel.failure());
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(ControlChannel, AChildOfForkHasNoPart) {
  TestJob job(2);
  auto errors = job.run([&](ControlChannel &channel) {
    if (channel.rank() == 0) {
      EXPECT_EQ(inChild([&] {
                  channel.agree(train);
                  return std::string();
                }),
                "a child of fork has no part in the job of its parent");
      channel.put("forked", "");
    }
    channel.get("forked");
    channel.agree(train);
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

TEST(ControlChannel, RanksThatDoNotJoinAreNamed) {
  TestJob job(4, 300ms);
  auto errors = job.run([](ControlChannel &) {}, 0, 1);
  for (int r : {0, 1}) {
    expectIn("rank 2 has not joined the job within 0.3 s, nor have rank 3; ranks 0, 1 wait",
             errors[size_t(r)]);
  }
  // Without rank 0 there is no server.
  TestJob alone(2, 200ms);
  errors = alone.run([](ControlChannel &) {}, 1, 1);
  expectIn("rank 1 can't join its job at 'file:", errors[1]);
  expectIn("rank 0 has not written it", errors[1]);
}

TEST(ControlChannel, TheFolderOfMeetingsGoesWithItsLastFile) {
  std::string folder = meetingFolder(), name = folder + "/test-" + std::to_string(getpid());
  TestJob job(2), other(2);
  job.base.control = "file:" + name;
  other.base.control = "file:" + name + "-other";
  auto both = [&](ControlChannel &channel) {
    channel.agree(train);
    if (channel.rank() == 0) // beside another job
      EXPECT_EQ(other.run([](ControlChannel &) {}), std::vector<std::string>(2));
  };
  EXPECT_EQ(job.run(both), std::vector<std::string>(2));
  EXPECT_FALSE(std::filesystem::exists(name));
  EXPECT_FALSE(std::filesystem::exists(name + "-other"));
  std::error_code ignored; // jobs of other processes may meet there
  EXPECT_TRUE(!std::filesystem::exists(folder) || !std::filesystem::is_empty(folder, ignored));
}

TEST(ControlChannel, APortThatIsTakenIsNamed) {
  Socket other = listenAt({"127.0.0.1", 0});
  Endpoint taken{"127.0.0.1", portOf(other)};
  TestJob job(2, 200ms);
  job.meetAt(taken, false);
  auto errors = job.run([](ControlChannel &) {});
  EXPECT_EQ(errors[0], "can't listen at " + taken.str() + ": Address already in use");
  expectIn("the control server at " + taken.str() +
               ": the process that listens there is not a control server: it sends no greeting",
           errors[1]);
  job.base.control = "no.such.host.invalid:80";
  expectIn("can't find the host 'no.such.host.invalid'", job.run([](ControlChannel &) {}, 1, 1)[1]);
  job.base.control = "nowhere";
  expectIn("expected an address 'host:port', got 'nowhere'",
           job.run([](ControlChannel &) {}, 1, 1)[1]);
}

TEST(ControlChannel, AServerOfAnotherKindIsRefused) {
  Socket listening = listenAt({"127.0.0.1", 0});
  TestJob job(2);
  job.meetAt({"127.0.0.1", portOf(listening)}, false);
  std::thread web([&] {
    pollfd ready{listening.get(), POLLIN, 0};
    poll(&ready, 1, 30000);
    auto [socket, name] = acceptFrom(listening);
    (void)!write(socket.get(), "HTTP/1.1 400 Bad Request\r\n", 26);
    char part[64];
    for (pollfd open{socket.get(), POLLIN, 0}; poll(&open, 1, 30000) > 0;)
      if (read(socket.get(), part, sizeof part) <= 0)
        break;
  });
  auto errors = job.run([](ControlChannel &) {}, 1, 1);
  web.join();
  expectIn("the bytes are not a frame of a Heddle control channel", errors[1]);
}

TEST(ControlChannel, WrongKeysAndRanksAreRefusedAndTheJobGoesOn) {
  ServerThread server({.ranks = 2, .key = {1, 2}, .timeout = 20s, .byLauncher = true});
  TestJob job(2);
  job.meetAt(server.endpoint, true);
  auto refused = [&](int rank, int ranks, JobKey key) {
    RankInfo info = job.info(rank);
    info.ranks = ranks;
    info.key = key;
    return errorOf([&] { ControlChannel::join(info); });
  };
  auto errors = job.run([&](ControlChannel &channel) {
    if (channel.rank() == 0) {
      expectIn("the frame is damaged, or its sender has the key of another job",
               refused(1, 2, {1, 3}));
      expectIn("rank 1 was started as one of 3 ranks, the job has 2 ranks", refused(1, 3, {1, 2}));
      expectIn("rank 2 was started as one of 3 ranks", refused(2, 3, {1, 2}));
      expectIn("rank 2 does not exist: the job has 2 ranks, counted from 0", refused(2, 2, {1, 2}));
      std::string twice = refused(1, 2, {1, 2});
      expectIn("rank 1 (host ", twice);
      expectIn(") has joined already, and can't join again as rank 1 (host", twice);
    }
    channel.agree(train);
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
  server.stop();
  EXPECT_EQ(server.server.refusals().size(), 4u); // whoever lacks the key says nothing
}

TEST(ControlChannel, FilesOfEarlierJobsAndOfOthersAreNotUsed) {
  TestJob job(2);
  std::string path = job.base.control.substr(5);
  Endpoint dead;
  {
    Socket closed = listenAt({"127.0.0.1", 0});
    dead = {"127.0.0.1", portOf(closed)};
  }
  {
    // Nothing listens there any more, or the server of another job does.
    std::ofstream(path) << dead.str() << " " << JobKey::random().str() << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  }
  EXPECT_EQ(job.run([](ControlChannel &channel) { channel.agree(train); }),
            std::vector<std::string>(2));
  ServerThread other({.ranks = 2, .key = {1, 2}});
  std::ofstream(path) << other.endpoint.str() << " " << JobKey::random().str() << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  EXPECT_EQ(job.run([](ControlChannel &channel) { channel.agree(train); }),
            std::vector<std::string>(2));

  TestJob open(2, 100ms);
  path = open.base.control.substr(5);
  std::ofstream(path) << "127.0.0.1:1 " << JobKey::random().str() << "\n";
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  auto refusal = [&] { return open.run([](ControlChannel &) {}, 1, 1)[1]; };
  expectIn("can't use '" + path + "', by which ranks meet: other users may open it", refusal());
  std::filesystem::rename(path, path + ".aside");
  std::filesystem::create_symlink(path + ".aside", path);
  expectIn(": it is a link", refusal());
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); // which nobody writes
  expectIn(": it is no file", refusal());
  std::filesystem::rename(path + ".aside", path);
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  if (chown(path.c_str(), 4711, gid_t(-1)) == 0) { // by root only
    expectIn(": it belongs to user 4711, this is user 0", refusal());
    ASSERT_EQ(chown(path.c_str(), 0, gid_t(-1)), 0);
  }
  for (const char *text : {"", "nothing", "127.0.0.1:1 00\n", "x y\n"}) {
    std::ofstream(path) << text;
    EXPECT_NE(refusal(), "") << text;
  }
  std::filesystem::remove(path);
  open.base.control = "file:" + testing::TempDir() + "no/such/folder/x";
  expectIn("can't write '" + testing::TempDir() + "no/such/folder/x': No such file",
           open.run([](ControlChannel &) {}, 0, 0)[0]);
}

//===----------------------------------------------------------------------===//
// Unauthenticated connections and ranks that fail
//===----------------------------------------------------------------------===//

TEST(ControlChannel, UnauthenticatedConnectionsDoNotDisturbAJob) {
  ServerThread server({.ranks = 2, .key = {1, 2}, .timeout = 20s, .byLauncher = true});
  TestJob job(2);
  job.meetAt(server.endpoint, true);
  std::string good = packFrame({1, 2}, {FrameKind::Heartbeat, "x"});
  auto errors = job.run([&](ControlChannel &channel) {
    for (int round = 0; round < 20; ++round) {
      if (channel.rank() == 0) {
        Stranger http(server.endpoint), huge(server.endpoint), half(server.endpoint),
            impatient(server.endpoint), silent(server.endpoint);
        http.send("GET / HTTP/1.1\r\n\r\n");
        expectIn("not a frame of a Heddle control channel", http.refusal());
        huge.send(std::string(good).replace(8, 4, "\xff\xff\xff\x7f"));
        expectIn("a body of 2147483647 bytes, expected at most 4096", huge.refusal());
        half.send(good.substr(0, 20));
        impatient.send({FrameKind::Put, "x"});
        expectIn("expected a hello frame, by which a rank joins", impatient.refusal());
        Stranger liar(server.endpoint);
        liar.send({FrameKind::Hello, "x"});
        expectIn("ends within a number", liar.refusal());
      }
      channel.agree(train);
    }
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(ControlChannel, ARecordedAnswerIsRefused) {
  ServerThread server({.ranks = 2, .key = {1, 2}, .timeout = 20s, .byLauncher = true});
  Stranger one(server.endpoint), two(server.endpoint);
  auto greeting = one.next(FrameKind::Greeting);
  ASSERT_TRUE(greeting);
  BodyWriter hello;
  hello.number(BodyReader(greeting->body).number()).number(2);
  packMember(hello, {1, "stranger", 1});
  two.send({FrameKind::Hello, hello.take()});
  EXPECT_EQ(two.refusal(), "rank 1 answers the greeting of another connection");
}

TEST(ControlChannel, ValuesThatFindNoRoomAreRefused) {
  ServerThread server(
      {.ranks = 2, .key = {1, 2}, .timeout = 20s, .byLauncher = true, .mostStoredBytes = 1000});
  TestJob job(2);
  job.meetAt(server.endpoint, true);
  auto errors = job.run([&](ControlChannel &channel) {
    std::string mine = std::to_string(channel.rank());
    channel.put(mine, std::string(400, 'x'));
    channel.agree(train);
    EXPECT_EQ(errorOf([&] { channel.put("more" + mine, std::string(400, 'x')); }),
              "no room for the value 'more" + mine + "' of 400 bytes: ranks may store 1000");
    channel.agree(train); // it goes on
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(ControlChannel, ValuesGoWithTheirLastReader) {
  ServerThread server(
      {.ranks = 2, .key = {1, 2}, .timeout = 20s, .byLauncher = true, .mostStoredBytes = 1000});
  TestJob job(2);
  job.meetAt(server.endpoint, true);
  auto errors = job.run([&](ControlChannel &channel) {
    std::string mine = std::to_string(channel.rank()), other = std::to_string(1 - channel.rank());
    channel.put("kept" + mine, "kept");
    for (int i = 0; i < 20; ++i) { // each rank waits for the value of the other, or does not
      std::string round = std::to_string(i) + "/";
      channel.put(round + mine, std::string(200, char('a' + channel.rank())), 2);
      EXPECT_EQ(channel.get(round + mine), std::string(200, char('a' + channel.rank())));
      EXPECT_EQ(channel.get(round + other), std::string(200, char('b' - channel.rank())));
      channel.agree(train);
      EXPECT_NE(errorOf([&] { channel.get(round + other, 1ms); }), "");
    }
    EXPECT_EQ(channel.get("kept" + other), "kept");
    EXPECT_EQ(channel.get("kept" + other), "kept");
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(ControlChannel, ARankThatDoesNotReadIsNamed) {
  ServerThread server(
      {.ranks = 2, .key = {1, 2}, .timeout = 20s, .byLauncher = true, .mostQueuedBytes = 1 << 20});
  TestJob job(2);
  job.meetAt(server.endpoint, true);
  std::atomic<bool> over{false};
  std::thread other([&] {
    Stranger rank(server.endpoint);
    rank.introduce(1, 2);
    rank.next(FrameKind::Ready);
    for (uint64_t id = 1; id < 10 && !over; ++id)
      rank.send({FrameKind::Get, BodyWriter().number(id).text("large").take()});
    while (!over) // sends heartbeats, and reads nothing
      std::this_thread::sleep_for(10ms);
  });
  auto errors = job.run(
      [&](ControlChannel &channel) {
        channel.put("large", std::string(8 << 20, 'x'));
        channel.agree(train);
      },
      0, 0);
  over = true;
  other.join();
  EXPECT_EQ(errors[0], "rank 1 (host stranger, pid 1) does not read the frames that it is sent");
}

TEST(ControlChannel, AStormOfConnectionsDoesNotDisturbAJob) {
  ServerThread server({.ranks = 2, .key = {1, 2}, .timeout = 20s, .byLauncher = true});
  TestJob job(2);
  job.meetAt(server.endpoint, true);
  std::vector<std::unique_ptr<Stranger>> storm; // more than may wait
  auto errors = job.run([&](ControlChannel &channel) {
    if (channel.rank() == 0)
      for (int i = 0; i < 300; ++i)
        storm.push_back(std::make_unique<Stranger>(server.endpoint));
    channel.agree(train);
    if (channel.rank() == 0)
      expectIn("too many processes try to join", storm[0]->refusal());
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

/// Returns the failure that rank 0 of two gets if rank 1 does this after it has joined.
template <typename Action>
static std::string heardOf(Action &&action, std::chrono::milliseconds timeout = 20s) {
  ServerThread server({.ranks = 2, .key = {1, 2}, .timeout = timeout, .byLauncher = true});
  TestJob job(2, timeout);
  job.meetAt(server.endpoint, true);
  std::thread other([&] {
    Stranger rank(server.endpoint);
    rank.introduce(1, 2);
    rank.next(FrameKind::Ready);
    action(rank);
  });
  auto errors = job.run([&](ControlChannel &channel) { channel.agree(train); }, 0, 0);
  other.join();
  return errors[0];
}

TEST(ControlChannel, RanksThatGoWrongAreNamed) {
  std::string rank = "rank 1 (host stranger, pid 1) ";
  std::string frame = packFrame({1, 2}, {FrameKind::Put, std::string(5000, 'x')});
  EXPECT_EQ(heardOf([](Stranger &rank) { rank.close(); }), rank + "ended without leaving the job");
  EXPECT_EQ(heardOf([&](Stranger &rank) {
              rank.send(std::string_view(frame).substr(0, 2000)); // dies amid a frame
              rank.close();
            }),
            rank + "ended without leaving the job");
  std::string damaged = frame;
  damaged[100] ^= 1;
  EXPECT_EQ(heardOf([&](Stranger &rank) {
              rank.send(damaged);
              rank.next(FrameKind::Abort);
            }),
            rank +
                "sent a bad frame: the frame is damaged, or its sender has the key of another job");
  for (FrameKind kind : {FrameKind::Put, FrameKind::Get, FrameKind::Agree, FrameKind::Abort,
                         FrameKind::Ready, FrameKind(77)})
    expectIn(rank + "sent a bad frame: ", heardOf([&](Stranger &rank) {
               rank.send({kind, "bad"});
               rank.next(FrameKind::Abort);
             }));
  expectIn(rank + "is dead or hung: last heard 0.",
           heardOf([](Stranger &rank) { rank.next(FrameKind::Abort); }, 300ms));
}

TEST(ControlChannel, ASlowReaderDoesNotHoldUpTheOthers) {
  ServerThread server({.ranks = 3, .key = {1, 2}, .timeout = 20s, .byLauncher = true});
  TestJob job(3);
  job.meetAt(server.endpoint, true);
  std::string large(6 << 20, 'x');
  std::atomic<bool> exchanged{false};
  std::thread slow([&] {
    Stranger rank(server.endpoint);
    rank.introduce(2, 3);
    rank.next(FrameKind::Ready);
    rank.send({FrameKind::Get, BodyWriter().number(1).text("large").take()});
    while (!exchanged) // reads nothing
      std::this_thread::sleep_for(1ms);
    auto reply = rank.next(FrameKind::Reply, 4096);
    EXPECT_TRUE(reply && reply->body.size() == large.size() + 24);
    rank.send({FrameKind::Leave});
  });
  auto errors = job.run(
      [&](ControlChannel &channel) {
        if (channel.rank() == 0)
          channel.put("large", large);
        EXPECT_EQ(channel.get("large").size(), large.size());
        for (int i = 0; i < 20; ++i) {
          std::string name = std::to_string(i) + "/";
          channel.put(name + std::to_string(channel.rank()), "");
          channel.get(name + std::to_string(1 - channel.rank()));
        }
        exchanged = true;
      },
      0, 1);
  slow.join();
  EXPECT_EQ(errors[0] + errors[1], "");
}

TEST(ControlChannel, AServerThatEndsIsAFailure) {
  auto server = std::make_unique<ServerThread>(
      ServerOptions{.ranks = 2, .key = {1, 2}, .timeout = 20s, .byLauncher = true});
  TestJob job(2);
  job.meetAt(server->endpoint, true);
  std::atomic<int> here{0};
  std::thread kill([&] {
    while (here < 2)
      std::this_thread::sleep_for(1ms);
    server.reset();
  });
  auto errors = job.run([&](ControlChannel &channel) {
    ++here;
    channel.get("never");
  });
  kill.join();
  for (const std::string &error : errors)
    EXPECT_EQ(error, "the launcher ended without leaving the job");
}

TEST(ControlChannel, AServerThatIsSilentIsAFailure) {
  Socket listening = listenAt({"127.0.0.1", 0});
  TestJob job(2, 300ms);
  job.meetAt({"127.0.0.1", portOf(listening)}, true);
  std::atomic<bool> over{false};
  std::thread silent([&] {
    pollfd ready{listening.get(), POLLIN, 0};
    poll(&ready, 1, 30000);
    Connection rank(acceptFrom(listening).first, {1, 2}, 4096);
    rank.send({FrameKind::Greeting, BodyWriter().number(7).take()});
    BodyWriter list;
    list.number(1).number(2);
    packMember(list, {0, "n0", 1});
    packMember(list, {1, "n1", 2});
    rank.send({FrameKind::Ready, list.take()});
    while (!over)
      std::this_thread::sleep_for(1ms);
  });
  auto errors = job.run([&](ControlChannel &channel) { channel.get("never", 20s); }, 1, 1);
  over = true;
  silent.join();
  EXPECT_EQ(errors[1], "the launcher is dead or hung: its server does not answer");
}
