//===- NarrowProducts.cpp - narrow factors of sums of products ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/NarrowProducts.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/fuse/FuseProducers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/SetVector.h"

#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Adds the iteration names that a scalar of the body depends on.
static void addNames(ComputeOp nest, Value scalar, llvm::DenseSet<Value> &seen,
                     std::set<std::string> &names) {
  if (!seen.insert(scalar).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    nest::addNames(nest, nest.readMap(argument.getArgNumber()), names);
    return;
  }
  Operation *op = scalar.getDefiningOp();
  if (auto index = dyn_cast<IndexOp>(op))
    names.insert(index.getName().str());
  for (Value operand : op->getOperands())
    addNames(nest, operand, seen, names);
}

/// Adds the factors of a product of f32, each once.
static void addFactors(Value value, llvm::SetVector<Value> &factors, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return;
  if (auto product = value.getDefiningOp<arith::MulFOp>()) {
    addFactors(product.getLhs(), factors, seen);
    addFactors(product.getRhs(), factors, seen);
  } else {
    factors.insert(value);
  }
}

/// Returns the factors with names if `nest` sums products in which each of them lacks a name of the
/// iteration space; otherwise none.
static SmallVector<Value> factorsToNarrow(ComputeOp nest) {
  if (!nest.isReduction() || nest.getNeutral().size() != 1 || nest.getScheduleAttr() ||
      nd::combinerKind(nest.getCombine()) != nd::CombinerKind::Add)
    return {};
  Value sum = nest.getBody().front().getTerminator()->getOperand(0);
  if (!sum.getType().isF32() || !sum.getDefiningOp<arith::MulFOp>())
    return {};
  llvm::SetVector<Value> factors;
  llvm::DenseSet<Value> visited;
  addFactors(sum, factors, visited);
  nd::DimsAttr space = iterationSpace(nest);
  SmallVector<Value> result;
  for (Value factor : factors) {
    std::set<std::string> names;
    llvm::DenseSet<Value> seen;
    addNames(nest, factor, seen, names);
    if (llvm::all_of(space, [&](const nd::Dim &dim) { return names.count(dim.name.str()); }))
      return {};
    if (!names.empty())
      result.push_back(factor);
  }
  return result.size() < 2 ? SmallVector<Value>() : result;
}

namespace {
/// Rounds factors. A tensor that several nests read is rounded once.
class Narrower {
public:
  explicit Narrower(FloatType type) : type(type) {}

  void narrow(ComputeOp nest) {
    for (Value factor : factorsToNarrow(nest)) {
      if (auto wide = factor.getDefiningOp<arith::ExtFOp>();
          wide && wide.getIn().getType().getIntOrFloatBitWidth() <= type.getWidth())
        continue;
      auto argument = dyn_cast<BlockArgument>(factor);
      OpBuilder b(nest.getContext());
      Value rounded = factor;
      if (argument) {
        b.setInsertionPointToStart(argument.getOwner());
        readNarrow(nest, argument.getArgNumber());
      } else {
        b.setInsertionPointAfterValue(factor);
        rounded = arith::TruncFOp::create(b, nest.getLoc(), type, factor);
      }
      Value wide = arith::ExtFOp::create(b, nest.getLoc(), b.getF32Type(), rounded);
      factor.replaceUsesWithIf(wide, [&](OpOperand &use) {
        return use.getOwner() != wide.getDefiningOp() && use.getOwner() != rounded.getDefiningOp();
      });
    }
  }

private:
  FloatType type;
  DenseMap<Value, Value> narrowOf;

  /// Makes a nest read the rounded tensor instead.
  void readNarrow(ComputeOp nest, unsigned read) {
    nest.getReadsMutable()[read].set(rounded(nest.getReads()[read]));
    nest.getBody().getArgument(read).setType(type);
    GuardAttr guard = nest.readGuard(read);
    if (auto otherwise = dyn_cast_or_null<FloatAttr>(guard.getOtherwise())) {
      SmallVector<Attribute> guards(nest.getGuards().getValue());
      guards[read] = GuardAttr::get(nest.getContext(), guard.getConditions(),
                                    nd::numberAttr(type, otherwise.getValueAsDouble()));
      nest.setGuardsAttr(ArrayAttr::get(nest.getContext(), guards));
    }
  }

  Value rounded(Value tensor) {
    Value &known = narrowOf[tensor];
    if (known)
      return known;
    OpBuilder b(tensor.getContext());
    b.setInsertionPointAfterValue(tensor);
    NestBuilder cast(b, tensor.getLoc());
    nd::NdTensorType wide = tensorType(tensor);
    cast.produced = wide.getDims();
    cast.read(tensor, MapAttr::identity(wide));
    auto round = [&](OpBuilder &b, Location loc, ValueRange x) {
      return SmallVector<Value>{arith::TruncFOp::create(b, loc, type, x[0])};
    };
    return known = cast.create({type}, round).getResult(0);
  }
};
} // namespace

/// If `nest` sums the results of a multiplying nest, and the factors would be narrowed, moves the
/// products into the sum. Returns the summing nest.
static ComputeOp withProducts(ComputeOp nest) {
  auto summed = dyn_cast<BlockArgument>(nest.getBody().front().getTerminator()->getOperand(0));
  if (!nest.isReduction() || !summed)
    return nest;
  auto producer = nest.getReads()[summed.getArgNumber()].getDefiningOp<ComputeOp>();
  if (!producer || producer->getBlock() != nest->getBlock())
    return nest;
  auto taken = cast_or_null<ComputeOp>(inlineProducer(producer, nest));
  if (taken && factorsToNarrow(taken).empty()) {
    taken->erase();
    return nest;
  }
  if (!taken)
    return nest;
  nest->replaceAllUsesWith(taken);
  nest->erase();
  if (producer->use_empty())
    producer->erase();
  return taken;
}

void nest::narrowProducts(func::FuncOp function, FloatType narrow) {
  // Outer blocks first: replacing their reads does not invalidate inner nests later.
  SmallVector<Block *> blocks;
  function.walk<WalkOrder::PreOrder>([&](Block *block) {
    if (!block->getOps<ComputeOp>().empty())
      blocks.push_back(block);
  });
  Narrower narrower(narrow);
  for (Block *block : blocks) {
    fuseMoves(*block); // so that maps show the names of a factor
    for (ComputeOp nest : SmallVector<ComputeOp>(block->getOps<ComputeOp>()))
      narrower.narrow(withProducts(nest));
  }
}
