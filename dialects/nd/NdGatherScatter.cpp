//===- NdGatherScatter.cpp - gathers and scatters -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The access interfaces of gather and scatter, and their gradients.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

static SmallVector<IndexedAccess> accesses(Value tensor, ArrayAttr names, ValueRange indices) {
  SmallVector<IndexedAccess> list;
  for (auto [name, index] : llvm::zip_equal(stringsOf(names), indices))
    list.push_back({name, index, tensorType(tensor).size(name).getExpr(), /*count=*/1});
  return list;
}

SmallVector<IndexedAccess> GatherOp::getAccesses() {
  return accesses(getInput(), getNames(), getIndices());
}
SmallVector<IndexedAccess> ScatterOp::getAccesses() {
  return accesses(getDestination(), getNames(), getIndices());
}

SmallVector<SizeCondition> GatherOp::getSizeConditions() {
  Expr elements(1);
  for (const Dim &dim : tensorType(getResult()).getDims())
    elements = elements * dim.size().getExpr();
  // Clamped coordinates need at least one element.
  return llvm::map_to_vector(getAccesses(), [&](const IndexedAccess &access) {
    return SizeCondition{access.name, access.count, access.size, elements};
  });
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The last coordinate along `dim`, as a tensor without names.
static Value buildLast(OpBuilder &b, Location loc, const Dim &dim, Type element) {
  if (auto size = dim.size().constant())
    return buildConstant(b, loc, NdTensorType::get(element, ArrayRef<Dim>()), double(*size - 1));
  return buildReduce(b, loc, buildIota(b, loc, dim, element), {dim.name.getValue()},
                     CombinerKind::Max);
}

/// Index `i` of an access, in signed 64 bits, and the largest coordinate that it may have.
static std::pair<Value, Value> indexAndLast(OpBuilder &b, Location loc, NdTensorType type,
                                            StringRef name, Value index) {
  Type element = b.getI64Type();
  return {buildCast(b, loc, index, element),
          buildLast(b, loc, Dim(b.getContext(), name, type.size(name).getExpr()), element)};
}

LogicalResult GatherOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  if (!wanted[0])
    return success();
  // A scatter drops updates that are out of bounds, a gather clamps coordinates.
  Location loc = getLoc();
  NdTensorType type = tensorType(getInput());
  SmallVector<Value> clamped;
  for (auto [name, operand] : llvm::zip_equal(stringsOf(getNames()), getIndices())) {
    auto [index, last] = indexAndLast(b, loc, type, name, operand);
    clamped.push_back(buildPointwise(
        b, loc, {index, last}, b.getI64Type(), [&](OpBuilder &b, ValueRange s) -> Value {
          Value low = arith::MaxSIOp::create(b, loc, s[0], buildNumber(b, loc, b.getI64Type(), 0));
          return arith::MinSIOp::create(b, loc, low, s[1]);
        }));
  }
  gradients[0] = buildScatter(b, loc, buildZero(b, loc, type), cotangents[0], stringsOf(getNames()),
                              clamped, CombinerKind::Add);
  return success();
}

/// Gathers the elements at the targets of a scatter. A scatter to an empty tensor drops all
/// updates, so a tensor that may be empty is padded by one element, to which coordinates are
/// clamped.
static Value gatherTargets(OpBuilder &b, Location loc, Value source, Strings names,
                           ValueRange indices) {
  for (StringRef name : names)
    if (Expr size = tensorType(source).size(name).getExpr(); !size.isConstant())
      source = buildPad(b, loc, source, name, 0, Expr::max(Expr(1) - size, Expr(0)));
  return buildGather(b, loc, source, names, indices);
}

/// Like gatherTargets, but zero for targets that are out of bounds.
static Value gatherInside(OpBuilder &b, Location loc, Value source, Strings names,
                          ValueRange indices) {
  NdTensorType type = tensorType(source);
  SmallVector<Value> operands{gatherTargets(b, loc, source, names, indices)};
  for (auto [name, operand] : llvm::zip_equal(names, indices)) {
    auto [index, last] = indexAndLast(b, loc, type, name, operand);
    operands.append({index, last});
  }
  return buildPointwise(b, loc, operands, type.getElementType(), [&](OpBuilder &b, ValueRange s) {
    Value result = s[0], zero = buildNumber(b, loc, result.getType(), 0);
    for (unsigned i = 1; i < s.size(); i += 2) {
      // Compare as unsigned, so that negative coordinates are out of bounds, too.
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, s[i], s[i + 1]);
      result = arith::SelectOp::create(b, loc, inside, result, zero);
    }
    return result;
  });
}

