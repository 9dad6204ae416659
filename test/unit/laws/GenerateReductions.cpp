//===- GenerateReductions.cpp - reductions, scans, quantization -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Generator.h"

#include "test/unit/laws/GenerateScalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

using Scalars = SmallVector<Value>;

CombinerKind Generator::drawCombiner(Type element) {
  using enum CombinerKind;
  if (isa<FloatType>(element))
    return dice.pick({Add, Add, Add, Max, Min, Mul});
  if (element.isInteger(1))
    return dice.pick({And, Or, Xor});
  return dice.pick({Add, Add, Mul, Max, Min, And, Or, Xor});
}

Type Generator::drawAccumulator(Type element) {
  if (isa<FloatType>(element) && dice.chance(60))
    return dice.chance(65) || element.getIntOrFloatBitWidth() != 16 ? b.getF64Type() : element;
  return accumulatorType(element);
}

Generator::Combination Generator::drawCombiners(ArrayRef<Type> elements) {
  SmallVector<TypedAttr> neutral;
  SmallVector<std::pair<CombinerKind, bool>> kinds;
  for (Type element : elements) {
    kinds.emplace_back(drawCombiner(element), isSignedElement(element));
    neutral.push_back(
        neutralElement(kinds.back().first, drawAccumulator(element), kinds.back().second));
  }
  return {neutral, [=, this](OpBuilder &at, ValueRange s) {
            Scalars results;
            for (auto [i, each] : llvm::enumerate(kinds))
              results.push_back(
                  combineScalars(at, loc, each.first, each.second, s[i], s[kinds.size() + i]));
            return results;
          }};
}

Generator::Combination Generator::largest(Type element) {
  return {{neutralElement(CombinerKind::Max, drawAccumulator(element)),
           cast<TypedAttr>(b.getI64IntegerAttr(1 << 20))},
          [=, this](OpBuilder &at, ValueRange s) -> Scalars {
            Value more = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OGT, s[2], s[0]);
            Value same = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, s[2], s[0]);
            Value first = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, s[3], s[1]);
            Value wins =
                arith::OrIOp::create(at, loc, more, arith::AndIOp::create(at, loc, same, first));
            return {arith::SelectOp::create(at, loc, wins, s[2], s[0]),
                    arith::SelectOp::create(at, loc, wins, s[3], s[1])};
          }};
}

Generator::Combination Generator::drawCombination(Type element, bool ordered) {
  bool isFloat = isa<FloatType>(element);
  Type type = drawAccumulator(element);
  auto number = [=](double value) { return numberAttr(type, value); };
  auto add = [=, this](OpBuilder &at, Value x, Value y) {
    return combineScalars(at, loc, CombinerKind::Add, true, x, y);
  };
  auto mul = [=, this](OpBuilder &at, Value x, Value y) {
    return combineScalars(at, loc, CombinerKind::Mul, true, x, y);
  };
  if (ordered && dice.chance(50))
    return {{number(1), number(0)}, [=](OpBuilder &at, ValueRange s) -> Scalars {
              return {mul(at, s[0], s[2]), add(at, mul(at, s[1], s[2]), s[3])};
            }};
  if (dice.chance(40))
    return {{number(1), number(0)}, [=, this](OpBuilder &at, ValueRange s) -> Scalars {
              Value square = mul(at, s[1], s[3]);
              Value minus = isFloat ? Value(arith::NegFOp::create(at, loc, square))
                                    : mul(at, square, buildNumber(at, loc, type, -1));
              return {add(at, mul(at, s[0], s[2]), minus),
                      add(at, mul(at, s[0], s[3]), mul(at, s[1], s[2]))};
            }};
  return {{number(0)}, [=](OpBuilder &at, ValueRange s) -> Scalars {
            return {add(at, add(at, s[0], s[1]), mul(at, s[0], s[1]))};
          }};
}

void Generator::reduce() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  Strings names;
  for (const Dim &each : tensorType(x).getDims())
    if (dice.chance(50))
      names.push_back(each.name);
  if (names.empty())
    names.push_back(nameOf(x));
  dice.shuffle(names);
  Type element = tensorType(x).getElementType();
  auto isBeside = [&](NdTensorType type) { return type.getDims() == tensorType(x).getDims(); };
  if (dice.chance(12)) { // several tensors together
    SmallVector<Value> inputs{x, any(isBeside)};
    Combination drawn = drawCombiners({element, tensorType(inputs[1]).getElementType()});
    keep(buildReduce(b, loc, inputs, names, drawn.neutral, drawn.combine));
    return;
  }
  if (dice.chance(80) || element.isInteger(1)) {
    Type wide = dice.chance(50) ? b.getI64Type() : Type(b.getI32Type());
    bool widens = isa<IntegerType>(element) && element.getIntOrFloatBitWidth() < 32 &&
                  !element.isInteger(1) && dice.chance(40);
    if (widens)
      x = buildCast(b, loc, x, element = wide);
    CombinerKind kind = drawCombiner(element);
    Value once = buildReduce(b, loc, x, names, kind, drawAccumulator(element));
    if (once && isNarrowFloat(element) && dice.chance(50)) // rounds what is accumulated
      once = buildCast(b, loc, once, element = b.getF32Type());
    keep(once);
    if (StringRef rest = nameOf(once);
        !rest.empty() && dice.chance(30)) // again, in the same way or another
      keep(buildReduce(b, loc, once, rest, dice.chance(60) ? kind : drawCombiner(element),
                       drawAccumulator(element)));
    return;
  }
  Combination drawn = drawCombination(element, false);
  SmallVector<Value> inputs(drawn.neutral.size(), x);
  if (inputs.size() == 2)
    inputs[1] = any([&](NdTensorType type) { return type == tensorType(x); });
  keep(buildReduce(b, loc, inputs, names, drawn.neutral, drawn.combine));
}

