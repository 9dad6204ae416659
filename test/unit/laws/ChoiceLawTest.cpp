//===- ChoiceLawTest.cpp - any legal choice gives the same values ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Schedules, layouts and fusion are drawn at random; compiled programs run with several numbers of
// threads, which must give the same bits.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Choices.h"
#include "test/unit/laws/Laws.h"

#include "dialects/nest/NestBuild.h"
#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nest/Passes.h"
#include "lib/transforms/nest/layout/AssignLayouts.h"
#include "lib/transforms/nest/schedule/ChooseSchedules.h"

#include "gtest/gtest.h"

#include <array>
#include <cmath>
#include <cstdio>

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
GeneratorOptions optionsFor(uint64_t seed) {
  GeneratorOptions options;
  options.steps = 3 + int(seed % 6);
  return options;
}

/// Lowers programs; then `change` makes choices of its own in each.
auto lowerAnd(llvm::function_ref<LogicalResult(func::FuncOp, uint64_t seed)> change) {
  return [change](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t> seeds) {
    keepPrivate(module, names);
    if (failed(lowerToNests(module, true)))
      return failure();
    for (auto [name, seed] : llvm::zip_equal(names, seeds))
      if (failed(change(module.lookupSymbol<func::FuncOp>(name), seed)))
        return failure();
    return success();
  };
}

/// Picks without looking at costs.
auto randomChooser(uint64_t seed) {
  return [seed](const nest::LayoutProblem &problem) {
    Dice dice(seed);
    nest::LayoutChoice choice;
    for (const nest::LaidValue &value : problem.values)
      choice.layouts.push_back(unsigned(dice.below(int64_t(value.cost.size()))));
    for (const nest::LaidNest &nest : problem.nests)
      choice.ways.push_back(unsigned(dice.below(int64_t(nest.ways.size()))));
    return choice;
  };
}

} // namespace

class FusionLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, FusionLaw, ::testing::Range(0, 2));
class ScheduleLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, ScheduleLaw, ::testing::Range(0, 2));
class LayoutLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, LayoutLaw, ::testing::Range(0, 2));

TEST_P(FusionLaw, AnyChoiceKeepsValues) {
  auto check = [](ModuleOp module, uint64_t seed, Tally &tally) -> Violation {
    OwningOpRef<ModuleOp> copy(module.clone());
    keepPrivate(*copy, {"main"});
    if (failed(lowerToNests(*copy, false)))
      return {"a program can't be lowered", ""};
    Dice dice(seed);
    drawFusion(mainOf(*copy), dice);
    // If numbers overflow, the result depends on the order of combination.
    FailureOr<Values> values = interp::interpret(mainOf(*copy), drawArguments(mainOf(*copy), seed));
    bool splits =
        dice.chance(50) && succeeded(values) && llvm::all_of(*values, [](const TensorValue &value) {
          return !isa<FloatType>(value.elementType()) ||
                 llvm::all_of(value.elements, [](const interp::Scalar &scalar) {
                   return std::isfinite(scalar.value);
                 });
        });
    auto passes = [&](OpPassManager &manager) {
      if (splits) // programs of this size never need it
        manager.addNestedPass<func::FuncOp>(nest::createNestSplitReductionsPass({.always = true}));
      buildNestPipeline(manager, {});
    };
    return checkPasses(*copy, seed, passes, tally);
  };
  holdEach({"the fusion law", optionsFor, check}, {0.5, GetParam()});
}

TEST_P(ScheduleLaw, AnyScheduleGivesTheSameValues) {
  Drawn drawn;
  auto draw = [&](func::FuncOp function, uint64_t seed) {
    Dice dice(seed);
    drawSchedules(function, dice, drawn);
    return success();
  };
  holdCompiled({"the schedule law", 15, optionsFor, lowerAnd(draw)}, {0.3, GetParam()});
  int loops = 0;
  for (const auto &[level, count] : drawn)
    loops += count;
  for (const char *level :
       {"thread", "grid", "cluster", "block", "warp", "lane", "cache", "loop", "unroll", "register",
        "vector", "unit", "stage1", "stage2", "shared1", "shared2", "copy", "copies"})
    EXPECT_TRUE(drawn[level] > 0 || loops < 4000) << "no " << level << " was drawn";
}

