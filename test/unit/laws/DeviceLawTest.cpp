//===- DeviceLawTest.cpp - programs on a GPU give the oracle's values -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random programs on an OpenCL device, with the schedules that are chosen for warps of 32 and of 64
// lanes, and with schedules and layouts that are drawn.
//
//===----------------------------------------------------------------------===//

#include "test/unit/OpenCl.h"
#include "test/unit/laws/Choices.h"
#include "test/unit/laws/Laws.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

class DeviceLaw : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Warp, DeviceLaw, testing::Values(32, 64));

static GeneratorOptions optionsFor(uint64_t seed) {
  GeneratorOptions options;
  options.steps = 2 + int(seed % 5);
  options.symbols = seed % 3 == 0;
  options.control = seed % 6 == 1;
  options.gradients = seed % 4 == 2;
  return options;
}

/// Holds `law` on programs for warps of `warp` lanes, at other sizes as well.
static void holdOnDevice(const std::string &law, int64_t warp, double share,
                         llvm::function_ref<void(func::FuncOp, Dice &)> draw) {
  auto prepare = [&](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t> seeds) {
    Builder b(module.getContext());
    module->setAttr(machineAttrName,
                    nest::MachineAttr::get(
                        module.getContext(),
                        b.getDictionaryAttr(b.getNamedAttr("warp", b.getI64IntegerAttr(warp)))));
    keepPrivate(module, names);
    if (draw && failed(lowerToNests(module)))
      return failure();
    for (auto [name, seed] : llvm::zip_equal(names, seeds)) {
      Dice dice(seed);
      auto function = module.lookupSymbol<func::FuncOp>(name);
      if (draw)
        draw(function, dice);
      else if (seed % 2 == 0)
        drawSignature(function, dice);
    }
    return success();
  };
  CompiledLaw compiled{law, 10, optionsFor, prepare};
  compiled.compile.targetCpu = "opencl";
  compiled.sizes = [](uint64_t seed) {
    Dice dice(seed);
    return std::pair(dice.between(0, 3), dice.between(0, 3));
  };
  holdCompiled(compiled, {share, 0});
}

TEST_P(DeviceLaw, ProgramsGiveTheOraclesValues) {
  if (std::string reason = test::whyNoOpenCl(); !reason.empty())
    GTEST_SKIP() << reason;
  holdOnDevice("the device law", GetParam(), 0.3, nullptr); // the same programs for both warps
}

TEST(DeviceChoiceLaw, AnyLanesGiveTheSameValues) {
  if (std::string reason = test::whyNoOpenCl(); !reason.empty())
    GTEST_SKIP() << reason;
  Drawn drawn;
  holdOnDevice("the device law for any lanes", 32, 0.3, [&](func::FuncOp function, Dice &dice) {
    drawLaneSchedules(function, dice, drawn);
    if (dice.chance(50))
      drawLayouts(function, dice);
  });
  int loops = 0;
  for (const auto &[what, count] : drawn)
    loops += count;
  for (const char *what : {"together", "together in a block", "block", "warp", "lane", "loop",
                           "register", "vector", "shared1", "shared2"})
    EXPECT_TRUE(drawn[what] > 0 || loops < 4000) << "no " << what << " was drawn";
}
