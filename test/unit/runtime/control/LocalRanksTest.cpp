//===- LocalRanksTest.cpp - ranks that are threads of a process -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/LocalRanks.h"

#include "heddle/Error.h"
#include "test/unit/runtime/InChild.h"
#include "test/unit/runtime/control/Ranks.h"

#include <filesystem>
#include <fstream>
#include <sys/resource.h>

using namespace heddle;
using namespace heddle::test;

TEST(LocalRanks, TheirFolderGoesWhenTheyHaveMet) {
  std::string folder;
  onLocalRanks(3, 1, "shm", [&](const std::shared_ptr<Job> &job) {
    if (job->rank() > 0)
      return;
    folder = std::filesystem::path(job->info().control.substr(5)).parent_path();
    EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
  });
  expectIn("heddle-ranks-", folder);
}

TEST(LocalRanks, TheErrorOfTheRankItselfIsThrown) {
  // Rank 0 only hears that rank 1 has failed.
  std::string error = errorOf<Error>([] {
    onLocalRanks(2, 1, "shm", [](const std::shared_ptr<Job> &job) {
      if (job->rank() == 1)
        throw Error("a mistake");
      job->channel()->agree({{"entry", "'train'"}});
    });
  });
  EXPECT_EQ(error, "a mistake");
}

TEST(LocalRanks, TooManyAreRefused) {
  EXPECT_EQ(errorOf<Error>([] { onLocalRanks(1025, 1, "shm", [](auto &) {}); }),
            "expected at most 1024 ranks in one process, got 1025: start them as processes, by "
            "heddle-launch -n 1025");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // they need any address
TEST(LocalRanks, ThreadsThatCanNotBeHadAreAnError) {
  std::string error = inChild([] {
    // Room for some threads' stacks, not for all.
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = pages * size_t(sysconf(_SC_PAGESIZE)) + (size_t(100) << 20);
    setrlimit(RLIMIT_AS, &limit);
    return errorOf<Error>([] {
      onLocalRanks(1000, 1, "shm", [](const std::shared_ptr<Job> &) {
        throw Error("expected that no rank begins");
      });
    });
  });
  expectIn("can't start rank ", error);
  expectIn(" of 1000 as a thread of this process: ", error);
}
#endif