TEST_P(LayoutLaw, AnyLayoutGivesTheSameValues) {
  int written = 0;
  auto draw = [&](func::FuncOp function, uint64_t seed) {
    Dice dice(seed);
    written += drawLayouts(function, dice);
    return success();
  };
  holdCompiled({"the layout law", 15, optionsFor, lowerAnd(draw)}, {0.15, GetParam()});
  EXPECT_GT(written, 0);
}

TEST_P(LayoutLaw, AnyChoiceOfTheChooserGivesTheSameValues) {
  auto draw = [](func::FuncOp function, uint64_t seed) {
    return nest::assignLayouts(function, {}, randomChooser(seed));
  };
  holdCompiled({"the layout law for choosers", 15, optionsFor, lowerAnd(draw)}, {0.15, GetParam()});
}

/// The parts of a remark "...; 1.2k cycles, at least 1.1k (gap 8.3 %)" that are numbers.
static std::optional<std::array<double, 3>> costAndBound(const std::string &remark) {
  std::array<double, 3> found;
  size_t at = remark.find("; ");
  if (at == std::string::npos ||
      std::sscanf(remark.c_str() + at, "; %lfk cycles, at least %lfk (gap %lf", &found[0],
                  &found[1], &found[2]) != 3)
    return std::nullopt;
  return found;
}

TEST_P(LayoutLaw, NoBoundIsAboveTheCost) {
  int bounds = 0;
  auto check = [&](ModuleOp module, uint64_t seed, Tally &tally) -> Violation {
    OwningOpRef<ModuleOp> copy(module.clone());
    keepPrivate(*copy, {"main"});
    if (failed(lowerToNests(*copy, true)))
      return {"a program can't be lowered", ""};
    std::string wrong;
    ScopedDiagnosticHandler handler(copy->getContext(), [&](Diagnostic &diagnostic) {
      if (auto numbers = costAndBound(diagnostic.str())) {
        ++bounds;
        if ((*numbers)[1] > (*numbers)[0] || (*numbers)[2] < 0)
          wrong = diagnostic.str();
      }
      return success();
    });
    nest::AssignLayoutsOptions options;
    options.explain = true;
    ++tally.programs;
    if (failed(nest::assignLayouts(mainOf(*copy), options)))
      return {"a program has no layouts", ""};
    return {wrong, wrong.empty() ? "" : printed(*copy)};
  };
  auto larger = [](uint64_t seed) {
    GeneratorOptions options = optionsFor(seed);
    options.gradients = true;
    return options;
  };
  holdEach({"the law of bounds", larger, check}, {0.3, GetParam()});
  EXPECT_GT(bounds, 0);
}

TEST_P(LayoutLaw, WrittenLayoutsAreKept) {
  auto context = makeContext();
  Seeds seeds = seedsFor({0.2, GetParam()});
  for (int i = 0; i < seeds.count; ++i) {
    uint64_t seed = seeds.first + uint64_t(GetParam() * seeds.count + i);
    Announce announce("written layouts are kept", seed);
    OwningOpRef<ModuleOp> module = makeProgram(*context, seed, {});
    ASSERT_TRUE(succeeded(lowerToNests(*module, true)));
    func::FuncOp function = mainOf(*module);
    Dice dice(seed);
    drawLayouts(function, dice);
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
      for (auto [was, is] :
           llvm::zip_equal(cast<ArrayAttr>(layouts), *cast<nest::ComputeOp>(op).getLayouts()))
        if (isa<nest::LayoutAttr>(was)) {
          // A value that is written through a copy has the layout of the copy's target.
          bool copied = llvm::any_of(op->getUsers(), [](Operation *user) {
            auto name = user->getAttrOfType<StringAttr>("heddle.name");
            return name && name.getValue() == "unpack";
          });
          EXPECT_TRUE(copied || was == is) << "seed " << seed;
        }
  }
}

/// The names that lanes walk; none without vectors.
static std::vector<std::string> lanesOf(const nest::Schedule &schedule) {
  for (const nest::Loop &loop : schedule.loops)
    if (loop.level == "vector")
      return loop.names;
  return {};
}

