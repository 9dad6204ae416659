//===- LayoutLawTest.cpp - any layout gives the same values ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random programs, lowered to nests, get random layouts everywhere: blocked, merged, interleaved, bordered, swizzled, with
// sizes that no block divides. The compiler must keep them, and the compiled values must be the oracle's. A second test has
// a chooser that picks among the candidates at random, so that copies are met too.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Dice.h"
#include "test/unit/laws/Laws.h"

#include "dialects/nest/NestBuild.h"
#include "lib/transforms/nest/AssignLayouts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
Layout drawLayout(Dice &dice, nd::NdTensorType type) {
  Sizes sizes = type.sizes();
  std::vector<std::string> names;
  for (const auto &[name, size] : sizes)
    names.push_back(name);
  dice.shuffle(names);
  Layout layout;
  for (size_t begin = 0; begin < names.size();) {
    Layout::Factor factor;
    for (size_t count = size_t(dice.between(1, 2)); count > 0 && begin < names.size(); --count)
      factor.names.push_back(names[begin++]);
    if (dice.chance(15)) {
      factor.low = dice.below(3);
      factor.high = dice.below(3);
    }
    int64_t divisor = 1;
    for (int64_t blocks = dice.between(-1, 2); blocks > 0; --blocks) {
      Layout::Factor inner = factor;
      inner.divisor = divisor;
      inner.modulus = dice.pick({2, 3, 4, 5, 16});
      divisor *= inner.modulus;
      layout.factors.push_back(inner);
    }
    factor.divisor = divisor;
    layout.factors.push_back(factor);
  }
  dice.shuffle(layout.factors);
  if (dice.chance(10))
    layout.swizzle = {dice.between(1, 2), dice.between(0, 2), dice.between(1, 3)};
  return layout;
}

/// A program as nests, without layouts.
bool lower(ModuleOp module) {
  CompileOptions options;
  options.assignLayouts = false;
  PassManager passes(module.getContext());
  buildNdPipeline(passes, options);
  buildNestPipeline(passes, options, {});
  return succeeded(passes.run(module));
}

/// Random layouts on arguments and nests, but for what is updated in place.
int writeLayouts(func::FuncOp function, Dice &dice) {
  llvm::DenseSet<Value> joined;
  function.walk([&](Operation *op) {
    if (!isa<nest::ComputeOp>(op))
      for (Value value : op->getOperands())
        joined.insert(value);
  });
  int written = 0;
  for (BlockArgument argument : function.getArguments())
    if (!joined.contains(argument) || isa<func::ReturnOp>(*argument.user_begin())) {
      auto layout = nest::LayoutAttr::get(function.getContext(), drawLayout(dice, nest::tensorTypeOf(argument)));
      function.setArgAttr(argument.getArgNumber(), "nd.layout", layout);
      ++written;
    }
  for (auto nest : function.front().getOps<nest::ComputeOp>())
    for (unsigned i = 0; i < nest.getNumResults(); ++i) {
      bool inPlace = llvm::any_of(nest.getResult(i).getUsers(), [](Operation *user) { return isa<nest::UpdateOp>(user); });
      if (inPlace || dice.chance(20))
        continue;
      nest.setLayout(i, nest::LayoutAttr::get(function.getContext(), drawLayout(dice, nest::tensorTypeOf(nest.getResult(i)))));
      ++written;
    }
  return written;
}

/// Picks without looking at costs.
class RandomChooser : public nest::LayoutChooser {
public:
  explicit RandomChooser(uint64_t seed) : seed(seed) {}
  nest::LayoutChoice choose(const nest::LayoutProblem &problem) const override {
    Dice dice(seed);
    nest::LayoutChoice choice;
    for (const nest::LaidValue &value : problem.values)
      choice.layouts.push_back(unsigned(dice.below(int64_t(value.cost.size()))));
    for (const nest::LaidNest &nest : problem.nests)
      choice.ways.push_back(unsigned(dice.below(int64_t(nest.ways.size()))));
    return choice;
  }

private:
  uint64_t seed;
};

