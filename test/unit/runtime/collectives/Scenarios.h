//===- Scenarios.h - what every engine has to do ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scenario is run by all ranks at once: threads of a test, or processes that a test starts. It
// throws an exception that says what is not as expected.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_SCENARIOS_H
#define HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_SCENARIOS_H

#include "runtime/collectives/Communicator.h"

#include <functional>
#include <memory>

namespace heddle::test {

struct Scenario {
  std::string name;
  bool fails;          ///< ends with a failure of all ranks
  std::string options; ///< of the context
  int32_t least;       ///< the number of ranks that it needs
  /// It may destroy the communicator, or end the process.
  std::function<void(std::unique_ptr<Communicator> &)> run;
};

const std::vector<Scenario> &scenarios();
const Scenario &scenario(const std::string &name);

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_COLLECTIVES_SCENARIOS_H
