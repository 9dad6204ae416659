//===- ExactSearch.h - the best point, with a proof -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the point of least time (TaskCosts.h) by branch and bound: it decides choice after choice,
// those with the most work first, and leaves what can't be better than the best point so far by the
// bound of what is decided (StepBound.h). It goes on with the least bound, so that no point takes
// less than the bounds that are left:
//
//     ExactSearch exact(costs, tasks, graph, devices);
//     exact.run(start, 1000);               returns true if `best` is proved to be the best point
//     exact.best(), exact.picoseconds(), exact.bound()
//
// Points that are not allowed, since they need more memory than there is, do not count.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_EXACTSEARCH_H
#define HEDDLE_LIB_PLANNER_EXACTSEARCH_H

#include "lib/planner/StepBound.h"

namespace heddle::planner {

class ExactSearch {
public:
  /// Asked while the tasks are those of a point; true if it is allowed.
  using IsAllowed = std::function<bool()>;

  ExactSearch(TaskCosts &costs, Tasks &tasks, const Graph &graph, unsigned devices,
              IsAllowed isAllowed = {});

  /// Searches from a point that is known and allowed. Stops, and returns false, after so many
  /// plans, of all choices or of some. `isInterrupted` is asked for each.
  bool run(const Point &start, uint64_t mostPlans, const std::function<bool()> &isInterrupted = {});

  const Point &best() const { return found; }
  int64_t picoseconds() const { return least; }
  uint64_t plans() const { return count; }  ///< whose time, or bound, was computed
  uint64_t points() const { return whole; } ///< whose time was computed
  /// No point takes less time.
  int64_t bound() const { return proved; }

private:
  /// Numbers of the first choices in the order of decisions.
  struct Decided {
    int64_t bound;
    Point numbers;
    bool operator>(const Decided &other) const {
      return bound != other.bound ? bound > other.bound : numbers.size() < other.numbers.size();
    }
  };
  TaskCosts &costs;
  IsAllowed isAllowed;
  StepBound boundOf;
  std::vector<unsigned> order; ///< of decisions: choices
  Point found;
  int64_t least = 0, proved = 0;
  uint64_t count = 0, whole = 0;

  void compute(const StepBound::Decided &decided);
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_EXACTSEARCH_H
