//===- TaskPlanning.h - the tasks of a program on a topology ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph of a program, its tasks, and their search: all commands of tasks begin with it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_TASKPLANNING_H
#define HEDDLE_TOOLS_TASKPLANNING_H

#include "PlanInput.h"
#include "lib/planner/TaskSearch.h"

#include "llvm/Support/JSON.h"

namespace heddle {

class TaskPlanning : public PlanInput {
public:
  explicit TaskPlanning(const PlanOptions &options) : PlanInput(options) {}

  /// Reads all, and makes the tasks of data parallelism. Prints what is wrong.
  bool read();
  /// Finds the best plan of the space of the options, and makes its tasks. Prints why there is
  /// none.
  std::optional<planner::Point> find();
  planner::SpaceKind space() const;

  /// The time, transfers and memory of the tasks.
  llvm::json::Object result(llvm::StringRef what) const;
  void print(llvm::StringRef what) const;
  /// A line for each choice: its degrees above 1, and the devices of its parts.
  std::string text(const planner::Point &point) const;
  std::string text(unsigned choice, const planner::Configuration &configuration) const;
  int64_t mostMemory() const;

  planner::Cluster cluster;
  planner::Graph graph;
  unsigned devices = 0;
  std::optional<planner::Tasks> tasks;
  std::optional<planner::TaskCosts> costs;
  std::optional<planner::TaskSearch> search;

private:
  bool readCluster();
  bool readGraph();
};

/// The picture and the trace of a plan, for a browser.
std::string pictureOf(const TaskPlanning &planning);
std::string traceOf(const TaskPlanning &planning);

} // namespace heddle

#endif // HEDDLE_TOOLS_TASKPLANNING_H
