//===- PredictStep.h - how long a step takes with a plan --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts a step of a plan from the program that the plan compiles to: the passes of the compiler
// split a copy of the program, and the times of its ops (lib/cost/BlockTimes.h) give the time, the
// bytes that a device sends, and the memory that it needs. So what is predicted is what runs: the
// same transfers in the same order. All devices run one program, one of which stands for all.
//
//     StepPredictor predictor(module, topology, lower);
//     predictor.predict({"batch:data", "op .net.w./out:model"})
//         ->picoseconds, ->sentBytes, ->mostBytes
//
// The compiler's passes come from above (lib/pipelines): `lower` rewrites a module of whole nests,
// whose rules are stated, to the fused nests of one device, with layouts and schedules as far as
// they are chosen.
//
// Nests take the times that were measured of them, as far as a callback knows those, else those of
// the cost model with the rates of the topology.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_PREDICTSTEP_H
#define HEDDLE_LIB_PLANNER_PREDICTSTEP_H

#include "lib/planner/Topology.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace heddle::planner {

/// When a nest or a transfer runs.
struct TimedStep {
  std::string label;
  std::string resource; ///< "cores", or "links" of an axis
  int64_t begin = 0, end = 0;
};

struct Prediction {
  int64_t picoseconds = 0;
  int64_t computing = 0; ///< picoseconds in which a device computes
  double sentBytes = 0;  ///< by each device
  int64_t mostBytes = 0; ///< in the memory of a device at once
  unsigned transfers = 0;
  unsigned measured = 0, estimated = 0; ///< nests, by where their times come from
  std::vector<TimedStep> steps;
  /// The bytes in the memory of a device from a time on.
  std::vector<std::pair<int64_t, int64_t>> held;
};

class StepPredictor {
public:
  using Lower = std::function<mlir::LogicalResult(mlir::ModuleOp)>;
  /// The measured seconds of nests of a lowered module, as far as there are any.
  using Measured = std::function<llvm::DenseMap<mlir::Operation *, double>(mlir::ModuleOp)>;

  /// `module` holds whole nests, and has the mesh and the shardings of arguments; `entry` is the
  /// function of a step.
  StepPredictor(mlir::ModuleOp module, std::string entry, Lower lower)
      : module(module), entry(std::move(entry)), lower(std::move(lower)) {}

  /// Times of nests are so many times those of the cost model, or the measured ones.
  void setScale(double factor) { scale = factor; }
  void setMeasured(Measured times) { measured = std::move(times); }
  /// Fails with a message of the passes if they refuse the plan.
  mlir::FailureOr<Prediction> predict(const std::vector<std::string> &rules) const;

private:
  mutable mlir::ModuleOp module;
  std::string entry;
  Lower lower;
  Measured measured;
  double scale = 1;
};

/// States the links of a topology in a module, as far as plans state them, so that passes decide by
/// them.
void stateLinks(mlir::ModuleOp module, const Topology &topology);
/// States all that predictions need: also rates of devices, by which passes must not decide, since
/// the compiler does not know them.
void stateTopology(mlir::ModuleOp module, const Topology &topology);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_PREDICTSTEP_H
