//===- Scalar.cpp - numbers with error bounds -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Scalar.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace heddle::interp {

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

int64_t signedValue(const Scalar &scalar, unsigned width) {
  return llvm::SignExtend64(scalar.bits, width);
}

Scalar integer(uint64_t bits, unsigned width) {
  Scalar result;
  result.bits = width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
  return result;
}

Scalar exactly(double value) {
  Scalar result;
  result.value = value;
  return result;
}

Scalar ofAttribute(Attribute attribute) {
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return exactly(real.getValueAsDouble());
  auto value = cast<IntegerAttr>(attribute).getValue();
  return integer(value.getZExtValue(), value.getBitWidth());
}

unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

int64_t coordinate(const Scalar &scalar, Type type) {
  unsigned width = widthOf(type);
  return type.isUnsignedInteger() || width == 1 ? int64_t(scalar.bits) : signedValue(scalar, width);
}

double unitRoundoff(FloatType type) {
  // The bound includes the rounding of the interpreter's doubles.
  double unit = std::ldexp(1.0, -int(llvm::APFloat::semanticsPrecision(type.getFloatSemantics())));
  return unit + std::ldexp(1.0, -53);
}

/// Narrow types are computed with gradual underflow; subnormals of wide ones may be flushed to
/// zero.
static bool losesSubnormals(FloatType type) { return type.getWidth() >= 32 || type.isBF16(); }

double smallestError(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int exponent = llvm::APFloat::semanticsMinExponent(semantics);
  if (!losesSubnormals(type))
    exponent -= int(llvm::APFloat::semanticsPrecision(semantics)) - 1;
  return std::ldexp(1.0, exponent);
}

double largestFinite(FloatType type) {
  llvm::APFloat largest = llvm::APFloat::getLargest(type.getFloatSemantics());
  bool loses;
  largest.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return largest.convertToDouble();
}

double roundTo(FloatType type, double value) {
  if (type.isF32())
    return double(float(value));
  bool hasInfinity = llvm::APFloat::semanticsHasInf(type.getFloatSemantics());
  if (type.isF64() || std::isnan(value) || (std::isinf(value) && hasInfinity))
    return value;
  llvm::APFloat rounded(value);
  bool loses;
  rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  rounded.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return rounded.convertToDouble();
}

