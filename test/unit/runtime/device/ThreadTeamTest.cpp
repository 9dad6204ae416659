//===- ThreadTeamTest.cpp - the contract of thread teams ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/InChild.h"
#include "test/unit/runtime/Programs.h"

#include "heddle/Error.h"
#include "lib/profile/Profile.h"
#include "runtime/device/ThreadCount.h"

#include <map>
#include <optional>
#include <thread>

using namespace heddle;
using namespace heddle::test;

namespace {
using Make = std::shared_ptr<ThreadTeam> (*)(int threads);

/// Both teams: our own, and that of the OpenMP runtime.
class Team : public testing::TestWithParam<std::pair<const char *, Make>> {
protected:
  void SetUp() override {
    try {
      make(1);
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
  }
  static std::shared_ptr<ThreadTeam> make(int threads) { return GetParam().second(threads); }
  static bool isOwn() { return GetParam().second == makeThreadTeam; }
};
INSTANTIATE_TEST_SUITE_P(Kinds, Team,
                         testing::Values(std::pair("own", &makeThreadTeam),
                                         std::pair("OpenMP", &makeOpenMPTeam)),
                         [](const auto &info) { return std::string(info.param.first); });

std::vector<float> ramp(float first) {
  std::vector<float> values(static_cast<size_t>(chainSize));
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// "right", or the program's wrong values.
std::string chainOn(const std::shared_ptr<Program> &program, std::shared_ptr<ThreadTeam> team) {
  CallOptions options;
  options.team = std::move(team);
  std::vector<float> values =
      valuesOf(program->run("chain", {{"x", tensorOf(ramp(3))}}, options)[0]);
  return values == ramp(3 + chainSteps) ? "right" : "first " + std::to_string(values[0]);
}
} // namespace

namespace {
/// Sets variables, and gives them back.
class Variables {
public:
  Variables(const char *heddle, const char *openMP) {
    set("HEDDLE_THREADS", heddle);
    set("OMP_NUM_THREADS", openMP);
  }
  ~Variables() {
    for (const auto &[name, value] : before)
      give(name, value ? value->c_str() : nullptr);
  }

private:
  std::map<const char *, std::optional<std::string>> before;
  static void give(const char *name, const char *value) {
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  void set(const char *name, const char *value) {
    const char *old = std::getenv(name);
    before[name] = old ? std::optional<std::string>(old) : std::nullopt;
    give(name, value);
  }
};
} // namespace

TEST(Threads, AreWhatTheEnvironmentSays) {
  struct {
    const char *heddle, *openMP;
    int threads; ///< 0: a core each
  } const cases[] = {{"3", nullptr, 3},   {"3", "5", 3},       {nullptr, "5", 5},     {"", "5", 5},
                     {nullptr, "5,2", 5}, {"1024", "x", 1024}, {nullptr, nullptr, 0}, {"", "", 0}};
  for (const auto &each : cases) {
    Variables variables(each.heddle, each.openMP);
    EXPECT_EQ(usualThreads(), each.threads ? each.threads : availableCores());
    EXPECT_EQ(statedThreads().value_or(0), each.threads);
    if (each.threads < 10)
      EXPECT_EQ(sharedThreadTeam()->threads(), usualThreads());
    EXPECT_EQ(sharedThreadTeam(2)->threads(), 2); // what the program says holds
  }
  for (const char *bad :
       {"0", "-1", "1025", "two", "2x", " 2", "2.5", "2,2", "99999999999999999999"}) {
    Variables variables(bad, "2");
    EXPECT_EQ(errorOf([] { sharedThreadTeam(); }),
              "expected HEDDLE_THREADS to be a whole number from 1 to 1024, got '" +
                  std::string(bad) + "'");
  }
  Variables variables(nullptr, "many");
  EXPECT_EQ(errorOf([] { sharedThreadTeam(); }),
            "expected OMP_NUM_THREADS to be a whole number from 1 to 1024, got 'many'");
}

TEST_P(Team, EveryThreadRunsOnce) {
  for (int threads : {1, 2, 3, 5}) {
    auto team = make(threads);
    EXPECT_EQ(team->threads(), threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(threads));
      std::atomic<int> sum{0};
      auto caller = std::this_thread::get_id();
      bool callerIsFirst = false;
      team->run([&](Region &region, int thread) {
        ++runs[size_t(thread)];
        sum += region.threads();
        if (thread == 0)
          callerIsFirst = std::this_thread::get_id() == caller;
      });
      EXPECT_TRUE(callerIsFirst);
      for (auto &each : runs)
        ASSERT_EQ(each, 1);
      ASSERT_EQ(sum, threads * threads);
    }
  }
}

TEST_P(Team, NobodyPassesABarrierBeforeAllAreThere) {
  for (int threads : {2, 3, 4}) {
    auto team = make(threads);
    std::atomic<int> arrived{0}, early{0};
    for (int repeat = 0; repeat < 3; ++repeat) {
      arrived = 0;
      team->run([&](Region &region, int) {
        for (int phase = 1; phase <= 500; ++phase) {
          ++arrived;
          if (!region.barrier())
            return;
          early += arrived < phase * threads;
        }
      });
      EXPECT_EQ(arrived, 500 * threads);
      EXPECT_EQ(early, 0);
    }
  }
}

TEST_P(Team, WhatWasWrittenBeforeABarrierIsSeenBehindIt) {
  auto team = make(2);
  int64_t plain[2] = {0, 0}, wrong[2] = {0, 0};
  team->run([&](Region &region, int thread) {
    for (int64_t phase = 1; phase <= 2000; ++phase) {
      plain[thread] = phase;
      region.barrier();
      wrong[thread] += plain[1 - thread] != phase;
      region.barrier();
    }
  });
  EXPECT_EQ(wrong[0] + wrong[1], 0);
}

TEST_P(Team, WhoGivesUpLetsAllOthersLeave) {
  auto team = make(3);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::atomic<int> left{0};
    team->run([&](Region &region, int thread) {
      if (thread == repeat % 3)
        return region.abort();
      while (region.barrier()) {
      }
      ++left;
    });
    ASSERT_EQ(left, 2);
  }
  std::atomic<int> met{0}; // the next run is a new one
  team->run([&](Region &region, int) { met += region.barrier(); });
  EXPECT_EQ(met, 3);
}

TEST_P(Team, WaitsForThreadsThatSleep) {
  auto team = make(2);
  // Longer than threads spin, so that both must be woken.
  auto longer = std::chrono::milliseconds(5);
  std::atomic<int> done{0};
  team->run([&](Region &region, int thread) {
    for (int turn = 0; turn < 4; ++turn) {
      if (thread == turn % 2)
        std::this_thread::sleep_for(longer);
      region.barrier();
    }
    if (thread == 1)
      std::this_thread::sleep_for(longer);
    ++done;
  });
  EXPECT_EQ(done, 2);
  std::this_thread::sleep_for(longer); // and between runs
  team->run([&](Region &, int) { ++done; });
  EXPECT_EQ(done, 4);
}

TEST_P(Team, MayBeSharedByCallers) {
  auto team = make(2);
  auto program = smallPrograms();
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat)
        right += chainOn(program, team) == "right";
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(right, 150);
}

