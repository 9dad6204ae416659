//===- AssignLayouts.h - an order in memory for every value -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every value of a function gets a layout. This first chooser decides which name varies fastest: each contraction votes, with
// its arithmetic as weight, for the lanes that it would use (a produced name that some reads do not have, so that they are
// broadcast), votes spread through nests that work point by point, and the name with most votes wins. Arguments are
// included (the runtime converts what lies otherwise) unless `nd.layout` fixes them; a nest that has `layouts` keeps them.
//
//     c[m, n] = sum over k of a[m, k] * b[k, n]       votes n for b and c, k for a:  a [m, k], b [k, n], c [m, n]
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_ASSIGNLAYOUTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_ASSIGNLAYOUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::nest {

void assignLayouts(mlir::func::FuncOp function);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_ASSIGNLAYOUTS_H
