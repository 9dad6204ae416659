//===- NarrowFloats.cpp - elements in memory and in registers -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Narrow floats are computed in f32, and i1 takes a byte in memory. `fromStored` gives the number
// that the bits in memory stand for, `toStored` the bits of the nearest number, ties to even:
//
//     bf16     the upper half of an f32: shifted; rounded by an addition to the bits that are cut
//     f16      by instructions of the machine
//     8 bits   read through f16, whose exponents include theirs; rounded as bf16
//
// An f64 is rounded to odd first, since rounding twice to nearest may not give the nearest number.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"
#include "lib/conversion/nest_to_loops/FloatCode.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Adds to bits what rounds them to the nearest even number if the last `cut` bits are dropped.
static Value roundedBits(FloatCode &a, Value bits, int cut) {
  Value last = a.both(a.drop(bits, cut), a.integer(bits, 1));
  return a.addBits(a.addBits(bits, (1 << (cut - 1)) - 1), last);
}

/// Converts an f32 to the bits of an 8-bit float, rounded to nearest even. Subnormal results are
/// rounded by adding a number whose last mantissa bit has the same weight.
static Value to8Bits(FloatCode &a, Value value, FloatType element) {
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  int mantissa = int(llvm::APFloat::semanticsPrecision(semantics)) - 1, cut = 23 - mantissa;
  int lowest = llvm::APFloat::semanticsMinExponent(semantics);
  auto bitsOf = [](const llvm::APFloat &number) {
    return int64_t(number.bitcastToAPInt().getZExtValue());
  };
  // Overflow gives infinity, or NaN if the type has no infinity.
  int64_t beyond = bitsOf(llvm::APFloat::getLargest(semantics)) + 1;
  Value size = a.abs(value), bits = a.bits(size);
  Value normal = a.subBits(a.drop(roundedBits(a, bits, cut), cut),
                           a.integer(bits, int64_t(126 + lowest) << mantissa));
  double ruler = std::ldexp(1.0, lowest - mantissa + 23);
  Value small =
      a.subBits(a.bits(a.add(size, ruler)), a.integer(bits, bitsOf(llvm::APFloat(float(ruler)))));
  Value made = a.select(a.compare(Is::OLT, size, std::ldexp(1.0, lowest)), small, normal);
  made = a.least(made, a.integer(made, beyond));
  made = a.select(a.compare(Is::UNO, value, value), a.integer(made, 0x7f), made);
  Value sign = a.both(a.drop(a.bits(value), 24), a.integer(bits, 0x80));
  return a.to<arith::TruncIOp>(IntegerType::get(element.getContext(), 8), a.either(made, sign));
}

/// Converts the bits of an 8-bit float to f32 through f16, whose exponent range is at least as
/// large. A multiplication corrects the exponent bias.
static Value from8Bits(FloatCode &a, Value value, FloatType element) {
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  int mantissa = int(llvm::APFloat::semanticsPrecision(semantics)) - 1;
  int missing = llvm::APFloat::semanticsMinExponent(semantics) + 14;
  Builder b(element.getContext());
  Value wide = a.to<arith::ExtUIOp>(b.getI16Type(), value);
  Value size = a.both(wide, a.integer(wide, 0x7f));
  Value sign = a.left(a.both(wide, a.integer(wide, 0x80)), 8);
  Value bits = a.either(sign, a.left(size, 10 - mantissa));
  Value result = a.to<arith::ExtFOp>(b.getF32Type(), a.to<arith::BitcastOp>(b.getF16Type(), bits));
  if (missing == 0)
    return result; // the same exponents, infinity and NaN
  result = a.mul(result, std::ldexp(1.0, missing));
  return a.select(a.isEqual(size, 0x7f), notANumber, result);
}

Value Emitter::fromStored(Value value, Type element) {
  FloatCode a(b, loc);
  if (auto real = dyn_cast<FloatType>(element); real && real.getWidth() == 8)
    return from8Bits(a, value, real);
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, a.integer(value, 0));
  if (element.isBF16())
    return a.real(a.left(a.to<arith::ExtUIOp>(b.getI32Type(), value), 16));
  if (element.isF16())
    return a.to<arith::ExtFOp>(b.getF32Type(), a.to<arith::BitcastOp>(b.getF16Type(), value));
  return value;
}

/// Rounds an f64 to the precision of f32 by round-to-odd: the last bit is set if the result is
/// inexact. Rounding it again to a narrower type gives the same as rounding the f64 directly, which
/// avoids double rounding.
static Value roundToOdd(FloatCode &a, Value value) {
  constexpr int64_t below = (int64_t(1) << 29) - 1;
  Value bits = a.bits(value);
  Value any = a.addBits(a.both(bits, a.integer(bits, below)), below);
  return a.real(a.both(a.either(bits, any), a.integer(bits, ~below)));
}

Value Emitter::rounded(Value value, Type element) {
  return nd::isNarrowFloat(element) ? fromStored(toStored(value, element), element) : value;
}

Value Emitter::toStored(Value value, Type element) {
  FloatCode a(b, loc);
  if (isa<FloatType>(element)) { // accumulators may be wider
    if (nd::isNarrowFloat(element) && getElementTypeOrSelf(value.getType()).isF64())
      value = roundToOdd(a, value);
    value = convert(value, computeType(element));
  }
  if (auto real = dyn_cast<FloatType>(element); real && real.getWidth() == 8)
    return to8Bits(a, value, real);
  if (element.isInteger(1))
    return a.to<arith::ExtUIOp>(b.getI8Type(), value);
  if (element.isBF16()) {
    Value bits = a.bits(value), rounded = roundedBits(a, bits, 16);
    Value isNan = a.compare(Is::UNO, value, value); // stays NaN
    Value quiet = a.either(bits, a.integer(bits, 0x400000));
    rounded = a.select(isNan, quiet, rounded);
    return a.to<arith::TruncIOp>(b.getI16Type(), a.drop(rounded, 16));
  }
  if (element.isF16())
    return a.bits(a.to<arith::TruncFOp>(b.getF16Type(), value));
  return value;
}