/// The largest element and its index; the smallest index wins a tie.
void Generator::reduceWithIndex() {
  Value x = any([](NdTensorType type) {
    return !type.getDims().getDims().empty() && isa<FloatType>(type.getElementType());
  });
  if (!x)
    return;
  StringRef name = nameOf(x);
  Value index = buildIota(b, loc, dim(name, sizeOf(x, name)), b.getI64Type());
  index = buildBroadcast(b, loc, index, tensorType(x).getDims().getDims());
  Combination drawn = largest(tensorType(x).getElementType());
  keep(buildReduce(b, loc, {x, index}, {name}, drawn.neutral, drawn.combine));
}

void Generator::scan() {
  Value x = any([](NdTensorType type) { return !type.getDims().getDims().empty(); });
  if (!x)
    return;
  Type element = tensorType(x).getElementType();
  bool exclusive = dice.chance(40), reverse = dice.chance(40);
  if (dice.chance(70) || element.isInteger(1)) {
    keep(buildScan(b, loc, x, nameOf(x), drawCombiner(element), exclusive, reverse,
                   drawAccumulator(element)));
    return;
  }
  Combination drawn = drawCombination(element, true);
  SmallVector<Value> inputs(drawn.neutral.size(), x);
  if (inputs.size() == 2)
    inputs[1] = any([&](NdTensorType type) { return type == tensorType(x); });
  keep(buildScan(b, loc, inputs, nameOf(x), drawn.neutral, drawn.combine, exclusive, reverse));
}

/// Quantizes a tensor, perhaps multiplies it with another one, and converts back to floats.
void Generator::quantize() {
  Value x = any([](NdTensorType type) {
    Type element = type.getElementType();
    return !type.getDims().getDims().empty() && isa<FloatType>(element) &&
           element.getIntOrFloatBitWidth() >= 32;
  });
  if (!x)
    return;
  Type element = tensorType(x).getElementType(), byte = b.getIntegerType(8);
  double most = dice.pick({127.0, 7.0});
  Strings over{nameOf(x)};
  auto number = [&](OpBuilder &at, double value) { return buildNumber(at, loc, element, value); };
  auto unary = [&](Value of, function_ref<Value(OpBuilder &, Value)> body) {
    return buildPointwise(b, loc, of, element,
                          [&](OpBuilder &at, ValueRange s) { return body(at, s[0]); });
  };
  Value size = unary(x, [&](OpBuilder &at, Value v) { return math::AbsFOp::create(at, loc, v); });
  Value range = buildReduce(b, loc, size, over, CombinerKind::Max);
  Value scale = unary(range, [&](OpBuilder &at, Value v) -> Value {
    Value some = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OGT, v, number(at, 0));
    return arith::SelectOp::create(
        at, loc, some, arith::MulFOp::create(at, loc, v, number(at, 1 / most)), number(at, 1));
  });
  Value q = buildPointwise(b, loc, {x, scale}, byte, [&](OpBuilder &at, ValueRange s) {
    Value v = math::RoundEvenOp::create(at, loc, arith::DivFOp::create(at, loc, s[0], s[1]));
    v = arith::MaximumFOp::create(at, loc, v, number(at, -most));
    return convertScalar(at, loc, arith::MinimumFOp::create(at, loc, v, number(at, most)), element,
                         byte);
  });
  Value product = q;
  if (dice.chance(60)) { // accumulated in more bits
    Type wide = dice.chance(50) ? b.getI32Type() : b.getI64Type();
    Value other =
        dice.chance(60) ? q : any([&](NdTensorType type) { return type.getElementType() == byte; });
    other = compatible(other ? other : q, {q});
    product = buildPointwise(b, loc, {q, other}, wide, [&](OpBuilder &at, ValueRange s) -> Value {
      return arith::MulIOp::create(at, loc, convertScalar(at, loc, s[0], byte, wide),
                                   convertScalar(at, loc, s[1], byte, wide));
    });
    product = buildReduce(b, loc, product, over, CombinerKind::Add);
  }
  keep(q);
  if (product && fitsLimits(tensorType(product)))
    keep(buildPointwise(b, loc, {product, scale}, element, [&](OpBuilder &at, ValueRange s) {
      Value v = convertScalar(at, loc, s[0], tensorType(product).getElementType(), element);
      return Value(arith::MulFOp::create(at, loc, v, s[1]));
    }));
}
