//===- Mutant.h - tells whether a fault is enabled --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All faults are built into one binary, each behind a question to the environment:
//
//     if (!fits || (!inside && !mutant("gather-in-order-no-range-check")))
//
// HEDDLE_MUTANT names the enabled fault. `test/mutants/run` includes this in each file that a patch
// changes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_MUTANTS_MUTANT_H
#define HEDDLE_TEST_MUTANTS_MUTANT_H

#include <cstdlib>
#include <cstring>

inline bool mutant(const char *name) {
  static const char *const chosen = std::getenv("HEDDLE_MUTANT");
  return chosen && std::strcmp(chosen, name) == 0;
}

#endif // HEDDLE_TEST_MUTANTS_MUTANT_H
