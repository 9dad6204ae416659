//===- MeshPlanning.h - the plans of a program on a mesh --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program as whole nests, on a topology, with the rules for arguments of a plan: all commands of
// plans begin with it. Predictions are of the program that the compiler makes of it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_MESHPLANNING_H
#define HEDDLE_TOOLS_MESHPLANNING_H

#include "NestTimes.h"
#include "PlanInput.h"
#include "heddle/MeshRule.h"
#include "lib/planner/PredictStep.h"

namespace heddle {

class MeshPlanning : public PlanInput {
public:
  explicit MeshPlanning(const PlanOptions &options) : PlanInput(options) {}

  bool isJson() const { return options.json; }

  std::optional<NestTimes> times; ///< none: those of the cost model

  /// Prints what is wrong.
  bool read();

  /// The prediction of a plan with these rules for operators, after those of the plan file.
  mlir::FailureOr<planner::Prediction> predict(const std::vector<std::string> &rules);
  /// The lines of a plan with these rules for operators.
  std::string text(const std::vector<std::string> &rules) const;

  /// The rules of the plan file, or of data parallelism.
  const std::vector<MeshRule> &given() const { return rules; }
  /// The rules for operators of a plan that an earlier search found. Prints what is wrong.
  std::optional<std::vector<std::string>> rulesOf(const std::string &path) const;

  /// An operator, and the name that each axis splits; empty: none.
  struct Split {
    std::string name;
    std::vector<std::string> ofAxes;
  };
  /// How propagation splits the operators of the plan file.
  mlir::FailureOr<std::vector<Split>> splits();

  /// Of times of nests, so that a step on one device takes as long as it was measured to take.
  double scale = 1;

private:
  std::string graph;              ///< the hash of its graph
  std::vector<std::string> first; ///< the rules that all plans have
  std::vector<MeshRule> rules;    ///< the same, with their lines

  planner::StepPredictor predictorOf(mlir::ModuleOp nests);
  /// The rule that splits the samples over all axes, if there are any.
  std::vector<std::string> dataParallel();
  bool findScale();
  bool lowerToNests();
};

/// The steps of the last call that `heddle-run --timeline` recorded of rank 0. Prints what is
/// wrong.
std::optional<std::vector<planner::TimedStep>> readTimeline(const std::string &path);

/// The picture of a plan, for a browser: splits of operators, and predicted times above measured
/// ones, of which there may be none.
std::string pictureOf(const std::vector<MeshPlanning::Split> &splits,
                      const planner::Topology &topology, const planner::Prediction &predicted,
                      const std::string &title, const std::vector<planner::TimedStep> &measured);

} // namespace heddle

#endif // HEDDLE_TOOLS_MESHPLANNING_H
