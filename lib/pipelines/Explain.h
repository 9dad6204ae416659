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
//        "layouts": {"seconds": 7.8e-4, "bound": 7.8e-4, "copies": 1},
//        "values": [{"name": "x", "kind": "argument", "type": ..., "layout": "[k, m]", "bytes": ...,
//                    "given": true, "others": [{"what": "[m, k]", "more": 1.7e-5}], ...}],
//        "steps": [{"name": "reduce", "reads": [0, 1], "writes": [2], "schedule": "[...]",
//                   "seconds": 8.1e-4, "bound": 7.7e-4, "limit": "arithmetic", "lanes": "along m",
//                   "others": [...], "nests": [...], ...}],
//        "decisions": [{"value": "x", "layout": "[k, m]", ...}]}]}
//
// Seconds are those of one thread: predicted ones of steps, and those of the costs by which layouts
// were chosen. "decisions" has all choices of layouts, as remarks print them; the ones of values and
// nests that later passes replace have no value or step.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_EXPLAIN_H
#define HEDDLE_LIB_PIPELINES_EXPLAIN_H

#include "lib/conversion/nest_to_steps/Outline.h"
#include "lib/cost/Machine.h"
#include "lib/transforms/nest/ExplainLayouts.h"

#include "llvm/Support/JSON.h"

#include <deque>
#include <map>

namespace heddle {

class Explanation {
public:
  /// `machine`: the one for predicted times.
  explicit Explanation(cost::Machine machine) : machine(std::move(machine)) {}

  /// Called while the function has neutral names; the record has the user's.
  void addLayouts(const nest::ExplainedLayouts &layouts);
  /// Called when the steps of the entry are complete.
  void addSteps(const OutlinedEntry &entry);

  llvm::json::Value json() const;
  /// Writes the files whose paths are not empty.
  mlir::LogicalResult write(mlir::ModuleOp module, const std::string &jsonPath,
                            const std::string &htmlPath) const;

private:
  using Decisions = std::map<std::string, std::deque<llvm::json::Object>>;
  struct Function {
    llvm::json::Object summary;
    llvm::json::Array all;
    Decisions values, nests; ///< those that no value or step has yet
  };
  cost::Machine machine;
  std::map<std::string, Function> functions; ///< by name, with layouts
  llvm::json::Array entries;

  double seconds(double cycles) const;
  llvm::json::Array alternatives(llvm::ArrayRef<nest::ExplainedLayouts::Alternative> others,
                                 const Labels &names) const;
};

/// A page without references to other files that shows a record of `Explanation::json`.
std::string explanationPage(const llvm::json::Value &record);

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_EXPLAIN_H
