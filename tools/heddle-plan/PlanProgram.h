//===- PlanProgram.h - predicts and finds plans of a program ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins lib/planner, which knows no pipeline, with the passes of the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_PLANPROGRAM_H
#define HEDDLE_TOOLS_PLANPROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

struct PlanOptions {
  std::string input = "-", topology, entry;
  std::string plan;              ///< a file; empty: data parallelism
  std::string output;            ///< of a search; "-": standard output
  std::string resume;            ///< a found plan, from which a search goes on
  std::vector<std::string> bans; ///< rules that no plan has
  uint64_t seed = 1, proposals = 1000, patience = 0;
  double beta = 100;          ///< of the time of the first start
  double measuredSeconds = 0; ///< of a step on one device; 0: not measured
  std::string times;          ///< a file of measured times, or "default"; empty: none
  bool measures = false;      ///< what the file lacks
  bool json = false;
  bool isTasks = false; ///< simulates tasks, each operator on devices of its own
  bool isPaper = false; ///< likewise, under the assumptions of FlexFlow's paper
  uint64_t exact = 0;   ///< the most points of a search for the best; 0: no such search
  // Of tasks:
  std::string space = "all";   ///< TaskSpace.h
  unsigned devices = 0;        ///< the first ones of the topology; 0: all
  unsigned cut = 1;            ///< pieces of the steps of a recurrence
  double rates = 1, links = 1; ///< factors of those of the topology
  bool isDrawn = true;         ///< searches also start with a random plan
  bool isFull = false;         ///< all tasks are made anew for each proposal
  bool isToTheEnd = false;     ///< also those that are declined are simulated to the end
  bool improves = false;       ///< a found plan is improved by single changes
  std::string picture, trace;  ///< files
  std::string measured;        ///< a timeline of heddle-run
  // Of drawn plans:
  unsigned draw = 0;
  // Of probes:
  std::string axis = "data", engineOptions;
};

/// Those of tasks (lib/planner/Tasks.h), which no pass splits.
int simulateTasks(const PlanOptions &options);
int searchTasks(const PlanOptions &options);
/// Prints the best plan of each space; the spaces themselves; why a plan is as it is; or draws it.
int compareTasks(const PlanOptions &options);
int countTasks(const PlanOptions &options);
int explainTasks(const PlanOptions &options);
int showTasks(const PlanOptions &options);

/// Prints the prediction of a plan. Returns the exit status.
int simulatePlan(const PlanOptions &options);
/// Counts the plans of operators on the axes of a mesh, and draws some of them.
int countPlans(const PlanOptions &options);
/// Measures the ranks of a job, and the links between them, and writes a topology.
int probeRanks(const PlanOptions &options);
/// Draws a plan.
int showPlan(const PlanOptions &options);
/// Searches from a plan, prints what was found, and writes it as a plan file.
int searchPlan(const PlanOptions &options);

} // namespace heddle

#endif // HEDDLE_TOOLS_PLANPROGRAM_H
