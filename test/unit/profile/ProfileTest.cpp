//===- ProfileTest.cpp - measured times beside predicted ones -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/profile/Profile.h"
#include "runtime/format/Manifest.h"
#include "test/unit/runtime/Programs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace heddle;
using Json = nlohmann::json;

/// Two steps with predictions, of which threads share the first and sizes decide the second, and
/// one without.
static EntrySpec entry() {
  EntrySpec entry;
  entry.name = "f";
  entry.symbols = {"n", "rank"};
  entry.supplied = {"rank"};
  entry.steps = {{"shared", "a.cpp:1:1"}, {"sized", "a.cpp:2:1"}, {"unknown", "a.cpp:3:1"}};
  entry.steps[0].chunks = 3;
  entry.steps[0].numbers = {1};
  entry.steps[0].predicted = 6e-3;
  entry.steps[0].bound = 3e-3;
  entry.steps[0].limit = "memory";
  entry.steps[1].numbers = {0};
  entry.steps[1].predicted = 2e-3;
  entry.steps[1].bound = 1e-3;
  entry.steps[1].limit = "arithmetic";
  return entry;
}

/// A call whose steps take these milliseconds.
static void addCall(Profile &profile, std::vector<int> milliseconds, int threads = 1) {
  static const EntrySpec called = entry();
  auto at = Profile::Clock::now();
  std::vector<Profile::Begin> times;
  for (int32_t i = 0; i < int32_t(milliseconds.size()); ++i) {
    times.emplace_back(i, at);
    at += std::chrono::milliseconds(milliseconds[size_t(i)]);
  }
  times.emplace_back(int32_t(milliseconds.size()), at);
  profile.add(called, times, threads);
}

TEST(Profile, ThreadsShareThePredictedTime) {
  for (auto [threads, sharers] : {std::pair(1, 1), {2, 2}, {8, 3}}) {
    Profile profile;
    addCall(profile, {10, 10, 10}, threads);
    std::vector<Profile::Step> steps = profile.steps();
    EXPECT_DOUBLE_EQ(steps[0].predicted, 6e-3 / sharers);
    EXPECT_DOUBLE_EQ(steps[0].bound, 3e-3 / sharers);
    EXPECT_EQ(steps[1].predicted, 2e-3) << "a step of one chunk";
    EXPECT_EQ(steps[2].predicted, 0);
  }
}

TEST(Profile, EstimatesAreMarkedIfSizesAreTypical) {
  Profile profile;
  addCall(profile, {10, 10, 10});
  std::vector<Profile::Step> steps = profile.steps();
  EXPECT_FALSE(steps[0].isTypical) << "a rank is no size";
  EXPECT_EQ(steps[0].estimate(), "predicted 6 ms (memory), 30 % of its roofline");
  EXPECT_TRUE(steps[1].isTypical);
  EXPECT_EQ(steps[1].estimate(),
            "predicted 2 ms for typical sizes (arithmetic), 10 % of its roofline");
  EXPECT_EQ(steps[2].estimate(), "");
  std::string table = profile.summary();
  expectIn("  0.006000      30 %  shared", table);
  expectIn(" ~0.002000      10 %  sized", table);
  expectIn("         -         -  unknown", table);
  Json events = Json::parse(profile.chromeTrace()).at("traceEvents");
  Json first = events.at(0).at("args"), second = events.at(1).at("args");
  EXPECT_NEAR(first.at("predicted us").get<double>(), 6000, 1e-6);
  EXPECT_NEAR(first.at("% of roofline").get<double>(), 30, 1e-6);
  EXPECT_EQ(first.at("limit"), "memory");
  EXPECT_FALSE(first.contains("predicted for"));
  EXPECT_EQ(second.at("predicted for"), "typical sizes");
  EXPECT_FALSE(events.at(2).at("args").contains("limit"));
  std::string picture = profile.picture();
  expectIn("predicted 6 ms (memory), 30 % of its roofline a.cpp:1:1", picture);
}

TEST(Profile, ASlowRunDoesNotCountAsLost) {
  Profile profile;
  for (int first : {1000, 10, 12, 11, 10})
    addCall(profile, {first, 4, 7});
  std::vector<Profile::Row> rows = profile.rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].sum.name, "shared");
  EXPECT_EQ(rows[0].runs, 5);
  EXPECT_NEAR(rows[0].sum.seconds, 1.043, 1e-9);
  EXPECT_NEAR(rows[0].usual, 5 * 11e-3, 1e-9);
  EXPECT_NEAR(rows[0].lost(), 5 * (11e-3 - 3e-3), 1e-9);
  EXPECT_EQ(rows[1].sum.name, "unknown");
  EXPECT_EQ(rows[1].lost(), 0) << "nothing is expected of it";
  EXPECT_NEAR(rows[2].lost(), 5 * 3e-3, 1e-9);
}

TEST(Profile, StepsOfOneNameHaveMediansOfTheirOwn) {
  EntrySpec two = entry();
  two.steps[1] = two.steps[0]; // another step of the same line
  two.steps[1].bound = 0;
  two.steps[1].predicted = 0;
  Profile profile;
  for (int call = 0; call < 3; ++call) {
    auto at = Profile::Clock::now();
    profile.add(two, {{0, at},
                      {1, at + std::chrono::milliseconds(1)},
                      {2, at + std::chrono::milliseconds(101)},
                      {3, at + std::chrono::milliseconds(102)}});
  }
  Profile::Row row = profile.rows().at(0);
  EXPECT_EQ(row.runs, 6);
  EXPECT_NEAR(row.usual, 0.303, 1e-9);
  EXPECT_EQ(row.sum.predicted, 0) << "one of them has no prediction";
}

TEST(Profile, EveryStepHasATime) {
  auto program = smallPrograms();
  Profile profile;
  CallOptions options;
  options.profile = &profile;
  auto x = tensorOf(std::vector<float>(static_cast<size_t>(chainSize)));
  for (int call = 0; call < 3; ++call)
    program->run("chain", {{"x", x}}, options);
  auto steps = profile.steps();
  ASSERT_EQ(steps.size(), size_t(3 * chainSteps));
  EXPECT_EQ(steps[1].name, "add1");
  EXPECT_EQ(steps[1].location, "model.cpp:2:1");
  for (size_t i = 1; i < steps.size(); ++i) {
    EXPECT_GE(steps[i].seconds, 0);
    EXPECT_GE(steps[i].begin + 1e-9, steps[i - 1].begin + steps[i - 1].seconds);
  }
  auto trace = nlohmann::json::parse(profile.chromeTrace());
  ASSERT_EQ(trace["traceEvents"].size(), size_t(3 * chainSteps));
  EXPECT_EQ(trace["traceEvents"][0]["ph"], "X");
  EXPECT_EQ(trace["traceEvents"][0]["args"]["location"], "model.cpp:1:1");
  expectIn("add5", profile.summary());
  // Without a profile no time is measured.
  program->run("chain", {{"x", x}});
  EXPECT_EQ(profile.steps().size(), size_t(3 * chainSteps));
}
