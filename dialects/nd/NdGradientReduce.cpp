//===- NdGradientReduce.cpp - gradients of reductions ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdCombination.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

Value nd::buildLinearIndex(OpBuilder &b, Location loc, NdTensorType type, Strings names,
                           Type element) {
  SmallVector<Value> iotas;
  for (StringRef name : names)
    iotas.push_back(
        buildIota(b, loc, Dim(b.getContext(), name, type.size(name).getExpr()), element));
  if (iotas.size() == 1)
    return iotas[0];
  return buildPointwise(b, loc, iotas, element, [&](OpBuilder &b, ValueRange s) {
    Value linear = s[0];
    for (unsigned i = 1; i < s.size(); ++i) {
      Value size = buildNumber(b, loc, element, double(*type.size(names[i]).constant()));
      linear = arith::MulIOp::create(b, loc, linear, size);
      linear = arith::AddIOp::create(b, loc, linear, s[i]);
    }
    return linear;
  });
}

/// The type of positions: 32 bits if their number is known to be small.
static Type positionType(OpBuilder &b, NdTensorType type, Strings names) {
  int64_t count = 1;
  for (StringRef name : names) {
    auto size = type.size(name).constant();
    if (!size || *size >= INT32_MAX || (count *= *size) >= INT32_MAX)
      return b.getI64Type();
  }
  return b.getI32Type();
}

/// True if positions over several names can't be computed, because a size has symbols.
static bool mergesNames(NdTensorType type, Strings names) {
  return llvm::any_of(names.drop_front(),
                      [&](StringRef name) { return !type.size(name).constant(); });
}

/// The gradient of the selected element is the cotangent. The combiner carries the position of that
/// element along.
static void selectingGradient(OpBuilder &b, const Combination &c, ValueRange inputs, Strings names,
                              ValueRange cotangents, ArrayRef<bool> wanted, Gradients &gradients) {
  Location loc = c.loc();
  SmallVector<Value> operands(inputs);
  NdTensorType original = tensorType(inputs[0]);
  // Positions depend on all sizes but the first. If these have symbols, merge the names.
  SmallVector<StringRef> order(names);
  SmallVector<Dim> merged;
  if (mergesNames(original, names)) {
    for (StringRef name : names)
      merged.emplace_back(b.getContext(), name, original.size(name).getExpr());
    for (Value &operand : operands)
      operand = buildMerge(b, loc, operand, names, names[0]);
    order = {names[0]};
  }
  NdTensorType type = tensorType(operands[0]);
  Type element = positionType(b, type, order);
  Value linear = buildLinearIndex(b, loc, type, order, element);
  Value everywhere = buildBroadcast(b, loc, linear, type.getDims().getDims());
  operands.append(c.chosen.size(), everywhere);
  SmallVector<Value> results =
      buildReduce(b, loc, operands, order, c.neutralWithPositions(element),
                  [&](OpBuilder &b, ValueRange s) { return c.withPositions(b, s); });
  for (auto [k, i] : llvm::enumerate(c.chosen)) {
    if (!wanted[i])
      continue;
    Type float_ = tensorType(inputs[i]).getElementType();
    Value gradient = buildPointwise(
        b, loc, {linear, results[c.size() + k], cotangents[i]}, float_,
        [&](OpBuilder &b, ValueRange s) -> Value {
          Value chosen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, s[0], s[1]);
          Value given = convertFloat(b, loc, s[2], float_);
          return arith::SelectOp::create(b, loc, chosen, given, buildNumber(b, loc, float_, 0));
        });
    gradients[i] = merged.empty() ? gradient : buildSplit(b, loc, gradient, names[0], merged);
  }
}

/// An operand may affect accumulators of several kinds.
void nd::addGradient(OpBuilder &b, Location loc, Value &sum, Value more) {
  sum = sum ? nd::add(b, loc, sum, more) : more;
}

/// Emits combine(combine(before, element), after) for the arguments of `block`.
static void composeTwice(OpBuilder &b, const Combination &c, Block *block) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(block);
  unsigned n = c.size();
  for (int part = 0; part < 3; ++part)
    for (unsigned i = 0; i < n; ++i)
      block->addArgument(c.accumulator(i), c.loc());
  ValueRange arguments = block->getArguments();
  SmallVector<Value> both = inlineBlock(b, c.combiner, arguments.take_front(2 * n));
  llvm::append_range(both, arguments.take_back(n));
  YieldOp::create(b, c.loc(), inlineBlock(b, c.combiner, both));
}

