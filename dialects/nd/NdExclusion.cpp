//===- NdExclusion.cpp - elements that reductions exclude -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdExclusion.h"
#include "dialects/nd/NdBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

bool nd::carriesExclusion(Operation *op) {
  return op && (isa<MovesElementsInterface>(op) || op->hasTrait<Elementwise>());
}

/// The operands from which the op's result inherits excluded elements.
static OperandRange sourcesOf(Operation *op) {
  auto moves = dyn_cast<MovesElementsInterface>(op);
  return op->getOperands().take_front(moves ? moves.getNumSources() : op->getNumOperands());
}

/// Calls `visit` on the ops that compute `value` and propagate exclusion, operands before users,
/// except those of values that `skip` accepts. Not recursive: programs may be deep.
static void visitCarriers(Value value, llvm::function_ref<bool(Value)> skip,
                          llvm::function_ref<void(Operation *)> visit) {
  SmallVector<std::pair<Operation *, unsigned>> open;
  auto enter = [&](Value next) {
    if (carriesExclusion(next.getDefiningOp()) && !skip(next))
      open.emplace_back(next.getDefiningOp(), 0);
  };
  for (enter(value); !open.empty();) {
    auto &[op, operand] = open.back();
    if (operand < sourcesOf(op).size()) {
      enter(op->getOperand(operand++));
      continue;
    }
    Operation *done = op;
    open.pop_back();
    if (!skip(done->getResult(0)))
      visit(done);
  }
}

bool Exclusions::reach(Value value) {
  visitCarriers(
      value, [&](Value each) { return known.contains(each); },
      [&](Operation *op) {
        auto map = indexMapOf(op);
        known[op->getResult(0)] =
            (map && map->excludes()) ||
            llvm::any_of(sourcesOf(op), [&](Value operand) { return known.lookup(operand); });
      });
  return known.lookup(value);
}

void Exclusions::forget(Operation *op) {
  for (Value result : op->getResults())
    known.erase(result);
}

/// Clones an op that moves elements, on `sources` of element type `element`; out-of-bounds elements
/// are `outside`.
static Operation *cloneOn(OpBuilder &b, MovesElementsInterface op,
                          llvm::function_ref<Value(Value)> sources, Type element, double outside) {
  IRMapping mapping;
  for (Value operand : sourcesOf(op))
    mapping.map(operand, sources(operand));
  Operation *copy = b.clone(*op, mapping);
  copy->getResult(0).setType(tensorType(op->getResult(0)).withElementType(element));
  if (auto map = indexMapOf(copy); map && map->outside)
    cast<IndexMapInterface>(copy).setOutside(numberAttr(element, outside));
  return copy;
}

/// Clones the op on operands whose excluded elements are filled, and returns its mask.
static Value fillOne(OpBuilder &b, Operation *op, IRMapping &filled,
                     const DenseMap<Value, Value> &maskOf) {
  Location loc = op->getLoc();
  NdTensorType type = tensorType(op->getResult(0));
  Operation *copy = b.clone(*op, filled);
  Type bit = b.getI1Type();
  if (op->hasTrait<Elementwise>() || op->hasTrait<Opaque>()) {
    Value mask;
    for (Value operand : sourcesOf(op)) {
      Value own = maskOf.lookup(operand);
      mask = !mask || !own
                 ? (own ? own : mask)
                 : buildPointwise(b, loc, {mask, own}, bit, [&](OpBuilder &b, ValueRange s) {
                     return arith::AndIOp::create(b, loc, s[0], s[1]).getResult();
                   });
    }
    return buildBroadcast(b, loc, mask, type.getDims().getDims());
  }
  // The same op computes the mask of its result from the masks of its sources.
  auto maskOrTrue = [&](Value operand) {
    Value own = maskOf.lookup(operand);
    return own ? own : buildConstant(b, loc, tensorType(operand).withElementType(bit), 1);
  };
  Operation *mask = cloneOn(b, cast<MovesElementsInterface>(op), maskOrTrue, bit, 1);
  if (auto map = indexMapOf(copy); map && map->excludes()) {
    cast<IndexMapInterface>(copy).setOutside(numberAttr(type.scalarType(), 0));
    cast<IndexMapInterface>(mask).setOutside(numberAttr(bit, 0));
  }
  return mask->getResult(0);
}