TEST_P(Team, ARunWithinARegionIsOfOneThread) {
  auto team = make(2);
  std::atomic<int> runs{0}, threads{0};
  team->run([&](Region &, int) {
    team->run([&](Region &region, int thread) {
      ++runs;
      threads += region.threads() + thread;
    });
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(threads, 2);
}

TEST_P(Team, RunsProgramsPlannedAndManaged) {
  auto program = smallPrograms();
  for (int threads : {1, 2, 3})
    for (bool managed : {false, true}) {
      CallOptions options;
      options.team = make(threads);
      options.managed = managed;
      for (int repeat = 0; repeat < 20; ++repeat)
        ASSERT_EQ(
            valuesOf(program->run("chain", {{"x", tensorOf(ramp(float(repeat)))}}, options)[0]),
            ramp(float(repeat + chainSteps)));
    }
}

//===----------------------------------------------------------------------===//
// Children of fork
//===----------------------------------------------------------------------===//

TEST_P(Team, AChildHasThreadsOfItsOwnOrIsRefused) {
  auto program = smallPrograms();
  auto team = make(2);
  ASSERT_EQ(chainOn(program, team), "right");
  std::string expected = isOwn() ? "right right right" : "OpenMP's threads do not exist";
  expectIn(expected, inChild([&] {
             std::string first = chainOn(program, team), second = chainOn(program, team);
             // A child of the child, too.
             return first + " " + second + " " + inChild([&] { return chainOn(program, team); });
           }));
  EXPECT_EQ(chainOn(program, team), "right"); // the parent's go on
}

TEST(Fork, AChildUsesTheSharedTeamAndPreparedCalls) {
  auto program = smallPrograms();
  CallOptions options;
  options.team = sharedThreadTeam(2);
  auto call = program->prepare("chain", options);
  auto x = tensorOf(ramp(1));
  call->bind("x", x);
  call->run();
  EXPECT_EQ(inChild([&] {
              std::atomic<int> right{0};
              std::vector<std::thread> callers; // which need a new crew at the same time
              for (int caller = 0; caller < 4; ++caller)
                callers.emplace_back(
                    [&] { right += chainOn(program, sharedThreadTeam(2)) == "right"; });
              for (std::thread &caller : callers)
                caller.join();
              call->run();
              return std::to_string(right) + " " +
                     std::to_string(valuesOf(call->result()) == ramp(1 + chainSteps));
            }),
            "4 1");
}

TEST(Fork, WhileOtherThreadsRunNothingStaysLocked) {
  auto program = smallPrograms();
  auto manager = std::make_shared<CachingManager>();
  auto callOn = [&](int threads) {
    CallOptions options;
    options.team = sharedThreadTeam(threads);
    options.manager = manager;
    options.managed = true;
    Profile profile;
    options.profile = &profile;
    return valuesOf(program->run("chain", {{"x", tensorOf(ramp(3))}}, options)[0]) ==
           ramp(3 + chainSteps);
  };
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int threads : {1, 2, 2})
    callers.emplace_back([&, threads] {
      while (!stop)
        wrong += !callOn(threads);
    });
  for (int repeat = 0; repeat < 100; ++repeat)
    ASSERT_EQ(inChild([&] { return callOn(1) && callOn(2) ? "right" : "wrong"; }), "right");
  stop = true;
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Fork, InAStepTheProgramGivesUpInTheChild) {
  auto program = smallPrograms();
  auto manager = std::make_shared<SystemManager>();
  CallOptions options;
  options.manager = manager;
  options.managed = true;
  options.team = makeThreadTeam(2);
  pid_t parent = getpid();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = -1;
  manager->setListener([&](const MemoryEvent &event) {
    if (event.kind == MemoryEvent::Kind::Allocate && event.name == "t2")
      child = fork();
  });
  std::string message =
      errorOf<ExecutionError>([&] { program->run("chain", {{"x", tensorOf(ramp(3))}}, options); });
  manager->setListener(nullptr);
  if (getpid() != parent) {
    signal(SIGALRM, SIG_DFL);
    alarm(120);
    message +=
        "; then " + errorOf<Error>([&] { message += "; " + chainOn(program, options.team); });
    _exit(write(ends[1], message.data(), message.size()) < 0);
  }
  close(ends[1]);
  EXPECT_EQ(message, ""); // of the parent, whose run went on
  char text[1000];
  ssize_t length = read(ends[0], text, sizeof text);
  waitpid(child, nullptr, 0);
  std::string said(text, size_t(std::max<ssize_t>(length, 0)));
  expectIn("'chain' failed at 'add2' (model.cpp:3:1): the process was forked", said);
}

TEST(ForkMutex, MayBeLockedAgainAndIsFreeInAChild) {
  ForkMutex mutex;
  std::lock_guard outer(mutex);
  {
    std::lock_guard inner(mutex);
  }
  auto other = [&] { // true if another thread gets it
    std::atomic<bool> got{false};
    std::thread([&] {
      std::lock_guard lock(mutex);
      got = true;
    }).join();
    return got.load();
  };
  EXPECT_EQ(inChild([&] { // the thread that forked still owns it
              std::lock_guard again(mutex);
              return std::string("mine");
            }),
            "mine");
  EXPECT_EQ(inChild([&] {
              mutex.unlock();
              return std::string(other() ? "free" : "locked");
            }),
            "free");
}
