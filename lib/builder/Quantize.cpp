//===- Quantize.cpp - quantized tensors -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Quantize.h"
#include "dialects/nd/NdBuild.h"
#include "lib/builder/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

namespace heddle {

static double largest(int bits, Here here) {
  if (bits < 2 || bits > 8)
    fail(here, "expected 2 to 8 bits, got " + std::to_string(bits));
  return double((1 << (bits - 1)) - 1);
}

Tensor quantizationScale(Operand x, const Names &per, int bits) {
  double most = largest(bits, x.here);
  Names over;
  for (const Name &name : per)
    (void)x.tensor.size(name, x.here); // throws for an unknown name
  for (const std::string &name : x.tensor.names())
    if (llvm::none_of(per, [&](const Name &each) { return each.str() == name; }))
      over.push_back(Name(name));
  auto at = [&](const Tensor &tensor) { return Operand(tensor, x.here); };
  auto of = [&](double number) { return Operand(number, x.here); };
  Tensor range = max(at(abs(x)), over);
  return select(at(at(range) > of(0)), at(at(range) * of(1 / most)), of(1));
}

Quantized quantize(Operand x, const Tensor &scale, int bits) {
  double most = largest(bits, x.here);
  auto at = [&](const Tensor &tensor) { return Operand(tensor, x.here); };
  Tensor rounded = roundEven(at(x / at(scale)));
  Tensor clipped = minimum(at(maximum(at(rounded), Operand(-most, x.here))), Operand(most, x.here));
  return {clipped.cast(ElementType::I8, x.here), scale};
}

Quantized quantize(Operand x, const Names &per, int bits) {
  return quantize(x, quantizationScale(x, per, bits), bits);
}

Tensor dequantize(const Quantized &x, Here here) {
  return Operand(x.values.cast(x.scale.elementType(), here), here) * Operand(x.scale, here);
}

Tensor fakeQuantize(Operand x, const Tensor &scale, int bits) {
  auto at = [&](const Tensor &tensor) { return Operand(tensor, x.here); };
  Tensor most = at(scale) * Operand(largest(bits, x.here), x.here);
  Tensor clipped = minimum(at(maximum(x, at(-at(most)))), at(most));
  Tensor rounded = dequantize(quantize(x, scale, bits), x.here);
  return at(clipped) + at(stopGradient(at(rounded) - at(clipped), x.here));
}

/// Throws Error for element types other than `type`.
static void requireElements(const Tensor &x, ElementType type, Here here) {
  if (x.elementType(here) != type)
    fail(here, "expected elements of type " + std::string(spelling(type)) + ", got " + x.type() +
                   "; convert with cast");
}

Tensor packInt4(const Tensor &x, const Name &name, Here here) {
  requireElements(x, ElementType::I8, here);
  Size size = x.size(name, here);
  if ((size % 2).expr() == Expr(1))
    fail(here, "expected an even size of '" + name.str() + "' to pack, got " + x.type());
  Name part = fresh("half");
  Tensor pairs = x.split(name, {{name, size / 2}, {part, 2}}, here);
  auto half = [&](int64_t i) { return pairs.slice(part, i, 1, 1, here).split(part, {}, here); };
  return pointwiseMixed(
      here, {half(0), half(1)}, toMlir(ElementType::UI8),
      [&](OpBuilder &b, Location loc, ArrayRef<Value> v) -> Value {
        Type byte = v[0].getType();
        Value low = arith::AndIOp::create(b, loc, v[0], nd::buildNumber(b, loc, byte, 15));
        Value high = arith::ShLIOp::create(b, loc, v[1], nd::buildNumber(b, loc, byte, 4));
        return arith::OrIOp::create(b, loc, low, high);
      });
}

Tensor unpackInt4(const Tensor &packed, const Name &name, Here here) {
  requireElements(packed, ElementType::UI8, here);
  // Shifting left and back extends the sign; the coordinate of `half` selects the half.
  Name part = fresh("half");
  Tensor half = iota({part, 2}, ElementType::I8, here);
  Tensor both = packed.broadcast({{part, 2}}, here);
  Tensor spread = pointwiseMixed(
      here, {both, half}, toMlir(ElementType::I8),
      [&](OpBuilder &b, Location loc, ArrayRef<Value> v) -> Value {
        Value four = nd::buildNumber(b, loc, v[0].getType(), 4);
        Value low = arith::ShLIOp::create(b, loc, v[0], four);
        Value isHigh = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v[1],
                                             nd::buildNumber(b, loc, v[1].getType(), 0));
        return arith::ShRSIOp::create(b, loc, arith::SelectOp::create(b, loc, isHigh, v[0], low),
                                      four);
      });
  return spread.merge({name, part}, name, here);
}

} // namespace heddle
