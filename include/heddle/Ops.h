//===- Ops.h - operations on tensors ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pointwise operations align their operands by name and take the union of the names. Shared names
// must connect operands that have names; write an outer product with `broadcast`. A number takes
// the element type of the other operand, and has no names. Sums, products, quotients and powers
// with a number use it as it is where they compute in a wider type than the elements': x * 0.1 of
// bf16 elements multiplies by 0.1 in f32.
//
//     Tensor y = x * weight + 1.0;     // x: batch, in; weight: in, out; y: batch, in, out
//
// All functions throw Error, with the source location of the call, for operands whose names, sizes
// or element types do not fit. Their values at zeros, infinities and NaN, and their accuracy, are
// in docs/functions.md.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_OPS_H
#define HEDDLE_OPS_H

#include "heddle/Scalar.h"
#include "heddle/Tensor.h"

namespace heddle {

/// Integers wrap around.
Tensor operator+(Operand a, Operand b);
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);
/// The quotient. Integer division rounds towards zero and gives 0 where `b` is 0.
Tensor operator/(Operand a, Operand b);
/// The remainder of a division that rounds towards zero, with the sign of `a`; for integers 0 where
/// `b` is 0.
Tensor operator%(Operand a, Operand b);
Tensor operator-(Operand a);
/// Comparisons return elements of type i1.
Tensor operator<(Operand a, Operand b);
Tensor operator<=(Operand a, Operand b);
Tensor operator>(Operand a, Operand b);
Tensor operator>=(Operand a, Operand b);
Tensor equal(Operand a, Operand b);
Tensor notEqual(Operand a, Operand b);
/// Logical operations on truth values (i1), bitwise ones on other integers.
Tensor logicalAnd(Operand a, Operand b);
Tensor logicalOr(Operand a, Operand b);
Tensor logicalXor(Operand a, Operand b);
Tensor logicalNot(Operand a);
/// Shift integers; 0 where `bits` is negative or at least their width. Right shifts of signed
/// integers copy the sign bit.
Tensor shiftLeft(Operand a, Operand bits);
Tensor shiftRight(Operand a, Operand bits);
inline Tensor &operator+=(Tensor &a, Operand b) { return a = Operand(a, b.here) + b; }
inline Tensor &operator-=(Tensor &a, Operand b) { return a = Operand(a, b.here) - b; }
inline Tensor &operator*=(Tensor &a, Operand b) { return a = Operand(a, b.here) * b; }
inline Tensor &operator/=(Tensor &a, Operand b) { return a = Operand(a, b.here) / b; }

/// The larger or the smaller operand, element by element; NaN where either operand is NaN.
Tensor maximum(Operand a, Operand b);
Tensor minimum(Operand a, Operand b);
/// `base` to the power of `exponent`. Powers of integers wrap around; a negative exponent gives the
/// quotient 1 / pow(base, -exponent), which is 0 but for the bases 1 and -1, and is refused where
/// it is a number.
Tensor pow(Operand base, Operand exponent);
/// `yes` where `condition` (of type i1) is true, else `no`.
Tensor select(Operand condition, Operand yes, Operand no);
/// The angle of the point (x, y) in radians, within [-pi, pi]. The signs of zeros count, as in C.
Tensor atan2(Operand y, Operand x);
/// sqrt(x^2 + y^2), without overflow or underflow on the way.
Tensor hypot(Operand x, Operand y);
/// The magnitude of `x` with the sign of `like`, also that of a zero.
Tensor copysign(Operand x, Operand like);
/// Elementary functions of floats. Angles are in radians.
Tensor exp(Operand x);
Tensor exp2(Operand x);
/// exp(x) - 1, precise near 0.
Tensor expm1(Operand x);
Tensor log(Operand x);
Tensor log2(Operand x);
Tensor log10(Operand x);
/// log(1 + x), precise near 0.
Tensor log1p(Operand x);
Tensor sqrt(Operand x);
/// 1 / sqrt(x).
Tensor rsqrt(Operand x);
Tensor sinh(Operand x);
Tensor cosh(Operand x);
Tensor tanh(Operand x);
Tensor asinh(Operand x);
Tensor acosh(Operand x);
Tensor atanh(Operand x);
Tensor erf(Operand x);
/// 1 - erf(x), precise where it is small.
Tensor erfc(Operand x);
/// The inverse of erf: -inf at -1, inf at 1, NaN beyond.
Tensor erfinv(Operand x);
/// The logarithm of |gamma(x)|, and its derivative.
Tensor lgamma(Operand x);
Tensor digamma(Operand x);
Tensor sin(Operand x);
Tensor cos(Operand x);
Tensor tan(Operand x);
Tensor asin(Operand x);
Tensor acos(Operand x);
Tensor atan(Operand x);
Tensor abs(Operand x);
/// -1, 0 or 1, the sign of `x`; NaN where `x` is NaN.
Tensor sign(Operand x);
Tensor square(Operand x);
/// min(max(x, low), high).
Tensor clamp(Operand x, Operand low, Operand high);
/// Where `x` is NaN, infinite, or neither; elements of type i1.
Tensor isNan(Operand x);
Tensor isInf(Operand x);
Tensor isFinite(Operand x);
/// Rounds down, up, towards zero, or to the nearest whole number with ties to even.
Tensor floor(Operand x);
Tensor ceil(Operand x);
Tensor trunc(Operand x);
Tensor roundEven(Operand x);
/// 1 / (1 + exp(-x)).
Tensor sigmoid(Operand x);
/// max(x, 0).
Tensor relu(Operand x);

