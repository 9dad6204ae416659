//===- Scalar.h - numbers with error bounds ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interpreter's numbers. Integers are exact: two's complement bits, zero-extended from their
// width; each op determines their signedness. A float is a double with an error bound: any
// execution that computes each op at least as precisely as the op's type requires, in any order
// that the program allows, gives a value within `value +- error`. If exact operands have an exact
// result in the type (1.0 + 2.0), the error is 0.
//
//     f32: (1 +- 0) / (3 +- 0)          = 0.333.. +- 2e-8      rounding of f32
//     f32: (0.1 +- 1e-9) < (0.1 +- 0)   = false, undecided
//
// A comparison whose operands differ by less than their errors is `undecided`, and so are values
// computed from it, unless both choices give about the same number (as in relu at 0). A value
// compared with itself is decided: two numbers with the same `origin` are one value, which the
// compiler computes once if both are operands of a comparison. Otherwise it may compute the value
// separately for each use, once with more bits than another time: the difference of a value from
// itself has an error.
//
//     f32: p = (1.1 +- 0) * (1.1 +- 0)  = 1.21 +- 7e-8
//          p - p                        = 0 +- 1.4e-7          fma(1.1, 1.1, -p) is not 0
//
// A cast rounds its operand to the operand's type, then to its own. So rounding by the previous op
// (`own`) does not count: the sum of two bf16 numbers, cast to f32, is one number. A widening that
// is immediately narrowed again may be folded (`kept`).
//
//     bf16: (1 +- 0) + (2^-9 +- 0)      = 1.00195 +- 2^-8      own = 2^-8
//     its cast to f32                   = 1 +- 0               kept = 2^-8 + 2^-9
//
// A bound never changes a value. If only the bound leaves the type's range, the value is kept, as
// undecided:
//
//     f32: exp(0 +- 200)                = 1, undecided
//
// A bound that is larger than the value is still useful where large terms have cancelled. So a
// scalar knows its scale: its magnitude, or if that is less than a thousandth of it, the magnitude
// that it would have if nothing had cancelled. Sums take the largest scale of their terms, products
// multiply those of their factors, and other functions begin anew.
//
//     f32: p - p                        = 0 +- 1.4e-7     scale 1.21: a fault of a thousandth shows
//
// Worst-case bounds grow with each op, and are useless after some hundreds of ops. An `Arithmetic`
// that runs one perturbed execution computes no bounds: it perturbs values within the rounding
// errors of the type (stochastic arithmetic; Vignes: Discrete stochastic arithmetic for validating
// results of numerical software, 2004). Each reader rounds a value separately, at random, so the
// difference of a value from itself is not 0 here either. Deviations.h compares several such
// executions.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_SCALAR_H
#define HEDDLE_LIB_INTERP_SCALAR_H

#include "lib/support/Mlir.h"

#include <cmath>

namespace heddle::interp {

struct Scalar {
  uint64_t bits = 0;      ///< of an integer
  double value = 0;       ///< of a float
  double error = 0;       ///< bound on the error of `value`
  double own = 0;         ///< the part of `error` that is one rounding to the value's type
  double kept = 0;        ///< of a widened float: its error if it is narrowed again
  double terms = 0;       ///< its magnitude if nothing had cancelled in it; 0: that of `value`
  uint64_t origin = 0;    ///< two inexact floats with the same origin compare as equal
  bool undecided = false; ///< another legal execution may give any other value
  bool excluded = false;  ///< a window excludes it from the reduction that follows

