//===- NdToNest.cpp - lowers nd ops to loop nests -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "dialects/nd/NdBuild.h"
#include "lib/conversion/nd_to_nest/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace heddle {
#define GEN_PASS_DEF_CONVERTNDTONESTPASS
#include "lib/conversion/nd_to_nest/Passes.h.inc"
} // namespace heddle

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

MapAttr Lowering::mapOf(nd::NdTensorType type, const ExprMap &coordinates) const {
  SmallVector<MapEntry> entries;
  for (const nd::Dim &dim : type.getDims()) {
    auto found = coordinates.find(dim.name.getValue().str());
    entries.emplace_back(context(), dim.name.getValue(),
                         found == coordinates.end() ? Expr::name(dim.name.str()) : found->second);
  }
  return MapAttr::getSorted(context(), entries);
}

Value Lowering::indexAs(OpBuilder &builder, Location where, StringRef name, Type type) {
  Value index =
      IndexOp::create(builder, where, builder.getIndexType(), builder.getStringAttr(name));
  Value wide = arith::IndexCastOp::create(builder, where, builder.getI64Type(), index);
  if (isa<FloatType>(type))
    return arith::SIToFPOp::create(builder, where, type, wide);
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 64)
    return arith::TruncIOp::create(builder, where, nd::signless(type), wide);
  return wide;
}

void Lowering::cloneCombiner(Region &from, Region &to) const {
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&to);
  for (BlockArgument argument : from.front().getArguments())
    block->addArgument(argument.getType(), argument.getLoc());
  YieldOp::create(b, loc, nd::inlineBlock(b, from.front(), block->getArguments()));
}

/// Builds a nest that copies: result[p] = input[map(p)], guarded.
static Value copy(const Lowering &lowering, Value input, nd::NdTensorType result,
                  const nd::IndexMap &map) {
  auto conditions =
      llvm::map_to_vector(map.conditions, [&](const nd::IndexMap::Condition &condition) {
        return Condition(lowering.context(), condition.expr, condition.isEquality);
      });
  NestBuilder nest(lowering.b, lowering.loc);
  nest.produced = result.getDims();
  nest.read(input, lowering.mapOf(tensorType(input), map.coordinates),
            GuardAttr::get(lowering.context(), conditions, map.outside));
  return nest.createCopy();
}

namespace {
/// Rewrites the body of a function. Fails with a located message for an op without a lowering.
class Converter {
public:
  explicit Converter(func::FuncOp function) : function(function), b(function.getContext()) {}

  LogicalResult convert() { return convert(function.front()); }

private:
  func::FuncOp function;
  OpBuilder b;

  LogicalResult convert(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (auto scan = dyn_cast<ScanOp>(op)) {
        Block &body = scan.getBody().front();
        if (failed(convert(body)))
          return failure();
        for (auto constant : llvm::make_early_inc_range(body.getOps<nd::LiteralInterface>()))
          constant->moveBefore(scan);
      }
      if (!isTakenIn(&op))
        continue;
      if (isa<nd::ItemOp, nd::FromItemOp>(op))
        return op.emitOpError() << "cannot be compiled: expected nd and nest ops, scf.if, scf.for "
                                   "and scf.while on tensors";
      b.setInsertionPoint(&op);
      SmallVector<Value> results;
      if (failed(convertOp(&op, results)))
        return failure();
      if (results.empty())
        continue; // fused into its users
      for (Value result : results)
        if (Operation *made = result.getDefiningOp(); made && !made->hasAttr("heddle.name")) {
          made->setAttr("heddle.name", b.getStringAttr(op.getName().stripDialect()));
          // Copy the op's user attributes to its nest.
          for (NamedAttribute attribute : op.getDiscardableAttrs())
            if (attribute.getName().getValue().starts_with("heddle.") ||
                attribute.getName() == "group")
              made->setAttr(attribute.getName(), attribute.getValue());
        }
      op.replaceAllUsesWith(results);
      op.erase();
    }
    // Erase ops that were fused into reductions.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (!isTakenIn(&op))
        continue;
      if (!op.use_empty())
        return refuseExcluded(&op);
      op.erase();
    }
    return success();
  }

  LogicalResult convertOp(Operation *op, Lowering::Results results) {
    if (isFused(op))
      return success();
    Lowering lowering{b, op->getLoc()};
    if (std::optional<nd::IndexMap> map = nd::indexMapOf(op)) {
      results.push_back(copy(lowering, op->getOperand(0), tensorType(op->getResult(0)), *map));
      return success();
    }
    if (auto done = lowerArithmetic(lowering, op, results))
      return *done;
    if (auto done = lowerAccess(lowering, op, results))
      return *done;
    return op->emitOpError() << "has no lowering to nests; expand calls and gradients first";
  }
};

struct ConvertNdToNestPass : heddle::impl::ConvertNdToNestPassBase<ConvertNdToNestPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal() && failed(Converter(getOperation()).convert()))
      signalPassFailure();
  }
};
} // namespace
