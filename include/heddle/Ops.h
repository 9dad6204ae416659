//===- Ops.h - operations on tensors ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations align their operands by name. Two operands that both have names must share one (or
// one's names include the other's); write an outer product with `broadcast`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_OPS_H
#define HEDDLE_OPS_H

#include "heddle/Scalar.h"
#include "heddle/Tensor.h"

namespace heddle {

Tensor operator+(Operand a, Operand b);
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);
/// Integer division rounds towards zero, and is 0 where `b` is 0.
Tensor operator/(Operand a, Operand b);
/// The remainder of that division, with the sign of `a`; of integers 0 where `b` is 0.
Tensor operator%(Operand a, Operand b);
Tensor operator-(Operand a);
/// Comparisons give elements of type i1.
Tensor operator<(Operand a, Operand b);
Tensor operator<=(Operand a, Operand b);
Tensor operator>(Operand a, Operand b);
Tensor operator>=(Operand a, Operand b);
Tensor equal(Operand a, Operand b);
Tensor notEqual(Operand a, Operand b);
/// On truth values (i1), or bit by bit on integers.
Tensor logicalAnd(Operand a, Operand b);
Tensor logicalOr(Operand a, Operand b);
Tensor logicalXor(Operand a, Operand b);
Tensor logicalNot(Operand a);
/// Shifts integers; 0 if `bits` is at least their width. Right shifts keep the sign of signed ones.
Tensor shiftLeft(Operand a, Operand bits);
Tensor shiftRight(Operand a, Operand bits);
inline Tensor &operator+=(Tensor &a, Operand b) { return a = Operand(a, b.here) + b; }
inline Tensor &operator-=(Tensor &a, Operand b) { return a = Operand(a, b.here) - b; }
inline Tensor &operator*=(Tensor &a, Operand b) { return a = Operand(a, b.here) * b; }
inline Tensor &operator/=(Tensor &a, Operand b) { return a = Operand(a, b.here) / b; }

Tensor maximum(Operand a, Operand b);
Tensor minimum(Operand a, Operand b);
Tensor pow(Operand base, Operand exponent);
/// `yes` where `condition` (i1) holds, else `no`.
Tensor select(Operand condition, Operand yes, Operand no);
/// The angle of the point (x, y), within [-pi, pi]; the signs of zeros count, as in C.
Tensor atan2(Operand y, Operand x);
Tensor exp(Operand x);
Tensor exp2(Operand x);
/// exp(x) - 1, precise near 0.
Tensor expm1(Operand x);
Tensor log(Operand x);
Tensor log2(Operand x);
Tensor log1p(Operand x);
Tensor sqrt(Operand x);
Tensor rsqrt(Operand x);
Tensor tanh(Operand x);
Tensor erf(Operand x);
Tensor sin(Operand x);
Tensor cos(Operand x);
Tensor tan(Operand x);
Tensor asin(Operand x);
Tensor acos(Operand x);
Tensor atan(Operand x);
Tensor abs(Operand x);
/// -1, 0 or 1; NaN of NaN.
Tensor sign(Operand x);
Tensor square(Operand x);
/// `x` held between two bounds.
Tensor clamp(Operand x, Operand low, Operand high);
/// True for elements that are NaN (i1).
Tensor isNan(Operand x);
Tensor floor(Operand x);
Tensor ceil(Operand x);
/// Towards zero.
Tensor trunc(Operand x);
/// To the nearest whole number, ties to the even one.
Tensor roundEven(Operand x);
Tensor sigmoid(Operand x);
Tensor relu(Operand x);

/// Reductions list the names that they remove. Sums and products of floats run in `accumulator`, a
/// type of floats no narrower than the elements; by default it is the elements' type, f32 for
/// narrower ones. Integers wrap around.
Tensor sum(Operand x, const Names &over, std::optional<ElementType> accumulator = {});
Tensor product(Operand x, const Names &over, std::optional<ElementType> accumulator = {});
Tensor max(Operand x, const Names &over);
Tensor min(Operand x, const Names &over);
/// The sum divided by the number of elements. Where windows exclude taps it counts the others, and
/// is NaN if there are none.
Tensor mean(Operand x, const Names &over, std::optional<ElementType> accumulator = {});
/// The number of elements of `x` that a reduction over `names` combines: a tensor without names,
/// also where sizes are symbolic; where windows exclude taps, with the names along which the number
/// may vary.
Tensor countOf(Operand x, const Names &names, ElementType type = ElementType::F32);
/// Combines the elements of several tensors of the same names together, by a combiner that is
/// associative and commutative and has `neutral` for its neutral elements, one for each tensor.
/// Floats narrower than f32 are combined in f32.
///
///     // The logarithm of a sum of exponentials, in one pass and without overflow.
///     auto add = [](const Scalars &a, const Scalars &b) {
///       Scalar most = maximum(a[0], b[0]);
///       return Scalars{most, a[1] * exp(a[0] - most) + b[1] * exp(b[0] - most)};
///     };
///     auto sums = reduce({x, ones}, over(row), {-INFINITY, 0}, add);
std::vector<Tensor> reduce(const std::vector<Tensor> &tensors, const Names &over,
                           const std::vector<double> &neutral, const Combine &combiner,
                           Here here = Here::current());
