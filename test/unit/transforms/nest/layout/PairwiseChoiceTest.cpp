//===- PairwiseChoiceTest.cpp - pairwise choices and their bounds ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random problems, small enough to try all choices.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/PairwiseGraph.h"

#include "test/unit/laws/Dice.h"

#include "gtest/gtest.h"

using namespace heddle::nest;
using heddle::laws::Dice;

namespace {
constexpr int64_t many = 1'000'000'000;
constexpr double exact = 0.1; ///< costs are integers

struct Shape {
  int unknowns = 6, fewest = 1, labels = 3;
  int percent = 60; ///< of all pairs
  int64_t highest = 20;
};

PairwiseProblem draw(Dice &dice, const Shape &shape) {
  PairwiseProblem problem;
  for (int u = 0; u < shape.unknowns; ++u) {
    problem.costs.emplace_back();
    for (int64_t label = dice.between(shape.fewest, shape.labels); label > 0; --label)
      problem.costs.back().push_back(double(dice.below(shape.highest / 2 + 1)));
  }
  auto connect = [&](unsigned a, unsigned b) {
    PairwiseProblem::Pair pair{a, b, {}};
    if (dice.chance(50))
      std::swap(pair.a, pair.b);
    for (size_t i = problem.costs[a].size() * problem.costs[b].size(); i > 0; --i)
      pair.cost.push_back(double(dice.below(shape.highest)));
    problem.pairs.push_back(std::move(pair));
  };
  for (unsigned b = 1; b < unsigned(shape.unknowns); ++b)
    for (unsigned a = 0; a < b; ++a)
      for (int again = dice.chance(10) ? 2 : 1; again > 0 && dice.chance(shape.percent); --again)
        connect(a, b);
  return problem;
}

/// A tree: each unknown is connected with an earlier one.
PairwiseProblem drawTree(Dice &dice, Shape shape) {
  shape.percent = 0;
  PairwiseProblem problem = draw(dice, shape);
  for (unsigned b = 1; b < unsigned(shape.unknowns); ++b) {
    unsigned a = unsigned(dice.below(b));
    PairwiseProblem::Pair pair{a, b, {}};
    for (size_t i = problem.costs[a].size() * problem.costs[b].size(); i > 0; --i)
      pair.cost.push_back(double(dice.below(shape.highest)));
    problem.pairs.push_back(std::move(pair));
  }
  return problem;
}

double leastCost(const PairwiseProblem &problem) {
  std::vector<unsigned> labels(problem.costs.size());
  for (double least = std::numeric_limits<double>::infinity();;) {
    least = std::min(least, problem.costOf(labels));
    size_t u = 0;
    while (u < labels.size() && ++labels[u] == problem.costs[u].size())
      labels[u++] = 0;
    if (u == labels.size())
      return least;
  }
}

/// The law: bound <= least cost <= cost of the choice.
void expectBetween(const PairwiseProblem &problem, const PairwiseChoice &choice, double least) {
  EXPECT_DOUBLE_EQ(choice.cost, problem.costOf(choice.labels));
  EXPECT_LE(choice.bound, least + 1e-7);
  EXPECT_LE(least, choice.cost + 1e-7);
  EXPECT_LE(choice.bound, choice.cost);
  EXPECT_EQ(choice.open.empty(), choice.bound >= choice.cost - exact);
}
} // namespace

TEST(PairwiseChoice, IsTheCheapestOnTreesWithoutSteps) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    PairwiseProblem problem = drawTree(dice, {.unknowns = 9});
    PairwiseChoice choice = solve(problem, 0);
    double least = leastCost(problem);
    expectBetween(problem, choice, least);
    EXPECT_NEAR(choice.cost, least, exact);
    EXPECT_NEAR(choice.bound, least, exact);
  }
}

TEST(PairwiseChoice, IsTheCheapestOnSmallCores) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    // Few different costs: many equal choices; many: few of them.
    PairwiseProblem problem = draw(dice, {.unknowns = int(dice.between(1, 8)),
                                          .percent = int(dice.between(20, 100)),
                                          .highest = dice.chance(50) ? 3 : 1000});
    PairwiseChoice choice = solve(problem, many);
    double least = leastCost(problem);
    expectBetween(problem, choice, least);
    EXPECT_NEAR(choice.cost, least, exact);
    EXPECT_NEAR(choice.bound, least, exact);
  }
}

