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
    if (isa<ComputeOp, UpdateOp, ScanOp, GroupOp>(op) && op.use_empty()) {
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

static void fuseBlock(Block &block) {
  for (Operation &op : block)
    if (isa<GroupOp, ScanOp>(op))
      fuseBlock(op.getRegion(0).front());
  // What costs nothing comes first, so that the rest is decided on nests that compute.
  for (bool changed = true; changed;) {
    changed = removeDead(block);
    changed |= mergeFinishes(block);
    changed |= fuseMoves(block);
    changed |= mergeEqualNests(block);
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
