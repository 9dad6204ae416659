//===- LayoutChooser.cpp - solves the choice of layouts -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutChooser.h"

#include "lib/transforms/nest/layout/PairwiseChoice.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::nest;

double nest::choiceCost(const LayoutProblem &problem, const LayoutChoice &choice) {
  double cost = 0;
  for (size_t v = 0; v < problem.values.size(); ++v)
    cost += problem.values[v].cost[choice.layouts[v]];
  for (size_t n = 0; n < problem.nests.size(); ++n)
    cost += problem.nests[n].ways[choice.ways[n]].cost;
  for (const LayoutTerm &term : problem.terms)
    cost += problem.termCost(term, choice.ways[term.nest], choice.layouts[term.value]);
  return cost;
}

/// Unknowns are the values, then the nests.
static PairwiseProblem pairwise(const LayoutProblem &problem) {
  PairwiseProblem made;
  for (const LaidValue &value : problem.values)
    made.costs.push_back(value.cost);
  for (const LaidNest &nest : problem.nests) {
    made.costs.emplace_back();
    for (const NestWay &way : nest.ways)
      made.costs.back().push_back(way.cost);
  }
  unsigned values = unsigned(problem.values.size());
  for (const LayoutTerm &term : problem.terms)
    made.pairs.push_back({values + term.nest, term.value, term.cost});
  return made;
}

LayoutChoice nest::chooseLayouts(const LayoutProblem &problem) {
  // Several times what the largest training step of the zoo needs; at most half a second.
  constexpr int64_t mostSteps = 100'000'000;
  PairwiseChoice found = solve(pairwise(problem), mostSteps);
  LayoutChoice choice;
  auto middle = found.labels.begin() + long(problem.values.size());
  choice.layouts.assign(found.labels.begin(), middle);
  choice.ways.assign(middle, found.labels.end());
  choice.cost = choiceCost(problem, choice);
  choice.bound = std::min(choice.cost, found.bound);
  for (unsigned u : found.open)
    if (u < problem.values.size())
      choice.open.push_back(u);
  return choice;
}
