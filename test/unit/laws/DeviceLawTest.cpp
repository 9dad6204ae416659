//===- DeviceLawTest.cpp - programs on a GPU give the oracle's values -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random programs on an OpenCL device, with the schedules that are chosen for warps of 32 and of 64
// lanes, which must give the same bits, also if lanes shuffle, and with schedules and layouts that
// are drawn.
//
//===----------------------------------------------------------------------===//

#include "test/unit/OpenCl.h"
#include "test/unit/laws/Choices.h"
#include "test/unit/laws/Laws.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

static GeneratorOptions optionsFor(uint64_t seed) {
  GeneratorOptions options;
  options.steps = 2 + int(seed % 5);
  options.symbols = seed % 3 == 0;
  options.control = seed % 6 == 1;
  options.gradients = seed % 4 == 2;
  return options;
}

/// Sets the number of lanes of a warp, and whether they shuffle. For some seeds blocks scan, and
/// update, so few points that small tensors have several of them.
static void setWarp(ModuleOp module, int64_t warp, uint64_t seed, bool shuffles = false) {
  Builder b(module.getContext());
  NamedAttrList facts;
  if (shuffles)
    facts.set("shuffle_lanes", b.getI64IntegerAttr(warp));
  // Intel's runtime has warps only where it optimises.
  setenv("HEDDLE_OPENCL_OPTIONS", shuffles ? "" : "-cl-opt-disable", /*overwrite=*/1);
  facts.set("warp", b.getI64IntegerAttr(warp));
  if (seed % 3 != 0)
    facts.set("points_per_block", b.getI64IntegerAttr(seed % 3 == 1 ? 2 : 8));
  module->setAttr(machineAttrName,
                  nest::MachineAttr::get(module.getContext(), facts.getDictionary(b.getContext())));
}

/// A law on programs of a device with warps of 32 lanes, at other sizes as well. `draw` makes
/// choices in nests.
static CompiledLaw lawOnDevice(const std::string &name,
                               std::function<void(func::FuncOp, Dice &)> draw = nullptr) {
  auto prepare = [=](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t> seeds) {
    setWarp(module, 32, seeds[0]);
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
  CompiledLaw compiled{name, 10, optionsFor, prepare};
  compiled.compile.targetCpu = "opencl";
  compiled.sizes = [](uint64_t seed) {
    // Some are so large that lanes share sums, whose bits depend on how many terms each adds up.
    Dice dice(seed);
    return std::pair(dice.chance(40) ? dice.between(9, 40) : dice.between(0, 3),
                     dice.between(0, 3));
  };
  return compiled;
}

TEST(DeviceLaw, BothWarpsGiveTheOraclesValuesAndTheSameBits) {
  if (std::string reason = test::whyNoOpenCl(); !reason.empty())
    GTEST_SKIP() << reason;
  CompiledLaw law = lawOnDevice("the device law");
  law.prepareAgain = [first = law.prepare](ModuleOp module, ArrayRef<std::string> names,
                                           ArrayRef<uint64_t> seeds) {
    LogicalResult prepared = first(module, names, seeds);
    bool isIntels = StringRef(getenv("HEDDLE_OPENCL")).contains("intelocl");
    bool shuffles = isIntels && seeds[0] / 10 % 5 < 2; // it optimises slowly
    setWarp(module, seeds[0] / 10 % 5 == 0 ? 32 : 64, seeds[0], shuffles);
    return prepared;
  };
  holdCompiled(law, {0.3, 0});
}

TEST(DeviceChoiceLaw, AnyLanesGiveTheSameValues) {
  if (std::string reason = test::whyNoOpenCl(); !reason.empty())
    GTEST_SKIP() << reason;
  Drawn drawn;
  auto draw = [&](func::FuncOp function, Dice &dice) {
    drawLaneSchedules(function, dice, drawn);
    if (dice.chance(50))
      drawLayouts(function, dice);
  };
  holdCompiled(lawOnDevice("the device law for any lanes", draw), {0.3, 0});
  int loops = 0;
  for (const auto &[what, count] : drawn)
    loops += count;
  for (const char *what : {"together", "together in a block", "block", "warp", "lane", "loop",
                           "register", "vector", "shared1", "shared2"})
    EXPECT_TRUE(drawn[what] > 0 || loops < 4000) << "no " << what << " was drawn";
}
