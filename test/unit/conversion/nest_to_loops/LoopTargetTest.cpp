//===- LoopTargetTest.cpp - loops for a target other than a CPU -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/CpuLoops.h"
#include "test/unit/conversion/nest_to_loops/Harness.h"
#include "test/unit/conversion/nest_to_loops/Texts.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::test;
using namespace mlir;

namespace {
/// Differs from the CPU wherever it may, and counts calls.
class Device : public cpu::CpuLoops {
public:
  Device() : CpuLoops({}) {}

  SmallVector<StringRef> memories() const override { return {"", "shared", "tensor"}; }
  SmallVector<StringRef> engines() const override { return {"dma"}; }
  unsigned buffers() const override { return 1; }
  Value address(OpBuilder &b, Location loc, StringRef memory, Value scratch,
                Value offset) const override {
    copies[memory.str()] += 1;
    return CpuLoops::address(b, loc, memory, scratch, offset);
  }
  void barrier(OpBuilder &b, Location loc, StringRef memory) const override {
    barriers[memory.str()] += 1;
  }
  void prefetch(OpBuilder &, Location, Value, bool, bool) const override { ++prefetches; }

  mutable std::map<std::string, int> copies, barriers;
  mutable int prefetches = 0;
};

std::string compile(const Device &device, const std::string &schedule, int64_t chunks = 0) {
  Options options;
  options.target = &device;
  auto context = makeContext();
  Kernel kernel(*context, matmul(20, 36, 12, "[m, k]", "[k, n]", "[m, n]", schedule), options);
  std::string message = kernel.check();
  if (message.empty() && chunks)
    EXPECT_EQ(kernel.chunks, chunks);
  return message;
}
} // namespace

TEST(LoopTarget, BlocksShareAndFillTogether) {
  Device device;
  // 20 rows in blocks of 8; a copy of each operand for 6 of k; lanes and the grid are loops.
  EXPECT_EQ(
      compile(device,
              "[grid n by 18, block m by 8, cache k by 6, lane m by 2, lane n by 6, loop k by "
              "1, register m by 1, vector n by 1], "
              "[stage 0 at 2 level \"shared\" in #nest.layout<[m, k]>, "
              "stage 1 at 2 level \"tensor\" in #nest.layout<[k, n]>]",
              /*chunks=*/6),
      "");
  // Copies are emitted as often as loops around them have bodies. Each waits when it is full, and
  // before it is filled again.
  EXPECT_GT(device.copies["shared"], 0);
  EXPECT_EQ(device.copies["shared"], device.copies["tensor"]);
  for (const char *memory : {"shared", "tensor"})
    EXPECT_EQ(device.barriers[memory], 2 * device.copies[memory]);
  EXPECT_EQ(device.barriers.count(""), 0u);
}

TEST(LoopTarget, RefusesWhatItLacks) {
  Device device;
  auto refusal = [&](const std::string &stage) {
    return compile(device, "[block m by 4, cache k by 6, loop k by 1, loop m by 1, loop n by 1], "
                           "[stage 0 at 1 " +
                               stage + "]");
  };
  const std::string layout = "in #nest.layout<[m, k]>";
  EXPECT_EQ(refusal(layout + " engine \"dma\""), "");
  EXPECT_NE(refusal("level \"l3\" " + layout)
                .find("stage of read 0: the target has no memory 'l3', expected one of '', "
                      "'shared', 'tensor'"),
            std::string::npos);
  EXPECT_NE(refusal(layout + " engine \"tma\"")
                .find("stage of read 0: the target has no engine 'tma', expected one of 'dma'"),
            std::string::npos);
  EXPECT_NE(refusal(layout + " buffers 2")
                .find("stage of read 0: the target has at most 1 buffers, got 2"),
            std::string::npos);
}

TEST(Stages, RefuseWhatIsNoBoxOrCantBeFetchedAhead) {
  auto refusal = [](const std::string &schedule) {
    return checkText(matmul(20, 36, 12, "[m, k]", "[k, n]", "[m, n]", schedule));
  };
  // Points of one tile of merged names are parts of two rows.
  EXPECT_NE(refusal("[cache (m, n) by 8, loop (m, n) by 1, loop k by 1], "
                    "[stage 0 at 0 in #nest.layout<[m, k]>]")
                .find("stage of read 0: expected coordinates that are a part which the loops "
                      "around fix plus a part of constant size, got #nest.map<"),
            std::string::npos);
  const std::string loops = "[cache m by 4, loop k by 4, loop k by 1, register m by 1, vector n by "
                            "1], [stage 0 at 1 in #nest.layout<[m, k]>";
  EXPECT_EQ(refusal(loops + "]"), "");
  EXPECT_NE(refusal(loops + " buffers 2]")
                .find("stage of read 0: expected one buffer at the loop over 'k', inside of which "
                      "the sums stay in registers, got 2"),
            std::string::npos);
}

TEST(Levels, GiveTheSameValues) {
  for (const char *schedule :
       {"[grid m by 8, grid n by 8, block m by 4, block n by 8, cache k by 6, loop k by 1, loop m "
        "by 1, loop n by 1]",
        "[cluster m by 8, block m by 4, cache k by 6, warp n by 16, lane n by 4, loop k by 1, loop "
        "m by 1, loop n by 1]",
        "[block m by 4, block n by 16, cache k by 6, lane n by 2, lane m by 2, loop k by 1, "
        "register m by 1, vector n by 1], [stage 0 at 2 level \"shared\" in #nest.layout<[m, k]>, "
        "stage 1 at 2 level \"shared\" in #nest.layout<[k, n]> buffers 2]",
        "[thread m by 4, cache n by 8 unroll 3, cache k by 6 unroll 2, loop k by 1 unroll 4, loop "
        "m by 1 unroll 2, vector n by 1]",
        "[loop m by 1 unroll 5, loop k by 1 unroll 4, vector n by 1]",
        "[thread m by 8, cache k by 6, cache n by 8, loop m by 4, loop k by 1, register m by 1, "
        "vector n by 1], [stage 1 at 2 in #nest.layout<[k, n]> buffers 2, stage 0 at 1 in "
        "#nest.layout<[m, k]> buffers 2]",
        "[register m by 1, vector n by 1, cache k by 6, loop k by 2, unit k by 1]"})
    for (auto [m, n, k] :
         {std::tuple(8, 16, 6), std::tuple(9, 17, 7), std::tuple(1, 3, 1), std::tuple(33, 40, 13)})
      for (const char *type : {"f32", "bf16"})
        EXPECT_EQ(checkText(matmul(m, n, k, "[m, k]", "[k, n]", "[m, n]", schedule, type)), "")
            << schedule;
}
