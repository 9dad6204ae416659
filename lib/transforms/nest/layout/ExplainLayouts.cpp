//===- ExplainLayouts.cpp - why values have their layouts -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/ExplainLayouts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static std::string lanesOf(const NestWay &way) {
  if (way.lanes.empty())
    return "one by one";
  return "along " +
         (way.lanes.size() == 1 ? way.lanes[0] : "(" + llvm::join(way.lanes, ", ") + ")");
}

static std::string thousands(double cycles) {
  return llvm::formatv("{0:f1}k", cycles / 1000).str();
}

namespace {
/// The costs of decisions that differ in one place from those of a choice.
class Costs {
public:
  Costs(const LayoutProblem &problem, const LayoutChoice &choice)
      : problem(problem), choice(choice), termsOf(problem.values.size()),
        ofNest(problem.nests.size()) {
    for (const LayoutTerm &term : problem.terms) {
      termsOf[term.value].push_back(&term);
      ofNest[term.nest].push_back(&term);
    }
  }

  /// The cost of a nest that runs in a way, with value `v`, if any, in candidate `c`.
  double wayCost(unsigned nest, unsigned way, unsigned v, unsigned c) const {
    double cost = problem.nests[nest].ways[way].cost;
    for (const LayoutTerm *term : ofNest[nest])
      cost += problem.termCost(*term, way, term->value == v ? c : choice.layouts[term->value]);
    return cost;
  }

  /// The cost of value `v` in candidate `c`, while its nests run in their cheapest ways.
  double valueCost(unsigned v, unsigned c) const {
    double cost = problem.values[v].cost[c];
    for (const LayoutTerm *term : termsOf[v]) {
      double least = std::numeric_limits<double>::infinity();
      for (unsigned way = 0; way < problem.nests[term->nest].ways.size(); ++way)
        least = std::min(least, wayCost(term->nest, way, v, c));
      cost += least;
    }
    return cost;
  }

  const LayoutProblem &problem;
  const LayoutChoice &choice;
  std::vector<SmallVector<const LayoutTerm *>> termsOf, ofNest;
};
} // namespace

/// Sorts what costs more than the chosen decision.
static std::vector<ExplainedLayouts::Alternative>
alternatives(unsigned count, unsigned chosen, llvm::function_ref<double(unsigned)> cost,
             llvm::function_ref<std::string(unsigned)> spell) {
  double least = cost(chosen);
  std::vector<std::pair<double, unsigned>> others;
  for (unsigned i = 0; i < count; ++i)
    if (i != chosen)
      others.emplace_back(cost(i) - least, i);
  llvm::sort(others);
  std::vector<ExplainedLayouts::Alternative> made;
  for (auto [cycles, i] : others)
    made.push_back({spell(i), cycles});
  return made;
}

ExplainedLayouts nest::explainLayouts(func::FuncOp function, const LayoutProblem &problem,
                                      const LayoutChoice &choice) {
  constexpr unsigned none = ~0u;
  Costs costs(problem, choice);
  ExplainedLayouts made{function, {}, {}, 0, choice.cost, choice.bound, choice.open};
  for (auto [n, nest] : llvm::enumerate(problem.nests)) {
    ExplainedLayouts::Nest &each = made.nests.emplace_back(
        ExplainedLayouts::Nest{nest.name, lanesOf(nest.ways[choice.ways[n]]), nest.nest->getLoc()});
    each.cycles = nest.ways[choice.ways[n]].cost;
    each.others = alternatives(
        unsigned(nest.ways.size()), choice.ways[n],
        [&, n = unsigned(n)](unsigned way) { return costs.wayCost(n, way, none, 0); },
        [&, &nest = nest](unsigned way) { return lanesOf(nest.ways[way]); });
  }
  for (auto [v, value] : llvm::enumerate(problem.values)) {
    unsigned chosen = choice.layouts[v];
    ExplainedLayouts::Value &each = made.values.emplace_back(ExplainedLayouts::Value{
        value.name, value.candidates[chosen].str(), value.values[0].getLoc(), value.fixed});
    if (!value.fixed)
      each.others = alternatives(
          unsigned(value.cost.size()), chosen,
          [&, v = unsigned(v)](unsigned c) { return costs.valueCost(v, c); },
          [&, &value = value](unsigned c) { return value.candidates[c].str(); });
    for (const LayoutTerm *term : costs.termsOf[v]) {
      unsigned way = choice.ways[term->nest];
      int copy = problem.termCopy(*term, way, chosen);
      made.copies += copy >= 0;
      each.uses.push_back({term->nest, problem.termCost(*term, way, chosen),
                           copy >= 0 ? value.candidates[size_t(copy)].str() : ""});
    }
  }
  return made;
}

void nest::emitRemarks(const ExplainedLayouts &explained) {
  func::FuncOp function = explained.function;
  double cycles = explained.cycles, bound = explained.bound;
  InFlightDiagnostic summary = emitRemark(function.getLoc());
  summary << llvm::formatv("{0} values, {1} nests, {2} read or written through a copy; {3} cycles, "
                           "at least {4} (gap {5:f1} %)",
                           explained.values.size(), explained.nests.size(), explained.copies,
                           thousands(cycles), thousands(bound),
                           cycles > 0 ? 100 * (cycles - bound) / cycles : 0.0)
                 .str();
  for (unsigned v : ArrayRef(explained.open).take_front(5))
    summary.attachNote(explained.values[v].loc)
        << "'" << explained.values[v].name
        << "' keeps the gap open: the search for its layout ended early";
  summary.report();
  for (const ExplainedLayouts::Value &value : explained.values) {
    InFlightDiagnostic remark = emitRemark(value.loc);
    remark << "'" << value.name << "' has the layout " << value.layout;
    if (value.given)
      remark << ", which is given";
    for (const auto &other : ArrayRef(value.others).take_front(3))
      remark.attachNote() << other.what << " would cost " << thousands(other.cycles)
                          << " cycles more";
    for (const ExplainedLayouts::Use &use : value.uses) {
      const ExplainedLayouts::Nest &nest = explained.nests[use.nest];
      remark.attachNote(nest.loc) << "'" << nest.name << "' runs " << nest.lanes << ": "
                                  << thousands(use.cycles) << " cycles beside "
                                  << thousands(nest.cycles)
                                  << (use.copy.empty() ? "" : ", through a copy in " + use.copy);
    }
  }
}
