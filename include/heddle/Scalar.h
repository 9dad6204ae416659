//===- Scalar.h - scalar code -----------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions over single elements: the body of a kernel (heddle/Kernel.h), and combiners of
// reductions, scans and scatters (heddle/Ops.h).
//
//     reduce({x}, over(row), {1}, [](const Scalars &a, const Scalars &b) {
//       return Scalars{a[0] * b[0]};
//     });
//
// Numbers and coordinates take the element type of the other operand; with each other, coordinates
// compare as i64 and all else is f32.
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

class Scalar {
public:
  struct Node;
  Scalar(double number, std::source_location here = std::source_location::current());
  /// `row < column` compares the spellings of names: write `Scalar(row) < column`.
  template <std::same_as<bool> B>
  Scalar(B) = delete;
  /// The coordinate of an iteration name, as an integer; or an expression over several.
  Scalar(const Name &name, std::source_location here = std::source_location::current());
  Scalar(const Expr &index, std::source_location here = std::source_location::current());
  explicit Scalar(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  Scalar cast(ElementType type) const;
  /// Not a C++ condition: its value is known only when the kernel runs.
  explicit operator bool() const = delete; // write select, logicalAnd, logicalOr, logicalNot
  std::shared_ptr<const Node> node;
};

Scalar operator+(const Scalar &a, const Scalar &b);
Scalar operator-(const Scalar &a, const Scalar &b);
Scalar operator*(const Scalar &a, const Scalar &b);
/// Integer division rounds towards zero, and is 0 where `b` is 0.
Scalar operator/(const Scalar &a, const Scalar &b);
/// The remainder of that division, with the sign of `a`; of integers 0 where `b` is 0.
Scalar operator%(const Scalar &a, const Scalar &b);
Scalar operator-(const Scalar &a);
/// Comparisons give truth values (i1).
Scalar operator<(const Scalar &a, const Scalar &b);
Scalar operator<=(const Scalar &a, const Scalar &b);
Scalar operator>(const Scalar &a, const Scalar &b);
Scalar operator>=(const Scalar &a, const Scalar &b);
Scalar equal(const Scalar &a, const Scalar &b);
Scalar notEqual(const Scalar &a, const Scalar &b);
/// On truth values, or bit by bit on integers.
Scalar logicalAnd(const Scalar &a, const Scalar &b);
Scalar logicalOr(const Scalar &a, const Scalar &b);
Scalar logicalXor(const Scalar &a, const Scalar &b);
Scalar logicalNot(const Scalar &a);
/// Shifts integers; 0 if `bits` is at least their width. Right shifts keep the sign of signed ones.
Scalar shiftLeft(const Scalar &a, const Scalar &bits);
Scalar shiftRight(const Scalar &a, const Scalar &bits);
Scalar maximum(const Scalar &a, const Scalar &b);
Scalar minimum(const Scalar &a, const Scalar &b);
Scalar pow(const Scalar &base, const Scalar &exponent);
Scalar select(const Scalar &condition, const Scalar &yes, const Scalar &no);
/// The angle of the point (x, y), within [-pi, pi]; the signs of zeros count, as in C.
Scalar atan2(const Scalar &y, const Scalar &x);
Scalar exp(const Scalar &x);
Scalar exp2(const Scalar &x);
/// exp(x) - 1, precise near 0.
Scalar expm1(const Scalar &x);
Scalar log(const Scalar &x);
Scalar log2(const Scalar &x);
Scalar log1p(const Scalar &x);
Scalar sqrt(const Scalar &x);
Scalar rsqrt(const Scalar &x);
Scalar tanh(const Scalar &x);
Scalar erf(const Scalar &x);
Scalar sin(const Scalar &x);
Scalar cos(const Scalar &x);
Scalar tan(const Scalar &x);
Scalar asin(const Scalar &x);
Scalar acos(const Scalar &x);
Scalar atan(const Scalar &x);
Scalar abs(const Scalar &x);
/// -1, 0 or 1; NaN of NaN.
Scalar sign(const Scalar &x);
Scalar floor(const Scalar &x);
Scalar ceil(const Scalar &x);
/// Towards zero.
Scalar trunc(const Scalar &x);
Scalar roundEven(const Scalar &x);
Scalar sigmoid(const Scalar &x);
inline Scalar relu(const Scalar &x) { return maximum(x, 0.0); }
inline Scalar square(const Scalar &x) { return x * x; }
inline Scalar isNan(const Scalar &x) { return notEqual(x, x); }
inline Scalar clamp(const Scalar &x, const Scalar &low, const Scalar &high) {
  return minimum(maximum(x, low), high);
}

using Scalars = std::vector<Scalar>;
/// Combines two rows of scalars.
using Combine = std::function<Scalars(const Scalars &, const Scalars &)>;

} // namespace heddle

#endif // HEDDLE_SCALAR_H
