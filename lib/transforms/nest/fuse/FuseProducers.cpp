//===- FuseProducers.cpp - recomputes producers in readers ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/FuseProducers.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Cost.h"
#include "lib/transforms/nest/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Pinned values
//===----------------------------------------------------------------------===//

/// Returns the reads that a scalar depends on.
static llvm::SmallBitVector readsBehind(Value scalar, unsigned count,
                                        DenseMap<Value, llvm::SmallBitVector> &known) {
  auto found = known.find(scalar);
  if (found != known.end())
    return found->second;
  llvm::SmallBitVector reads(count);
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    reads.set(argument.getArgNumber());
  else
    for (Value operand : scalar.getDefiningOp()->getOperands())
      reads |= readsBehind(operand, count, known);
  return known[scalar] = reads;
}

/// Adds the nearest common ancestors of `a` and `b`: visits the defining ops of both in reverse
/// order until only one of them has defining ops left.
static void addCommon(Value a, Value b, Block &block, llvm::DenseSet<Value> &pinned) {
  enum { OfA = 1, OfB = 2 };
  llvm::DenseMap<Value, int> marks;
  auto comesLater = [](Operation *x, Operation *y) { return y->isBeforeInBlock(x); };
  std::set<Operation *, decltype(comesLater)> open(comesLater);
  int left[3] = {};
  auto markOf = [&](Operation *op) {
    int mark = 0;
    for (Value result : op->getResults())
      mark |= marks.lookup(result);
    return mark;
  };
  auto count = [&](Operation *op, int change) {
    for (int which : {OfA, OfB})
      if (markOf(op) & which)
        left[which] += change;
  };
  auto mark = [&](Value value, int mark) {
    Operation *maker = value.getDefiningOp();
    bool isOpen = maker && maker->getBlock() == &block;
    if (isOpen && !open.insert(maker).second)
      count(maker, -1);
    int &known = marks[value];
    known |= mark;
    if (known == (OfA | OfB))
      pinned.insert(value); // its operands are then computed once
    if (isOpen)
      count(maker, 1);
  };
  mark(a, OfA);
  mark(b, OfB);
  while (!open.empty() && left[OfA] && left[OfB]) {
    Operation *maker = *open.begin();
    open.erase(open.begin());
    count(maker, -1);
    if (llvm::any_of(maker->getResults(), [&](Value result) {
          int known = marks.lookup(result);
          return known == OfA || known == OfB;
        }))
      for (Value operand : maker->getOperands())
        mark(operand, markOf(maker));
  }
}

