//===- Loops.cpp - unused values of loops and branches --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A carried tensor is live if its last value has a use, or if a live tensor depends on it.
// Differentiation carries the cotangents of all values that a loop's body reads, and saves the
// values that these depend on; these rules remove those that no result needs.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/simplify/Rules.h"

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {
/// An scf.for, scf.while or nest.scan: carried tensors, followed by a scan's slices.
class Loop {
public:
  /// False if `op` is not a loop, or passes values to its body that it does not carry.
  bool collect(Operation *op);
  /// Captures carried tensors that no step changes.
  bool captureConstants(PatternRewriter &rewriter);
  bool dropUnused(PatternRewriter &rewriter);

private:
  Operation *op = nullptr;
  SmallVector<Block *> blocks; ///< the last one yields
  unsigned firstInit = 0, firstArgument = 0, carried = 0;

  Operation *yield() const { return blocks.back()->getTerminator(); }
  Value argument(Block *block, unsigned i) const { return block->getArgument(firstArgument + i); }
  void findNeeded(BitVector &arguments, BitVector &results, DenseSet<Operation *> &ops) const;
};
} // namespace

bool Loop::collect(Operation *loop) {
  op = loop;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    blocks = {loop.getBody()};
    firstInit = 3;
    firstArgument = 1;
    carried = loop.getInitArgs().size();
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    blocks = {loop.getBeforeBody(), loop.getAfterBody()};
    carried = loop.getInits().size();
    return loop.getConditionOp().getArgs() == ValueRange(loop.getBeforeArguments());
  }
  if (auto loop = dyn_cast<nest::ScanOp>(op)) {
    blocks = {&loop.getBody().front()};
    carried = loop.getInits().size();
    return !loop.getLayouts() && !loop.getCopies();
  }
  return false;
}

bool Loop::captureConstants(PatternRewriter &rewriter) {
  bool any = false;
  for (unsigned i = 0; i < carried; ++i) {
    Value init = op->getOperand(firstInit + i), own = argument(blocks.back(), i);
    if (yield()->getOperand(i) != own)
      continue;
    rewriter.replaceAllUsesWith(op->getResult(i), init);
    for (Block *block : blocks)
      rewriter.replaceAllUsesWith(argument(block, i), init);
    any = true;
  }
  return any;
}

void Loop::findNeeded(BitVector &arguments, BitVector &results, DenseSet<Operation *> &ops) const {
  SmallVector<Value> open;
  auto need = [&](Operation *inner) {
    if (!ops.insert(inner).second)
      return;
    llvm::SetVector<Value> used(inner->operand_begin(), inner->operand_end());
    getUsedValuesDefinedAbove(inner->getRegions(), used);
    llvm::append_range(open, used);
  };
  auto needResult = [&](unsigned i) {
    if (results.test(i))
      return;
    results.set(i);
    open.push_back(yield()->getOperand(i));
  };
  for (OpResult result : op->getResults())
    if (!result.use_empty())
      needResult(result.getResultNumber());
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    open.push_back(loop.getConditionOp().getCondition());
  for (Block *block : blocks)
    for (Operation &inner : block->without_terminator())
      if (!isMemoryEffectFree(&inner))
        need(&inner);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    auto own = dyn_cast<BlockArgument>(value);
    if (Operation *made = value.getDefiningOp(); made && op->isProperAncestor(made))
      need(made);
    else if (own && llvm::is_contained(blocks, own.getOwner()) &&
             own.getArgNumber() >= firstArgument) {
      unsigned i = own.getArgNumber() - firstArgument;
      arguments.set(i);
      if (i < carried)
        needResult(i);
    }
  }
  for (unsigned i = 0; i < carried; ++i)
    if (results.test(i))
      arguments.set(i);
}

