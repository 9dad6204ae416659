//===- JobTest.cpp - calls that several ranks make ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank is a thread of this process with a job of its own.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/control/Ranks.h"

#include "heddle/Error.h"

#include <random>

using namespace heddle;
using namespace heddle::test;

/// The chunks of `counts` programs wait here for each other.
static std::atomic<int> arrivals{0};

/// state' = state + other, in the memory of state, by a function that gets the rank as `other[0]`.
static std::shared_ptr<Program> counting(HeddleEntry function = counterFunction,
                                         int64_t chunks = 1) {
  Manifest manifest;
  manifest.cpu = "any";
  manifest.entries = {counterEntry(), counterEntry()};
  manifest.entries[1].name = "again";
  for (EntrySpec &entry : manifest.entries)
    entry.steps[0].chunks = chunks; // more than one are run by a team
  return Program::fromFunctions(std::move(manifest), {function, function});
}

static float rankOf(HeddleCall *call) { return *static_cast<const float *>(call->addresses[1]); }

/// Rank 1 fails in its only step, the others wait at a barrier until they hear of it.
static int32_t failOnRankOne(HeddleCall *call, int32_t thread, int32_t) {
  if (rankOf(call) == 1)
    return thread == 0 ? call->table->fail(call, 0, "one is too much") : 0;
  for (;;)
    if (int32_t status = call->table->barrier(call, thread))
      return status;
}

struct Outcome {
  std::string what, step, location;
  int rank = -2;
  std::string donatedTo;
  std::vector<float> values;
};

/// Runs the entry "count" on every rank with `state` donated.
static std::vector<Outcome> runCounting(TestJob &job, HeddleEntry function, CallOptions base = {},
                                        int64_t chunks = 1) {
  std::vector<Outcome> outcomes(size_t(job.base.ranks));
  auto program = counting(function, chunks);
  auto errors = job.run([&](Job &mine) {
    Outcome &outcome = outcomes[size_t(mine.rank())];
    CallOptions options = base;
    options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
    TensorRef state = tensorOf({1, 1, 1, 1}),
              other = tensorOf(std::vector<float>(4, float(mine.rank())));
    try {
      outcome.values =
          valuesOf(program->run(program->entry("count"), {state, other}, options, {true})[0]);
    } catch (const ExecutionError &error) {
      outcome.what = error.what();
      outcome.step = error.step;
      outcome.location = error.location;
      outcome.rank = error.rank;
    }
    outcome.donatedTo = state->donatedTo;
    EXPECT_EQ(valuesOf(other), std::vector<float>(4, float(mine.rank()))); // not donated
  });
  EXPECT_EQ(errors, std::vector<std::string>(errors.size()));
  return outcomes;
}

TEST(Job, OneRankNeedsNoServer) {
  auto job = Job::join(RankInfo{});
  EXPECT_EQ(job->channel(), nullptr);
  EXPECT_EQ(job->ranks(), 1);
  EXPECT_EQ(job->team(), sharedThreadTeam());
  CallOptions options;
  options.job = job;
  auto results = smallPrograms()->run(
      "count", {{"state", tensorOf({1, 2, 3, 4})}, {"other", tensorOf({1, 1, 1, 1})}}, options);
  EXPECT_EQ(valuesOf(results[0]), (std::vector<float>{2, 3, 4, 5}));
}