/// Overwrites elements of `destination` by `updates`, whose coordinates are distinct.
static Value put(OpBuilder &b, Location loc, Value destination, Value updates, Strings names,
                 ValueRange indices) {
  return buildScatter(
      b, loc, destination, updates, names, indices, [](OpBuilder &, ValueRange s) { return s[1]; },
      /*unique=*/true);
}

/// The derivative of a scatter's combiner by its old value (0) or the update (1), given tensors of
/// both and of the cotangent. Null, with a diagnostic, if there is none.
static Value combinerSlope(OpBuilder &b, ScatterOp op, ValueRange given, unsigned by) {
  Location loc = op.getLoc();
  bool isFailure = false;
  Value slope = buildPointwise(b, loc, given, tensorType(op.getUpdates()).getElementType(),
                               [&](OpBuilder &b, ValueRange s) -> Value {
                                 FailureOr<SmallVector<Value>> result = buildScalarGradient(
                                     b, loc, op.getCombiner().front(), s.take_front(2), {s[2]},
                                     {by == 0, by == 1});
                                 isFailure = failed(result);
                                 Value value = isFailure ? Value() : (*result)[by];
                                 return value ? value : buildNumber(b, loc, s[0].getType(), 0);
                               });
  if (isFailure)
    return {};
  eraseDeadScalars(slope.getDefiningOp()->getRegion(0).front());
  return slope;
}

/// Any combiner, with several updates for one element: combines them one after another, saves the
/// element before each update, and then visits them in reverse:
///
///     old[p] = d[i[p]];  d[i[p]] = combine(old[p], u[p])       for p = 0, 1, ...
///     (d[i[p]], du[p]) = slopes of combine(old[p], u[p]), times d[i[p]]    for p = ..., 1, 0
static LogicalResult orderedScatterGradient(OpBuilder &b, ScatterOp op, Value cotangent,
                                            ArrayRef<Dim> iterated, ArrayRef<bool> wanted,
                                            Gradients &gradients) {
  Location loc = op.getLoc();
  DialectInterfaceCollection<RecurrenceInterface> recurrences(b.getContext());
  assert(recurrences.begin() != recurrences.end() && "a dialect with recurrences is loaded");
  const RecurrenceInterface &recurrence = *recurrences.begin();
  auto names = stringsOf(op.getNames());
  NdTensorType type = tensorType(op.getDestination());
  // Merges the iterated names of updates and indices into one.
  SmallVector<StringRef> merged;
  std::string point = iterated[0].name.str();
  Expr count(1);
  for (const Dim &dim : iterated) {
    merged.push_back(dim.name);
    count = count * dim.size().getExpr();
  }
  while (type.has(point))
    point += "$";
  SmallVector<Value> points;
  for (Value value : op->getOperands().drop_front()) {
    value = buildBroadcast(b, loc, value, iterated);
    points.push_back(merged.size() == 1 ? buildRename(b, loc, value, merged, {point})
                                        : buildMerge(b, loc, value, merged, point));
  }
  Dim along(b.getContext(), point, count);
  SmallVector<Value> forth = recurrence.build(
      b, loc, along, /*reverse=*/false, op.getDestination(), points, [&](ValueRange state) {
        ValueRange where = state.drop_front(2);
        Value old = gatherTargets(b, loc, state[0], names, where);
        Value next = buildPointwise(b, loc, {old, state[1]}, type.getElementType(),
                                    [&](OpBuilder &b, ValueRange s) {
                                      return inlineBlock(b, op.getCombiner().front(), s)[0];
                                    });
        return SmallVector<Value>{put(b, loc, state[0], next, names, where), old};
      });
  points.push_back(forth[1]);
  bool isFailure = false;
  SmallVector<Value> back =
      recurrence.build(b, loc, along, /*reverse=*/true, cotangent, points, [&](ValueRange state) {
        ValueRange where = state.drop_front(2).drop_back();
        Value given = gatherInside(b, loc, state[0], names, where);
        SmallVector<Value> slopes(2, given);
        for (unsigned by : {0, 1}) {
          Value slope = combinerSlope(b, op, {state.back(), state[1], given}, by);
          isFailure |= !slope;
          if (slope)
            slopes[by] = slope;
        }
        return SmallVector<Value>{put(b, loc, state[0], slopes[0], names, where), slopes[1]};
      });
  if (isFailure)
    return failure();
  if (wanted[0])
    gradients[0] = back[0];
  if (wanted[1])
    gradients[1] = merged.size() == 1 ? buildRename(b, loc, back[1], {point}, merged)
                                      : buildSplit(b, loc, back[1], point, iterated);
  return success();
}

