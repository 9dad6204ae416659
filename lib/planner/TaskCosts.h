//===- TaskCosts.h - configurations as points of a search -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The configurations from which a search chooses one for each choice of a graph (Graph.h). Each
// name is divided into a number of blocks that divides the number of devices; parts are on devices
// at equal distances:
//
//     names batch: 8, out: 4      4 devices
//
//     batch 2, out 2              0 1 2 3
//     batch 2                     0 1, or 2 3, or 0 2, or 1 3
//     nothing                     0, or 1, or 2, or 3
//
// No block is empty, and the steps of a recurrence are in one block. Others, such as those that a
// rule makes (RulePlans.h), are added, and have the numbers after these. A point is the number of a
// configuration for each choice; its cost is the time of the tasks (Tasks.h), which is updated by
// what a proposal changes:
//
//     TaskCosts costs(tasks, graph, 4);
//     Search search(costs.choices(), costs.options(options), costs.function());
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_TASKCOSTS_H
#define HEDDLE_LIB_PLANNER_TASKCOSTS_H

#include "lib/planner/MetropolisSearch.h"
#include "lib/planner/Tasks.h"

namespace heddle::planner {

/// All configurations of a choice, by number.
class Configurations {
public:
  Configurations(const Graph::Choice &choice, unsigned devices);

  unsigned size() const { return firsts.back(); }
  /// With those that were added.
  unsigned all() const { return size() + unsigned(added.size()); }
  /// The number of any configuration, which is added if it is not one of these.
  unsigned add(const Configuration &configuration);
  Configuration operator[](unsigned number) const;
  /// The number of a configuration; none if it is not one of these.
  std::optional<unsigned> find(const Configuration &configuration) const;
  bool operator==(const Configurations &other) const = default;

private:
  unsigned devices;
  std::vector<std::vector<unsigned>> degrees;
  std::vector<unsigned> firsts; ///< by degrees: the number of their first configuration
  std::vector<Configuration> added;
};

/// Options that make a search slower and keep its results, to measure what they turn off.
struct TaskCostOptions {
  bool remakesAll = false;        ///< all tasks are made anew for each proposal
  bool simulatesToTheEnd = false; ///< also what is known to be declined
};

class TaskCosts {
public:
  TaskCosts(Tasks &tasks, const Graph &graph, unsigned devices, TaskCostOptions options = {});

  std::vector<unsigned> choices() const;
  const Configurations &of(unsigned choice) const { return configurations[choice]; }
  unsigned add(unsigned choice, const Configuration &each) {
    return configurations[choice].add(each);
  }
  /// Splits a name with this label over all devices, or as many as it has coordinates for.
  Point dataParallel(const std::string &label) const;
  /// The picoseconds of a point. It changes the tasks; `decide` keeps the change, or undoes it.
  int64_t propose(const Point &point) { return *propose(point, Tasks::noLimit); }
  /// None if they are above the limit: then the point has to be declined.
  std::optional<int64_t> propose(const Point &point, int64_t limit);
  void decide(bool isAccepted);

  /// Lets a search ask for proposals; costs are in units of so many picoseconds.
  SearchOptions options(SearchOptions options);
  Search::Cost function(double unit);
  /// The picoseconds of a cost that no point with fewer picoseconds is above.
  static int64_t limitOf(double cost, double unit);

private:
  Tasks &tasks;
  const Graph &graph;
  unsigned devices;
  TaskCostOptions how;
  std::vector<Configurations> configurations;
  std::vector<std::optional<unsigned>> current, proposed; ///< none: not one of the configurations
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_TASKCOSTS_H
