//===- Bucket.cpp - collectives that share a transfer ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/transfers/Bucket.h"

#include "dialects/nd/Combiner.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/mesh/partition/Reshard.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

namespace {
/// The key of a bucket: axes, element type, combiner, and whether it compares signed numbers.
using Kind = std::tuple<Attribute, Type, nd::CombinerKind, bool>;

struct Bucket {
  Kind kind;
  double bytes;
  SmallVector<Operation *> members;
};
} // namespace

/// None for collectives that the runtime does not pack: with several values, a custom combiner, or
/// a value so large that copying it costs more than a separate transfer.
static std::optional<Kind> kindOf(Operation *op) {
  constexpr double mostBytes = 64 << 10;
  auto reduce = dyn_cast<AllReduceOp>(op);
  if (!reduce || op->getNumOperands() != 1 || tensorBytes(op->getOperand(0)) > mostBytes)
    return std::nullopt;
  bool isSigned = true;
  nd::CombinerKind combiner = nd::combinerKind(reduce.getCombine(), &isSigned);
  if (combiner == nd::CombinerKind::General)
    return std::nullopt;
  return Kind{reduce.getAxes(), tensorType(op->getOperand(0)).getElementType(), combiner, isSigned};
}

/// The ops from the bucket's first member to `last` that depend on a member, in order. None if
/// `last` depends on one, or if a dependent op has side effects.
static std::optional<SmallVector<Operation *>> dependents(const Bucket &bucket, Operation *last) {
  DenseSet<Operation *> depend(bucket.members.begin(), bucket.members.end());
  SmallVector<Operation *> ordered;
  for (Operation *op = bucket.members.front(); op; op = op->getNextNode()) {
    bool uses =
        llvm::any_of(usesOf(op), [&](Value used) { return depend.contains(used.getDefiningOp()); });
    if (op == last)
      return uses ? std::nullopt : std::optional(ordered);
    if (!uses)
      continue;
    if (!isMemoryEffectFree(op))
      return std::nullopt;
    depend.insert(op);
    ordered.push_back(op);
  }
  return std::nullopt;
}

/// Adds the collective to the bucket if possible: moves the members to before it, and their
/// dependent ops to after it.
static bool join(Bucket &bucket, Operation *op, double bytes, double mostBytes) {
  if (bucket.bytes + bytes > mostBytes)
    return false;
  auto behind = dependents(bucket, op);
  if (!behind)
    return false;
  for (Operation *member : bucket.members)
    member->moveBefore(op);
  for (Operation *each : llvm::reverse(*behind))
    each->moveAfter(op);
  bucket.members.push_back(op);
  bucket.bytes += bytes;
  return true;
}

void mesh::formBuckets(func::FuncOp function, double mostBytes) {
  std::vector<Bucket> open;
  SmallVector<Operation *> collectives;
  function.walk([](CollectiveInterface op) { op->removeAttr(bucketAttrName); }); // user-written
  for (Operation &op : function.front())
    if (kindOf(&op))
      collectives.push_back(&op);
  int64_t count = 0;
  auto close = [&](const Bucket &bucket) {
    if (bucket.members.size() < 2)
      return;
    Builder b(function.getContext());
    for (Operation *member : bucket.members)
      member->setAttr(bucketAttrName, b.getI64IntegerAttr(count));
    ++count;
  };
  for (Operation *op : collectives) {
    Kind kind = *kindOf(op);
    double bytes = tensorBytes(op->getOperand(0));
    auto bucket = llvm::find_if(open, [&](const Bucket &each) { return each.kind == kind; });
    if (bucket != open.end() && join(*bucket, op, bytes, mostBytes))
      continue;
    if (bucket != open.end()) {
      close(*bucket);
      open.erase(bucket);
    }
    open.push_back({kind, bytes, {op}});
  }
  llvm::for_each(open, close);
}
