//===- DeviceTest.cpp - compiled functions on a device --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "runtime/memory/RuntimeTensor.h"
#include "test/unit/OpenCl.h"
#include "test/unit/Refused.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name row("row");

class OnDevice : public testing::Test {
protected:
  void SetUp() override {
    if (std::string reason = whyNoOpenCl(); !reason.empty())
      GTEST_SKIP() << reason;
    device = memoryOfDevice("opencl:0");
  }
  std::shared_ptr<MemoryManager> device;

  static std::string spaceOf(const Tensor &tensor) { return tensor.data()->space(); }
  Tensor numbers() const { return Tensor::of<float>({1, 2, 3, 4}, {{row, 4}}); }
};
} // namespace

TEST_F(OnDevice, StateStaysThere) {
  auto step = jit(
      [](Tensor &state, const Tensor &x) {
        state = state + x;
        return sum(state, over(row));
      },
      {.name = "step", .device = "opencl:0"});
  Tensor state = numbers();
  double total = 0;
  for (int i = 0; i < 3; ++i) {
    total = step(state, numbers()).item();
    EXPECT_EQ(spaceOf(state), "opencl:0");
  }
  EXPECT_EQ(total, 40);
  EXPECT_EQ(state.to<float>({row}), (std::vector<float>{4, 8, 12, 16}));
  // Functions of the CPU read it, too.
  auto cpu = jit([](const Tensor &x) { return x * 2; });
  EXPECT_EQ(cpu(state).to<float>({row}), (std::vector<float>{8, 16, 24, 32}));
  EXPECT_EQ((state + 1).to<float>({row}), (std::vector<float>{5, 9, 13, 17}));
}

TEST_F(OnDevice, CapturedAndKeptTensorsAreCopiedOnce) {
  Tensor captured = numbers(), kept = numbers();
  auto function = jit([=](const Tensor &weight, const Tensor &x) { return captured + weight * x; },
                      {.name = "f", .device = "opencl:0", .kept = {0}});
  auto allocations = [&] {
    (void)function(kept, numbers());
    return device->statistics().allocations;
  };
  (void)allocations();
  int64_t before = allocations(), after = allocations();
  EXPECT_EQ(after - before, 2); // x and the result
  EXPECT_EQ(function(kept, numbers()).to<float>({row}), (std::vector<float>{2, 6, 12, 20}));
}

TEST_F(OnDevice, TensorsMove) {
  Tensor there = numbers().to("opencl:0");
  EXPECT_EQ(spaceOf(there), "opencl:0");
  EXPECT_EQ(there.to("opencl:0").data(), there.data());
  Tensor back = there.to("cpu");
  EXPECT_EQ(spaceOf(back), "host");
  EXPECT_EQ(back.to<float>({row}), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Devices, UnknownOnesAreRefused) {
  Tensor x = Tensor::of<float>({1, 2}, {{row, 2}});
  refused([&] { (void)x.to("vax"); }, {"there is no device 'vax'"});
  refused([&] { (void)jit([](const Tensor &x) { return x; }, {.device = "vax"}); },
          {"there is no device 'vax'", "'cpu', 'auto'"});
}

// The interpreter runs the programs of the device `null`, whose memory is the host's.
TEST(Devices, NullIsOne) {
  auto twice = jit([](const Tensor &x) { return x + x; }, {.device = "null"});
  Tensor x = Tensor::of<float>({1, 2}, {{row, 2}});
  EXPECT_EQ(twice(x.to("null")).to<float>({row}), (std::vector<float>{2, 4}));
}
