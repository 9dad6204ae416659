//===- Fuse.cpp - which nests run as one ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/Fuse.h"

#include "lib/transforms/nest/Cse.h"
#include "lib/transforms/nest/FlattenReductions.h"
#include "lib/transforms/nest/FuseEpilogues.h"
#include "lib/transforms/nest/FuseProducers.h"
#include "lib/transforms/nest/FuseSiblings.h"
#include "lib/transforms/nest/Rewrite.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static bool removeDead(Block &block) {
  bool any = false;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<ComputeOp, UpdateOp, ScanOp, SortOp, GroupOp>(op) && op.use_empty()) {
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

// This ends: every rewrite makes the following list smaller, of which what stands first counts
// first.
//   1. The nests that are not renamings (`isRenaming`). Merging, flattening, fusing siblings and
//      epilogues takes one away. None is added: renamings are fused neither with siblings nor, if
//      their value stays, with epilogues; and a producer that is no renaming is computed again in a
//      renaming only if that is the only one and the producer goes. Without that last rule equal
//      nests would be merged, one becoming a renaming of the other, and computed again, forever.
//   2. All nests. What keeps the first number and removes a nest adds none; only merging and
//      fusing siblings and epilogues add renamings.
//   3. Finish regions of nests that reduce nothing, which are merged into the body.
//   4. The heights of what nests read, as a multiset; the height of a value is the longest way from
//      it to an argument. Taking in a producer that stays replaces reads of it by reads of what it
//      reads.
static void fuseBlock(Block &block) {
  for (Operation &op : block)
    if (isa<GroupOp, ScanOp>(op))
      fuseBlock(op.getRegion(0).front());
  // What costs nothing comes first, so that the rest is decided on nests that compute.
  for (bool changed = true; changed;) {
    changed = removeDead(block);
    changed |= mergeFinishes(block);
    changed |= fuseMoves(block);
    changed |= mergeEqualNests(block, /*isKnownInside=*/true);
    changed |= flattenReductions(block);
    changed |= fuseEpilogues(block, Epilogues::OfOneReader);
    changed |= fuseProducers(block);
    if (changed)
      continue;
    changed |= fuseSiblings(block);
    if (!changed)
      changed |= fuseEpilogues(block, Epilogues::All);
  }
}

void nest::fuseNests(func::FuncOp function) {
  if (!function.isExternal())
    fuseBlock(function.front());
}
