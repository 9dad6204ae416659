//===- MergeAccumulators.cpp - removes equal accumulators -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/MergeAccumulators.h"

#include "dialects/nd/NdBuild.h"
#include "lib/analysis/Canonical.h"
#include "lib/analysis/NestAnalysis.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Returns the texts of the values that a block yields, with its i-th argument printed as number
/// standsFor[i].
static std::vector<std::string> yieldedTexts(Block &block, ArrayRef<unsigned> standsFor) {
  std::vector<std::string> leaves;
  for (unsigned i : standsFor)
    leaves.push_back("a" + std::to_string(i));
  return scalarTexts(block, leaves, {});
}

ComputeOp nest::mergeAccumulators(ComputeOp op) {
  unsigned n = unsigned(op.getNeutral().size());
  if (n < 2 || isFixed(op))
    return {};
  auto countedFrom0 = [](unsigned count) { return llvm::to_vector(llvm::seq(count)); };
  std::vector<std::string> elements =
      yieldedTexts(op.getBody().front(), countedFrom0(op.getBody().getNumArguments()));
  SmallVector<unsigned> standsFor = countedFrom0(n);
  bool any = false;
  for (unsigned j = 0; j < n; ++j)
    for (unsigned i = 0; i < j && standsFor[j] == j; ++i) {
      if (op.getNeutral()[i] != op.getNeutral()[j] || standsFor[i] != i ||
          elements[i] != elements[j])
        continue;
      SmallVector<unsigned> arguments = countedFrom0(2 * n);
      arguments[j] = i, arguments[n + j] = n + i;
      std::vector<std::string> combined = yieldedTexts(op.getCombine().front(), arguments);
      if (combined[i] == combined[j])
        standsFor[j] = i, any = true;
    }
  if (!any)
    return {};
  SmallVector<unsigned> left;
  for (unsigned j = 0; j < n; ++j)
    if (standsFor[j] == j)
      left.push_back(j);
  auto position = [&](unsigned j) {
    return unsigned(llvm::find(left, standsFor[j]) - left.begin());
  };
  OpBuilder b(op);
  NestBuilder nest(b, op);
  Region body, combine, finish;
  Location loc = op.getLoc();
  SmallVector<Attribute> neutral;
  for (unsigned j : left)
    neutral.push_back(op.getNeutral()[j]);
  auto rebuild = [&](Region &from, Region &to, unsigned halves, bool dropsYields) {
    Block *block = b.createBlock(&to);
    IRMapping mapping;
    for (unsigned half = 0; half < halves; ++half)
      for (unsigned j : left)
        block->addArgument(from.getArgument(half * n + j).getType(), loc);
    for (unsigned half = 0; half < halves; ++half)
      for (unsigned j = 0; j < n; ++j)
        mapping.map(from.getArgument(half * n + j),
                    block->getArgument(half * unsigned(left.size()) + position(j)));
    for (BlockArgument argument : from.getArguments().drop_front(halves * n))
      mapping.map(argument, block->addArgument(argument.getType(), loc));
    SmallVector<Value> values = nd::inlineBlock(b, from.front(), mapping), yields;
    for (auto [j, value] : llvm::enumerate(values))
      if (!dropsYields || standsFor[j] == j)
        yields.push_back(value);
    YieldOp::create(b, loc, yields);
  };
  rebuild(op.getBody(), body, 0, true);
  rebuild(op.getCombine(), combine, 2, true);
  bool hasFinish = !op.getFinish().empty();
  if (hasFinish)
    rebuild(op.getFinish(), finish, 1, false);
  // Without a finish region the accumulators are the results.
  SmallVector<Type> types;
  SmallVector<Attribute> layouts;
  SmallVector<unsigned> results;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    bool isKept = hasFinish || standsFor[i] == i ||
                  op.getResult(i).getType() != op.getResult(standsFor[i]).getType();
    if (!isKept) {
      results.push_back(position(i));
      continue;
    }
    if (!hasFinish && standsFor[i] != i)
      return {}; // the types differ
    results.push_back(unsigned(types.size()));
    types.push_back(op.getResult(i).getType());
    if (op.getLayouts())
      layouts.push_back((*op.getLayouts())[i]);
  }
  b.setInsertionPoint(op);
  ComputeOp made = nest.create(types, body, combine, finish, b.getArrayAttr(neutral));
  if (op.getLayouts())
    made.setLayoutsAttr(b.getArrayAttr(layouts));
  inheritAttributes(made, {op});
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    op.getResult(i).replaceAllUsesWith(made.getResult(results[i]));
  op->erase();
  return made;
}
