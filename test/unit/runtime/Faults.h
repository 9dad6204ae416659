//===- Faults.h - fault injection into system calls -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test that links Faults.cpp replaces `operator new` and the system's functions for memory, files
// and threads by ones that fail at the n-th call, whichever thread makes it:
//
//     failEach(Fault::Files, [&] { image.write(path); },
//              [&](bool threw) { ... what has to hold, whether it threw or not ... });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_FAULTS_H
#define HEDDLE_TEST_UNIT_RUNTIME_FAULTS_H

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>

namespace heddle::test {

namespace Fault {
enum Kind : unsigned {
  Memory = 1,  ///< operator new, aligned_alloc
  Files = 2,   ///< open, read, write, fsync, rename, ...
  Maps = 4,    ///< mmap, mprotect
  Threads = 8, ///< pthread_create
};
}

/// Makes the `n`-th call of these kinds from now on fail, counted from 1.
void armFaults(unsigned kinds, int64_t n);
/// Makes that call end the process at once, as a signal would.
void armKill(unsigned kinds, int64_t n);
/// Stops injecting faults; true if a call has failed.
bool disarmFaults();

/// The bytes that `operator new` with an alignment (of host arrays) has allocated, and their
/// maximum.
extern std::atomic<int64_t> heldBytes, mostHeldBytes;

/// Runs the action with the first call failing, then with the second, and so on until no call
/// fails; each time `holds(threw)` checks the state afterwards. The last run must not throw.
template <typename Action, typename Holds>
void failEach(unsigned kinds, Action &&action, Holds &&holds) {
  int threwTimes = 0;
  for (int64_t n = 1;; ++n) {
    bool threw = false;
    armFaults(kinds, n);
    try {
      action();
    } catch (const std::exception &error) {
      bool struck = disarmFaults();
      threw = true;
      ++threwTimes;
      EXPECT_TRUE(struck) << error.what();
      EXPECT_NE(std::string(error.what()), "") << "call " << n;
    }
    bool struck = disarmFaults() || threw;
    SCOPED_TRACE("call " + std::to_string(n));
    holds(threw);
    if (!struck) {
      EXPECT_GT(threwTimes, 0) << "nothing failed";
      return;
    }
    ASSERT_LT(n, 100000);
    if (testing::Test::HasFailure())
      return;
  }
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_RUNTIME_FAULTS_H
