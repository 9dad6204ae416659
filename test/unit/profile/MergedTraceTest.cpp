//===- MergedTraceTest.cpp - the timeline of all ranks --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/control/Ranks.h"

#include "lib/profile/MergedTrace.h"

#include <map>
#include <nlohmann/json.hpp>

using namespace heddle;
using namespace heddle::test;
using Json = nlohmann::json;

/// Starts a transfer, computes, waits for it, and moves something else at once.
static EntrySpec entry() {
  EntrySpec entry;
  entry.name = "train";
  entry.steps = {{"all-reduce", "model.cpp:1:1"},
                 {"between", "model.cpp:2:1"},
                 {"wait", ""},
                 {"all-gather", "model.cpp:3:1"}};
  entry.steps[0].kind = StepKind::Start;
  entry.steps[0].communication = CommunicationSpec{};
  entry.steps[0].bytesMoved = 1000;
  entry.steps[2].kind = StepKind::Await;
  entry.steps[2].awaits = 0;
  entry.steps[3].kind = StepKind::Invoke;
  entry.steps[3].communication = CommunicationSpec{};
  return entry;
}

static void addCall(Profile &profile) {
  auto now = Profile::Clock::now();
  std::vector<Profile::Begin> times;
  for (int32_t i = 0; i <= 4; ++i)
    times.emplace_back(i, now + i * 1ms);
  profile.add(entry(), times);
}

TEST(MergedTrace, TransfersLastFromTheirBeginToTheEndOfTheWait) {
  Profile profile;
  addCall(profile);
  EXPECT_EQ(profile.steps().size(), 4u);
  auto transfers = profile.transfers();
  ASSERT_EQ(transfers.size(), 2u);
  EXPECT_EQ(transfers[0].name, "all-reduce");
  EXPECT_EQ(transfers[0].location, "model.cpp:1:1");
  EXPECT_NEAR(transfers[0].seconds, 3e-3, 1e-9);
  EXPECT_EQ(transfers[0].bytes, 1000);
  EXPECT_EQ(transfers[1].name, "all-gather");
  EXPECT_NEAR(transfers[1].seconds, 1e-3, 1e-9);
  std::map<int, int> rows;
  Json trace = Json::parse(profile.chromeTrace());
  for (const Json &event : trace.at("traceEvents"))
    ++rows[event.at("tid")];
  EXPECT_EQ(rows, (std::map<int, int>{{0, 4}, {1000, 2}}));
}

TEST(MergedTrace, EachRankHasRowsOfItsOwn) {
  TestJob job(3);
  std::vector<std::string> traces(3);
  auto errors = job.run([&](Job &mine) {
    Profile profile;
    for (int i = 0; i <= mine.rank(); ++i)
      addCall(profile);
    traces[size_t(mine.rank())] = mergedTrace(mine, profile);
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
  EXPECT_EQ(traces[1], "");
  EXPECT_EQ(traces[2], "");
  std::map<std::pair<int, int>, int> events;
  std::map<std::pair<int, int>, std::string> names;
  double first = 1;
  Json trace = Json::parse(traces[0]);
  for (const Json &event : trace.at("traceEvents")) {
    std::pair<int, int> row{event.at("pid"), event.at("tid")};
    if (event.at("ph") == "M") {
      names[row] += event.at("args").at("name").get<std::string>() + ";";
      continue;
    }
    ++events[row];
    first = std::min(first, event.at("ts").get<double>());
  }
  EXPECT_EQ(first, 0);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(events.at({rank, 0}), 4 * (rank + 1));
    EXPECT_EQ(events.at({rank, 1000}), 2 * (rank + 1));
    EXPECT_EQ(names.at({rank, 0}), "rank " + std::to_string(rank) + ";steps;");
    EXPECT_EQ(names.at({rank, 1000}), "transfers;");
  }
}

TEST(MergedTrace, OneRankAndNoCalls) {
  auto job = Job::join(RankInfo{});
  Profile empty;
  EXPECT_EQ(Json::parse(mergedTrace(*job, empty)).at("traceEvents").size(), 1u); // its name
}

TEST(MergedTrace, ARankThatDoesNotMergeIsNamed) {
  TestJob job(2, 3s);
  auto errors = job.run([&](Job &mine) {
    Profile profile;
    if (mine.rank() == 0)
      mergedTrace(mine, profile);
    else
      mine.channel()->agree({{"entry", "'train'"}});
  });
  for (const std::string &error : errors) {
    EXPECT_NE(error.find("merging traces"), std::string::npos) << error;
    EXPECT_NE(error.find("rank "), std::string::npos) << error;
  }
}

TEST(Job, WhatRanksSayArrivesInTheirOrder) {
  TestJob job(3);
  auto errors = job.run([&](Job &mine) {
    for (int i = 0; i < 3; ++i) {
      std::string text = std::to_string(10 * i + mine.rank());
      EXPECT_EQ(mine.exchange("numbers", text),
                (std::vector<std::string>{std::to_string(10 * i), std::to_string(10 * i + 1),
                                          std::to_string(10 * i + 2)}));
      auto collected = mine.collect("numbers", text);
      EXPECT_EQ(collected.size(), mine.rank() == 0 ? 3u : 0u);
    }
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
  EXPECT_EQ(Job::join(RankInfo{})->exchange("numbers", "1"), std::vector<std::string>{"1"});
}
