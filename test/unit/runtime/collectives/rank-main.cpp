//===- rank-main.cpp - a rank of a test, as a process ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     heddle-test-engine ENGINE RANK SIZE FOLDER OPTIONS SCENARIO...
//
// Prints "SCENARIO: done", or what is not as expected. SIZE 0: as the launcher of the engine says.
// A rank that hangs is ended after a minute.
//
//===----------------------------------------------------------------------===//

#include "Scenarios.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

int main(int argc, char **argv) {
  alarm(60);
  int status = 0;
  for (int i = 6; i < argc; ++i)
    try {
      const Scenario &each = scenario(argv[i]);
      std::string key = std::string("test.") + argv[i];
      auto world = std::make_unique<Communicator>(openEngine(argv[1]),
                                                  HeddleWorld{.rank = std::atoi(argv[2]),
                                                              .size = std::atoi(argv[3]),
                                                              .key = key.c_str(),
                                                              .directory = argv[4],
                                                              .options = argv[5]});
      each.run(world);
      std::printf("%s: done\n", argv[i]);
      std::fflush(stdout); // mpirun may end this process when another one has ended
    } catch (const std::exception &error) {
      std::printf("%s: rank %s: %s\n", argv[i], argv[2], error.what());
      std::fflush(stdout);
      status = 1;
    }
  return status;
}