Value nd::productWithout(OpBuilder &b, Location loc, const ProductParts &all,
                         const ProductFactor &one) {
  auto number = [&](double value) { return buildNumber(b, loc, one.other.getType(), value); };
  auto times = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, loc, x, y); };
  auto minus = [&](Value x, Value y) -> Value { return arith::SubFOp::create(b, loc, x, y); };
  Value zeros = minus(all.zeros, one.isZero), sum = minus(all.zeroSum, one.zero),
        squares = minus(all.squareSum, times(one.zero, one.zero));
  Value product = number(0), two = times(minus(times(sum, sum), squares), number(0.5));
  for (auto [count, ofZeros] : {std::pair(2, two), {1, sum}, {0, number(1)}})
    product = arith::SelectOp::create(
        b, loc, arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, zeros, number(count)),
        ofZeros, product);
  return times(product, arith::DivFOp::create(b, loc, all.others, one.other));
}

/// Several updates for one element. For a maximum or minimum all updates that equal the result
/// share its gradient, since they have no order; for a product each gets the product of all others.
static LogicalResult sharedScatterGradient(OpBuilder &b, ScatterOp op, Value cotangent,
                                           ArrayRef<Dim> iterated, ArrayRef<bool> wanted,
                                           Gradients &gradients) {
  CombinerKind kind = combinerKind(op.getCombiner());
  bool isProduct = kind == CombinerKind::Mul;
  if (!isProduct && kind != CombinerKind::Max && kind != CombinerKind::Min)
    return orderedScatterGradient(b, op, cotangent, iterated, wanted, gradients);
  Location loc = op.getLoc();
  Type element = tensorType(op.getUpdates()).getElementType();
  Type exact = element.isF64() ? element : Type(b.getF32Type());
  auto names = stringsOf(op.getNames());
  auto wide = [&](Value value) { // rounded as in memory, without excess precision
    return buildCast(b, loc, element == exact ? value : buildRound(b, loc, value, element), exact);
  };
  auto together = [&](ValueRange both, CombinerKind by) {
    return buildScatter(b, loc, both[0], both[1], names, op.getIndices(), by);
  };
  auto atTargets = [&](Value value) {
    return gatherTargets(b, loc, value, names, op.getIndices());
  };
  auto pointwise = [&](ValueRange values, ScalarBody body) {
    return buildPointwise(b, loc, values, exact, body);
  };
  auto isEqual = [&](OpBuilder &b, Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  };
  auto number = [&](OpBuilder &b, double value) { return buildNumber(b, loc, exact, value); };
  auto choose = [&](OpBuilder &b, Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  };
  SmallVector<Value> factors{wide(op.getDestination()), wide(op.getUpdates())}, marks, others,
      zeros;
  Value all, zeroSum, squareSum;
  if (!isProduct)
    all = together(factors, kind);
  for (unsigned i = 0; i < 2; ++i) {
    // For a maximum or minimum: elements equal to the result. For a product: zeros and nonzeros.
    SmallVector<Value> operands{factors[i]};
    if (!isProduct)
      operands.push_back(i ? atTargets(all) : all);
    marks.push_back(pointwise(operands, [&](OpBuilder &b, ValueRange s) {
      return choose(b, isEqual(b, s[0], isProduct ? number(b, 0) : s[1]), number(b, 1),
                    number(b, 0));
    }));
    if (!isProduct)
      continue;
    others.push_back(pointwise(factors[i], [&](OpBuilder &b, ValueRange s) {
      return choose(b, isEqual(b, s[0], number(b, 0)), number(b, 1), s[0]);
    }));
    zeros.push_back(pointwise(factors[i], [&](OpBuilder &b, ValueRange s) {
      return choose(b, isEqual(b, s[0], number(b, 0)), s[0], number(b, 0));
    }));
  }
  Value count = together(marks, CombinerKind::Add), given = buildCast(b, loc, cotangent, exact);
  if (isProduct) {
    auto squares = llvm::map_to_vector(zeros, [&](Value x) { return mul(b, loc, x, x); });
    all = together(others, CombinerKind::Mul);
    zeroSum = together(zeros, CombinerKind::Add);
    squareSum = together(squares, CombinerKind::Add);
  } else
    given = pointwise({given, count}, [&](OpBuilder &b, ValueRange s) -> Value {
      Value some = arith::MaximumFOp::create(b, loc, s[1], number(b, 1)); // NaN equals nothing
      return arith::DivFOp::create(b, loc, s[0], some);
    });
  for (unsigned i = 0; i < 2; ++i) {
    if (!wanted[i])
      continue;
    SmallVector<Value> operands{i ? gatherInside(b, loc, given, names, op.getIndices()) : given,
                                marks[i]};
    if (isProduct) {
      operands.append({others[i], zeros[i]});
      for (Value sum : {all, count, zeroSum, squareSum})
        operands.push_back(i ? atTargets(sum) : sum);
    }
    Value slope = pointwise(operands, [&](OpBuilder &b, ValueRange s) -> Value {
      Value factor = s[1];
      if (isProduct) // the product of all others
        factor = productWithout(b, loc, {s[4], s[5], s[6], s[7]}, {s[2], s[1], s[3]});
      return arith::MulFOp::create(b, loc, s[0], factor);
    });
    gradients[i] = buildCast(b, loc, slope, element);
  }
  return success();
}

