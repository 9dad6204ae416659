//===- Compositions.h - functions made of operations -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that many programs need, each made of a few operations of Ops.h. They have gradients of
// every order, work with symbolic sizes, and fuse with the operations around them:
//
//     Tensor y = einsum({x, down, up}, over(in, rank));          // a layer of low rank
//     Tensor evidence = logSumExp(score + prior, state);
//     Tensor last = y.at(time, -1);                              // Tensor.h
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_COMPOSITIONS_H
#define HEDDLE_COMPOSITIONS_H

#include "heddle/Ops.h"

namespace heddle {

/// The product of all operands, summed over `over`; its names are all others. A name that several
/// operands have is one dimension; `rename` an operand to take a diagonal or to use it twice.
///
/// It multiplies two operands at a time, the pair with the fewest products first (symbolic sizes
/// count as 1024), and sums over a name as soon as one factor alone has it. Sums of floats are
/// therefore rounded in that order; they run in `accumulator` as those of `sum`. Throws Error for a
/// name that no operand has, and for operands that no shared name connects.
Tensor einsum(const std::vector<Tensor> &operands, const Names &over,
              std::optional<ElementType> accumulator = {}, Here here = Here::current());

/// log(sum(exp(x))) without overflow. Where every element is -inf the result is -inf and all
/// gradients are 0, so that an impossible state stays impossible; +inf gives +inf (its gradient is
/// NaN), NaN gives NaN.
Tensor logSumExp(Operand x, const Names &over);
/// log(exp(a) + exp(b)) of two tensors, without overflow and precise where one is far below the
/// other. Where both are the same infinity it is that infinity, and the gradients are 0.
Tensor logAddExp(Operand a, Operand b);

/// 1 at the coordinate of `classes` that `index` (integers) gives, else 0; all 0 for an index that
/// is out of bounds.
///
///     oneHot(label, {classes, 10})                         // label: batch; batch, classes
Tensor oneHot(const Tensor &index, const Extent &classes, ElementType type = ElementType::F32,
              Here here = Here::current());

/// result[name = i + shift] = x[name = i]; elements shifted out at one end enter at the other.
Tensor roll(const Tensor &x, const Name &name, int64_t shift, Here here = Here::current());
/// As above, with computed shifts: an integer tensor. Names that both have are zipped.
Tensor roll(const Tensor &x, const Name &name, const Tensor &shift, Here here = Here::current());

/// The mean of the squared distances from the mean, of floats; by `correction` = 1 the sum of
/// squares is divided by one less than their number, which estimates the variance of what they are
/// drawn from. Points that a window excludes do not count. NaN if there are no more than
/// `correction` points.
Tensor variance(Operand x, const Names &over, double correction = 0,
                std::optional<ElementType> accumulator = {});

/// x where it is above 0, else `slope` * x; that is also its gradient's rule at 0.
Tensor leakyRelu(Operand x, double slope = 0.01);

} // namespace heddle

#endif // HEDDLE_COMPOSITIONS_H
