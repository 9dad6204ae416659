//===- TaskSearch.h - the best plans of spaces ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches spaces (TaskSpace.h), each from several starts: data parallelism, an expert's plan, a
// random plan, and what was found in the spaces inside it. So no space has a slower plan than one
// inside of it.
//
//     TaskSearch search(tasks, costs, graph, cluster, {.sample = "batch", .devices = 4});
//     search.find(SpaceKind::Soap)          the best point; none if no point fits into memory
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_TASKSEARCH_H
#define HEDDLE_LIB_PLANNER_TASKSEARCH_H

#include "lib/planner/TaskSpace.h"

#include <limits>
#include <map>

namespace heddle::planner {

struct TaskSearchOptions {
  std::string sample;    ///< the name of samples
  unsigned devices = 1;  ///< the first ones of the cluster
  unsigned nodes = 1;    ///< groups of these devices
  bool isLimited = true; ///< the memory of devices is
  bool isDrawn = true;   ///< a random plan is a start, also if others are
  SearchOptions search;
};

/// Groups of devices whose names are the same up to the last dot; 1 if they are not alike.
unsigned nodesOf(const Cluster &cluster, unsigned devices);

class TaskSearch {
public:
  TaskSearch(Tasks &tasks, TaskCosts &costs, const Graph &graph, const Cluster &cluster,
             TaskSearchOptions options);

  Point dataParallel() const { return costs.dataParallel(options.sample); }
  /// The plan of a space that has one by a rule; none for other spaces, and if the rule has none.
  std::optional<Point> byRule(SpaceKind kind);
  /// The best point of a space that is found.
  std::optional<Point> find(SpaceKind kind);
  /// Changes one choice after the other, as long as that makes a point faster; then no single
  /// change does. Returns false if it was interrupted.
  bool improve(SpaceKind kind, Point &point);
  /// Makes the tasks those of a point.
  void show(const Point &point);
  /// True if the tasks as they are fit into memory.
  bool fits();

  uint64_t proposed() const { return proposals; }
  size_t points() const { return asked; }
  /// The fewest bytes by which a point that was tried exceeds the memory of a device, with the
  /// device and its bytes.
  struct Excess {
    int64_t excess = std::numeric_limits<int64_t>::max(), bytes = 0;
    unsigned device = 0;
  };
  const Excess &leastExcess() const { return least; }
  /// True if no plan fits, since parameters and other state have more bytes than all devices.
  bool isTooLarge() const;

private:
  Tasks &tasks;
  TaskCosts &costs;
  const Graph &graph;
  const Cluster &cluster;
  TaskSearchOptions options;
  std::map<SpaceKind, std::optional<Point>> found;
  uint64_t proposals = 0;
  size_t asked = 0;
  double unit = 1;
  Excess least;

  std::optional<double> costOf(const Point &point, int64_t limit);
  std::optional<Point> search(SpaceKind kind, const std::vector<Point> &starts);
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_TASKSEARCH_H
