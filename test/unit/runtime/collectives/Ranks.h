//===- Ranks.h - runs scenarios on several ranks ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_RANKS_H
#define HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_RANKS_H

#include "Scenarios.h"

#include <map>

namespace heddle::test {

/// A new folder, removed with the object.
class Folder {
public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  std::string path;
  /// The names of the files in it.
  std::vector<std::string> files() const;
};

/// How a rank ended.
struct Ended {
  std::string text; ///< what it printed, or the message of its exception; empty: as expected
  std::map<std::string, int> done = {}; ///< how often a scenario came to its end as expected
  int signal = 0;                       ///< that ended its process
  int status = 0;                       ///< of its process
};

/// Runs a scenario on threads of this process, which find each other by a callback.
std::vector<Ended> runThreads(const std::string &engine, int32_t size, const Scenario &scenario,
                              const std::string &options = "");
/// On processes, which find each other by files.
std::vector<Ended> runProcesses(const std::string &engine, int32_t size, const Scenario &scenario,
                                const std::string &options = "");
/// On processes that mpirun starts, one scenario after another; returns how all of them ended.
Ended runMpi(int32_t size, const std::vector<std::string> &scenarios);

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_RANKS_H