/// Writes a partial schedule: lanes over a reduced name, over one or two produced ones, or none.
static void drawLanes(nest::ComputeOp op, Dice &dice) {
  std::vector<std::string> names;
  bool reduced = op.isReduction() && dice.chance(30);
  for (const nd::Dim &dim : reduced ? op.getReduced() : op.getProduced())
    if (dim.size().constant().value_or(0) > 1)
      names.push_back(dim.name.str());
  nest::Schedule lanes;
  lanes.partial = true;
  if (size_t at = size_t(dice.below(int64_t(names.size()) + 1)); at < names.size()) {
    std::rotate(names.begin(), names.begin() + long(at), names.end());
    names.resize(!reduced && names.size() > 1 && dice.chance(40) ? 2 : 1);
    lanes.loops.push_back({"vector", names, 1, 1});
  }
  op.setScheduleAttr(nest::ScheduleAttr::get(op.getContext(), lanes));
}

/// True if a nest has points. The schedule of one without points has no loops.
static bool hasPoints(nest::ComputeOp op) {
  auto isEmpty = [](const nd::Dim &dim) { return dim.size().constant() == 0; };
  return llvm::none_of(op.getProduced(), isEmpty) && llvm::none_of(op.getReduced(), isEmpty);
}

TEST(LaneLaw, LanesThatLayoutsAreChosenForAreThoseThatRun) {
  auto context = makeContext();
  int nests = 0;
  for (uint64_t seed = 1; nests < 100; ++seed) {
    auto module = makeProgram(*context, seed, optionsFor(seed));
    ASSERT_TRUE(succeeded(lowerToNests(*module, true)));
    func::FuncOp main = mainOf(*module);
    Dice dice(seed);
    std::vector<std::pair<nest::ComputeOp, std::vector<std::string>>> drawn;
    main.walk([&](nest::ComputeOp op) {
      if (!hasPoints(op))
        return;
      drawLanes(op, dice);
      drawn.emplace_back(op, lanesOf(nest::scheduleOf(op)));
    });
    auto problem = nest::makeLayoutProblem(main, cost::Machine::of({}));
    ASSERT_TRUE(succeeded(problem));
    std::map<Operation *, std::vector<std::vector<std::string>>> assumed;
    for (const nest::LaidNest &laid : problem->nests)
      for (const nest::NestWay &way : laid.ways)
        assumed[laid.nest].push_back(way.lanes);
    nest::chooseSchedules(main, cost::Machine::of({}));
    for (auto &[op, lanes] : drawn) {
      if (!op->getParentOfType<nest::ScanOp>())
        EXPECT_EQ(assumed[op], std::vector<std::vector<std::string>>{lanes})
            << "seed " << seed << "\n"
            << printed(op);
      EXPECT_FALSE(nest::scheduleOf(op).isPartial());
      EXPECT_EQ(lanesOf(nest::scheduleOf(op)), lanes) << "seed " << seed << "\n" << printed(op);
      nests += !lanes.empty();
    }
  }
}

TEST(LaneLaw, LanesOfTheChoiceOfLayoutsAreThoseThatRun) {
  auto context = makeContext();
  int nests = 0;
  for (uint64_t seed = 1; nests < 100; ++seed) {
    auto module = makeProgram(*context, seed, optionsFor(seed));
    ASSERT_TRUE(succeeded(lowerToNests(*module, true)));
    func::FuncOp main = mainOf(*module);
    std::map<Operation *, std::vector<std::string>> lanes; // of each nest in the choice
    auto recorded = [&](const nest::LayoutProblem &problem) {
      nest::LayoutChoice choice = nest::chooseLayouts(problem);
      for (auto [nest, way] : llvm::zip_equal(problem.nests, choice.ways))
        lanes[nest.nest] = nest.ways[way].lanes;
      return choice;
    };
    ASSERT_TRUE(succeeded(nest::assignLayouts(main, {}, recorded)));
    nest::chooseSchedules(main, cost::Machine::of({}));
    main.walk([&](nest::ComputeOp op) {
      auto assumed = lanes.find(op);
      if (assumed == lanes.end() || !hasPoints(op))
        return;
      EXPECT_EQ(lanesOf(nest::scheduleOf(op)), assumed->second) << "seed " << seed << "\n"
                                                                << printed(op);
      nests += !assumed->second.empty();
    });
  }
}
