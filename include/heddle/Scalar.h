//===- Scalar.h - scalar expressions ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Scalar` is an expression over single elements. Scalars make up the bodies of kernels
// (heddle/Kernel.h) and the combiners of reductions, scans and scatters (heddle/Ops.h):
//
//     reduce({x}, over(row), {1}, [](const Scalars &a, const Scalars &b) {
//       return Scalars{a[0] * b[0]};
//     });
//
// A number or a coordinate takes the element type of the other operand. If both operands are
// numbers or coordinates, two coordinates are compared as i64, and all other operations are done in
// f32. The functions mean what the functions of Ops.h of the same names do.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_SCALAR_H
#define HEDDLE_SCALAR_H

#include "heddle/ElementType.h"
#include "heddle/Name.h"

#include <concepts>
#include <functional>
#include <memory>
#include <source_location>
#include <vector>

namespace heddle {

/// An expression over single elements, which is evaluated at each point of a kernel.
class Scalar {
public:
  struct Node;
  Scalar(double number, std::source_location here = std::source_location::current());
  /// Not from a bool: `row < column` compares the spellings of names; write `Scalar(row) < column`.
  template <std::same_as<bool> B>
  Scalar(B) = delete;
  /// The coordinate of an iteration name, or an expression over such coordinates; an integer.
  Scalar(const Name &name, std::source_location here = std::source_location::current());
  Scalar(const Expr &index, std::source_location here = std::source_location::current());
  explicit Scalar(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  /// Converts to another element type, as Tensor::cast does.
  Scalar cast(ElementType type) const;
  /// Not a C++ condition: its value is known only when the kernel runs.
  explicit operator bool() const = delete; // write select, logicalAnd, logicalOr, logicalNot
  std::shared_ptr<const Node> node;
};

Scalar operator+(const Scalar &a, const Scalar &b);
Scalar operator-(const Scalar &a, const Scalar &b);
Scalar operator*(const Scalar &a, const Scalar &b);
/// The quotient. Integer division rounds towards zero and gives 0 where `b` is 0.
Scalar operator/(const Scalar &a, const Scalar &b);
/// The remainder of a division that rounds towards zero, with the sign of `a`; for integers 0 where
/// `b` is 0.
Scalar operator%(const Scalar &a, const Scalar &b);
Scalar operator-(const Scalar &a);
/// Comparisons return truth values (i1).
Scalar operator<(const Scalar &a, const Scalar &b);
Scalar operator<=(const Scalar &a, const Scalar &b);
Scalar operator>(const Scalar &a, const Scalar &b);
Scalar operator>=(const Scalar &a, const Scalar &b);
Scalar equal(const Scalar &a, const Scalar &b);
Scalar notEqual(const Scalar &a, const Scalar &b);
/// Logical operations on truth values (i1), bitwise ones on other integers.
Scalar logicalAnd(const Scalar &a, const Scalar &b);
Scalar logicalOr(const Scalar &a, const Scalar &b);
Scalar logicalXor(const Scalar &a, const Scalar &b);
Scalar logicalNot(const Scalar &a);
/// Shift integers; 0 where `bits` is negative or at least their width. Right shifts of signed
/// integers copy the sign bit.
Scalar shiftLeft(const Scalar &a, const Scalar &bits);
Scalar shiftRight(const Scalar &a, const Scalar &bits);
/// The larger or the smaller operand; NaN if either operand is NaN.
Scalar maximum(const Scalar &a, const Scalar &b);
Scalar minimum(const Scalar &a, const Scalar &b);
/// `base` to the power of `exponent`. Powers of integers wrap around; a negative exponent gives the
/// quotient 1 / pow(base, -exponent), which is 0 but for the bases 1 and -1, and is refused where
/// it is a number.
Scalar pow(const Scalar &base, const Scalar &exponent);
/// `yes` if `condition` (of type i1) is true, else `no`.
Scalar select(const Scalar &condition, const Scalar &yes, const Scalar &no);
/// The angle of the point (x, y) in radians, within [-pi, pi]. The signs of zeros count, as in C.
Scalar atan2(const Scalar &y, const Scalar &x);
/// sqrt(x^2 + y^2), without overflow or underflow on the way.
Scalar hypot(const Scalar &x, const Scalar &y);
/// The magnitude of `x` with the sign of `like`, also that of a zero.
Scalar copysign(const Scalar &x, const Scalar &like);
Scalar exp(const Scalar &x);
Scalar exp2(const Scalar &x);
/// exp(x) - 1, precise near 0.
Scalar expm1(const Scalar &x);
Scalar log(const Scalar &x);
Scalar log2(const Scalar &x);
Scalar log10(const Scalar &x);
/// log(1 + x), precise near 0.
Scalar log1p(const Scalar &x);
Scalar sqrt(const Scalar &x);
/// 1 / sqrt(x).
Scalar rsqrt(const Scalar &x);
Scalar sinh(const Scalar &x);
Scalar cosh(const Scalar &x);
Scalar tanh(const Scalar &x);
Scalar asinh(const Scalar &x);
Scalar acosh(const Scalar &x);
Scalar atanh(const Scalar &x);
Scalar erf(const Scalar &x);
/// 1 - erf(x), precise where it is small.
Scalar erfc(const Scalar &x);
/// The inverse of erf: -inf at -1, inf at 1, NaN beyond.
Scalar erfinv(const Scalar &x);
/// The logarithm of |gamma(x)|, and its derivative.
Scalar lgamma(const Scalar &x);
Scalar digamma(const Scalar &x);
Scalar sin(const Scalar &x);
Scalar cos(const Scalar &x);
Scalar tan(const Scalar &x);
Scalar asin(const Scalar &x);
Scalar acos(const Scalar &x);
Scalar atan(const Scalar &x);
Scalar abs(const Scalar &x);
/// -1, 0 or 1, the sign of `x`; NaN if `x` is NaN.
Scalar sign(const Scalar &x);
/// Rounds down, up, towards zero, or to the nearest whole number with ties to even.
Scalar floor(const Scalar &x);
Scalar ceil(const Scalar &x);
Scalar trunc(const Scalar &x);
Scalar roundEven(const Scalar &x);
Scalar sigmoid(const Scalar &x);
inline Scalar relu(const Scalar &x) { return maximum(x, 0.0); }
inline Scalar square(const Scalar &x) { return x * x; }
inline Scalar isNan(const Scalar &x) { return notEqual(x, x); }
inline Scalar isFinite(const Scalar &x) {
  Scalar zero = x - x; // or NaN
  return equal(zero, zero);
}
inline Scalar isInf(const Scalar &x) { return logicalXor(isNan(x), isNan(x - x)); }
inline Scalar clamp(const Scalar &x, const Scalar &low, const Scalar &high) {
  return minimum(maximum(x, low), high);
}

using Scalars = std::vector<Scalar>;
/// A combiner of several tensors: combines two lists of scalars, one scalar for each tensor.
using Combine = std::function<Scalars(const Scalars &, const Scalars &)>;

} // namespace heddle

#endif // HEDDLE_SCALAR_H