bool Loop::dropUnused(PatternRewriter &rewriter) {
  unsigned given = blocks.back()->getNumArguments() - firstArgument;
  BitVector arguments(given), results(op->getNumResults());
  DenseSet<Operation *> ops;
  findNeeded(arguments, results, ops);
  if ((arguments.all() && results.all()) || results.none())
    return false;
  auto filter = [](auto range, const BitVector &kept, unsigned first = 0) {
    SmallVector<std::decay_t<decltype(*range.begin())>> left;
    for (auto [i, each] : llvm::enumerate(range))
      if (kept.test(first + unsigned(i)))
        left.push_back(each);
    return left;
  };
  rewriter.modifyOpInPlace(yield(), [&] { yield()->eraseOperands(BitVector(results).flip()); });
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    scf::ConditionOp end = loop.getConditionOp();
    rewriter.modifyOpInPlace(
        end, [&] { end.getArgsMutable().assign(filter(ValueRange(end.getArgs()), arguments)); });
  }
  for (Block *block : llvm::reverse(blocks)) {
    SmallVector<Operation *> unused;
    for (Operation &inner : block->without_terminator())
      if (!ops.contains(&inner))
        unused.push_back(&inner);
    for (Operation *inner : llvm::reverse(unused))
      rewriter.eraseOp(inner);
    for (unsigned i = given; i-- > 0;)
      if (!arguments.test(i))
        block->eraseArgument(firstArgument + i);
  }
  SmallVector<Type> types = filter(op->getResultTypes(), results);
  OperandRange operands = op->getOperands();
  Operation *fresh;
  if (auto scan = dyn_cast<nest::ScanOp>(op)) {
    fresh = nest::ScanOp::create(rewriter, op->getLoc(), types,
                                 filter(ValueRange(scan.getInits()), arguments),
                                 filter(ValueRange(scan.getReads()), arguments, carried),
                                 scan.getAlong(), scan.getReverse());
    fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  } else {
    SmallVector<Value> left(operands.take_front(firstInit));
    llvm::append_range(left, filter(ValueRange(operands.drop_front(firstInit)), arguments));
    OperationState state(op->getLoc(), op->getName(), left, types, op->getAttrs());
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    fresh = rewriter.create(state);
  }
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), fresh->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.end());
  unsigned next = 0;
  for (unsigned i : results.set_bits())
    rewriter.replaceAllUsesWith(op->getResult(i), fresh->getResult(next++));
  rewriter.eraseOp(op);
  return true;
}

namespace {
LogicalResult unusedCarried(Operation *op, PatternRewriter &rewriter) {
  Loop loop;
  if (!loop.collect(op))
    return failure();
  bool any = loop.captureConstants(rewriter);
  return success(loop.dropUnused(rewriter) || any);
}

LogicalResult unusedOfBranch(scf::IfOp op, PatternRewriter &rewriter) {
  BitVector unused(op.getNumResults());
  SmallVector<Type> types;
  for (OpResult result : op->getResults())
    if (result.use_empty())
      unused.set(result.getResultNumber());
    else
      types.push_back(result.getType());
  if (unused.none() || types.empty())
    return rewriter.notifyMatchFailure(op, "expected some results without a use");
  auto fresh = scf::IfOp::create(rewriter, op.getLoc(), types, op.getCondition(), false, false);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), fresh->getRegions())) {
    Operation *yield = from.front().getTerminator();
    rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(unused); });
    rewriter.inlineRegionBefore(from, to, to.end());
  }
  unsigned next = 0;
  for (OpResult result : op->getResults())
    if (!unused.test(result.getResultNumber()))
      rewriter.replaceAllUsesWith(result, fresh->getResult(next++));
  rewriter.eraseOp(op);
  return success();
}
} // namespace

void nd::addLoopRules(Rules &rules) {
  rules.add("unused-carried",
            "Removes values that loops and recurrences carry if no used result depends on them, or "
            "if they do not change.",
            unusedCarried);
  rules.add("unused-of-branch", "Removes unused results of branches.", unusedOfBranch);
}