/// Lowers programs, has `change` lay them out, compiles them and holds them against the oracle.
void checkLaw(StringRef law, double share, llvm::function_ref<void(func::FuncOp, uint64_t)> change) {
  auto context = makeContext();
  Tally tally;
  Seeds seeds = seedsFor(share);
  for (int i = 0; i < seeds.count; ++i) {
    uint64_t seed = seeds.first + uint64_t(i);
    Announce announce(law, seed);
    GeneratorOptions options;
    options.steps = 3 + int(seed % 4);
    OwningOpRef<ModuleOp> module = makeProgram(*context, seed, options);
    Values arguments = drawArguments(mainOf(*module), seed);
    auto expected = interp::interpret(mainOf(*module), arguments);
    ASSERT_TRUE(succeeded(expected)) << "seed " << seed;
    ASSERT_TRUE(lower(*module)) << "seed " << seed;
    change(mainOf(*module), seed);
    CompileOptions compile;
    compile.programThreads = 1;
    compile.compileThreads = 1;
    for (const Violation &violation : checkCompiled(*module, {"main"}, {arguments}, {Values(*expected)}, tally, compile))
      ASSERT_FALSE(violation) << law.str() << ", seed " << seed << ": " << violation.what << "\n" << violation.ir;
    ++tally.programs;
  }
  EXPECT_GT(tally.comparisons, 0);
  EXPECT_LT(double(tally.undecided), 0.05 * double(tally.elements) + 1);
}
} // namespace

TEST(LayoutLaw, AnyLayoutGivesTheSameValues) {
  int written = 0;
  checkLaw("the layout law", 0.15, [&](func::FuncOp function, uint64_t seed) {
    Dice dice(seed * 31 + 5);
    written += writeLayouts(function, dice);
  });
  EXPECT_GT(written, 0);
}

TEST(LayoutLaw, AnyChoiceOfTheChooserGivesTheSameValues) {
  checkLaw("the layout law for choosers", 0.15, [](func::FuncOp function, uint64_t seed) {
    EXPECT_TRUE(succeeded(nest::assignLayouts(function, {}, RandomChooser(seed))));
  });
}

TEST(LayoutLaw, WrittenLayoutsAreKept) {
  auto context = makeContext();
  Seeds seeds = seedsFor(0.2);
  for (int i = 0; i < seeds.count; ++i) {
    uint64_t seed = seeds.first + uint64_t(i);
    Announce announce("written layouts are kept", seed);
    OwningOpRef<ModuleOp> module = makeProgram(*context, seed, {});
    ASSERT_TRUE(lower(*module));
    func::FuncOp function = mainOf(*module);
    Dice dice(seed);
    writeLayouts(function, dice);
    std::vector<std::pair<Operation *, Attribute>> before;
    for (auto nest : function.front().getOps<nest::ComputeOp>())
      if (nest.getLayouts())
        before.emplace_back(nest, nest.getLayoutsAttr());
    SmallVector<Attribute> arguments;
    for (unsigned a = 0; a < function.getNumArguments(); ++a)
      arguments.push_back(function.getArgAttr(a, "nd.layout"));
    ASSERT_TRUE(succeeded(nest::assignLayouts(function)));
    for (unsigned a = 0; a < function.getNumArguments(); ++a)
      if (arguments[a])
        EXPECT_EQ(arguments[a], function.getArgAttr(a, "nd.layout")) << "seed " << seed;
    for (auto &[op, layouts] : before)
      for (auto [was, is] : llvm::zip_equal(cast<ArrayAttr>(layouts), *cast<nest::ComputeOp>(op).getLayouts()))
        if (isa<nest::LayoutAttr>(was)) {
          // A value that is written through a copy lies as written after the copy.
          bool copied = llvm::any_of(op->getUsers(), [](Operation *user) {
            auto name = user->getAttrOfType<StringAttr>("heddle.name");
            return name && name.getValue() == "unpack";
          });
          EXPECT_TRUE(copied || was == is) << "seed " << seed;
        }
  }
}
