//===- StagedCopy.h - the copies of stages ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage copies the part of an operand that a read accesses inside of a loop. The part is a box:
// each coordinate is an origin, which the outer loops determine, plus an offset in [0, extent).
//
//     reads %a[], %b[]    [loop k by 4, loop m by 1, ...], [stage 1 at 0 in #nest.layout<[k, n]>]
//
//     of %b (k: 16, n: 32), a step of the first loop, v, copies the box with the origin
//     (4 * v, 0) and the extents (4, 32)
//
// The copy is a nest, `copy[d] = operand[origin + d]`, with zeros (or the value of the read's
// guard) outside of the operand. If sizes are symbols, elements that no point reads are not copied.
// The copy widens narrow floats. The scheduling pass builds such nests to schedule them, and
// emission builds them again, inside of the loops that it has entered.
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_STAGEDCOPY_H
#define HEDDLE_ANALYSIS_STAGEDCOPY_H

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/ScheduledLoops.h"

#include <set>

namespace heddle::nest {

/// The loops outside and inside of a stage.
struct StageContext {
  std::map<MergedNames, Expr> index;     ///< merged index over the outer loops
  std::map<MergedNames, int64_t> extent; ///< points that the inner loops cover
  Replacement bindings;                  ///< of iteration names, over all loops
  Ranges ranges;                         ///< of loop variables
  std::set<std::string> inside;          ///< variables of the inner loops
  /// Whether elements of a last step that no point reads are left out if sizes are symbols; else
  /// the sizes of a copy are constants.
  bool clips = true;
};
/// The context inside of the first `entered` loops, at whole tiles.
StageContext stageContext(ComputeOp op, const ScheduledLoops &scheduled, size_t entered);

/// The part of an operand that a stage copies.
struct Box {
  Value tensor;
  Replacement origin;
  SmallVector<nd::Dim> dims, whole; ///< upper bounds of the copied sizes
  std::set<std::string> within;     ///< names along which the box lies in the tensor
  GuardAttr guard;

  /// The sizes of `whole`.
  Sizes sizes() const;
};
/// The part of `tensor` that read `read` accesses; none if it is not a box.
std::optional<Box> findBox(ComputeOp op, const ScheduledLoops &scheduled,
                           const StageContext &context, unsigned read, Value tensor,
                           GuardAttr guard);

/// The nest that copies a box.
struct StagedCopy {
  ComputeOp op;                ///< not in a block
  Operation *halves = nullptr; ///< not in a block: casts the operand to pairs
  SmallVector<nd::Dim> whole;  ///< upper bounds of the sizes of its result
  Layout from, to;             ///< of the operand and of the result
  Layout read; ///< of the result, as the stage's nest reads it; differs from `to` for pairs

  void destroy();
};
/// `layout`: the stage's; `from`: of the operand.
StagedCopy makeStagedCopy(ComputeOp op, const ScheduledLoops &scheduled, unsigned read,
                          const Box &box, const Layout &layout, const Layout &from);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_STAGEDCOPY_H
