//===- fault-main.cpp - a rank of a job with a fault, as a process --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     heddle-test-fault SEED INDEX MPI
//
// Prints "rank N: done", or the error that ended it, and ends with status 1 then.
//
//===----------------------------------------------------------------------===//

#include "Fault.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

int main(int, char **argv) {
  Fault fault =
      drawFault(unsigned(std::atoi(argv[1])), std::atoi(argv[2]), std::atoi(argv[3]) != 0);
  int rank = -1;
  std::string text = "done";
  try {
    auto job = Job::join();
    rank = job->rank();
    runRank(*job, fault, [] {
      for (;;)
        pause();
    });
  } catch (const std::exception &error) {
    text = error.what();
  }
  std::printf("rank %d: %s\n", rank, text.c_str());
  std::fflush(stdout);
  return text == "done" ? 0 : 1;
}
