//===- LayoutCosts.cpp - costs of layouts for nests -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutCosts.h"

#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/NestLayoutCost.h"
#include "lib/transforms/nest/Rewrite.h"
#include "lib/transforms/nest/layout/EqualNests.h"
#include "lib/transforms/nest/layout/LayoutWays.h"

#include <map>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static constexpr double worst = 4;            ///< of the seconds of the fastest way that is known
static constexpr double leastCopyGain = 0.05; ///< of the seconds of a nest
static constexpr double leastCopy = 1e-6;     ///< seconds; so that no copy saves little

namespace {
class NestAdder {
public:
  NestAdder(LayoutProblem &problem, const llvm::DenseMap<Value, unsigned> &index,
            const cost::Machine &machine)
      : problem(problem), index(index), machine(machine) {
    for (const LaidValue &value : problem.values)
      interned.push_back(llvm::map_to_vector(value.candidates, [&](const Layout &layout) {
        return LayoutAttr::get(value.values[0].getContext(), layout);
      }));
  }

  void add(const NestModel &nest) {
    ByValue byValue;
    for (auto [i, access] : llvm::enumerate(nest.accesses))
      if (auto found = index.find(access.tensor); found != index.end())
        byValue[found->second].push_back(unsigned(i));
    SmallVector<AccessedValue> values;
    for (auto &[v, accesses] : byValue)
      values.push_back({accesses, problem.values[v].candidates, problem.values[v].cost.size()});
    cost::NestFacts facts = factsOf(nest);
    std::string key = keyOf(facts, values) + (mayCopy(nest) ? "c" : "-");
    std::optional<std::vector<unsigned>> lanes = nest.writtenLanes();
    key += lanes ? "" : "?";
    for (unsigned name : lanes.value_or(std::vector<unsigned>()))
      key += " " + std::to_string(name);
    auto [found, isNew] = parts.try_emplace(key);
    Part &part = found->second;
    if (isNew)
      measure(nest, facts, byValue, lanes, part);
    LaidNest laid{nest.op, labelOf(nest.op), part.ways};
    for (auto [way, names] : llvm::zip_equal(laid.ways, part.lanes))
      way.lanes = nest.namesOf(names);
    for (auto [term, v] : llvm::zip_equal(part.terms, llvm::make_first_range(byValue))) {
      problem.terms.push_back(term);
      problem.terms.back().nest = unsigned(problem.nests.size());
      problem.terms.back().value = v;
    }
    problem.nests.push_back(std::move(laid));
  }

private:
  using ByValue = std::map<unsigned, SmallVector<unsigned>>; ///< accesses to each value

  /// The seconds of a nest that runs in one way.
  struct WaySeconds {
    double least = INFINITY;                ///< with the best layouts
    std::vector<std::vector<double>> costs; ///< by value and candidate, the other values' are good
    std::vector<size_t> layouts;            ///< the good ones, by value
  };

  /// What a nest adds to the problem: that of equal nests is the same but for names.
  struct Part {
    std::vector<NestWay> ways;                ///< without names
    std::vector<std::vector<unsigned>> lanes; ///< of the ways
    std::vector<LayoutTerm> terms;
  };

  LayoutProblem &problem;
  const llvm::DenseMap<Value, unsigned> &index;
  const cost::Machine &machine;
  std::vector<SmallVector<LayoutAttr>> interned; ///< the candidates of each value
  llvm::StringMap<Part> parts;
  /// The facts of copies by type, and their cycles by layouts: equal layers have equal copies.
  llvm::DenseMap<Type, std::unique_ptr<cost::NestFacts>> copies;
  llvm::DenseMap<std::tuple<Type, LayoutAttr, LayoutAttr>, double> copyCosts;

  ArrayRef<Layout> candidatesOf(Value value) const {
    auto found = index.find(value);
    if (found == index.end())
      return {};
    return problem.values[found->second].candidates;
  }

  /// Returns the facts of a nest, with a layout for each access.
  cost::NestFacts factsOf(const NestModel &nest) const {
    cost::NestFacts facts(nest.op, machine.facts, /*shrink=*/true);
    std::vector<Layout> layouts;
    for (const NestAccess &access : facts.nest().accesses) {
      ArrayRef<Layout> candidates = candidatesOf(access.tensor);
      layouts.push_back(candidates.empty() ? nest::sortedLayout(access.type) : candidates[0]);
    }
    facts.setLayouts(layouts);
    return facts;
  }

  /// Finds good layouts for a way, one value at a time, and leaves them in `facts`.
  WaySeconds secondsOf(cost::NestFacts &facts, const LayoutWay &lanes,
                       const ByValue &byValue) const {
    cost::NestLayoutCost layoutCost(facts, lanes.lanes, lanes.tile, machine.rates, lanes.split);
    WaySeconds seconds;
    for (auto &[v, accesses] : byValue) {
      const std::vector<Layout> &candidates = problem.values[v].candidates;
      std::vector<double> &cost = seconds.costs.emplace_back();
      for (const Layout &candidate : candidates)
        cost.push_back(layoutCost.setLayout(accesses, candidate).seconds());
      size_t best = size_t(llvm::min_element(cost) - cost.begin());
      seconds.layouts.push_back(best);
      if (best + 1 < candidates.size()) // the last one is set
        layoutCost.setLayout(accesses, candidates[best]);
    }
    seconds.least = layoutCost.seconds();
    return seconds;
  }