// Whenever the steps are used up.
TEST(PairwiseChoice, IsAtLeastTheBoundWithFewSteps) {
  int open = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    PairwiseProblem problem = draw(dice, {.unknowns = 8, .percent = 80, .highest = 100});
    double least = leastCost(problem);
    for (int64_t steps : {0, 1, 500, 2000, 10000, 50000}) {
      PairwiseChoice choice = solve(problem, steps);
      expectBetween(problem, choice, least);
      open += choice.bound < choice.cost * (1 - 1e-6);
    }
  }
  EXPECT_GT(open, 50);
}

// Where the steps do not suffice for tables of the whole problem.
TEST(PairwiseChoice, BranchesGiveTheSameAsTables) {
  int closed = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    PairwiseProblem problem = draw(
        dice, {.unknowns = 20, .fewest = 2, .percent = 45, .highest = dice.chance(50) ? 50 : 1000});
    pairwise::Graph graph(problem);
    pairwise::Tables tables(graph);
    double least = problem.costOf(tables.solve());
    for (double part : {0.1, 0.3, 1.0, 2.0}) {
      PairwiseChoice choice = solve(problem, int64_t(part * tables.steps));
      expectBetween(problem, choice, least);
      closed += choice.open.empty();
    }
    PairwiseChoice choice = solve(problem, many);
    EXPECT_NEAR(choice.cost, least, exact);
    EXPECT_NEAR(choice.bound, least, exact);
  }
  EXPECT_GT(closed, 20);
}

TEST(PairwiseChoice, PartsDoNotDependOnEachOther) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    PairwiseProblem all;
    double least = 0;
    for (int part = 0; part < 6; ++part) {
      PairwiseProblem each = draw(dice, {.unknowns = 6, .percent = 90, .highest = 200});
      least += leastCost(each);
      unsigned offset = unsigned(all.costs.size());
      for (PairwiseProblem::Pair &pair : each.pairs)
        all.pairs.push_back({pair.a + offset, pair.b + offset, std::move(pair.cost)});
      for (std::vector<double> &costs : each.costs)
        all.costs.push_back(std::move(costs));
    }
    PairwiseChoice choice = solve(all, 2'000'000);
    EXPECT_NEAR(choice.cost, least, exact);
    EXPECT_NEAR(choice.bound, least, exact);
  }
}

TEST(PairwiseChoice, ReductionsKeepTheLeastCost) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    PairwiseProblem problem = draw(dice, {.unknowns = 7, .percent = 50, .highest = 6});
    double least = leastCost(problem);
    pairwise::Graph graph(problem);
    pairwise::Trail trail;
    pairwise::reduce(graph, trail);
    std::vector<unsigned> rest = pairwise::Tables(graph).solve();
    std::vector<unsigned> labels(problem.costs.size());
    for (unsigned u = 0; u < rest.size(); ++u)
      if (graph.has(u))
        labels[graph.unknowns[u].id] = graph.unknowns[u].labels[rest[u]];
    EXPECT_NEAR(graph.costOf(rest), least, 1e-9);
    trail.choose(labels);
    EXPECT_NEAR(problem.costOf(labels), least, 1e-9);
  }
}

TEST(PairwiseChoice, ShiftedCostsKeepAllTotalsAndTheBoundDoesNotFall) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    PairwiseProblem problem = draw(dice, {.unknowns = 7, .percent = 60});
    pairwise::Graph graph(problem);
    pairwise::Dual dual(graph);
    double bound = 0, least = leastCost(problem);
    for (int round = 0; round < 10; ++round) {
      dual.sweep();
      EXPECT_GE(dual.bound(), bound - 1e-9);
      bound = dual.bound();
      EXPECT_LE(bound, least + 1e-9);
      std::vector<unsigned> labels;
      for (const std::vector<double> &costs : problem.costs)
        labels.push_back(unsigned(dice.below(int64_t(costs.size()))));
      EXPECT_NEAR(graph.costOf(labels), problem.costOf(labels), 1e-6);
    }
  }
}
