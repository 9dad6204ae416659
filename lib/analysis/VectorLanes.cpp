//===- VectorLanes.cpp - lane width and matrix unit of a nest -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/VectorLanes.h"

#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Returns the bits of a scalar in a register.
static unsigned computedBits(Type type) {
  return nd::isNarrowFloat(type) ? 32 : type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

unsigned nest::laneBits(UpdateOp op) {
  unsigned bits = computedBits(tensorType(op.getDest()).getElementType());
  for (Value read : op.getReads())
    bits = std::max(bits, computedBits(tensorType(read).getElementType()));
  return bits;
}

unsigned nest::laneBits(ComputeOp op) {
  unsigned bits = 8;
  auto widen = [&](Type type) { bits = std::max(bits, computedBits(type)); };
  SmallVector<Region *> regions{&op.getBody(), &op.getCombine()};
  if (!op.isReduction()) {
    regions.push_back(&op.getFinish());
    for (Value result : op.getResults())
      widen(tensorType(result).getElementType());
  }
  for (Region *region : regions)
    for (BlockArgument argument : region->getArguments())
      widen(argument.getType());
  return bits;
}

int64_t nest::depthOf(MatrixUnitAttr unit) {
  return *unit.getShape().lookup("k").getExpr().constant();
}

/// Returns true for units that the emission supports: each lane of a vector of f32 holds two
/// adjacent bf16, each of which is the upper half of its value in f32.
static bool isVisited(MatrixUnitAttr unit) {
  auto lies = [](const Layout &layout, StringRef outer, StringRef inner) {
    return layout.factors == Layout::rowMajor({outer.str(), inner.str()}).factors;
  };
  return unit.getLeftType().isBF16() && unit.getRightType().isBF16() &&
         unit.getTotalType().isF32() && depthOf(unit) == 2 &&
         unit.getShape().lookup("m").constant() == 1 && lies(unit.getLeft(), "m", "k") &&
         lies(unit.getRight(), "n", "k") && lies(unit.getTotal(), "m", "n");
}

/// Returns true if the region only multiplies two reads of a unit's types, without a rounding cast.
static bool isProduct(Block &body, MatrixUnitAttr unit) {
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
  return ((a == first && b == second) || (a == second && b == first)) &&
         first.getType() == unit.getLeftType() && second.getType() == unit.getRightType();
}

/// Returns true if a combiner adds in the type of a unit's total.
static bool isSum(Block &combine, MatrixUnitAttr unit) {
  if (combine.getNumArguments() != 2)
    return false;
  Type type = combine.getArgument(0).getType();
  auto sum = combine.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  return sum && (type == unit.getTotalType() || type == unit.getLeftType()) &&
         sum.getLhs() != sum.getRhs() && isa<BlockArgument>(sum.getLhs()) &&
         isa<BlockArgument>(sum.getRhs());
}

/// Returns true if a coordinate of both sides is exactly this reduced name, and no guard mentions
/// it.
static bool isPlain(ComputeOp op, StringRef name) {
  for (unsigned read = 0; read < 2; ++read) {
    unsigned mentions = 0, plain = 0;
    for (const MapEntry &entry : op.readMap(read).getEntries()) {
      mentions += entry.expr().mentions(name);
      plain += entry.expr() == Expr::name(name.str());
    }
    if (mentions != 1 || plain != 1 ||
        llvm::any_of(op.readGuard(read).getConditions(),
                     [&](const Condition &condition) { return condition.expr().mentions(name); }))
      return false;
  }
  return true;
}

UnitUse nest::unitOf(ComputeOp op, MachineAttr machine) {
  for (MatrixUnitAttr unit :
       machine &&op.isReduction() ? machine.units() : SmallVector<MatrixUnitAttr>()) {
    if (!isVisited(unit) || !isProduct(op.getBody().front(), unit) ||
        !isSum(op.getCombine().front(), unit))
      continue;
    UnitUse use{unit, {}};
    for (const nd::Dim &dim : op.getReduced())
      if (isPlain(op, dim.name.getValue()))
        use.names.push_back(dim.name.str());
    return use;
  }
  return {};
}