/// Returns the pinned values, which must not be computed twice (see the header).
static llvm::DenseSet<Value> pinnedValues(Block &block) {
  llvm::DenseSet<Value> pinned;
  for (auto op : block.getOps<ComputeOp>()) {
    unsigned reads = unsigned(op.getReads().size());
    for (Region *region : {&op.getBody(), &op.getFinish()}) {
      if (region->empty())
        continue;
      unsigned count = region->getNumArguments();
      unsigned kept = region == &op.getBody() ? 0 : count - unsigned(op.getFinishReads().size());
      DenseMap<Value, llvm::SmallBitVector> known;
      // The tensors on which an argument depends; accumulators depend on all reads of the body.
      auto tensors = [&](const llvm::SmallBitVector &arguments) {
        SetVector<Value> values;
        for (unsigned i : arguments.set_bits())
          if (region == &op.getBody())
            values.insert(op.getReads()[i]);
          else if (i >= kept)
            values.insert(op.getFinishReads()[i - kept]);
          else
            values.insert(op.getReads().begin(), op.getReads().begin() + reads);
        return values;
      };
      for (auto compare : region->getOps<arith::CmpFOp>())
        for (Value a : tensors(readsBehind(compare.getLhs(), count, known)))
          for (Value b : tensors(readsBehind(compare.getRhs(), count, known)))
            if (a != b)
              addCommon(a, b, block, pinned);
    }
  }
  return pinned;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Turns an op into a copy of another one of the same kind and results without inserting an op,
/// since an inserted op needs an order number and causes the block to be renumbered.
static void become(Operation *op, Operation *other) {
  op->setOperands(other->getOperands());
  op->copyProperties(other->getPropertiesStorage());
  op->setDiscardableAttrs(other->getDiscardableAttrDictionary());
  for (auto [to, from] : llvm::zip_equal(op->getRegions(), other->getRegions()))
    to.takeBody(from);
}

static FusionDecision decisionOn(ComputeOp producer, size_t readers, bool isTaken, double before,
                                 double after) {
  std::string taken = readers == 1 ? "recomputed in its reader"
                                   : "recomputed in " + std::to_string(readers) + " readers";
  FusionDecision made{labelOf(producer), producer.getLoc(), "is " + taken, "stored",
                      before - after};
  return isTaken ? made : FusionDecision{made.nest, made.loc, "is stored", taken, after - before};
}

/// Fuses the producer into its readers if that is profitable. Returns true if it did.
static bool fuse(ComputeOp producer, bool onlyMovesAreTaken, const llvm::DenseSet<Value> &pinned,
                 Declined &declined, Contents &contents) {
  bool moves = onlyMoves(producer);
  if ((onlyMovesAreTaken && !moves) || !canBeInlined(producer) ||
      producer->hasAttr(materializeAttr) || producer.getScheduleAttr() || producer.getLayoutsAttr())
    return false;
  SmallVector<Operation *> readers;
  bool remains = false;
  for (Operation *user : llvm::SetVector<Operation *>(producer->user_begin(), producer->user_end()))
    if (user->getBlock() == producer->getBlock() && isa<ComputeOp, UpdateOp>(user))
      readers.push_back(user);
    else
      remains = true;
  llvm::sort(readers, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  bool isPinned =
      llvm::any_of(producer.getResults(), [&](Value value) { return pinned.contains(value); });
  if (readers.empty() || (isPinned && !moves && readers.size() + remains > 1))
    return false;
  SmallVector<Operation *> concerned(1, producer);
  llvm::append_range(concerned, readers);
  uint64_t content = llvm::hash_combine(isPinned, remains, contents.of(concerned));
  if (declined.producers.contains(content))
    return false;
  SmallVector<std::pair<Operation *, Operation *>> made;
  SmallVector<Operation *> copies; // readers that would become copies of the producer
  double before = cost::secondsBySizes(producer), after = 0;
  auto take = [&](Operation *reader) {
    Operation *taken =
        areTooLargeTogether(producer, reader) ? nullptr : inlineProducer(producer, reader);
    if (!taken) {
      remains = true;
      return;
    }
    made.emplace_back(reader, taken);
    before += cost::secondsBySizes(reader);
    after += cost::secondsBySizes(taken);
  };
  bool isCopy = isRenaming(producer);
  for (Operation *reader : readers)
    if (auto compute = dyn_cast<ComputeOp>(reader); compute && !isCopy && isRenaming(compute))
      copies.push_back(reader);
    else
      take(reader);
  // At most one of them may replace the producer: see Fuse.cpp.
  if (copies.size() == 1 && !remains)
    take(copies[0]);
  else
    remains |= !copies.empty();
  if (remains)
    after += cost::secondsBySizes(producer);
  bool isAsked = moves || producer->hasAttr(recomputeAttr);
  bool pays = isAsked || after + leastGain < before;
  if (declined.decisions && !isAsked && !made.empty())
    declined.decisions->add(decisionOn(producer, made.size(), pays, before, after));
  for (auto [reader, taken] : made) {
    if (pays) {
      become(reader, taken);
      contents.forget(reader);
    }
    taken->erase();
  }
  if (!pays || made.empty()) {
    declined.producers.insert(content);
    return false;
  }
  if (producer->use_empty()) {
    contents.forget(producer);
    producer->erase();
  }
  return true;
}

static bool fuseAll(Block &block, bool onlyMovesAreTaken, Declined &declined) {
  bool any = false;
  Contents contents;
  for (bool changed = true; changed;) {
    changed = false;
    llvm::DenseSet<Value> pinned;
    if (!onlyMovesAreTaken)
      pinned = pinnedValues(block);
    SmallVector<ComputeOp> producers(block.getOps<ComputeOp>());
    // Only nests after a producer are replaced.
    for (ComputeOp producer : llvm::reverse(producers))
      changed |= fuse(producer, onlyMovesAreTaken, pinned, declined, contents);
    any |= changed;
  }
  return any;
}

bool nest::fuseProducers(Block &block, Declined &declined) {
  return fuseAll(block, false, declined);
}
bool nest::fuseMoves(Block &block) {
  Declined declined;
  return fuseAll(block, true, declined);
}
