//===- BlocksTest.cpp - how long blocks of lanes take ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/LaneBlocks.h"

#include "gtest/gtest.h"

using namespace heddle::cost;

/// A GPU whose cores hold 1024 lanes and 100 KiB.
static Machine gpu() {
  Machine machine;
  machine.occupancy = {/*cores=*/64,           /*warp=*/32,
                       /*lanesPerCore=*/1024,
                       /*registersPerCore=*/0, /*sharedBytes=*/100000,
                       /*coalescedBytes=*/64};
  machine.memories = {{"memory", INFINITY, 0.1}};
  return machine;
}

TEST(Blocks, LoadsAheadHideTheTimeOfMemoryWithFewLanes) {
  BlockAmounts amounts;
  amounts.blocks = 640;
  amounts.lanes = 256;
  amounts.instructions = 1e6;
  amounts.bytes = 1e6;
  amounts.sharedBytes = 10000; // four blocks
  double many = secondsOf(amounts, gpu());
  amounts.sharedBytes = 90000; // one block: a quarter of the lanes, which is enough
  EXPECT_DOUBLE_EQ(secondsOf(amounts, gpu()), many);
  amounts.lanes = 128; // an eighth is enough only for blocks that load ahead
  double few = secondsOf(amounts, gpu());
  amounts.ahead = 1;
  EXPECT_LT(secondsOf(amounts, gpu()), few * 0.6);
}

TEST(Blocks, BarriersTakeTime) {
  BlockAmounts amounts;
  amounts.instructions = 1000;
  double without = secondsOf(amounts, gpu());
  amounts.barriers = 100;
  EXPECT_GT(secondsOf(amounts, gpu()), without * 1.5);
}
