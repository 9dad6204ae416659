//===- LayoutChooserTest.cpp - choosers and their bounds ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutChooser.h"

#include "lib/transforms/nest/layout/ExplainLayouts.h"
#include "test/unit/laws/Dice.h"
#include "test/unit/transforms/nest/Held.h"

using namespace heddle;
using namespace heddle::nest;
using laws::Dice;

namespace {
/// Unknowns with random costs; a term between each nest and some values.
LayoutProblem drawProblem(Dice &dice, int values, int nests, bool tree) {
  LayoutProblem problem;
  for (int v = 0; v < values; ++v) {
    LaidValue value;
    for (int64_t c = dice.between(1, 3); c > 0; --c) {
      value.candidates.emplace_back();
      value.cost.push_back(double(dice.below(4)));
    }
    problem.values.push_back(value);
  }
  for (int n = 0; n < nests; ++n) {
    LaidNest nest;
    for (int64_t w = dice.between(1, 3); w > 0; --w)
      nest.ways.push_back({{}, false, double(dice.below(10))});
    problem.nests.push_back(nest);
    for (int v = 0; v < values; ++v) {
      // In a chain a nest accesses a value and the next one.
      if (tree ? v != n && v != n + 1 : !dice.chance(60))
        continue;
      LayoutTerm term;
      term.nest = unsigned(n);
      term.value = unsigned(v);
      for (size_t i = 0; i < problem.nests[n].ways.size() * problem.values[v].cost.size(); ++i) {
        term.cost.push_back(double(dice.below(20)));
        term.copy.push_back(-1);
      }
      problem.terms.push_back(term);
    }
  }
  return problem;
}

double leastCost(const LayoutProblem &problem) {
  LayoutChoice choice;
  choice.layouts.assign(problem.values.size(), 0);
  choice.ways.assign(problem.nests.size(), 0);
  double least = std::numeric_limits<double>::infinity();
  for (;;) {
    least = std::min(least, choiceCost(problem, choice));
    size_t u = 0;
    for (; u < choice.layouts.size() + choice.ways.size(); ++u) {
      bool isValue = u < choice.layouts.size();
      size_t i = isValue ? u : u - choice.layouts.size();
      unsigned &at = isValue ? choice.layouts[i] : choice.ways[i];
      if (++at < (isValue ? problem.values[i].cost.size() : problem.nests[i].ways.size()))
        break;
      at = 0;
    }
    if (u == choice.layouts.size() + choice.ways.size())
      return least;
  }
}
} // namespace

TEST(LayoutChooser, IsExactOnChains) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Dice dice(seed);
    LayoutProblem problem = drawProblem(dice, 4, 3, true);
    LayoutChoice choice = chooseLayouts(problem);
    EXPECT_DOUBLE_EQ(choice.cost, leastCost(problem)) << "seed " << seed;
    EXPECT_DOUBLE_EQ(choice.cost, choiceCost(problem, choice));
    EXPECT_LE(choice.bound, choice.cost);
    EXPECT_GE(choice.bound, choice.cost * (1 - 1e-5));
  }
}

TEST(LayoutChooser, IsExactOnSmallProblems) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    LayoutProblem problem = drawProblem(dice, 5, 4, false);
    LayoutChoice choice = chooseLayouts(problem);
    double least = leastCost(problem);
    EXPECT_NEAR(choice.cost, least, 1e-6);
    EXPECT_LE(choice.bound, least);
    EXPECT_GE(choice.bound, least * (1 - 1e-5));
    EXPECT_TRUE(choice.open.empty());
  }
}

TEST(LayoutChooser, GivesTheSameChoiceTwice) {
  Dice first(7), second(7);
  LayoutProblem a = drawProblem(first, 8, 8, false), b = drawProblem(second, 8, 8, false);
  LayoutChoice x = chooseLayouts(a), y = chooseLayouts(b);
  EXPECT_EQ(x.layouts, y.layouts);
  EXPECT_EQ(x.ways, y.ways);
}

// A nest that runs in a dearer way than the cheapest choice has keeps the gap open, and is named.
