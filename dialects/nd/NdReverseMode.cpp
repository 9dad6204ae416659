//===- NdReverseMode.cpp - reverse mode over tensor ops -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// The mark of a gradient's location.
static StringAttr gradientMark(MLIRContext *context) {
  return StringAttr::get(context, "gradient");
}

Location nd::gradientLoc(Location loc) {
  if (isGradient(loc))
    return loc;
  return FusedLoc::get(loc.getContext(), {loc}, gradientMark(loc.getContext()));
}

bool nd::isGradient(Location loc) {
  return loc
      ->walk([&](Location each) {
        auto fused = dyn_cast<FusedLoc>(each);
        return fused && fused.getMetadata() == gradientMark(loc.getContext())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static constexpr StringLiteral seenKey = "seen";

Location nd::seenLoc(Location loc, StringRef name) {
  Builder b(loc.getContext());
  return FusedLoc::get(loc.getContext(), {loc},
                       b.getDictionaryAttr(b.getNamedAttr(seenKey, b.getStringAttr(name))));
}

StringRef nd::seenNameOf(Location loc) {
  StringRef name;
  loc->walk([&](Location each) {
    auto fused = dyn_cast<FusedLoc>(each);
    auto facts = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()) : nullptr;
    if (auto seen = facts ? facts.getAs<StringAttr>(seenKey) : nullptr; seen && name.empty())
      name = seen.getValue();
    return WalkResult::advance();
  });
  return name;
}

ReverseMode::ReverseMode(OpBuilder &builder, Add add) : builder(builder), add(std::move(add)) {
  if (!this->add)
    this->add = nd::add;
}

static bool hasFloats(Value value) {
  auto type = dyn_cast<NdTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

static bool isZero(Value value) {
  auto splat = dyn_cast_or_null<FloatAttr>(splatOf(value));
  return splat && splat.getValue().isZero();
}

void ReverseMode::accumulate(Location loc, Value value, Value cotangent) {
  value = current(value);
  if (!cotangent || !hasFloats(value) || !active.contains(value) || isZero(cotangent))
    return;
  assert(value.getType() == cotangent.getType() && "a gradient has the type of its value");
  Value &sum = cotangents[value];
  sum = sum ? add(builder, loc, sum, cotangent) : cotangent;
}

void ReverseMode::propagate(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    if (isa<StopGradientOp>(op))
      continue;
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    if (llvm::none_of(used, [&](Value value) { return isActive(value); }))
      continue;
    for (Value result : op->getResults())
      if (hasFloats(result))
        active.insert(result);
  }
}

/// Each side recomputes the values that it needs, and yields the gradients of captured values.
LogicalResult ReverseMode::runBranch(scf::IfOp op, ArrayRef<Value> given) {
  Location loc = op.getLoc();
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  SmallVector<Value> captured;
  llvm::copy_if(used, std::back_inserter(captured),
                [&](Value value) { return isActive(value) && hasFloats(value); });
  auto branch = scf::IfOp::create(builder, loc, ValueRange(captured).getTypes(), op.getCondition(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertPoint here = builder.saveInsertionPoint();
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), branch->getRegions())) {
    builder.setInsertionPointToEnd(&to.front());
    IRMapping mapping;
    SmallVector<Operation *> ops;
    SmallVector<Value> yielded = inlineBlock(builder, from.front(), mapping, &ops);
    ReverseMode reverse(builder, add);
    for (Value value : captured)
      reverse.want(value);
    reverse.propagate(ops);
    for (auto [value, cotangent] : llvm::zip_equal(yielded, given))
      reverse.accumulate(loc, value, cotangent);
    if (failed(reverse.run(ops)))
      return failure();
    SmallVector<Value> gradients;
    for (Value value : captured) {
      Value gradient = reverse.cotangent(value);
      gradients.push_back(gradient ? gradient
                                   : buildZero(builder, loc, cast<NdTensorType>(value.getType())));
    }
    scf::YieldOp::create(builder, loc, gradients);
    eraseDeadScalars(to.front());
  }
  builder.restoreInsertionPoint(here);
  for (auto [value, gradient] : llvm::zip_equal(captured, branch.getResults()))
    accumulate(loc, value, gradient);
  return success();
}

LogicalResult ReverseMode::run(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    SmallVector<Value> given =
        llvm::map_to_vector(op->getResults(), [&](Value result) { return cotangent(result); });
    if (llvm::none_of(given, [](Value value) { return bool(value); }))
      continue;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (failed(runBranch(branch, given)))
        return failure();
      continue;
    }
    if (isa<scf::WhileOp>(op))
      return op->emitOpError()
             << "cannot be differentiated backwards: the number of its steps is not known, so "
                "the values that they need can't be saved; use scf.for with the maximum number of "
                "steps and an scf.if in the body that keeps the carried tensors (in C++ pass "
                "the maximum, `most`, to whileLoop or forLoop)";
    SmallVector<bool> wanted =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return isActive(operand); });
    SmallVector<Value> gradients(op->getNumOperands());
    if (failed(exclusions.buildGradient(builder, op, given, wanted, gradients)))
      return failure();
    for (auto [operand, gradient] : llvm::zip_equal(op->getOperands(), gradients))
      accumulate(op->getLoc(), operand, gradient);
  }
  return success();
}
