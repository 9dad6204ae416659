//===- ExplainLayouts.cpp - remarks on chosen layouts ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/AssignLayouts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static std::string listOf(const std::vector<std::string> &names) {
  return names.size() == 1 ? names[0] : "(" + llvm::join(names, ", ") + ")";
}

static std::string thousands(double cycles) {
  return llvm::formatv("{0:f1}k", cycles / 1000).str();
}

void nest::explainLayouts(func::FuncOp function, const LayoutProblem &problem,
                          const LayoutChoice &choice) {
  unsigned copies = 0;
  for (const LayoutTerm &term : problem.terms)
    copies += problem.termCopy(term, choice.ways[term.nest], choice.layouts[term.value]) >= 0;
  emitRemark(function.getLoc()) << llvm::formatv(
      "{0} values, {1} nests, {2} read or written through a copy; {3} cycles, at least {4} (gap "
      "{5:f1} %)",
      problem.values.size(), problem.nests.size(), copies, thousands(choice.cost),
      thousands(choice.bound),
      choice.cost > 0 ? 100 * (choice.cost - choice.bound) / choice.cost : 0.0);

  /// The minimum cost of a nest with value `v` in candidate `c` and all other values as chosen.
  auto nestCost = [&](unsigned nest, unsigned v, unsigned c) {
    double least = std::numeric_limits<double>::infinity();
    for (unsigned way = 0; way < problem.nests[nest].ways.size(); ++way) {
      double cost = problem.nests[nest].ways[way].cost;
      for (const LayoutTerm &term : problem.terms)
        if (term.nest == nest)
          cost += problem.termCost(term, way, term.value == v ? c : choice.layouts[term.value]);
      least = std::min(least, cost);
    }
    return least;
  };
  for (auto [v, value] : llvm::enumerate(problem.values)) {
    const Layout &chosen = value.candidates[choice.layouts[v]];
    InFlightDiagnostic remark = emitRemark(value.values[0].getLoc());
    remark << "'" << value.name << "' has the layout " << chosen.str();
    if (value.fixed) {
      remark << ", which is given";
    } else {
      auto total = [&](unsigned c) {
        double cost = value.cost[c];
        for (const LayoutTerm &term : problem.terms)
          if (term.value == v)
            cost += nestCost(term.nest, unsigned(v), c);
        return cost;
      };
      double least = total(choice.layouts[v]);
      std::vector<std::pair<double, unsigned>> others;
      for (unsigned c = 0; c < value.cost.size(); ++c)
        if (c != choice.layouts[v])
          others.emplace_back(total(c) - least, c);
      llvm::sort(others);
      for (auto [i, other] : llvm::enumerate(others))
        if (i < 3)
          remark.attachNote() << value.candidates[other.second].str() << " would cost "
                              << thousands(other.first) << " cycles more";
    }
    for (const LayoutTerm &term : problem.terms) {
      if (term.value != v)
        continue;
      const LaidNest &nest = problem.nests[term.nest];
      const NestWay &way = nest.ways[choice.ways[term.nest]];
      std::string text =
          "'" + nest.name + "' runs " +
          (way.lanes.empty() ? "one by one" : "along " + listOf(way.lanes)) + ": " +
          thousands(problem.termCost(term, choice.ways[term.nest], choice.layouts[v])) +
          " cycles beside " + thousands(way.cost);
      int copy = problem.termCopy(term, choice.ways[term.nest], choice.layouts[v]);
      if (copy >= 0)
        text += ", through a copy in " + value.candidates[size_t(copy)].str();
      remark.attachNote(nest.nest->getLoc()) << text;
    }
  }
}