  void measure(const NestModel &nest, cost::NestFacts &facts, const ByValue &byValue,
               const std::optional<std::vector<unsigned>> &lanes, Part &part) {
    std::vector<LayoutWay> ways;
    if (lanes)
      addTiles(ways, nest, *lanes);
    else
      ways = nest.reduction
                 ? waysOfReduction(nest)
                 : waysOfPointwise(nest, [&](Value value) { return candidatesOf(value); });
    // The sizes of all names but the first are needed to decompose a merged index.
    llvm::erase_if(ways, [&](const LayoutWay &way) {
      return way.lanes.size() > 1 &&
             llvm::any_of(ArrayRef(way.lanes).drop_front(),
                          [&](unsigned name) { return nest.symbolic[name]; });
    });
    if (ways.size() > mostWays)
      ways.erase(ways.begin() + mostWays, ways.end());
    for (unsigned v : llvm::make_first_range(byValue))
      part.terms.emplace_back().value = v;
    double fastest = INFINITY;
    std::vector<size_t> layouts(byValue.size(), 0); // in `facts`
    for (const LayoutWay &way : ways) {
      // The loops depend on layouts, so good ones are found first.
      WaySeconds seconds = secondsOf(facts, way, byValue);
      bool areGood = std::exchange(layouts, seconds.layouts) == seconds.layouts;
      if (seconds.least > worst * fastest)
        continue;
      fastest = std::min(fastest, seconds.least);
      if (!areGood) {
        seconds = secondsOf(facts, way, byValue);
        layouts = seconds.layouts;
      }
      // Merging names has a small cost, so that they are merged only to fill vectors.
      double merged = 1 + 0.05 * double(way.lanes.empty() ? 0 : way.lanes.size() - 1);
      part.ways.push_back({{}, way.reduced, machine.cycles(seconds.least * merged)});
      part.lanes.push_back(way.lanes);
      for (auto [term, accesses, cost] :
           llvm::zip_equal(part.terms, llvm::make_second_range(byValue), seconds.costs)) {
        for (double &each : cost)
          each = machine.cycles(std::max(0.0, each - seconds.least));
        addCosts(nest, term, accesses, cost, seconds.least);
      }
    }
  }

  static bool mayCopy(const NestModel &nest) {
    return isa<func::FuncOp>(nest.op->getParentOp()) && isa<ComputeOp>(nest.op);
  }

  /// Adds the costs of a way, by candidate, to the term of a value. Operands may be copied before
  /// the nest, its results after it.
  void addCosts(const NestModel &nest, LayoutTerm &term, ArrayRef<unsigned> accesses,
                ArrayRef<double> cost, double seconds) {
    unsigned v = term.value;
    size_t open = problem.values[v].cost.size();
    auto isWrite = [&](unsigned access) { return nest.accesses[access].isWrite; };
    bool writes = llvm::any_of(accesses, isWrite), reads = !llvm::all_of(accesses, isWrite);
    bool copies = mayCopy(nest) && reads != writes;
    std::vector<int> copy(open, -1);
    std::vector<double> best(cost.begin(), cost.begin() + long(open));
    if (copies)
      for (size_t c = 0; c < open; ++c)
        for (size_t via = 0; via < cost.size(); ++via)
          if (via != c) {
            double through = cost[via] + copyBetween(v, writes ? via : c, writes ? c : via) +
                             machine.cycles(leastCopyGain * seconds);
            if (through < best[c]) {
              best[c] = through;
              copy[c] = int(via);
            }
          }
    term.cost.insert(term.cost.end(), best.begin(), best.end());
    term.copy.insert(term.copy.end(), copy.begin(), copy.end());
  }

  double copyBetween(unsigned v, size_t from, size_t to) {
    Value value = problem.values[v].values[0];
    LayoutAttr a = interned[v][from], b = interned[v][to];
    auto [known, isNew] = copyCosts.try_emplace({value.getType(), a, b}, 0);
    if (!isNew)
      return known->second;
    std::unique_ptr<cost::NestFacts> &copy = copies[value.getType()];
    if (!copy)
      copy = std::make_unique<cost::NestFacts>(cost::NestFacts::ofCopy(value, machine.facts));
    double seconds = cost::secondsOfCopy(*copy, a.getLayout(), b.getLayout(), machine.rates);
    return known->second = machine.cycles(seconds + leastCopy);
  }
};
} // namespace

void nest::addNests(LayoutProblem &problem, const llvm::DenseMap<Value, unsigned> &index,
                    ArrayRef<NestModel> nests, const cost::Machine &machine) {
  NestAdder adder(problem, index, machine);
  for (const NestModel &nest : nests)
    adder.add(nest);
}