TEST(Job, RanksRunTheSameCalls) {
  TestJob job(3);
  auto program = counting();
  auto errors = job.run([&](Job &mine) {
    CallOptions options;
    options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
    auto call = program->prepare("count", options);
    TensorRef state = tensorOf({0, 0, 0, 0});
    call->bind("other", tensorOf(std::vector<float>(4, float(mine.rank()))));
    for (int i = 0; i < 20; ++i) {
      call->bind("state", state, true);
      call->run();
      state = call->takeResults()[0];
    }
    EXPECT_EQ(valuesOf(state), std::vector<float>(4, 20.f * float(mine.rank())));
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
}

TEST(Job, AFailureEndsTheCallsOfAllRanks) {
  for (int ranks : {2, 4})
    for (bool managed : {false, true}) {
      TestJob job(ranks);
      int64_t chunks = ranks == 2 ? 1 : 10;
      CallOptions options;
      options.managed = managed;
      auto outcomes = runCounting(job, failOnRankOne, options, chunks);
      for (int r = 0; r < ranks; ++r) {
        const Outcome &outcome = outcomes[size_t(r)];
        EXPECT_EQ(outcome.rank, 1);
        EXPECT_EQ(outcome.step, "increment");
        EXPECT_EQ(outcome.location, "model.cpp:7:1");
        EXPECT_EQ(outcome.donatedTo, "count");
        if (r == 1)
          EXPECT_EQ(outcome.what,
                    "'count' failed at 'increment' (model.cpp:7:1) on rank 1: one is too much");
        else
          expectIn("'count' was ended: rank 1 (host ", outcome.what);
        expectIn("'increment' (model.cpp:7:1)", outcome.what);
        expectIn(": one is too much", outcome.what);
      }
    }
}

TEST(Job, AfterAFailureTheProcessLives) {
  TestJob job(2);
  auto program = counting(failOnRankOne), healthy = counting();
  auto errors = job.run([&](Job &mine) {
    CallOptions options;
    options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
    auto run = [&](Program &which, const CallOptions &options) {
      return valuesOf(which.run("count",
                                {{"state", tensorOf({1, 1, 1, 1})},
                                 {"other", tensorOf(std::vector<float>(4, float(mine.rank())))}},
                                options)[0]);
    };
    expectIn("one is too much", errorOf<ExecutionError>([&] { run(*program, options); }));
    // The job has failed: its next call does so at once. Calls of this process alone work.
    std::string again = errorOf<ExecutionError>([&] { run(*healthy, options); });
    expectIn("'count' was ended: rank 1 (host ", again);
    EXPECT_EQ(run(*healthy, {})[0], 1.f + float(mine.rank()));
    options.job = nullptr;
    options.team = mine.team();
    EXPECT_EQ(run(*healthy, options)[0], 1.f + float(mine.rank()));
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(Job, CallsThatDifferAreErrorsOnAllRanks) {
  using Run = std::function<void(int rank, const CallOptions &)>;
  auto program = counting(), sized = symbolicProgram();
  Manifest other = program->manifest();
  other.entries[0].steps[0].name = "other";
  auto differs = Program::fromFunctions(other, {counterFunction, counterFunction});
  other = program->manifest();
  other.cpu = "this";
  auto elsewhere = Program::fromFunctions(other, {counterFunction, counterFunction});
  auto count = [](Program &which, const char *entry, const CallOptions &options) {
    which.run(entry, {{"state", tensorOf({1, 1, 1, 1})}, {"other", tensorOf({1, 1, 1, 1})}},
              options);
  };
  std::vector<std::pair<Run, std::string>> cases = {
      {[&](int rank, auto &options) { count(*program, rank ? "again" : "count", options); },
       "has the entry 'again' at call 1 (entry 'again'), but rank 0"},
      {[&](int rank, auto &options) { count(rank ? *elsewhere : *program, "count", options); },
       "has the CPU that the program is for 'this' at call 1 (entry 'count'), but rank 0"},
      {[&](int rank, auto &options) { count(rank ? *differs : *program, "count", options); },
       "has the program with the checksum "},
      {[&](int rank, auto &options) {
         auto w = std::make_shared<RuntimeTensor>(floats({{"i", 3}, {"k", 5 - rank}}),
                                                  *Layout::parse("[i, k]"));
         sized->run("double", {{"x", tensorOf({1, 1, 1, 1})}, {"w", w}}, options);
       },
       "has the size 'M' = 4 at call 1 (entry 'double'), but rank 0"}};
  for (const auto &[run, message] : cases) {
    TestJob job(2);
    auto errors = job.run([&](Job &mine) {
      CallOptions options;
      options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
      run(mine.rank(), options);
    });
    for (const std::string &error : errors) {
      expectIn(" was ended: rank 1 (host ", error);
      expectIn(message, error);
    }
  }
}

TEST(Job, NumbersThatEachRankSuppliesMayDiffer) {
  EntrySpec entry = counterEntry();
  entry.symbols = entry.supplied = {"rank"};
  Manifest manifest;
  manifest.entries = {entry};
  auto program = Program::fromFunctions(manifest, {counterFunction});
  TestJob job(2);
  auto errors = job.run([&](Job &mine) {
    CallOptions options;
    options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
    options.supplied = {{"rank", mine.rank()}};
    program->run("count", {{"state", tensorOf({1, 1, 1, 1})}, {"other", tensorOf({1, 1, 1, 1})}},
                 options);
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

/// Returns when all ranks are in it.
static int32_t waitForAll(HeddleCall *call, int32_t thread, int32_t) {
  if (thread == 0)
    ++arrivals;
  while (arrivals.load() < 3)
    std::this_thread::yield();
  return call->table->barrier(call, thread);
}

TEST(Job, RanksOfOneProcessHaveTeamsOfTheirOwn) {
  // On a shared team, of which one call at a time has the threads, none of these would end.
  Manifest manifest;
  manifest.entries = {chainEntry()};
  auto program = Program::fromFunctions(manifest, {waitForAll});
  arrivals = 0;
  TestJob job(3);
  auto errors = job.run([&](Job &mine) {
    CallOptions options;
    options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
    EXPECT_EQ(mine.team()->threads(), 2);
    program->run("chain", {{"x", tensorOf(std::vector<float>(size_t(chainSize), 1))}}, options);
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
}

TEST(Job, ARankThatDoesNotExchangeIsNamed) {
  for (int late : {0, 1}) {
    TestJob job(2);
    std::atomic<bool> over{false};
    auto errors = job.run([&](Job &mine) {
      while (mine.rank() == late && !over)
        std::this_thread::sleep_for(1ms);
      if (mine.rank() == late)
        return;
      struct End { // also if an error ends this rank
        std::atomic<bool> &over;
        ~End() { over = true; }
      } end{over};
      mine.exchange("comparing numbers", "1", 50ms);
    });
    expectIn("rank " + std::to_string(late) + " (host ", errors[size_t(1 - late)]);
    expectIn("did not come to comparing numbers", errors[size_t(1 - late)]);
  }
}

TEST(Job, AllHaveWhatWasExchangedBeforeOneFails) {
  // Each rank can say itself what is wrong with the values, and does not hear it from the first
  // one.
  for (int i = 0; i < 200; ++i) {
    TestJob job(3);
    auto errors = job.run([&](Job &mine) {
      auto all = mine.exchange("comparing numbers", "1");
      mine.channel()->fail("the numbers are equal");
      EXPECT_EQ(all, std::vector<std::string>(3, "1"));
    });
    ASSERT_EQ(errors, std::vector<std::string>(3)) << "job " << i;
  }
}

TEST(Job, ExchangesLeaveNothingBehind) {
  // In all they are several times as much as ranks may store.
  ServerThread server(
      {.ranks = 3, .key = {1, 2}, .timeout = 20s, .byLauncher = true, .mostStoredBytes = 12 << 20});
  TestJob job(3);
  job.meetAt(server.endpoint, true);
  auto errors = job.run([&](Job &mine) {
    for (int i = 0; i < 15; ++i) {
      auto text = [&](int rank) { return std::string(1 << 20, char('a' + 3 * i % 20 + rank)); };
      auto all = mine.exchange("saving", text(mine.rank()));
      for (int r = 0; r < 3; ++r)
        EXPECT_TRUE(all[size_t(r)] == text(r)) << "exchange " << i;
      mine.collect("merging", text(mine.rank()));
    }
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
}

TEST(Job, AFailureThatIsDrawnReachesEveryRank) {
  // Ranks run calls until one that is drawn fails, at a drawn call.
  for (unsigned seed = 1; seed <= 15; ++seed) {
    std::mt19937 random(seed);
    int ranks = 2 + int(random() % 3), failing = int(random() % unsigned(ranks)),
        last = int(random() % 20), way = int(random() % 3);
    SCOPED_TRACE("seed " + std::to_string(seed));
    TestJob job(ranks);
    auto program = counting();
    auto errors = job.run([&](Job &mine) {
      CallOptions options;
      options.job = std::shared_ptr<Job>(&mine, [](Job *) {});
      for (int i = 0;; ++i) {
        bool now = i == last && mine.rank() == failing;
        if (now && way == 0)
          throw Error("thrown");
        if (now && way == 1)
          return mine.channel()->leave();
        program->run(now ? "again" : "count",
                     {{"state", tensorOf({1, 1, 1, 1})}, {"other", tensorOf({1, 1, 1, 1})}},
                     options);
      }
    });
    for (int r = 0; r < ranks; ++r)
      if (r != failing)
        expectIn("rank " + std::to_string(failing) + " (host ", errors[size_t(r)]);
  }
}