/// Overflow in a type without infinities: NaN once it is stored, but it may be held in a wider
/// type.
static bool isBeyond(FloatType type, double value) {
  return std::isinf(value) && !llvm::APFloat::semanticsHasInf(type.getFloatSemantics());
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

double Arithmetic::draw() {
  // SplitMix64 (Steele, Lea and Flood: Fast splittable pseudorandom number generators, 2014).
  uint64_t bits = state += 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return strength * (double((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1);
}

double Arithmetic::disturbed(const Scalar &a) { return a.value + a.own * draw(); }

const Arithmetic::Format &Arithmetic::formatOf(FloatType type) {
  for (const Format &format : formats)
    if (format.type == type)
      return format;
  formats.push_back({type, unitRoundoff(type), smallestError(type), largestFinite(type),
                     type.getWidth() < 32, losesSubnormals(type)});
  return formats.back();
}

Scalar Arithmetic::perturbed(FloatType type, double value, bool exact, double units) {
  Scalar result = exactly(value);
  // If an op rounds its result once, and the result is a number of the type, it gives that number:
  // for example, adding a small number to -1e30 does not change it. f64 is rounded here, too.
  bool isKnown = exact || (units <= 1 && type.getWidth() < 64);
  if (!std::isfinite(value) || (isKnown && roundTo(type, value) == value))
    return result;
  const Format &format = formatOf(type);
  double unit = format.unit * std::fabs(value);
  // Noise does not carry a value out of range: -3e38 plus a mask's addend stays finite.
  if (std::fabs(value) + units * strength * unit > format.largest) {
    double stored = roundTo(type, value);
    return exactly(std::isfinite(stored) ? stored : std::copysign(INFINITY, value));
  }
  // All readers see the same error of a function, but may see different roundings of its result.
  if (units > 1)
    result.value += (units - 1) * unit * draw();
  result.own = unit + (unit < format.least ? format.least : 0);
  return result;
}

Scalar Arithmetic::rounded(FloatType type, double value, double error, bool exact, bool undecided,
                           double units) {
  if (isPerturbed())
    return perturbed(type, value, exact, units);
  Scalar result = exactly(value);
  result.undecided = undecided || std::isnan(error);
  if (!std::isfinite(value)) {
    result.undecided |= (error != 0 && std::isinf(error)) || isBeyond(type, value);
    return result;
  }
  if (exact && error == 0 && roundTo(type, value) == value)
    return result;
  const Format &format = formatOf(type);
  double most = std::fabs(value) + error;
  result.error = error + units * format.unit * most + format.least;
  // Before rounding to the type, the result has the precision of f32; here, of double.
  bool isKnown = exact && error == 0;
  double before = isKnown && (!format.isNarrow || double(float(value)) == value)
                      ? 0
                      : most * (format.isNarrow ? 0x1p-24 : 0x1p-52) + most * 0x1p-53;
  if (format.losesSubnormals && most < 2 * format.least)
    before += format.least;
  result.own = std::max(0.0, format.unit * most + format.least - before);
  result.origin = freshOrigin();
  // Rounding alone does not carry a value out of range, but an inexact function may.
  double farthest = units > 1 ? std::fabs(value) + result.error : most;
  if (!(std::fabs(value) + result.error <= format.largest) &&
      !(std::isfinite(farthest) && std::isfinite(roundTo(type, farthest)))) {
    // Some execution may overflow: this affects the bound, not the value.
    bool overflows = !std::isfinite(roundTo(type, value));
    // Values of narrow types may be held in a wider type, where they do not overflow.
    result.undecided |= !overflows || format.isNarrow ||
                        !(std::fabs(value) - result.error > format.largest * (1 + format.unit));
    if (overflows)
      result.value = std::copysign(INFINITY, value);
    result.error = result.own = 0;
    result.origin = 0;
  }
  return result;
}

static bool isExactSum(double a, double b, double sum) {
  double bPart = sum - a, aPart = sum - bPart;
  return (a - aPart) + (b - bPart) == 0;
}

Scalar Arithmetic::add(FloatType type, const Scalar &a, const Scalar &b) {
  double x = of(a), y = of(b), sum = x + y;
  Scalar result =
      rounded(type, sum, a.error + b.error, isExactSum(x, y, sum), a.undecided || b.undecided);
  return withTerms(result, std::max(a.scale(), b.scale()));
}

Scalar Arithmetic::sub(FloatType type, const Scalar &a, const Scalar &b) {
  return add(type, a, neg(b));
}

Scalar Arithmetic::orZero(Type type, const Scalar &a) {
  if (!type.isBF16() || isPerturbed() || a.value == 0 ||
      std::fabs(a.value) >= smallestError(cast<FloatType>(type)))
    return a;
  Scalar result = a;
  result.error += std::fabs(a.value);
  result.origin = freshOrigin();
  return result;
}

Scalar Arithmetic::mul(FloatType type, const Scalar &x, const Scalar &y) {
  Scalar a = orZero(type, x), b = orZero(type, y);
  double u = of(a), v = of(b), product = u * v;
  double error = (a.error != 0 ? a.error * std::fabs(b.value) : 0) +
                 (b.error != 0 ? std::fabs(a.value) * b.error : 0) + a.error * b.error;
  Scalar result =
      rounded(type, product, error, std::fma(u, v, -product) == 0, a.undecided || b.undecided);
  return withTerms(result, a.scale() * b.scale());
}

Scalar Arithmetic::div(FloatType type, const Scalar &a, const Scalar &b) {
  double x = of(a), y = of(b), quotient = x / y, error = 0;
  bool undecided = a.undecided || b.undecided;
  if (a.error != 0 || b.error != 0) {
    double least = std::fabs(b.value) - b.error;
    undecided |= least <= 0;
    error = least > 0 ? (a.error + std::fabs(quotient) * b.error) / least : 0;
  }
  Scalar result = rounded(type, quotient, error, std::fma(quotient, y, -x) == 0, undecided);
  // A divisor that is not exact may shrink with the terms of the dividend, as in Adam's steps.
  return withTerms(result, b.error == 0 ? a.scale() / std::fabs(b.value) : 0);
}

Scalar Arithmetic::rem(FloatType type, const Scalar &a, const Scalar &b) {
  double x = of(a), y = of(b), value = std::fmod(x, y), count = std::trunc(x / y);
  double error = a.error + (b.error != 0 ? std::fabs(count) * b.error : 0);
  // True if the truncated quotient may differ, also for a dividend below an inexact divisor.
  bool jumps =
      (error != 0 && std::fabs(value) <= error) ||
      ((error != 0 || b.error != 0) && std::fabs(b.value) - b.error - std::fabs(value) <= error);
  return rounded(type, value, error, true, a.undecided || b.undecided || jumps);
}

Scalar Arithmetic::fma(FloatType type, const Scalar &x, const Scalar &y, const Scalar &c) {
  // The sum is rounded once: a product of exact factors has no error of its own.
  Scalar a = orZero(type, x), b = orZero(type, y), product = mul(type, x, y);
  bool isKnown = a.error == 0 && b.error == 0;
  double u = of(a), v = of(b), w = of(c), value = std::fma(u, v, w);
  bool exact = std::fma(u, v, -(u * v)) == 0 && isExactSum(u * v, w, value);
  bool undecided = isKnown ? a.undecided || b.undecided : product.undecided;
  Scalar result = rounded(type, value, c.error + (isKnown ? 0 : product.error), exact,
                          undecided || c.undecided);
  return withTerms(result, std::max(a.scale() * b.scale(), c.scale()));
}

Scalar Arithmetic::pow(FloatType type, const Scalar &a, const Scalar &b) {
  double value = std::pow(of(a), of(b)), error = 0;
  bool undecided = a.undecided || b.undecided;
  if (a.error != 0 || b.error != 0) {
    // The function is monotone in each argument, so its values at the corners bound it.
    undecided |= a.value - a.error <= 0 && (b.error != 0 || a.value + a.error >= 0);
    for (double x : {a.value - a.error, a.value + a.error})
      for (double y : {b.value - b.error, b.value + b.error})
        error = std::max(error, std::fabs(std::pow(x, y) - value));
  }
  return rounded(type, value, error, false, undecided, functionUnits);
}

Scalar Arithmetic::neg(const Scalar &a) {
  Scalar result = a;
  result.value = -a.value;
  result.origin = a.origin ? freshOrigin() : 0;
  return result;
}

Scalar Arithmetic::abs(const Scalar &a) {
  Scalar result = a;
  result.value = std::fabs(a.value);
  if (std::signbit(a.value) && a.origin)
    result.origin = freshOrigin();
  return result;
}

bool Arithmetic::tooClose(const Scalar &a, const Scalar &b) {
  double errors = a.error + b.error;
  if (errors == 0 || (a.origin && a.origin == b.origin))
    return false;
  return std::fabs(a.value - b.value) <= errors;
}

Scalar Arithmetic::extremum(const Scalar &a, const Scalar &b, bool larger, bool numbersWin) {
  Scalar result = a;
  if (std::isnan(a.value) || std::isnan(b.value)) {
    result = std::isnan(a.value) != numbersWin ? a : b;
  } else if (a.value == b.value) {
    // For two zeros the signs decide.
    result = std::signbit(a.value) == larger ? b : a;
  } else {
    result = (a.value > b.value) == larger ? a : b;
  }
  if (tooClose(a, b)) {
    result.error = std::max(a.error, b.error);
    result.own = 0;
    result.origin = freshOrigin();
  }
  result.undecided = a.undecided || b.undecided;
  return result;
}

Scalar Arithmetic::monotone(FloatType type, double (*function)(double), const Scalar &a,
                            double units) {
  double value = function(of(a)), error = 0;
  bool undecided = a.undecided;
  if (a.error != 0) {
    double low = function(a.value - a.error), high = function(a.value + a.error);
    error = std::max(std::fabs(low - value), std::fabs(high - value));
    undecided |= std::isnan(low) != std::isnan(value) || std::isnan(high) != std::isnan(value);
    if (std::isnan(error) || std::isinf(error))
      error = 0, undecided = true;
  }
  return rounded(type, value, error, false, undecided, units);
}

Scalar Arithmetic::gentle(FloatType type, double (*function)(double), const Scalar &a) {
  return rounded(type, function(of(a)), a.error, false, a.undecided, functionUnits);
}

Scalar Arithmetic::integral(double (*function)(double), const Scalar &a) {
  Scalar result = exactly(function(of(a)));
  result.undecided = a.undecided;
  if (a.error != 0)
    result.undecided |= function(a.value - a.error) != function(a.value + a.error);
  return result;
}

Scalar Arithmetic::convert(const Scalar &a, Type from, Type to) {
  if (from == to)
    return a;
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (!fromFloat || !toFloat)
    return a;
  double value = roundTo(toFloat, a.value);
  bool keeps = value == a.value || std::isnan(value);
  // A widening, and an exact value that the new type represents, do not change.
  if ((keeps && a.error == 0) ||
      llvm::APFloat::semanticsPrecision(toFloat.getFloatSemantics()) >=
          llvm::APFloat::semanticsPrecision(fromFloat.getFloatSemantics()))
    if (std::fabs(a.value) <= largestFinite(toFloat) || !std::isfinite(a.value)) {
      Scalar same = orZero(from, a);
      if (!isPerturbed())
        same.own = 0; // the rounding of the old type
      same.undecided |= isBeyond(toFloat, a.value);
      return same;
    }
  return withTerms(rounded(toFloat, of(a), a.error, keeps, a.undecided), a.scale());
}

Scalar Arithmetic::forceTo(FloatType type, const Scalar &a) {
  Scalar result = withTerms(exactly(roundTo(type, a.value)), a.terms);
  result.undecided = a.undecided;
  result.excluded = a.excluded;
  double error = std::max(0.0, a.error - a.own);
  double low = roundTo(type, a.value - error), high = roundTo(type, a.value + error);
  if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(result.value)) {
    result.undecided |= low != high && !(std::isnan(low) && std::isnan(high));
    return result;
  }
  result.error = std::max(std::fabs(low - result.value), std::fabs(high - result.value));
  if (losesSubnormals(type) && !isPerturbed() && std::fabs(result.value) < smallestError(type))
    result.error += std::fabs(result.value);
  if (result.error != 0)
    result.origin = freshOrigin();
  return result;
}

Scalar Arithmetic::cast(const Scalar &a, FloatType from, FloatType to) {
  Scalar operand = orZero(from, forceTo(from, a));
  Scalar result = forceTo(to, operand);
  double moved = std::fabs(operand.value - a.value);
  if (from.getWidth() < to.getWidth()) {
    result.kept = a.error + (std::isfinite(moved) ? moved : 0) + a.kept;
  } else if (std::isfinite(result.value)) {
    result.error += isPerturbed() ? 0 : a.kept;
    result.own = a.kept;
  }
  if (result.error != 0)
    result.origin = freshOrigin();
  return result;
}

Scalar Arithmetic::choose(const Scalar &condition, const Scalar &yes, const Scalar &no,
                          bool isFloat) {
  Scalar result = condition.bits & 1 ? yes : no;
  if (!condition.undecided)
    return result;
  const Scalar &other = condition.bits & 1 ? no : yes;
  if (!isFloat) {
    result.undecided |= other.undecided || result.bits != other.bits;
    return result;
  }
  bool same = result.value == other.value && ((result.error == 0 && other.error == 0) ||
                                              (result.origin && result.origin == other.origin));
  if (same && !other.undecided)
    return result;
  double apart = std::fabs(result.value - other.value);
  double either = std::max(result.error, apart + other.error);
  // If the two numbers are equal up to their errors, either choice gives the same value.
  if (!(apart <= 4 * std::max(result.error, other.error)))
    result.undecided = true;
  result.undecided |= other.undecided;
  result.error = std::isfinite(either) ? either : 0;
  result.own = 0;
  result.origin = freshOrigin();
  return result;
}

} // namespace heddle::interp
