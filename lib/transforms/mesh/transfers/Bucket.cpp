//===- Bucket.cpp - collectives that share a transfer ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/transfers/Bucket.h"

#include "dialects/nd/Combiner.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Network.h"
#include "lib/cost/Steps.h"
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

/// True if copying a value into a bucket and out of it takes longer than to begin a transfer of its
/// own.
static bool isTooLarge(AllReduceOp op, const cost::Network &network) {
  cost::Transfer empty{double(op.getRounds()), 0};
  return 2 * cost::secondsToCopy(tensorBytes(op->getOperand(0)), network.machine) >
         cost::costOf(empty, network.groupOf(op.getAxes().getAxes())).seconds;
}

/// None for collectives that the runtime does not pack: with several values, a custom combiner, or
/// a large value.
static std::optional<Kind> kindOf(Operation *op, const cost::Network &network) {
  auto reduce = dyn_cast<AllReduceOp>(op);
  if (!reduce || op->getNumOperands() != 1 || isTooLarge(reduce, network))
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
  SmallVector<std::pair<Operation *, Kind>> collectives;
  auto network = cost::Network::at(function);
  function.walk([](CollectiveInterface op) { op->removeAttr(bucketAttrName); }); // user-written
  for (Operation &op : function.front())
    if (auto kind = kindOf(&op, network))
      collectives.emplace_back(&op, *kind);
  int64_t count = 0;
  auto close = [&](const Bucket &bucket) {
    if (bucket.members.size() < 2)
      return;
    Builder b(function.getContext());
    for (Operation *member : bucket.members)
      member->setAttr(bucketAttrName, b.getI64IntegerAttr(count));
    ++count;
  };
  for (auto &[op, kind] : collectives) {
    double bytes = tensorBytes(op->getOperand(0));
    auto bucket =
        llvm::find_if(open, [&, &kind = kind](const Bucket &each) { return each.kind == kind; });
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
