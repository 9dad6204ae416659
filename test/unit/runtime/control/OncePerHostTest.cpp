//===- OncePerHostTest.cpp - what one rank of a host makes for all --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/control/Ranks.h"

#include "runtime/control/OncePerHost.h"

using namespace heddle;
using namespace heddle::test;

TEST(OncePerHost, OneRankMakesItForAll) {
  TestJob job(3);
  std::atomic<int> made{0};
  std::string large(3 << 20, 'x');
  auto errors = job.run([&](Job &mine) {
    for (const std::string &bytes : {std::string("small"), large, std::string()})
      EXPECT_EQ(oncePerHost(mine, "making",
                            [&] {
                              EXPECT_EQ(mine.rank(), 0);
                              ++made;
                              return bytes;
                            }),
                bytes);
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
  EXPECT_EQ(made, 3);
  auto alone = Job::join(RankInfo{});
  EXPECT_EQ(oncePerHost(*alone, "making", [] { return std::string("one"); }), "one");
}

TEST(OncePerHost, ItMayTakeLongerThanTheTimeoutOfTheJob) {
  TestJob job(2, 1s);
  auto errors = job.run([&](Job &mine) {
    EXPECT_EQ(oncePerHost(mine, "making",
                          [] {
                            std::this_thread::sleep_for(2500ms);
                            return std::string("late");
                          }),
              "late");
  });
  EXPECT_EQ(errors, std::vector<std::string>(2));
}

TEST(OncePerHost, AnErrorReachesAllAndTheJobLives) {
  TestJob job(3);
  auto errors = job.run([&](Job &mine) {
    std::string error;
    try {
      oncePerHost(mine, "making soup", []() -> std::string { throw Error("no water"); });
    } catch (const Error &thrown) {
      error = thrown.what();
    }
    if (mine.rank() == 0)
      EXPECT_EQ(error, "no water");
    else
      EXPECT_TRUE(error.starts_with("rank 0 (host ") &&
                  error.ends_with(") failed at making soup: no water"))
          << error;
    EXPECT_EQ(oncePerHost(mine, "making", [] { return std::string("tea"); }), "tea");
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
}

TEST(OncePerHost, ARankThatFailsMeanwhileIsNamed) {
  TestJob job(2);
  auto errors = job.run([&](Job &mine) {
    oncePerHost(mine, "making", [&]() -> std::string {
      mine.channel()->fail("was struck by lightning"); // as it is reported of one that dies
      return "nothing";
    });
  });
  for (const std::string &error : errors)
    EXPECT_TRUE(error.starts_with("rank 0 (host ") && error.ends_with("was struck by lightning"))
        << error;
}

TEST(OncePerHost, ARankThatDoesSomethingElseIsNamed) {
  TestJob job(2, 3s);
  auto errors = job.run([&](Job &mine) {
    if (mine.rank() == 0)
      oncePerHost(mine, "making", [] { return std::string("bread"); });
    else
      mine.channel()->agree({{"entry", "'train'"}});
  });
  for (const std::string &error : errors)
    EXPECT_NE(error.find("making"), std::string::npos) << error;
}
