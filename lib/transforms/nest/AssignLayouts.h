//===- AssignLayouts.h - an order in memory for every value -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every value of a function gets a layout: the choice is stated as numbers (LayoutProblem.h), made
// (LayoutChooser.h) and written into the IR, `nd.layout` on arguments and results of the function,
// `layouts` on nests. Where it is cheaper to copy an operand than to read it as it lies, a nest called
// `pack` that copies it is put before; values that two nests want copied alike are copied once.
//
//     c[m, n] = sum over k of a[m, k] * b[k, n]       a [m, k], b packed to [n floordiv 32, k, n mod 32], c [m, n]
//
// What the user wrote is kept. An argument without `nd.layout` lies row-major over its sorted names, as the
// caller has it, unless it is donated (state, that lies from call to call as the program wants it) or has
// `nd.layout = "any"`: then the program file says where it lies, and the runtime converts what
// lies otherwise. Results lie as it suits the program; the tensor says how.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_ASSIGNLAYOUTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_ASSIGNLAYOUTS_H

#include "lib/transforms/nest/LayoutChooser.h"

namespace heddle::nest {

struct AssignLayoutsOptions {
  MachineAttr machine;
  /// Says as remarks why each value lies as it does, what else there was, and how far the whole may be from the best.
  bool explain = false;
  /// May change costs before layouts are chosen.
  std::function<void(LayoutProblem &)> adjust;
};

/// Sizes that are symbols count as typical ones (dialects/nd/NdTypical.h). Fails with a located message
/// where a layout that was written can't be kept.
mlir::LogicalResult assignLayouts(mlir::func::FuncOp function,
                                  const AssignLayoutsOptions &options = {});
mlir::LogicalResult assignLayouts(mlir::func::FuncOp function, const AssignLayoutsOptions &options,
                                  const LayoutChooser &chooser);

/// Remarks on a choice that has been made.
void explainLayouts(mlir::func::FuncOp function, const LayoutProblem &problem,
                    const LayoutChoice &choice);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_ASSIGNLAYOUTS_H