  /// The magnitude of the value, or of what cancelled in it.
  double scale() const { return std::max(std::fabs(value), terms); }
};

/// A fault of this size must show.
constexpr double thousandth = 0x1p-10;

/// The scalar as a sum or product of this scale, which counts if nearly all of it has cancelled.
inline Scalar withTerms(Scalar scalar, double scale) {
  bool cancels = std::isfinite(scale) && std::fabs(scalar.value) < thousandth * scale;
  scalar.terms = cancels ? scale : 0;
  return scalar;
}

/// The bits of a number as a signed integer of `width` bits.
int64_t signedValue(const Scalar &scalar, unsigned width);
/// An integer from the lowest `width` bits.
Scalar integer(uint64_t bits, unsigned width);
/// An exact float.
Scalar exactly(double value);
/// A scalar from an IntegerAttr or FloatAttr.
Scalar ofAttribute(Attribute attribute);
/// An integer of element type `type` as a coordinate.
int64_t coordinate(const Scalar &scalar, Type type);

/// Width in bits of an integer or index type.
unsigned widthOf(Type type);
/// Half a unit in the last place, relative, of a float type.
double unitRoundoff(FloatType type);
/// The absolute error of an operation in `type` near zero.
double smallestError(FloatType type);
double largestFinite(FloatType type);
/// `value` rounded to `type` (to nearest, ties to even).
double roundTo(FloatType type, double value);

/// The error bound of a function, in halves of a unit in the last place (ulp): docs/functions.md
/// guarantees 4 ulp.
constexpr double functionUnits = 8;

/// Float arithmetic that propagates error bounds. Each result has the precision of `type`.
class Arithmetic {
public:
  Arithmetic() = default;
  /// Runs one perturbed execution, selected by `seed`: values are perturbed by up to `strength`
  /// times the error of the op. There are no bounds, and nothing is undecided.
  Arithmetic(uint64_t seed, double strength) : state(seed), strength(strength) {}
  bool isPerturbed() const { return strength != 0; }
  Scalar add(FloatType type, const Scalar &a, const Scalar &b);
  Scalar sub(FloatType type, const Scalar &a, const Scalar &b);
  Scalar mul(FloatType type, const Scalar &a, const Scalar &b);
  Scalar div(FloatType type, const Scalar &a, const Scalar &b);
  Scalar rem(FloatType type, const Scalar &a, const Scalar &b);
  Scalar fma(FloatType type, const Scalar &a, const Scalar &b, const Scalar &c);
  Scalar pow(FloatType type, const Scalar &a, const Scalar &b);
  Scalar neg(const Scalar &a);
  Scalar abs(const Scalar &a);
  /// The larger (or smaller) one; `numbersWin`: a number is preferred to NaN.
  Scalar extremum(const Scalar &a, const Scalar &b, bool larger, bool numbersWin);
  /// A monotone function, with an error of some units in the last place (ulp) of `type`.
  Scalar monotone(FloatType type, double (*function)(double), const Scalar &a,
                  double units = functionUnits);
  /// A function whose slope is at most 1 in magnitude.
  Scalar gentle(FloatType type, double (*function)(double), const Scalar &a);
  /// Rounding to an integral value: exact, but discontinuous.
  Scalar integral(double (*function)(double), const Scalar &a);

  /// Rounds `value`, the result of an operation in `type`; `error` comes from the operands, `exact`
  /// means that `value` is the result without rounding.
  Scalar rounded(FloatType type, double value, double error, bool exact, bool undecided = false,
                 double units = 1);
  /// Converts between float types like accumulators: the value is kept, narrowing increases the
  /// error.
  Scalar convert(const Scalar &a, Type from, Type to);
  /// Rounds a float to `type`: the value changes.
  Scalar forceTo(FloatType type, const Scalar &a);
  /// A cast: rounds to one type, then to the other.
  Scalar cast(const Scalar &a, FloatType from, FloatType to);
  /// Selects one of two floats by a condition.
  Scalar choose(const Scalar &condition, const Scalar &yes, const Scalar &no, bool isFloat);

  /// A random number in [-strength, strength), for a perturbed execution.
  double draw();

  /// True if the bounds of a and b overlap, so that their order is not known.
  static bool tooClose(const Scalar &a, const Scalar &b);
  uint64_t freshOrigin() { return ++origins; }

private:
  /// A factor, or the operand of its widening, with a bound that includes 0 if it is subnormal:
  /// machines may flush subnormal numbers of bf16 to zero.
  Scalar orZero(Type type, const Scalar &a);
  /// The value of an operand; in a perturbed execution, rounded at random.
  double of(const Scalar &a) { return a.own == 0 || !isPerturbed() ? a.value : disturbed(a); }
  double disturbed(const Scalar &a);
  /// The properties of a type that rounding depends on.
  struct Format {
    FloatType type;
    double unit, least, largest;
    bool isNarrow, losesSubnormals;
  };
  const Format &formatOf(FloatType type);
  SmallVector<Format, 2> formats; ///< of the types met so far
  Scalar perturbed(FloatType type, double value, bool exact, double units);
  uint64_t origins = 0, state = 0; ///< `state`: of the random numbers
  double strength = 0;
};

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_SCALAR_H