LogicalResult ScatterOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                       Gradients &gradients) {
  Value cotangent = cotangents[0];
  if (!cotangent)
    return success();
  Location loc = getLoc();
  NdTensorType type = tensorType(getDestination());
  bool isEmpty = llvm::any_of(stringsOf(getNames()), [&](StringRef name) {
    return type.size(name).constant() == int64_t(0);
  });
  if (isEmpty) { // every update is dropped
    gradients[0] = cotangent;
    gradients[1] = buildZero(b, loc, tensorType(getUpdates()));
    return success();
  }
  if (combinerKind(getCombiner()) == CombinerKind::Add) {
    gradients[0] = cotangent;
    if (wanted[1])
      gradients[1] = gatherInside(b, loc, cotangent, stringsOf(getNames()), getIndices());
    return success();
  }
  // Each element has at most one update if updates have no further names.
  SmallVector<Dim> iterated;
  for (const Dim &dim : tensorType(getUpdates()).getDims())
    if (!type.has(dim.name) || llvm::is_contained(stringsOf(getNames()), dim.name.getValue()))
      iterated.push_back(dim);
  if (!getUnique() && !iterated.empty())
    return sharedScatterGradient(b, *this, cotangent, iterated, wanted, gradients);
  // Each target has one update: apply the combiner's derivative to the old value and the update.
  auto names = stringsOf(getNames());
  Value given = gatherInside(b, loc, cotangent, names, getIndices());
  Value old = gatherTargets(b, loc, getDestination(), names, getIndices());
  for (unsigned i = 0; i < 2; ++i) {
    if (!wanted[i])
      continue;
    gradients[i] = combinerSlope(b, *this, {old, getUpdates(), given}, i);
    if (!gradients[i])
      return failure();
    if (i == 0) // targets get the cotangent through the combiner, all other elements keep theirs
      gradients[0] = put(b, loc, cotangent, gradients[0], names, getIndices());
  }
  return success();
}