/// Any combiner, one name after another: exclusive scans give the combinations of the elements
/// before and after each element, to which the combiner's derivative is applied.
static LogicalResult generalGradient(OpBuilder &b, const Combination &c, ValueRange inputs,
                                     Strings names, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  Location loc = c.loc();
  unsigned n = c.size();
  Region composed;
  Block *block = &composed.emplaceBlock();
  composeTwice(b, c, block);
  auto combine = [&](OpBuilder &b, ValueRange s) { return inlineBlock(b, c.combiner, s); };

  // levels[k]: the tensors after reducing the last k names.
  SmallVector<SmallVector<Value>> levels(1);
  for (unsigned i = 0; i < n; ++i) {
    Type element = tensorType(inputs[i]).getElementType();
    levels[0].push_back(buildCast(b, loc, inputs[i], c.isFloat(i) ? c.accumulator(i) : element));
  }
  for (unsigned k = 0; k + 1 < names.size(); ++k)
    levels.push_back(
        buildReduce(b, loc, levels[k], {names[names.size() - 1 - k]}, c.neutral, combine));
  SmallVector<Value> given(n);
  for (unsigned i : c.others)
    given[i] = buildCast(b, loc, cotangents[i], c.accumulator(i));

  for (unsigned k = names.size(); k-- > 0;) {
    StringRef name = names[names.size() - 1 - k];
    SmallVector<Value> operands =
        buildScan(b, loc, levels[k], name, c.neutral, combine, /*exclusive=*/true);
    llvm::append_range(operands, levels[k]);
    llvm::append_range(operands, buildScan(b, loc, levels[k], name, c.neutral, combine,
                                           /*exclusive=*/true, /*reverse=*/true));
    SmallVector<int> position(n, -1);
    for (unsigned i = 0; i < n; ++i)
      if (given[i]) {
        position[i] = operands.size();
        operands.push_back(given[i]);
      }
    SmallVector<Value> next(n);
    for (unsigned i = 0; i < n; ++i) {
      if (!c.isFloat(i) || (k == 0 && !wanted[i]))
        continue;
      bool isFailure = false, isNull = false;
      Value result = buildPointwise(
          b, loc, operands, c.accumulator(i), [&](OpBuilder &b, ValueRange s) -> Value {
            SmallVector<Value> scalars(n);
            for (unsigned j = 0; j < n; ++j)
              if (position[j] >= 0)
                scalars[j] = s[position[j]];
            SmallVector<bool> only(3 * n);
            only[n + i] = true;
            FailureOr<SmallVector<Value>> slopes =
                buildScalarGradient(b, loc, *block, s.take_front(3 * n), scalars, only);
            isFailure = failed(slopes);
            isNull = isFailure || !(*slopes)[n + i];
            return isNull ? buildNumber(b, loc, c.accumulator(i), 0) : (*slopes)[n + i];
          });
      if (isFailure)
        return failure();
      eraseDeadScalars(result.getDefiningOp()->getRegion(0).front());
      if (!isNull)
        next[i] = result;
    }
    given = next;
  }
  for (unsigned i = 0; i < n; ++i)
    if (wanted[i] && given[i])
      addGradient(b, loc, gradients[i],
                  buildCast(b, loc, given[i], tensorType(inputs[i]).getElementType()));
  return success();
}

/// A neutral element as a tensor without names, of the element type of an input.
static Value buildNeutral(OpBuilder &b, Location loc, Type element, TypedAttr value) {
  auto type = NdTensorType::get(element, ArrayRef<Dim>());
  if (auto real = dyn_cast<FloatAttr>(value))
    return buildConstant(b, loc, type, numberAttr(type.scalarType(), real.getValueAsDouble()));
  return buildConstant(b, loc, type, value);
}

LogicalResult ReduceOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  Combination c(*this, getCombiner(), getNeutral(), cotangents);
  SmallVector<StringRef> names = stringsOf(getNames());
  for (unsigned i : c.added) {
    NdTensorType type = tensorType(getInputs()[i]);
    Value cotangent = buildCast(b, getLoc(), cotangents[i], type.getElementType());
    gradients[i] = buildBroadcast(b, getLoc(), cotangent, type.getDims().getDims());
  }
  // Only the reduction may read a window that excludes elements.
  bool merges = mergesNames(tensorType(getInputs()[0]), names);
  bool fills = !c.others.empty() || (merges && !c.chosen.empty());
  SmallVector<Value> inputs(getInputs());
  Value mask;
  if (fills) { // Excluded points hold neutral elements instead.
    for (Value &input : inputs) {
      auto [filled, own] = fillExcluded(b, input);
      input = filled;
      if (own)
        mask = !mask
                   ? own
                   : buildPointwise(
                         b, getLoc(), {mask, own}, b.getI1Type(), [&](OpBuilder &b, ValueRange s) {
                           return arith::AndIOp::create(b, getLoc(), s[0], s[1]).getResult();
                         });
    }
    if (mask)
      for (auto [input, value] : llvm::zip_equal(inputs, c.neutral)) {
        Type element = tensorType(input).getElementType();
        input = nd::select(b, getLoc(), mask, input, buildNeutral(b, getLoc(), element, value));
      }
  }
  auto addMasked = [&](ArrayRef<Value> own) {
    for (auto [i, gradient] : llvm::enumerate(own)) {
      if (!gradient)
        continue;
      Value kept = gradient;
      if (mask)
        kept = nd::select(
            b, getLoc(), mask, kept,
            buildConstant(b, getLoc(),
                          NdTensorType::get(tensorType(kept).getElementType(), ArrayRef<Dim>()),
                          0.0));
      addGradient(b, getLoc(), gradients[i], kept);
    }
  };
  if (!c.chosen.empty()) {
    SmallVector<Value> own(inputs.size());
    selectingGradient(b, c, merges ? inputs : SmallVector<Value>(getInputs()), names, cotangents,
                      wanted, own);
    addMasked(own);
  }
  if (c.others.empty())
    return success();
  SmallVector<Value> own(inputs.size());
  if (failed(generalGradient(b, c, inputs, names, cotangents, wanted, own)))
    return failure();
  addMasked(own);
  return success();
}
