//===- StepsTest.cpp - what steps of a program cost -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Steps.h"

#include "gtest/gtest.h"

using namespace heddle::cost;

TEST(Steps, AreShorterThanABarrierByAllTheirWork) {
  Machine machine = Machine::of({});
  machine.rates.stepRate = 1e6;
  machine.rates.stepBandwidth = 1e7;
  machine.rates.barrierSeconds = 5;
  EXPECT_TRUE(isShorterThanBarrier(2e6, 2.9e7, machine));  // 2 and 2.9 seconds
  EXPECT_FALSE(isShorterThanBarrier(2e6, 3.1e7, machine)); // 2 and 3.1
  EXPECT_FALSE(isShorterThanBarrier(6e6, 0, machine));
}

/// Zeros are stored to the nearest memory that holds them, and count at one level.
TEST(Steps, ThatClearMoveBytesAtOneLevel) {
  Machine machine = Machine::of({});
  Rates &r = machine.rates;
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
