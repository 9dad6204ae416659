//===- ExactSearch.cpp - finds the best point, and proves that it is ------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/ExactSearch.h"

#include <algorithm>
#include <numeric>
#include <queue>

using namespace heddle;
using namespace heddle::planner;

ExactSearch::ExactSearch(TaskCosts &costs, Tasks &tasks, const Graph &graph, unsigned devices,
                         IsAllowed isAllowed)
    : costs(costs), isAllowed(std::move(isAllowed)), boundOf(costs, tasks, graph, devices),
      order(graph.choices.size()) {
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return std::pair(boundOf.leastWork(b), a) < std::pair(boundOf.leastWork(a), b);
  });
}

/// Computes the time of a point.
void ExactSearch::compute(const StepBound::Decided &decided) {
  Point point;
  for (std::optional<unsigned> number : decided)
    point.push_back(*number);
  ++whole;
  std::optional<int64_t> time = costs.propose(point, least - 1);
  costs.decide(time.has_value());
  if (!time || (isAllowed && !isAllowed()))
    return;
  least = *time;
  found = std::move(point);
}

bool ExactSearch::run(const Point &start, uint64_t mostPlans,
                      const std::function<bool()> &isInterrupted) {
  found = start;
  least = costs.propose(start);
  costs.decide(true);
  count = whole = 1;
  std::priority_queue<Decided, std::vector<Decided>, std::greater<>> queue;
  StepBound::Decided decided(order.size());
  queue.push({boundOf(decided), {}});
  while (!queue.empty() && queue.top().bound < least) {
    Decided next = queue.top();
    proved = next.bound;
    std::fill(decided.begin(), decided.end(), std::nullopt);
    for (size_t i = 0; i < next.numbers.size(); ++i)
      decided[order[i]] = next.numbers[i];
    unsigned choice = order[next.numbers.size()];
    bool isLast = next.numbers.size() + 1 == order.size();
    if (count + costs.of(choice).size() > mostPlans || (isInterrupted && isInterrupted()))
      return false;
    queue.pop();
    next.numbers.push_back(0);
    for (unsigned number = 0; number < costs.of(choice).size(); ++number, ++count) {
      next.numbers.back() = number;
      decided[choice] = number;
      int64_t bound = std::max(proved, boundOf(decided));
      if (bound < least && isLast)
        compute(decided);
      else if (bound < least)
        queue.push({bound, next.numbers});
    }
  }
  proved = least;
  return true;
}