/// The row-major index, in the order of `over`, of the largest element; the smallest such index on
/// ties, and that of a NaN only where all elements are NaN. i64.
Tensor argmax(Operand x, const Names &over);
Tensor argmin(Operand x, const Names &over);
/// Combiners that do not depend on the order of elements.
enum class Combiner { Add, Multiply, Max, Min };
/// Element i combines the elements up to i, or before i if `exclusive`, from the other end if
/// `reverse`; in `accumulator` as for `sum`.
Tensor scan(Operand x, const Name &along, Combiner combiner, bool exclusive = false,
            bool reverse = false, std::optional<ElementType> accumulator = {});
/// Prefixes of several tensors together; the combiner, which need not commute, gets what came
/// before in the order of the scan, then an element. A linear recurrence h[t] = a[t] h[t-1] + b[t]:
///
///     Tensor h = scan({a, b}, time, {1, 0}, [](const Scalars &l, const Scalars &r) {
///       return Scalars{l[0] * r[0], l[1] * r[0] + r[1]};
///     })[1];
std::vector<Tensor> scan(const std::vector<Tensor> &tensors, const Name &along,
                         const std::vector<double> &neutral, const Combine &combiner,
                         bool exclusive = false, bool reverse = false, Here here = Here::current());
inline Tensor cumulativeSum(Operand x, const Name &along) { return scan(x, along, Combiner::Add); }

/// Values in order and the coordinates that they came from (i64). Equal values keep their order,
/// NaN comes last in either direction. Gradients go back to where values came from.
struct Sorted {
  Tensor values, indices;
};
Sorted sort(Operand x, const Name &along, bool descending = false);
/// The `count` largest elements, the largest first.
Sorted topK(Operand x, const Name &along, const Size &count);
Tensor argsort(Operand x, const Name &along, bool descending = false);
/// Sorts all tensors, which have the same names, as the first one is sorted.
std::vector<Tensor> sortTogether(const std::vector<Tensor> &tensors, const Name &along,
                                 bool descending = false, Here here = Here::current());

Tensor concat(const std::vector<Tensor> &parts, const Name &along, Here here = Here::current());
/// Combines `updates` into `destination` at computed coordinates; updates outside are left out.
Tensor scatter(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
               const Tensor &updates, Combiner combiner, Here here = Here::current());
/// With any combiner of two scalars, the old element and the update, in whatever order they come:
///
///     scatter(x, {{row, index}}, y, [](Scalar a, Scalar b) { return a + b + a * b; })
Tensor scatter(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
               const Tensor &updates, const std::function<Scalar(Scalar, Scalar)> &combiner,
               Here here = Here::current());
/// Replaces elements by `updates`; no element may be updated twice.
Tensor scatterUnique(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
                     const Tensor &updates, Here here = Here::current());
inline Tensor scatterAdd(const Tensor &destination, const Name &name, const Tensor &index,
                         const Tensor &updates, Here here = Here::current()) {
  return scatter(destination, {{name, index}}, updates, Combiner::Add, here);
}

/// A tensor of one value; without extents a scalar.
Tensor constant(double value, ElementType type = ElementType::F32,
                const std::vector<Extent> &extents = {}, Here here = Here::current());
Tensor zeros(const std::vector<Extent> &extents, ElementType type = ElementType::F32,
             Here here = Here::current());
/// 0, 1, ... along a name.
Tensor iota(const Extent &extent, ElementType type = ElementType::I64, Here here = Here::current());

/// Random bits (Philox 4x32-10) of type ui32; `key` is a ui64 tensor, the new names are numbered in
/// the order written.
Tensor randomBits(const Tensor &key, const std::vector<Extent> &by, Here here = Here::current());
/// Uniform in [0, 1).
Tensor randomUniform(const Tensor &key, const std::vector<Extent> &by, Here here = Here::current());
/// Normal with mean 0 and variance 1 (Box-Muller).
Tensor randomNormal(const Tensor &key, const std::vector<Extent> &by, Here here = Here::current());
/// Integers from `low` to below `high` (i64), to within 2^-32 of evenly.
Tensor randomIntegers(const Tensor &key, int64_t low, int64_t high, const std::vector<Extent> &by,
                      Here here = Here::current());
/// The coordinates of `extent` in a random order, i64.
Tensor randomPermutation(const Tensor &key, const Extent &extent, Here here = Here::current());
/// A scalar ui64 key.
Tensor key(uint64_t seed, Here here = Here::current());
/// A key that differs for each `index` (a number, or an integer tensor).
Tensor fold(const Tensor &key, Operand index);

/// Stops differentiation: the gradient of the result is not passed on.
Tensor stopGradient(const Tensor &x, Here here = Here::current());

} // namespace heddle

#endif // HEDDLE_OPS_H
