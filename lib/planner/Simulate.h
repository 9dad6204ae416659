//===- Simulate.h - how long a step takes with a plan -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts a step of a plan from the program that the plan compiles to: the passes of the compiler
// split a copy of the program, and a walk through it (lib/cost/BlockWalk.h) gives the time, the
// bytes that a device sends, and the memory that it needs. So what is predicted is what runs: the
// same transfers in the same order. All devices run one program, of which one walk stands for all.
//
//     Simulator simulator(module, topology, lower);
//     simulator.predict({"batch:data", "op .net.w./out:model"})
//         ->picoseconds, ->sentBytes, ->mostBytes
//
// The compiler's passes come from above (lib/pipelines): `lower` rewrites a module of whole nests,
// whose rules are stated, to the fused nests of one device.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_SIMULATE_H
#define HEDDLE_LIB_PLANNER_SIMULATE_H

#include "lib/planner/Topology.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace heddle::planner {

struct Prediction {
  int64_t picoseconds = 0;
  int64_t computing = 0; ///< picoseconds in which a device computes
  double sentBytes = 0;  ///< by each device
  int64_t mostBytes = 0; ///< in the memory of a device at once
  unsigned transfers = 0;
};

class Simulator {
public:
  using Lower = std::function<mlir::LogicalResult(mlir::ModuleOp)>;

  /// `module` holds whole nests, and has the mesh and the shardings of arguments; `entry` is the
  /// function of a step.
  Simulator(mlir::ModuleOp module, std::string entry, Lower lower)
      : module(module), entry(std::move(entry)), lower(std::move(lower)) {}

  /// Fails with a message of the passes if they refuse the plan.
  mlir::FailureOr<Prediction> predict(const std::vector<std::string> &rules) const;

private:
  mutable mlir::ModuleOp module;
  std::string entry;
  Lower lower;
};

/// States the devices and links of a topology in a module, so that passes decide by them.
void stateTopology(mlir::ModuleOp module, const Topology &topology);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_SIMULATE_H
