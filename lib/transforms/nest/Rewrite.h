//===- Rewrite.h - helpers of rewrites of nests -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers of the rewrites. Iteration names are local to a nest, so two nests get common names
// before they are fused. Ops between them that depend on the first are moved after the second.
// Nests with a written schedule are not changed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_REWRITE_H
#define HEDDLE_LIB_TRANSFORMS_NEST_REWRITE_H

#include "dialects/nest/NestBuild.h"
#include "dialects/nest/NestRequests.h"
#include "lib/transforms/names/NameRewriter.h"
#include "lib/transforms/nest/fuse/ExplainFusion.h"

#include "mlir/IR/IRMapping.h"

#include <set>

namespace heddle::nest {

using Renaming = Labels;

/// The minimum gain, in seconds of the cost model, for which a rewrite is done.
inline constexpr double leastGain = 1e-7;
/// Returns true if fusing both nests would make a kernel too large: more streams than a core
/// prefetches, many more values than registers, and superlinear compile time.
bool areTooLargeTogether(Operation *a, Operation *b);

/// Hashes of everything that decisions about nests depend on: code, maps and types, and which reads
/// are equal, but not the identity of values or names of nests, so that equal layers have equal
/// hashes. Hashes are cached until they are forgotten.
class Contents {
public:
  uint64_t of(ArrayRef<Operation *> nests);
  /// Call this for an op that is changed or erased.
  void forget(Operation *op) { known.erase(op); }

private:
  DenseMap<Operation *, uint64_t> known;
};

/// Fusions that were not profitable or not legal, by the hashes of the nests. Equal nests are not
/// tried again. It may be kept between rewrites of a block.
struct Declined {
  DenseSet<uint64_t> producers;         ///< a producer and its readers
  DenseSet<uint64_t> siblings;          ///< two nests
  FusionDecisions *decisions = nullptr; ///< gets what the cost model decides
};

/// Returns true if the nest has a schedule, which refers to its loops and reads: rewrites do not
/// change such a nest.
bool isFixed(Operation *nest);

/// Returns the layout that callers use for a tensor of this type: row-major over the sorted names.
/// While names are neutral, `heddle.names` of the function has the users' names.
Layout sortedLayout(Operation *function, nd::NdTensorType type);
/// Returns true if an argument has that layout: it has no `nd.layout` and is not donated.
bool isSortedArgument(mlir::BlockArgument argument);

/// Creates a copy of `op` next to it, with other iteration names. Names not in `names` are kept.
ComputeOp withNames(ComputeOp op, const Renaming &names);
/// Creates a copy of `op` in which no reduced name is one of `taken`.
ComputeOp withFreshReducedNames(ComputeOp op, const std::set<std::string> &taken);
/// Creates a nest that reads `value` under other names.
Value renameDims(OpBuilder &builder, Location loc, Value value, const Renaming &names);
bool isIdentity(const Renaming &names);

/// Returns the insertion point of a nest that replaces two (in one block, `first` before `second`):
/// `first` if all operands of `second` (except results of `first`) are defined before it, otherwise
/// `second`. Null if an op between them must come after the one and before the other. Inserting
/// early ends the live ranges of `first`'s operands sooner.
Operation *insertionPoint(Operation *first, Operation *second);
/// Moves the ops between them that depend on `first` after `second`, unless `insertBefore` is
/// `first`.
void moveDependentsAfter(Operation *first, Operation *second, Operation *insertBefore);

/// Assigns an inserted op an order number between its neighbours'. If several adjacent ops lack
/// one, the next query of their order renumbers the whole block.
void assignBlockOrder(Operation *op);

/// Returns true if all coordinates of the map are in bounds, regardless of guards. `space`: the
/// sizes of iteration names, over symbols.
bool staysInside(MapAttr map, nd::NdTensorType type, const Ranges &ranges, const ExprMap &space);
/// Returns the sizes of the names of a nest and of the enclosing groups.
ExprMap spaceOf(Operation *op);

/// Merges the finish region of a nest without a reduction into its body. Returns true if it did.
bool mergeFinish(ComputeOp op);

/// Copies the discardable attributes of `from` (such as its name) to the nest that replaces them.
void inheritAttributes(ComputeOp made, ArrayRef<Operation *> from);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_REWRITE_H
