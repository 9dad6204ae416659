//===- FaultTest.cpp - every drawn fault ends as it should ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank that goes wrong is an error on every other one, which names it and where the job was; what
// was donated is poisoned, the process lives, and nothing hangs. $HEDDLE_FAULTS says how many are
// drawn, $HEDDLE_FAULTS_SEED from which seed, $HEDDLE_FAULTS_ONLY the index of a single one.
//
//===----------------------------------------------------------------------===//
#include "Fault.h"
#include "test/unit/runtime/control/Ranks.h"

#include <atomic>

using namespace heddle;
using namespace heddle::test;

static int numberOf(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

#ifdef HEDDLE_HAVE_MPI
static constexpr bool mpi = true;
#else
static constexpr bool mpi = false;
#endif

/// The limit of a fault's duration, in seconds. If it takes longer, it hangs, and the test fails.
static constexpr int limit = 60;

/// "done", or the error of each rank.
static std::vector<std::string> onThreads(const Fault &fault) {
  std::vector<std::string> ends(size_t(fault.ranks), "done");
  std::atomic<int> ended{0};
  std::atomic<bool> over{false};
  std::thread watch([&, begin = std::chrono::steady_clock::now()] {
    while (!over) {
      std::this_thread::sleep_for(20ms);
      if (std::chrono::steady_clock::now() - begin < std::chrono::seconds(limit))
        continue;
      std::fprintf(stderr, "Failure: it hangs: %s\n", fault.describe().c_str());
      std::abort();
    }
  });
  TestJob job(fault.ranks, 2s);
  auto errors = job.run([&](Job &mine) {
    struct Count {
      std::atomic<int> &ended;
      ~Count() { ++ended; }
    } count{ended};
    runRank(mine, fault, [&] {
      while (ended < fault.ranks - 1)
        std::this_thread::sleep_for(10ms);
    });
  });
  over = true;
  watch.join();
  for (size_t r = 0; r < ends.size(); ++r)
    if (!errors[r].empty())
      ends[r] = errors[r];
  return ends;
}

/// The output of a command, and its status.
static std::pair<std::string, int> outputOf(const std::string &command) {
  FILE *stream = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  char part[4096];
  for (size_t got; (got = fread(part, 1, sizeof part, stream)) > 0;)
    text.append(part, got);
  return {text, pclose(stream)};
}

static std::string commandOf(const Fault &fault, unsigned seed, int index) {
  std::string command = "timeout -s KILL " + std::to_string(limit) + " ";
  if (fault.way == Way::Launch)
    command += HEDDLE_TEST_LAUNCH " --timeout 2 --grace 3 --no-prefix --no-pin -n ";
  else
    command += "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HEDDLE_TIMEOUT=2 "
               "mpirun --oversubscribe -n ";
  return command + std::to_string(fault.ranks) + " " HEDDLE_TEST_FAULT " " + std::to_string(seed) +
         " " + std::to_string(index) + " " + std::to_string(mpi);
}

/// A survivor's error names the rank at fault, and where the job was.
static void expectNamed(const std::string &error, const Fault &fault) {
  expectIn("rank " + std::to_string(fault.rank), error);
  bool place = error.find("(model.cpp:") != std::string::npos ||
               error.find("'train' was ended") != std::string::npos ||
               error.find("at call ") != std::string::npos;
  EXPECT_TRUE(place) << "says no place: " << error;
}

static void runProcesses(const Fault &fault, unsigned seed, int index) {
  auto begin = std::chrono::steady_clock::now();
  auto [text, status] = outputOf(commandOf(fault, seed, index));
  SCOPED_TRACE(text);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(limit)) << "it hangs";
  EXPECT_EQ(status == 0, fault.isHarmless());
  for (int r = 0; r < fault.ranks; ++r) {
    std::string who = "rank " + std::to_string(r) + ": ";
    size_t at = text.find(who);
    if (fault.isHarmless()) {
      expectIn(who + "done", text);
      continue;
    }
    if (r == fault.rank)
      continue;
    // mpirun may end survivors before they have reported.
    if (at == std::string::npos && fault.way == Way::Mpirun)
      continue;
    if (at == std::string::npos)
      ADD_FAILURE() << "rank " << r << " says nothing";
    else
      expectNamed(text.substr(at + who.size(), text.find('\n', at) - at - who.size()), fault);
  }
}

static void run(unsigned seed, int index) {
  Fault fault = drawFault(seed, index, mpi);
  SCOPED_TRACE("HEDDLE_FAULTS_SEED=" + std::to_string(seed) +
               " HEDDLE_FAULTS_ONLY=" + std::to_string(index) + ": " + fault.describe());
  if (fault.way != Way::Threads)
    return runProcesses(fault, seed, index);
  std::vector<std::string> ends = onThreads(fault);
  for (int r = 0; r < fault.ranks; ++r)
    if (fault.isHarmless())
      EXPECT_EQ(ends[size_t(r)], "done") << "rank " << r;
    else if (r != fault.rank)
      expectNamed(ends[size_t(r)], fault);
}

TEST(Faults, EveryOneEndsInErrorsThatNameIt) {
  auto seed = unsigned(numberOf("HEDDLE_FAULTS_SEED", 1));
  int count = numberOf("HEDDLE_FAULTS", 18), only = numberOf("HEDDLE_FAULTS_ONLY", -1);
  for (int index = 0; index < count; ++index)
    if (only < 0 || index == only)
      run(seed, index);
  if (only >= count)
    run(seed, only);
}
