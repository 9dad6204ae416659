//===- ExactSearch.cpp - finds the best point, and proves that it is ------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/ExactSearch.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::planner;

ExactSearch::ExactSearch(TaskCosts &costs, Tasks &tasks, const Graph &graph, unsigned devices,
                         IsAllowed isAllowed)
    : costs(costs), graph(graph), devices(devices), isAllowed(std::move(isAllowed)),
      makers(graph.operators.size()), placeOf(graph.operators.size()) {
  std::vector<unsigned> counts(graph.choices.size());
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    const Graph::Operator &op = graph.operators[i];
    placeOf[i] = counts[op.choice]++;
    for (const Graph::Read &read : op.reads)
      if (!read.ofNextStep && isInside(op, read))
        makers[i].push_back(graph.values[read.value].maker);
  }
  for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
    std::vector<Work> &all = works.emplace_back();
    for (unsigned number = 0; number < costs.of(choice).size(); ++number) {
      tasks.configure(choice, costs.of(choice)[number]);
      all.push_back({tasks.computingOf(choice), tasks.shortestOf(choice), 0});
      for (int64_t own : all.back().ofDevices)
        all.back().all += own;
      tasks.undo();
    }
    Work &first = leastWorks.emplace_back(all.front());
    for (const Work &each : all) {
      first.all = std::min(first.all, each.all);
      for (size_t k = 0; k < first.shortest.size(); ++k)
        first.shortest[k] = std::min(first.shortest[k], each.shortest[k]);
    }
  }
}

/// True if no part of a reader could find nothing of the value: all coordinates are inside it.
bool ExactSearch::isInside(const Graph::Operator &op, const Graph::Read &read) const {
  const std::vector<Graph::Name> &names = graph.choices[op.choice].names;
  for (size_t k = 0; k < read.coordinates.size(); ++k) {
    const Coordinate &coordinate = read.coordinates[k];
    int64_t low = coordinate.low, high = coordinate.high;
    for (auto [name, factor] : coordinate.terms)
      (factor > 0 ? high : low) += factor * (names[name].size - 1);
    if (low < 0 || low > high || high / coordinate.divisor >= graph.values[read.value].sizes[k])
      return false;
  }
  return true;
}

int64_t ExactSearch::bound(const Point &decided) const {
  auto workOf = [&](unsigned choice) -> const Work & {
    return choice < decided.size() ? works[choice][decided[choice]] : leastWorks[choice];
  };
  std::vector<int64_t> ofDevices(devices);
  int64_t all = 0, longest = 0;
  for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
    all += workOf(choice).all;
    for (unsigned device = 0; choice < decided.size() && device < devices; ++device)
      ofDevices[device] += workOf(choice).ofDevices[device];
  }
  std::vector<int64_t> ends(graph.operators.size());
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    for (unsigned maker : makers[i])
      ends[i] = std::max(ends[i], ends[maker]);
    ends[i] += workOf(graph.operators[i].choice).shortest[placeOf[i]];
    longest = std::max(longest, ends[i]);
  }
  int64_t busiest = *std::max_element(ofDevices.begin(), ofDevices.end());
  return std::max({busiest, (all + devices - 1) / devices, longest});
}

/// Returns false if there were too many points.
bool ExactSearch::decideNext(Point &decided) {
  if (decided.size() == graph.choices.size()) {
    if (count == most)
      return false;
    ++count;
    std::optional<int64_t> time = costs.propose(decided, least - 1);
    costs.decide(time.has_value());
    if (time && *time < least && (!isAllowed || isAllowed())) {
      least = *time;
      found = decided;
    }
    return true;
  }
  std::vector<std::pair<int64_t, unsigned>> next; // the most promising first
  for (unsigned number = 0; number < costs.of(unsigned(decided.size())).size(); ++number) {
    decided.push_back(number);
    next.emplace_back(bound(decided), number);
    decided.pop_back();
  }
  std::sort(next.begin(), next.end());
  for (auto [time, number] : next) {
    if (time >= least)
      break;
    decided.push_back(number);
    bool isDone = decideNext(decided);
    decided.pop_back();
    if (!isDone)
      return false;
  }
  return true;
}

bool ExactSearch::run(const Point &start, uint64_t mostPoints) {
  found = start;
  least = costs.propose(start);
  costs.decide(true);
  count = 1;
  most = mostPoints;
  Point decided;
  return decideNext(decided);
}