std::pair<Value, Value> nd::fillExcluded(OpBuilder &b, Value value) {
  Exclusions exclusions;
  if (!exclusions.reach(value))
    return {value, Value()};
  IRMapping filled;
  DenseMap<Value, Value> masks;
  visitCarriers(
      value, [&](Value each) { return !exclusions.reach(each) || masks.contains(each); },
      [&](Operation *op) {
        Value mask = fillOne(b, op, filled, masks);
        masks[op->getResult(0)] = mask;
      });
  return {filled.lookup(value), masks.lookup(value)};
}

/// Computes the tensor of ones for an op's result (`buildIncluded`) from those of its operands,
/// over as few names as determine the exclusion.
static Value includedBy(OpBuilder &b, Location loc, Operation *op,
                        const DenseMap<Value, Value> &onesOf) {
  Type i64 = b.getI64Type();
  auto ones = [&](Value operand, ArrayRef<Dim> dims) {
    Value known = onesOf.lookup(operand);
    return known ? buildBroadcast(b, loc, known, dims)
                 : buildConstant(b, loc, NdTensorType::get(i64, dims), 1);
  };
  if (auto renaming = renamingOf(op)) {
    Value own = onesOf.lookup(op->getOperand(0));
    SmallVector<StringRef> from, to;
    for (auto [before, after] : llvm::zip_equal(stringsOf(renaming->from), stringsOf(renaming->to)))
      if (tensorType(own).has(before))
        from.push_back(before), to.push_back(after);
    return buildRename(b, loc, own, from, to);
  }
  auto map = indexMapOf(op);
  NdTensorType type = tensorType(op->getResult(0));
  // A slice from 0 does not move elements, but has fewer.
  bool isKept = map && map->isIdentity() &&
                llvm::all_of(tensorType(op->getOperand(0)).getDims(), [&](const Dim &dim) {
                  return type.size(dim.name.getValue()) == dim.size();
                });
  if (op->hasTrait<Elementwise>() || op->hasTrait<Opaque>() || isKept) {
    SmallVector<Value> known;
    for (Value operand : sourcesOf(op))
      if (Value own = onesOf.lookup(operand))
        known.push_back(own);
    // A product, so that no rule folds it to a constant: the exclusion may not be visible yet.
    return known.size() == 1 ? known[0]
                             : buildPointwise(b, loc, known, i64, [&](OpBuilder &b, ValueRange s) {
                                 Value product = s[0];
                                 for (Value each : s.drop_front())
                                   product = arith::MulIOp::create(b, loc, product, each);
                                 return product;
                               });
  }
  SmallVector<StringRef> dropped;
  auto onesOfSource = [&](Value operand) {
    Value known = onesOf.lookup(operand);
    SmallVector<Dim> dims;
    for (const Dim &dim : tensorType(operand).getDims())
      if (!map || map->coordinates.count(dim.name.str()) ||
          (known && tensorType(known).has(dim.name)))
        dims.push_back(dim);
      else
        dropped.push_back(dim.name);
    return ones(operand, dims);
  };
  Value result = cloneOn(b, cast<MovesElementsInterface>(op), onesOfSource, i64, 1)->getResult(0);
  result.setType(tensorType(result).where(
      [&](const Dim &dim) { return !llvm::is_contained(dropped, dim.name.getValue()); }));
  return result;
}

Value nd::buildIncluded(OpBuilder &b, Location loc, Value value, DenseMap<Value, Value> ones) {
  Exclusions exclusions;
  for (Value each : llvm::make_first_range(ones))
    exclusions.assume(each);
  if (!exclusions.reach(value))
    return {};
  auto isKnown = [&](Value each) { return !exclusions.reach(each) || ones.contains(each); };
  visitCarriers(value, isKnown, [&](Operation *op) {
    Value made = includedBy(b, loc, op, ones);
    ones[op->getResult(0)] = made;
  });
  return ones.lookup(value);
}
