//===- Explain.h - the decisions of a compilation ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects, for each function, its values and steps, what was chosen for them, the alternatives and
// what those would cost:
//
//     {"heddle_explain": 1,
//      "functions": [{
//        "name": "product", "location": "a.mlir:1:1",
//        "layouts": {"seconds": 7.8e-4, "bound": 7.8e-4, "copies": 1, ...},
//        "values": [{"name": "x", "kind": "argument", "type": ..., "layout": "[k, m]",
//                    "bytes": ..., "given": true,
//                    "others": [{"what": "[m, k]", "more": 1.7e-5}], ...}],
//        "steps": [{"name": "reduce", "reads": [0, 1], "writes": [2], "schedule": "[...]",
//                   "seconds": 8.1e-4, "bound": 7.7e-4, "limit": "arithmetic", "lanes": "along m",
//                   "others": [...], "nests": [...],
//                   "other_schedules": [{"what": "a register tile of ...", "more": 2.1e-5}], ...}],
//        "decisions": [{"value": "x", "layout": "[k, m]", ...}],
//        "fusion": [{"nest": "relu", "chosen": "is recomputed in its reader", "other": "stored",
//                    "more": 1.2e-5, ...}]}]}
//
// Seconds are those of one thread: predicted ones of steps, and those of the costs by which layouts
// were chosen. "decisions" has all choices of layouts, as remarks print them; the ones of values
// and nests that later passes replace have no value or step. "fusion" has those of fusion and
// groups; "more" is negative if the other choice would save too little. "open" of layouts has the
// nests that keep the gap between "seconds" and "bound" open.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_EXPLAIN_H
#define HEDDLE_LIB_COMPILE_EXPLAIN_H

#include "lib/conversion/nest_to_steps/OutlineEntries.h"
#include "lib/cost/Machine.h"
#include "lib/pipelines/Pipelines.h"

#include "llvm/Support/JSON.h"

#include <deque>
#include <map>
#include <mutex>

namespace heddle {

class Explanation {
public:
  /// `timed`: the machine for predicted times. `choices`: the one for which schedules are chosen.
  Explanation(cost::Machine timed, cost::Machine choices)
      : timed(std::move(timed)), choices(std::move(choices)) {}

  /// For `buildNestPipeline`: add what passes decide. The explanation must live as long as these.
  DecisionListeners listeners();
  /// Called when the steps of the entry are complete. May also emit a remark for each schedule.
  void addSteps(const OutlinedEntry &entry, bool emitRemarks);

  llvm::json::Value json() const;
  /// Writes the files whose paths are not empty.
  LogicalResult write(ModuleOp module, const std::string &jsonPath,
                      const std::string &htmlPath) const;

private:
  using Decisions = std::map<std::string, std::deque<llvm::json::Object>>;
  struct Function {
    llvm::json::Object summary;
    llvm::json::Array all, fusion;
    Decisions values, nests; ///< those that no value or step has yet
  };
  cost::Machine timed, choices;
  std::mutex mutex;                          ///< passes may run on several functions at once
  std::map<std::string, Function> functions; ///< by name
  llvm::json::Array entries;

  /// Called while the function has neutral names; the record has the user's.
  void addFusion(func::FuncOp function, const nest::FusionDecisions &decisions);
  void addLayouts(const nest::ExplainedLayouts &layouts);
  double seconds(double cycles) const;
  llvm::json::Array alternatives(ArrayRef<nest::ExplainedLayouts::Alternative> others,
                                 const Labels &names) const;
  llvm::json::Object describeStep(const StepSpec &step, const OutlinedStep &outlined,
                                  const EntrySpec &entry, bool emitRemarks) const;
  /// Adds the schedule of a nest and what others would cost.
  void addSchedule(llvm::json::Object &to, Operation *nest, bool emitRemarks) const;
  llvm::json::Array nestsIn(Operation *step, bool emitRemarks) const;
};

/// A page without references to other files that shows a record of `Explanation::json`.
std::string explanationPage(const llvm::json::Value &record);

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_EXPLAIN_H
