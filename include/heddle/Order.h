//===- Order.h - functions of the order of elements -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that depend on the order of elements, by value (quantiles, searches) or by coordinate
// (running maxima). Each is made of a few operations of Ops.h, works with symbolic sizes, and has
// gradients where its result is a float:
//
//     Tensor middle = median(x, row);
//     Tensor box = quantile(x, row, Tensor::of<float>({0.25, 0.75}, {{k, 2}}));   // adds k
//     Tensor bin = searchSorted(edges, k, x);             // edges: k; the names of x
//     auto [peak, when] = cumulativeMax(price, time);
//
// NaN is larger than every number, as in `sort`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ORDER_H
#define HEDDLE_ORDER_H

#include "heddle/Ops.h"

namespace heddle {

/// The logarithm of the inclusive prefix sums of exp(x) along `along`, without overflow. A prefix
/// of -inf alone gives -inf, with gradients of 0; +inf and NaN reach all later prefixes.
Tensor logCumSumExp(Operand x, const Name &along);

/// Running extrema.
struct Running {
  Tensor values;
  Tensor indices; ///< the coordinates of the values, i64
};
/// The largest (smallest) element from 0 to i along `along`, for each i. Of equal elements
/// `indices` has the last one, as in PyTorch. From the first NaN on the values are NaN. The
/// gradient of a value flows to the element at its index.
Running cumulativeMax(Operand x, const Name &along);
Running cumulativeMin(Operand x, const Name &along);

/// How to compute a quantile that lies between the elements `low` and `high`, at `part` of the way.
enum class Between {
  Linear,   ///< low + part * (high - low)
  Lower,    ///< low
  Higher,   ///< high
  Nearest,  ///< the nearer one; if both are equally near, the one whose rank is even
  Midpoint, ///< (low + high) / 2
};
/// The quantile `part` (0: the smallest element, 1: the largest one) over the names `over`: the
/// element of rank part * (n - 1) of n sorted elements. `part` is a number or a tensor, which
/// shares no name with `x`; its names are added to the result. NaN if an element or `part` is NaN.
/// A tensor `part` is clamped to [0, 1]. Throws Error for a number outside of it, for no elements,
/// and for integers unless `between` is Lower, Higher or Nearest.
Tensor quantile(Operand x, const Names &over, Operand part, Between between = Between::Linear);
/// The median: of an even number of elements the smaller one of the two in the middle, as in
/// PyTorch. `quantile(x, over, 0.5)` is their mean, as in NumPy.
Tensor median(Operand x, const Names &over);

/// The position of `x` among elements that are sorted in ascending order.
enum class Side {
  Left,  ///< the number of elements below x
  Right, ///< the number of elements below or equal to x
};
/// The coordinate of `along` at which `x` would have to be inserted into `edges`, sorted along it,
/// by bisection: ceil(log2(m + 1)) reads for each element, for m edges (i64). Along other names
/// that both have, each coordinate has its own edges; a name `along` of `x` is another dimension
/// and stays. The result has the names of both, without the `along` of `edges`.
///
///     Tensor bin = searchSorted(Tensor::of<float>({1, 2, 4}, {{k, 3}}), k, x);   // 0 to 3
Tensor searchSorted(const Tensor &edges, const Name &along, const Tensor &x, Side side = Side::Left,
                    Here here = Here::current());

/// How `scatterInto` combines the updates of an element.
enum class Scattered { Sum, Product, Max, Min, Mean };
/// An element of `destination` that has updates becomes the sum, product, maximum, minimum or mean
/// of them, and of its old value if `withOld`; other elements are unchanged. `at` and `updates` are
/// as in `scatter`. Means require floats and are computed in f32 (f64 for f64).
///
///     scatterInto(zeros({{bin, 8}}), {{bin, index}}, value, Scattered::Mean)    // means of groups
Tensor scatterInto(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
                   const Tensor &updates, Scattered kind, bool withOld = false,
                   Here here = Here::current());

} // namespace heddle

#endif // HEDDLE_ORDER_H
