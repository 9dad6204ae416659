//===- StepsTest.cpp - what steps of a program cost -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Steps.h"

#include "gtest/gtest.h"

using namespace heddle::cost;

TEST(Steps, AreShorterThanABarrier) {
  Machine machine = Machine::of({});
  machine.rates.barrierSeconds = 5;
  machine.rates.stepStart = 2;
  EXPECT_TRUE(isShorterThanBarrier(6.9, machine));
  EXPECT_FALSE(isShorterThanBarrier(7.1, machine));
}

/// Zeros are stored to the nearest memory that holds them, and count at one level.
TEST(Steps, ThatClearMoveBytesAtOneLevel) {
  Machine machine = Machine::of({});
  Rates &r = machine.rates = machine.rates.warm();
  r.clock = 1;
  r.stepStart = r.chunkSeconds = r.issueCycles = r.exposedPart = 0;
  r.storeCycles = 64; // a cycle for each byte of a vector
  r.l2ByteCycles = 2, r.l3ByteCycles = 4, r.memoryByteCycles = 8;
  EXPECT_EQ(secondsToClear(32 << 10, machine), 32 << 10);
  r.exposedPart = 1; // nothing overlaps
  EXPECT_EQ(secondsToClear(64 << 10, machine), (64 << 10) * (1 + 2 * 2.));
  EXPECT_EQ(secondsToClear(2 << 20, machine), (2 << 20) * (1 + 2 * 4.));
  EXPECT_EQ(secondsToClear(32 << 20, machine), (32 << 20) * (1 + 2 * 8.));
}

/// A destination is fetched and written back, a source is fetched.
TEST(Steps, ThatCopyMoveBytesAtOneLevel) {
  Machine machine = Machine::of({});
  Rates &r = machine.rates = machine.rates.warm();
  r.clock = 1;
  r.stepStart = r.chunkSeconds = 1 << 20;
  r.issueCycles = 0;
  r.exposedPart = 1;
  r.loadCycles = r.storeCycles = 64;
  r.l2ByteCycles = 2, r.l3ByteCycles = 4, r.memoryByteCycles = 8;
  EXPECT_EQ(secondsToCopy(16 << 10, machine), (16 << 10) * 2);
  EXPECT_EQ(secondsToCopy(32 << 10, machine), (32 << 10) * (2 + 3 * 2.));
  EXPECT_EQ(secondsToCopy(1 << 20, machine), (1 << 20) * (2 + 3 * 4.));
  EXPECT_EQ(secondsToCopy(16 << 20, machine), (16 << 20) * (2 + 3 * 8.));
}
