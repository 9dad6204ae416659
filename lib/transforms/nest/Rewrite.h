//===- Rewrite.h - what rewrites of nests have in common --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of iteration are local to a nest, so two nests that are to become one are first given
// common names; ops that stand between them and need the first are moved behind the second; and
// what a user fixed by hand is left alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_REWRITE_H
#define HEDDLE_LIB_TRANSFORMS_NEST_REWRITE_H

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NameRewriter.h"

#include "mlir/IR/IRMapping.h"

#include <set>

namespace heddle::nest {

using Renaming = Labels;

/// Attributes by which a user decides what becomes of a nest's result: it is kept in memory, or
/// computed again at each use.
inline constexpr llvm::StringLiteral materializeAttr = "heddle.materialize";
inline constexpr llvm::StringLiteral recomputeAttr = "heddle.recompute";

/// What a rewrite must save, in the seconds of the cost model.
inline constexpr double leastGain = 1e-7;
/// One nest of both would be larger than a kernel should be: more streams than a core prefetches, more
/// values than registers hold by far, and compiling takes a time that grows faster than its size.
bool areTooLargeTogether(mlir::Operation *a, mlir::Operation *b);

/// True if the nest carries a schedule that was written for its loops and reads: no rewrite changes
/// it.
bool isFixed(mlir::Operation *nest);

/// Row-major over the sorted names: how a caller has a tensor of this type. While passes see
/// neutral names only, `heddle.names` of the function says how they are spelled.
Layout sortedLayout(mlir::Operation *function, nd::NdTensorType type);
/// True if an argument lies like that: no `nd.layout` says otherwise, and it is not donated.
bool isSortedArgument(mlir::BlockArgument argument);

/// A copy of `op` beside it, with other iteration names; those that `names` lacks stay.
ComputeOp withNames(ComputeOp op, const Renaming &names);
/// A copy of `op` in which no reduced name is one of `taken`.
ComputeOp withReducedApart(ComputeOp op, const std::set<std::string> &taken);
/// A nest that reads `value` under other names.
mlir::Value renameDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       const Renaming &names);
bool isIdentity(const Renaming &names);

/// Where a nest that does the work of two (in one block, `first` before `second`) may stand: at
/// `first` if all that `second` reads (but for results of `first`) is there already, else at
/// `second`; null if something between has to come after the one and before the other. The earlier
/// place frees the operands of `first` sooner.
mlir::Operation *meetingPlace(mlir::Operation *first, mlir::Operation *second);
/// Makes room: what stands between them and depends on `first` moves behind `second`, unless the
/// place is at `first`.
void meet(mlir::Operation *first, mlir::Operation *second, mlir::Operation *place);

/// Numbers an op that was just inserted, between its neighbours: where several without a number
/// follow one another the next question for their order numbers the whole block.
void keepOrder(mlir::Operation *op);

/// Clones scalar code up to the terminator; returns what it yields.
llvm::SmallVector<mlir::Value> inlineScalar(mlir::OpBuilder &builder, mlir::Block &block,
                                            mlir::IRMapping &mapping);
/// True if the map reads places of the tensor alone, whatever a guard says; `space`: the sizes of
/// iteration names, over symbols.
bool staysInside(MapAttr map, nd::NdTensorType type, const Ranges &ranges, const SizeExprs &space);
/// The sizes of the names of a nest and of the groups around it.
SizeExprs spaceOf(mlir::Operation *op);

/// The finish region of a nest that reduces nothing becomes part of its body.
bool mergeFinish(ComputeOp op);

/// The labels of `from` (name, place) pass to the nest that replaces them.
void inheritAttributes(ComputeOp made, llvm::ArrayRef<mlir::Operation *> from);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_REWRITE_H
