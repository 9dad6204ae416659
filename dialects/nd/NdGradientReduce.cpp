//===- NdGradientReduce.cpp - gradients of reductions and scans -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

namespace {
/// What reduce and scan share.
struct Combination {
  Operation *op;
  Block &combiner;
  SmallVector<TypedAttr> neutral;
  SmallVector<unsigned> asked; ///< accumulators with a cotangent

  Combination(Operation *op, Region &region, ArrayAttr attrs, ValueRange cotangents)
      : op(op), combiner(region.front()) {
    for (Attribute value : attrs)
      neutral.push_back(cast<TypedAttr>(value));
    for (auto [i, cotangent] : llvm::enumerate(cotangents))
      if (cotangent)
        asked.push_back(i);
  }

  unsigned size() const { return neutral.size(); }
  Location loc() const { return op->getLoc(); }
  Type accumulator(unsigned i) const { return neutral[i].getType(); }
  bool isFloat(unsigned i) const { return isa<FloatType>(accumulator(i)); }
  bool selects() const {
    return llvm::all_of(asked, [&](unsigned i) { return isSelecting(combiner, i); });
  }
  /// The combiner that carries a position for each accumulator asked for.
  SmallVector<Value> withPositions(OpBuilder &b, ValueRange s) const {
    unsigned n = size(), m = asked.size();
    return inlineWithPositions(b, loc(), combiner, s.take_front(n), s.slice(n + m, n), asked,
                               s.slice(n, m), s.take_back(m));
  }
  SmallVector<TypedAttr> neutralWithPositions(Type position) const {
    SmallVector<TypedAttr> result(neutral);
    APInt last = APInt::getSignedMaxValue(position.getIntOrFloatBitWidth());
    result.append(asked.size(), IntegerAttr::get(position, last));
    return result;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// The row-major position in the order of `names`, which are of `type` and of constant size.
static Value buildLinearIndex(OpBuilder &b, Location loc, NdTensorType type, Strings names,
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

/// Positions fit into 32 bits where their number is known to be small.
static Type positionType(OpBuilder &b, NdTensorType type, Strings names) {
  int64_t count = 1;
  for (StringRef name : names) {
    auto size = type.size(name).constant();
    if (!size || *size >= INT32_MAX || (count *= *size) >= INT32_MAX)
      return b.getI64Type();
  }
  return b.getI32Type();
}

/// The gradient goes to the element that was chosen, which the combiner carries along as a position.
static void selectingGradient(OpBuilder &b, const Combination &c, ValueRange inputs, Strings names,
                              ValueRange cotangents, ArrayRef<bool> wanted, Gradients &gradients) {
  Location loc = c.loc();
  SmallVector<Value> operands(inputs);
  NdTensorType original = tensorType(inputs[0]);
  // All sizes but the first enter the position; where they have symbols the names are merged.
  SmallVector<StringRef> order(names);
  SmallVector<Dim> merged;
  if (llvm::any_of(names.drop_front(),
                   [&](StringRef name) { return !original.size(name).constant(); })) {
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
  operands.append(c.asked.size(), everywhere);
  SmallVector<Value> results =
      buildReduce(b, loc, operands, order, c.neutralWithPositions(element),
                  [&](OpBuilder &b, ValueRange s) { return c.withPositions(b, s); });
  for (auto [k, i] : llvm::enumerate(c.asked)) {
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

/// Writes combine(combine(before, element), after) for the arguments of `block`.
static void composeTwice(OpBuilder &b, const Combination &c, Block *block) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(block);
  unsigned n = c.size();
  for (int part = 0; part < 3; ++part)
    for (unsigned i = 0; i < n; ++i)
      block->addArgument(c.accumulator(i), c.loc());
  ValueRange arguments = block->getArguments();
  SmallVector<Value> both = inlineScalars(b, c.combiner, arguments.take_front(2 * n));
  llvm::append_range(both, arguments.take_back(n));
  YieldOp::create(b, c.loc(), inlineScalars(b, c.combiner, both));
}

/// Any combiner, one name after the other: what was combined before an element and after it is
/// given by exclusive scans, and the derivative of the combiner does the rest.
static LogicalResult generalGradient(OpBuilder &b, const Combination &c, ValueRange inputs,
                                     Strings names, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  Location loc = c.loc();
  unsigned n = c.size();
  Region composed;
  Block *block = &composed.emplaceBlock();
  composeTwice(b, c, block);
  auto combine = [&](OpBuilder &b, ValueRange s) { return inlineScalars(b, c.combiner, s); };

  // levels[k]: what is left after the last k names have been combined.
  SmallVector<SmallVector<Value>> levels(1);
  for (unsigned i = 0; i < n; ++i) {
    Type element = tensorType(inputs[i]).getElementType();
    levels[0].push_back(
        buildCast(b, loc, inputs[i], c.isFloat(i) ? c.accumulator(i) : element));
  }
  for (unsigned k = 0; k + 1 < names.size(); ++k)
    levels.push_back(buildReduce(b, loc, levels[k], {names[names.size() - 1 - k]}, c.neutral,
                                 combine));
  SmallVector<Value> given(n);
  for (unsigned i : c.asked)
    given[i] = buildCast(b, loc, cotangents[i], c.accumulator(i));

  for (unsigned k = names.size(); k-- > 0;) {
    StringRef name = names[names.size() - 1 - k];
    SmallVector<Value> operands =
        buildScan(b, loc, levels[k], name, c.neutral, combine, /*exclusive=*/true);
    llvm::append_range(operands, levels[k]);
    llvm::append_range(operands, buildScan(b, loc, levels[k], name, c.neutral, combine,
                                           /*exclusive=*/true, /*reverse=*/true));
    SmallVector<int> place(n, -1);
    for (unsigned i = 0; i < n; ++i)
      if (given[i]) {
        place[i] = operands.size();
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
              if (place[j] >= 0)
                scalars[j] = s[place[j]];
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
      eraseDeadScalars(cast<PointwiseOp>(result.getDefiningOp()).getBody().front());
      if (!isNull)
        next[i] = result;
    }
    given = next;
  }
  for (unsigned i = 0; i < n; ++i)
    if (wanted[i] && given[i])
      gradients[i] = buildCast(b, loc, given[i], tensorType(inputs[i]).getElementType());
  return success();
}

LogicalResult ReduceOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  Combination c(*this, getCombiner(), getNeutral(), cotangents);
  SmallVector<StringRef> names = stringsOf(getNames());
  if (combinerKind(getCombiner()) == CombinerKind::Add) {
    NdTensorType type = tensorType(getInputs()[0]);
    Value cotangent = buildCast(b, getLoc(), cotangents[0], type.getElementType());
    gradients[0] = buildBroadcast(b, getLoc(), cotangent, type.getDims().getDims());
    return success();
  }
  if (c.selects()) {
    selectingGradient(b, c, getInputs(), names, cotangents, wanted, gradients);
    return success();
  }
  if (llvm::any_of(getInputs(), mayBeExcluded))
    return emitOpError() << "cannot be differentiated: the window leaves places out; expected a "
                            "sum, maximum or minimum, or a window with a padding value";
  return generalGradient(b, c, getInputs(), names, cotangents, wanted, gradients);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// `value` one step further along `name`: at each coordinate what stood at the next one (the
/// previous one if `back`), `fill` at the end.
static Value buildShift(OpBuilder &b, Location loc, Value value, StringRef name, bool back,
                        TypedAttr fill = {}) {
  Expr rest = tensorType(value).size(name).getExpr() - Expr(1);
  Value inner = buildSlice(b, loc, value, name, back ? 0 : 1, rest);
  return buildPad(b, loc, inner, name, back ? 1 : 0, back ? 0 : 1, 0, fill);
}

/// One float accumulator z[p] = combine(z[p-1], x[p]). With the cotangent g[p] of z[p] the sum of
/// all that reaches z[p] is l[p] = g[p] + l[p+1] * d combine(z[p], x[p+1]) / d z[p], a scan of
/// affine maps in the other direction.
static FailureOr<Value> affineScanGradient(OpBuilder &b, ScanOp op, const Combination &c,
                                           Value cotangent) {
  Location loc = c.loc();
  StringRef name = op.getName();
  bool reverse = op.getReverse();
  Type element = c.accumulator(0);
  auto combine = [&](OpBuilder &b, ValueRange s) { return inlineScalars(b, c.combiner, s); };
  Value x = buildCast(b, loc, op.getInputs()[0], element);
  Value g = buildCast(b, loc, cotangent, element);
  // The result of an exclusive scan at p is z[p-1].
  if (op.getExclusive())
    g = buildShift(b, loc, g, name, /*back=*/reverse);
  Value before = buildScan(b, loc, x, name, c.neutral, combine, /*exclusive=*/true, reverse)[0];
  auto slope = [&](unsigned argument) -> FailureOr<Value> {
    bool isFailure = false;
    Value result = buildPointwise(
        b, loc, {before, x}, element, [&](OpBuilder &b, ValueRange s) -> Value {
          FailureOr<SmallVector<Value>> slopes =
              buildScalarGradient(b, loc, c.combiner, s, {buildNumber(b, loc, element, 1)},
                                  {argument == 0, argument == 1});
          isFailure = failed(slopes);
          Value value = isFailure ? Value() : (*slopes)[argument];
          return value ? value : buildNumber(b, loc, element, 0);
        });
    if (isFailure)
      return failure();
    eraseDeadScalars(cast<PointwiseOp>(result.getDefiningOp()).getBody().front());
    return result;
  };
  FailureOr<Value> carried = slope(0), own = slope(1);
  if (failed(carried) || failed(own))
    return failure();
  Value factor = buildShift(b, loc, *carried, name, /*back=*/reverse);
  SmallVector<Value> sums = buildScan(
      b, loc, {factor, g}, name, {numberAttr(element, 1), numberAttr(element, 0)},
      [&](OpBuilder &b, ValueRange s) {
        // An element (a, g) stands for the map l -> a * l + g; the accumulator is applied first.
        Value product = arith::MulFOp::create(b, loc, s[2], s[0]);
        Value moved = arith::MulFOp::create(b, loc, s[2], s[1]);
        Value sum = arith::AddFOp::create(b, loc, s[3], moved);
        return SmallVector<Value>{product, sum};
      },
      /*exclusive=*/false, /*reverse=*/!reverse);
  Value gradient = nd::mul(b, loc, sums[1], *own);
  return buildCast(b, loc, gradient, tensorType(op.getInputs()[0]).getElementType());
}

LogicalResult ScanOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    Gradients &gradients) {
  Location loc = getLoc();
  Combination c(*this, getCombiner(), getNeutral(), cotangents);
  NdTensorType type = tensorType(getInputs()[0]);
  if (type.size(getName()).constant() == 0)
    return success();
  if (combinerKind(getCombiner()) == CombinerKind::Add) {
    Value given = buildCast(b, loc, cotangents[0], type.getElementType());
    gradients[0] = buildScan(b, loc, given, getName(), CombinerKind::Add, getExclusive(),
                             /*reverse=*/!getReverse());
    return success();
  }
  if (c.selects()) {
    Type element = b.getI64Type();
    Value linear = buildLinearIndex(b, loc, type, {getName()}, element);
    SmallVector<Value> operands(getInputs());
    operands.append(c.asked.size(), buildBroadcast(b, loc, linear, type.getDims().getDims()));
    SmallVector<Value> results = buildScan(
        b, loc, operands, getName(), c.neutralWithPositions(element),
        [&](OpBuilder &b, ValueRange s) { return c.withPositions(b, s); }, getExclusive(),
        getReverse());
    for (auto [k, i] : llvm::enumerate(c.asked)) {
      if (!wanted[i])
        continue;
      // An exclusive scan starts at the neutral element, whose position lies outside.
      NdTensorType input = tensorType(getInputs()[i]);
      Value given = buildCast(b, loc, cotangents[i], input.getElementType());
      gradients[i] = buildScatter(b, loc, buildZero(b, loc, input), given, {getName()},
                                  results[c.size() + k], CombinerKind::Add);
    }
    return success();
  }
  if (c.size() != 1)
    return emitOpError() << "cannot be differentiated: expected a combiner of one accumulator, or "
                            "one that chooses among its elements; got "
                         << c.size() << " accumulators";
  FailureOr<Value> gradient = affineScanGradient(b, *this, c, cotangents[0]);
  if (failed(gradient))
    return failure();
  gradients[0] = *gradient;
  return success();
}
