//===- Lanes.cpp - what the lanes of a nest hold --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Lanes.h"

#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Of a scalar in a register.
static unsigned computedBits(Type type) {
  return nd::isNarrowFloat(type) ? 32 : type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

unsigned nest::laneBits(UpdateOp op) {
  unsigned bits = computedBits(tensorTypeOf(op.getDest()).getElementType());
  for (Value read : op.getReads())
    bits = std::max(bits, computedBits(tensorTypeOf(read).getElementType()));
  return bits;
}

unsigned nest::laneBits(ComputeOp op) {
  unsigned bits = 8;
  auto widen = [&](Type type) { bits = std::max(bits, computedBits(type)); };
  SmallVector<Region *> regions{&op.getBody(), &op.getCombine()};
  if (!op.isReduction()) {
    regions.push_back(&op.getFinish());
    for (Value result : op.getResults())
      widen(tensorTypeOf(result).getElementType());
  }
  for (Region *region : regions)
    for (BlockArgument argument : region->getArguments())
      widen(argument.getType());
  return bits;
}

/// The reads of which a region gives the product, if that is all; not one that a cast rounds.
static bool isProductOfTwo(Block &body) {
  auto widened = [](Value value) {
    while (auto wide = value.getDefiningOp<arith::ExtFOp>()) {
      if (!isa<BlockArgument>(wide.getIn()) && !nd::keepsPrecision(wide))
        break;
      value = wide.getIn();
    }
    return value;
  };
  if (body.getNumArguments() != 2 || body.getTerminator()->getNumOperands() != 1)
    return false;
  auto product = widened(body.getTerminator()->getOperand(0)).getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  Value a = widened(product.getLhs()), b = widened(product.getRhs());
  Value first = body.getArgument(0), second = body.getArgument(1);
  return ((a == first && b == second) || (a == second && b == first)) && first.getType().isBF16() &&
         second.getType().isBF16();
}

static bool isSum(Block &combine) {
  if (combine.getNumArguments() != 2)
    return false;
  Type type = combine.getArgument(0).getType();
  auto sum = combine.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  return sum && (type.isF32() || type.isBF16()) && sum.getLhs() != sum.getRhs() &&
         isa<BlockArgument>(sum.getLhs()) && isa<BlockArgument>(sum.getRhs());
}

std::vector<std::string> nest::pairedNames(ComputeOp op) {
  if (!op.isReduction() || !isProductOfTwo(op.getBody().front()) || !isSum(op.getCombine().front()))
    return {};
  std::vector<std::string> names;
  for (const nd::Dim &dim : op.getReduced()) {
    std::string name = dim.name.str();
    bool isPlain = true;
    for (unsigned read = 0; read < 2; ++read) {
      unsigned mentions = 0, plain = 0;
      for (const MapEntry &entry : op.readMap(read).getEntries()) {
        mentions += entry.expr().mentions(name);
        plain += entry.expr() == Expr::name(name);
      }
      isPlain &= mentions == 1 && plain == 1;
      GuardAttr guard = op.readGuard(read);
      for (const Condition &condition : guard.getConditions())
        isPlain &= !condition.expr().mentions(name);
    }
    if (isPlain)
      names.push_back(name);
  }
  return names;
}
