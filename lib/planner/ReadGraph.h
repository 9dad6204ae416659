//===- ReadGraph.h - the graph of a function of nests -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the graph (Graph.h) of a function of whole nests: its operators (lib/analysis/Operators.h),
// the values between them, and which coordinates of these a part of an operator reads. Index maps
// say all of that; there is no list of ops:
//
//     %y = nest.compute (b: 4, o: 6) reduce (i: 8) reads %x[], %w[] ...
//     %z = nest.compute (b: 4, o: 6) reads %y[], %bias[] ...
//
//     choice `w`       names b, o, i: of the nest that sums
//     operator `w`     iterates over b, o, i; makes %y, summed over i
//     operator `w`     the pointwise nests after it: b, o; reads %y at (b, o)
//
// Names of two nests are one name of the choice if both are the coordinate of one dimension of a
// value (SharedNames.h), or are spelled alike. A name can be split if a nest that is not pointwise
// has it. Nests that only copy or transpose, as where a value gets other names, are no operators.
// Sorts, branches and loops run as a whole.
//
// An argument whose next value the function computes is what the last step computed: it is sent
// from there. Others are where they are read.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_READGRAPH_H
#define HEDDLE_LIB_PLANNER_READGRAPH_H

#include "lib/cost/Machine.h"
#include "lib/planner/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::planner {

/// `isTied`: operators with the same base of their name, such as `w`, `w.dx` and `w.update`, are
/// one choice. Else each operator is a choice.
Graph readGraph(mlir::func::FuncOp function, const cost::Machine &machine, bool isTied);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_READGRAPH_H
