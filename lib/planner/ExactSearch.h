//===- ExactSearch.h - the best point, with a proof -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the point of least time (TaskCosts.h) by branch and bound: it decides choice after choice,
// and leaves what can't be better than the best point so far. However the other choices are
// decided, a step takes at least
//
//     the time in which a device computes what is decided for it
//     the time in which all compute all: the least for what is not decided, in equal shares
//     a path of operators, each of which reads all parts of the one before: their shortest parts
//
//     ExactSearch exact(costs, tasks, graph, devices);
//     exact.run(start, 1000);               returns true if `best` is proved to be the best point
//     exact.best(), exact.picoseconds()
//
// Points that are not allowed, since they need more memory than there is, do not count.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_EXACTSEARCH_H
#define HEDDLE_LIB_PLANNER_EXACTSEARCH_H

#include "lib/planner/TaskCosts.h"

namespace heddle::planner {

class ExactSearch {
public:
  /// Asked while the tasks are those of a point; true if it is allowed.
  using IsAllowed = std::function<bool()>;

  ExactSearch(TaskCosts &costs, Tasks &tasks, const Graph &graph, unsigned devices,
              IsAllowed isAllowed = {});

  /// Searches from a point that is known and allowed. Stops, and returns false, after so many
  /// points.
  bool run(const Point &start, uint64_t mostPoints);

  const Point &best() const { return found; }
  int64_t picoseconds() const { return least; }
  uint64_t points() const { return count; } ///< whose time was computed

  /// Less than or equal to the time of each point that begins with these numbers.
  int64_t bound(const Point &decided) const;

private:
  /// The times in which a configuration of a choice computes.
  struct Work {
    std::vector<int64_t> ofDevices;
    std::vector<int64_t> shortest; ///< part of each of its operators
    int64_t all = 0;
  };
  TaskCosts &costs;
  const Graph &graph;
  unsigned devices;
  IsAllowed isAllowed;
  std::vector<std::vector<Work>> works; ///< by choice and number
  std::vector<Work> leastWorks;         ///< by choice: the least of each
  /// By operator: the operators of which each part reads a part.
  std::vector<std::vector<unsigned>> makers;
  std::vector<unsigned> placeOf; ///< by operator: among those of its choice
  Point found;
  int64_t least = 0;
  uint64_t count = 0, most = 0;

  bool isInside(const Graph::Operator &op, const Graph::Read &read) const;
  bool decideNext(Point &decided);
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_EXACTSEARCH_H
