//===- DeviceLawTest.cpp - programs on a GPU give the oracle's values -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random programs on an OpenCL device, with the schedules that are chosen for warps of 32 and of 64
// lanes.
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

TEST_P(DeviceLaw, ProgramsGiveTheOraclesValues) {
  if (std::string reason = test::whyNoOpenCl(); !reason.empty())
    GTEST_SKIP() << reason;
  auto options = [](uint64_t seed) {
    GeneratorOptions options;
    options.steps = 2 + int(seed % 5);
    options.symbols = seed % 3 == 0;
    options.control = seed % 6 == 1;
    options.gradients = seed % 4 == 2;
    return options;
  };
  auto prepare = [warp = GetParam()](ModuleOp module, ArrayRef<std::string> names,
                                     ArrayRef<uint64_t> seeds) {
    Builder b(module.getContext());
    module->setAttr(machineAttrName,
                    nest::MachineAttr::get(
                        module.getContext(),
                        b.getDictionaryAttr(b.getNamedAttr("warp", b.getI64IntegerAttr(warp)))));
    keepPrivate(module, names);
    for (auto [name, seed] : llvm::zip_equal(names, seeds))
      if (Dice dice(seed); seed % 2 == 0)
        drawSignature(module.lookupSymbol<func::FuncOp>(name), dice);
    return success();
  };
  CompiledLaw law{"the device law", 10, options, prepare};
  law.compile.targetCpu = "opencl";
  law.sizes = [](uint64_t seed) {
    Dice dice(seed);
    return std::pair(dice.between(0, 3), dice.between(0, 3));
  };
  holdCompiled(law, {0.3, 0}); // the same programs for both warps
}
