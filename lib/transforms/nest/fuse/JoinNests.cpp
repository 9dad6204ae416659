//===- JoinNests.cpp - nests of one space as one nest ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/JoinNests.h"

#include "dialects/nd/NdBuild.h"
#include "lib/analysis/NestAnalysis.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
/// Builds a new nest with the same space, to which nests are added one after the other.
class Joined {
public:
  Joined(ComputeOp like, Operation *insertBefore)
      : b(insertBefore), nest(b, like.getLoc()), like(like), insertBefore(insertBefore) {
    nest.produced = like.getProduced();
    nest.reduced = like.getReduced();
  }

  ComputeOp build(ArrayRef<ComputeOp> ops) {
    Region body, combine, finish;
    Location loc = like.getLoc();
    SmallVector<Type> types;
    SmallVector<Attribute> neutral, layouts;
    bool hasFinish = false, hasLayouts = false;
    for (ComputeOp op : ops) {
      llvm::append_range(types, op->getResultTypes());
      llvm::append_range(neutral, op.getNeutral());
      hasFinish |= !op.getFinish().empty();
      hasLayouts |= bool(op.getLayouts());
    }
    // Bodies, with shared reads.
    Block *block = b.createBlock(&body);
    SmallVector<Value> yields;
    for (ComputeOp op : ops) {
      IRMapping mapping;
      ExprMap positions;
      for (unsigned i = 0; i < op.getReads().size(); ++i) {
        unsigned position = share(op.getReads()[i], op.readMap(i).substitute(positions),
                                  op.readGuard(i).substitute(positions), *block);
        positions[readName(i)] = Expr::name(readName(position));
        mapping.map(op.getBody().getArgument(i), block->getArgument(position));
      }
      llvm::append_range(yields, nd::inlineBlock(b, op.getBody().front(), mapping));
    }
    YieldOp::create(b, loc, yields);
    if (like.isReduction())
      joinCombiners(ops, combine, neutral.size());
    if (hasFinish)
      joinFinishes(ops, finish, neutral);
    b.setInsertionPoint(insertBefore);
    ComputeOp made = nest.create(types, body, combine, finish, b.getArrayAttr(neutral));
    for (ComputeOp op : llvm::reverse(ops))
      inheritAttributes(made, {op});
    for (ComputeOp op : ops)
      for (unsigned i = 0; i < op.getNumResults(); ++i)
        layouts.push_back(op.getLayouts() ? (*op.getLayouts())[i] : b.getUnitAttr());
    if (hasLayouts)
      made.setLayoutsAttr(b.getArrayAttr(layouts));
    return made;
  }

private:
  OpBuilder b;
  NestBuilder nest;
  ComputeOp like;
  Operation *insertBefore;

  unsigned share(Value value, MapAttr map, GuardAttr guard, Block &block) {
    for (unsigned k = 0; k < nest.reads.size(); ++k)
      if (nest.reads[k] == value && nest.maps[k] == map && nest.guards[k] == guard)
        return k;
    block.addArgument(tensorType(value).scalarType(), value.getLoc());
    return nest.read(value, map, guard);
  }

  void joinCombiners(ArrayRef<ComputeOp> ops, Region &combine, size_t accumulators) {
    Block *block = b.createBlock(&combine);
    for (int half = 0; half < 2; ++half)
      for (ComputeOp op : ops)
        for (Attribute value : op.getNeutral())
          block->addArgument(cast<TypedAttr>(value).getType(), op.getLoc());
    SmallVector<Value> yields;
    unsigned start = 0;
    for (ComputeOp op : ops) {
      IRMapping mapping;
      unsigned n = unsigned(op.getNeutral().size());
      for (unsigned i = 0; i < n; ++i) {
        mapping.map(op.getCombine().getArgument(i), block->getArgument(start + i));
        mapping.map(op.getCombine().getArgument(n + i),
                    block->getArgument(unsigned(accumulators) + start + i));
      }
      llvm::append_range(yields, nd::inlineBlock(b, op.getCombine().front(), mapping));
      start += n;
    }
    YieldOp::create(b, like.getLoc(), yields);
  }

  void joinFinishes(ArrayRef<ComputeOp> ops, Region &finish, ArrayRef<Attribute> neutral) {
    Block *block = b.createBlock(&finish);
    SmallVector<Value> accumulators, yields;
    for (Attribute value : neutral)
      accumulators.push_back(block->addArgument(cast<TypedAttr>(value).getType(), like.getLoc()));
    size_t start = 0;
    for (ComputeOp op : ops) {
      size_t n = op.getNeutral().size();
      ArrayRef<Value> own = ArrayRef<Value>(accumulators).slice(start, n);
      start += n;
      if (op.getFinish().empty()) {
        for (auto [value, result] : llvm::zip_equal(own, op.getResults()))
          yields.push_back(
              nd::convertFloat(b, op.getLoc(), value, tensorType(result).scalarType()));
        continue;
      }
      IRMapping mapping;
      for (auto [i, value] : llvm::enumerate(own))
        mapping.map(op.getFinish().getArgument(unsigned(i)), value);
      for (unsigned i = 0; i < op.getFinishReads().size(); ++i) {
        BlockArgument argument = op.getFinish().getArgument(unsigned(n) + i);
        mapping.map(argument, block->addArgument(argument.getType(), op.getLoc()));
        nest.finishRead(op.getFinishReads()[i], op.finishMap(i), op.finishGuard(i));
      }
      llvm::append_range(yields, nd::inlineBlock(b, op.getFinish().front(), mapping));
    }
    YieldOp::create(b, like.getLoc(), yields);
  }
};
} // namespace

ComputeOp nest::joinNests(ArrayRef<ComputeOp> ops, Operation *insertBefore) {
  return Joined(ops.back(), insertBefore).build(ops);
}
