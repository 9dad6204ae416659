//===- AssignLayouts.h - assigns a layout to every value --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns a layout to every value of a function: states the choice as numbers (LayoutProblem.h),
// solves it (LayoutChooser.h) and writes it into the IR, as `nd.layout` on arguments and results of
// the function and as `layouts` on nests. If copying an operand is cheaper than reading it in its
// own layout, a nest named `pack` copies it first; nests that need the same copy share it. The
// lanes that the layouts assume are written on each nest as a partial schedule
// (schedule/ChooseVectorLanes.h).
//
//     c[m, n] = sum over k of a[m, k] * b[k, n]
//     a in [m, k], b packed to [n floordiv 32, k, n mod 32], c in [m, n], [vector n by 1] partial
//
// User-written layouts are kept. An argument without `nd.layout` is row-major over its sorted
// names, as callers expect, unless it is donated (state, whose layout the program chooses) or has
// `nd.layout = "any"`: then the program file states its layout, and the runtime converts arguments
// in other layouts. The program chooses the layouts of results, and result tensors carry them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_ASSIGNLAYOUTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_ASSIGNLAYOUTS_H

#include "lib/transforms/nest/layout/LayoutChooser.h"

namespace heddle::nest {

struct ExplainedLayouts;

struct AssignLayoutsOptions {
  cost::Machine machine = cost::Machine::of({});
  /// Emits remarks: why each value has its layout, the alternatives, and a lower bound of the cost.
  bool explain = false;
  /// Called with the reasons for the layouts of each function (ExplainLayouts.h).
  std::function<void(const ExplainedLayouts &)> explained;
  /// Called before layouts are chosen; may change costs.
  std::function<void(LayoutProblem &)> adjust;
};

/// Uses typical values for symbolic sizes (dialects/nd/NdTypical.h). Fails with a located message
/// if a user-written layout can't be kept.
LogicalResult assignLayouts(func::FuncOp function, const AssignLayoutsOptions &options = {},
                            LayoutChooser chooser = chooseLayouts);

/// For all functions; those of branches and loops after their callers. An argument of which such a
/// function reads at most half gets the caller's layout.
LogicalResult assignLayouts(ModuleOp module, const AssignLayoutsOptions &options = {});

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_ASSIGNLAYOUTS_H
