//===- Fuse.cpp - fuses nests until nothing changes -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/Fuse.h"

#include "lib/transforms/nest/Rewrite.h"
#include "lib/transforms/nest/fuse/Cse.h"
#include "lib/transforms/nest/fuse/FlattenReductions.h"
#include "lib/transforms/nest/fuse/FuseEpilogues.h"
#include "lib/transforms/nest/fuse/FuseProducers.h"
#include "lib/transforms/nest/fuse/FuseSiblings.h"
#include "lib/transforms/nest/prepare/PrepareSteps.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static bool removeDead(Block &block) {
  bool any = false;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<ScheduledInterface, HoldsNestsInterface>(op) && op.use_empty()) {
      op.erase();
      any = true;
    }
  return any;
}

static bool mergeFinishes(Block &block) {
  bool any = false;
  for (auto op : llvm::make_early_inc_range(block.getOps<ComputeOp>()))
    any |= mergeFinish(op);
  return any;
}

/// Replaces reads of large splat constants by the number, so that the constant need not be stored.
static void inlineSplats(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Operation *reader = &op;
    llvm::SetVector<Operation *> splats;
    if (auto nest = dyn_cast<LoopNestInterface>(reader))
      for (Value value : nest.getMappedReads())
        if (auto literal = value.getDefiningOp<nd::LiteralInterface>();
            literal && isFilled(literal))
          splats.insert(literal);
    for (Operation *literal : splats) {
      OpBuilder builder(reader);
      ComputeOp fill = createFill(builder, cast<nd::LiteralInterface>(literal));
      MutableArrayRef<OpOperand> reads =
          reader->getOpOperands().drop_front(cast<LoopNestInterface>(reader).getFirstRead());
      auto readInstead = [&](Value from, Value to) {
        for (OpOperand &read : reads)
          if (read.get() == from)
            read.set(to);
      };
      readInstead(literal->getResult(0), fill.getResult(0));
      if (Operation *taken = inlineProducer(fill, reader)) {
        reader->replaceAllUsesWith(taken);
        reader->erase();
        reader = taken;
      } else {
        readInstead(fill.getResult(0), literal->getResult(0));
      }
      fill->erase();
    }
  }
}

// Termination: every rewrite decreases the following tuple in lexicographic order.
//   1. The number of nests that are not renamings (`isRenaming`). Merging, flattening, and fusing
//      siblings and epilogues remove one. None is added: renamings are not fused with siblings nor,
//      if their value stays, with epilogues. A producer that is no renaming is recomputed in a
//      renaming only if that is its only one and the producer is removed. Without that last rule
//      equal nests would be merged, one becoming a renaming of the other, and recomputed, forever.
//   2. The number of nests. Rewrites that keep the first number and remove a nest add none; only
//      merging and fusing siblings and epilogues add renamings.
//   3. The number of finish regions of nests without a reduction, which are merged into the body.
//   4. The heights of the values that nests read, as a multiset; the height of a value is the
//      longest path from it to an argument. Taking in a producer that stays replaces reads of it
//      by reads of its operands.
static void fuseBlock(Block &block, FusionDecisions *decisions) {
  for (Operation &op : block)
    if (isa<HoldsNestsInterface>(op))
      fuseBlock(op.getRegion(0).front(), decisions);
  inlineSplats(block);
  Declined declined;
  declined.decisions = decisions;
  // Rewrites that are always profitable come first, so that the others are decided on nests that
  // compute.
  for (bool changed = true; changed;) {
    changed = removeDead(block);
    changed |= mergeFinishes(block);
    changed |= fuseMoves(block);
    changed |= mergeEqualNests(block, /*isKnownInside=*/true);
    changed |= flattenReductions(block);
    changed |= fuseEpilogues(block, Epilogues::OfOneReader);
    changed |= fuseProducers(block, declined);
    if (changed)
      continue;
    changed |= fuseSiblings(block, declined);
    if (!changed)
      changed |= fuseEpilogues(block, Epilogues::All);
  }
}

void nest::fuseNests(func::FuncOp function, const ExplainFusionOptions &options) {
  if (function.isExternal())
    return;
  FusionDecisions decisions;
  fuseBlock(function.front(), options.isOn() ? &decisions : nullptr);
  options.report(function, decisions);
}