/// Reduces `x` over the names `over`, which the result lacks; without `over`, over all names that
/// `x` has where this is traced, never over lifted ones. Sums and products of floats
/// accumulate in `accumulator`, a float type no narrower than the elements; by default it is the
/// element type, or f32 for narrower ones. Integers wrap around.
Tensor sum(Operand x, const Names &over, std::optional<ElementType> accumulator = {});
Tensor sum(Operand x);
Tensor product(Operand x, const Names &over, std::optional<ElementType> accumulator = {});
Tensor product(Operand x);
/// The largest or the smallest element; NaN if one is NaN. For no elements, the neutral element: of
/// `max` -inf or the smallest integer, of `min` inf or the largest integer.
Tensor max(Operand x, const Names &over);
Tensor max(Operand x);
Tensor min(Operand x, const Names &over);
Tensor min(Operand x);
/// The mean of float elements: their sum divided by their number, both in `accumulator`, as in
/// `sum`. Excluded taps of windows are not counted; NaN if nothing is counted.
Tensor mean(Operand x, const Names &over, std::optional<ElementType> accumulator = {});
Tensor mean(Operand x);
/// The number of elements of `x` that a reduction over `names` combines. A tensor without names,
/// or, if windows exclude taps, with the names along which the number may vary. Sizes may be
/// symbolic.
Tensor countOf(Operand x, const Names &names, ElementType type = ElementType::F32);
/// Reduces several tensors of the same names together, by an associative and commutative combiner.
/// `neutral` holds its neutral elements, one for each tensor. Floats narrower than f32 are combined
/// in f32.
///
///     // The two parts of a log-sum-exp, in one pass and without overflow: the maximum of x, and
///     // the sum of the exponentials of x less that maximum.
///     auto add = [](const Scalars &a, const Scalars &b) {
///       Scalar most = maximum(a[0], b[0]);
///       return Scalars{most, a[1] * exp(a[0] - most) + b[1] * exp(b[0] - most)};
///     };
///     auto sums = reduce({x, ones}, over(row), {-INFINITY, 0}, add);
std::vector<Tensor> reduce(const std::vector<Tensor> &tensors, const Names &over,
                           const std::vector<double> &neutral, const Combine &combiner,
                           Here here = Here::current());
/// The index of the largest or the smallest element (i64): row-major over the names `over`, in the
/// order in which they are listed. Of equal elements the one with the smallest index is taken. NaN
/// is ignored unless all elements are NaN. Throws Error where a name has no elements; with a
/// symbolic size, the call of the program throws it.
Tensor argmax(Operand x, const Names &over);
Tensor argmin(Operand x, const Names &over);
/// The combiners of scans and scatters.
enum class Combiner { Add, Multiply, Max, Min };
/// Prefixes: element i of the result combines the elements 0 to i of `x` along the name `along`, or
/// those before i if `exclusive`; with `reverse`, those from i to the last. Floats accumulate in
/// `accumulator`, as in `sum`.
Tensor scan(Operand x, const Name &along, Combiner combiner, bool exclusive = false,
            bool reverse = false, std::optional<ElementType> accumulator = {});
/// Prefixes of several tensors of the same names together, by an associative combiner that need not
/// commute: its first operand holds the prefix so far, its second the next element. The linear
/// recurrence h[t] = a[t] * h[t - 1] + b[t]:
///
///     Tensor h = scan({a, b}, time, {1, 0}, [](const Scalars &l, const Scalars &r) {
///       return Scalars{l[0] * r[0], l[1] * r[0] + r[1]};
///     })[1];
std::vector<Tensor> scan(const std::vector<Tensor> &tensors, const Name &along,
                         const std::vector<double> &neutral, const Combine &combiner,
                         bool exclusive = false, bool reverse = false, Here here = Here::current());
/// The inclusive prefix sum along `along`.
inline Tensor cumulativeSum(Operand x, const Name &along) { return scan(x, along, Combiner::Add); }

/// A sorted tensor.
struct Sorted {
  Tensor values;
  Tensor indices; ///< the coordinates of the values before sorting, i64
};
/// Sorts along a name. The sort is stable, and NaN comes last in either direction. The gradient of
/// a value goes to the element that it was.
Sorted sort(Operand x, const Name &along, bool descending = false);
/// The `count` largest elements along a name, the largest first.
Sorted topK(Operand x, const Name &along, const Size &count);
/// The indices of `sort`.
Tensor argsort(Operand x, const Name &along, bool descending = false);
/// Sorts the first tensor along a name and permutes the others, which have the same names, alike.
std::vector<Tensor> sortTogether(const std::vector<Tensor> &tensors, const Name &along,
                                 bool descending = false, Here here = Here::current());

/// Joins tensors along a name; all their other names have the same sizes.
Tensor concat(const std::vector<Tensor> &parts, const Name &along, Here here = Here::current());
/// Combines each element of `updates` with the element of `destination` at the coordinates that
/// `at` gives (integer tensors, one for each name). Updates at coordinates that are out of bounds
/// are dropped.
///
///     Tensor sums = scatter(zeros({{bin, 8}}), {{bin, index}}, value, Combiner::Add);
Tensor scatter(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
               const Tensor &updates, Combiner combiner, Here here = Here::current());
/// The same with any combiner of two scalars, the old element and the update. Updates of one
/// element come in no particular order:
///
///     scatter(x, {{row, index}}, y, [](Scalar a, Scalar b) { return a + b + a * b; })
Tensor scatter(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
               const Tensor &updates, const std::function<Scalar(Scalar, Scalar)> &combiner,
               Here here = Here::current());
/// Replaces elements of `destination` by `updates`. No element may be updated twice, which nothing
/// checks.
Tensor scatterUnique(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
                     const Tensor &updates, Here here = Here::current());
/// Adds `updates` to elements of `destination`.
inline Tensor scatterAdd(const Tensor &destination, const Name &name, const Tensor &index,
                         const Tensor &updates, Here here = Here::current()) {
  return scatter(destination, {{name, index}}, updates, Combiner::Add, here);
}

/// A tensor whose elements all are `value`; a scalar if there are no extents.
Tensor constant(double value, ElementType type = ElementType::F32,
                const std::vector<Extent> &extents = {}, Here here = Here::current());
Tensor zeros(const std::vector<Extent> &extents, ElementType type = ElementType::F32,
             Here here = Here::current());
/// The coordinates 0, 1, ... of a name.
Tensor iota(const Extent &extent, ElementType type = ElementType::I64, Here here = Here::current());

/// Random bits of type ui32, by Philox 4x32-10 (Salmon et al., SC'11). The result has the names of
/// `key`, a tensor of ui64, and those of `by`. Equal keys give equal bits; elements are numbered
/// row-major over `by` as listed.
Tensor randomBits(const Tensor &key, const std::vector<Extent> &by, Here here = Here::current());
/// Uniformly distributed in [0, 1), multiples of 2^-24 (f32).
Tensor randomUniform(const Tensor &key, const std::vector<Extent> &by, Here here = Here::current());
/// Normally distributed with mean 0 and variance 1 (f32), by the method of Box and Muller.
Tensor randomNormal(const Tensor &key, const std::vector<Extent> &by, Here here = Here::current());
/// Uniformly distributed integers in [low, high) (i64). The probability of each is off by at most
/// 2^-32. Throws Error unless there are 1 to 2^32 of them.
Tensor randomIntegers(const Tensor &key, int64_t low, int64_t high, const std::vector<Extent> &by,
                      Here here = Here::current());
/// A random permutation of the coordinates of `extent` (i64).
Tensor randomPermutation(const Tensor &key, const Extent &extent, Here here = Here::current());
/// The random key of a seed: a scalar of ui64.
Tensor key(uint64_t seed, Here here = Here::current());
/// A new key for each `index` (a number, or an integer tensor), by a step of SplitMix64.
Tensor fold(const Tensor &key, Operand index);

/// `x`, as a constant in differentiation: its gradient is 0.
Tensor stopGradient(const Tensor &x, Here here = Here::current());

} // namespace heddle

#endif // HEDDLE_OPS_H
