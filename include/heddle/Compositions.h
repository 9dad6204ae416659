//===- Compositions.h - functions made of operations ------------*- C++ -*-===//
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

/// Multiplies all operands and sums over `over`; the result has all other names. A name that
/// several operands have is one dimension; `rename` an operand to take a diagonal or to use it
/// twice.
///
/// The operands are multiplied two at a time, first the pair that takes the fewest
/// multiplications (symbolic sizes count as 1024), and a name is summed over as soon as only one
/// factor has it: this order determines the rounding of floats. Sums accumulate in `accumulator`,
/// as in `sum`. Throws Error for a name in `over` that no operand has or that is listed twice, and
/// for operands that no shared name connects.
Tensor einsum(const std::vector<Tensor> &operands, const Names &over,
              std::optional<ElementType> accumulator = {}, Here here = Here::current());

/// log(sum(exp(x))) over the names `over`, or all names of x, without overflow. Where every element
/// is -inf the result is -inf and all gradients are 0, so that a state of probability 0 keeps that
/// probability; +inf gives +inf (its gradient is NaN), NaN gives NaN.
Tensor logSumExp(Operand x, const Names &over);
Tensor logSumExp(Operand x);
/// log(exp(a) + exp(b)), element by element, without overflow and precise where one operand is far
/// below the other. Where both are the same infinity the result is that infinity and the gradients
/// are 0.
Tensor logAddExp(Operand a, Operand b);

/// 1 at the coordinate of `classes` that `index` gives, else 0; only zeros for an index that is out
/// of bounds. The result has the names of `index` and that of `classes`. Throws Error unless
/// `index` has integer elements, and if it has the name of `classes`.
///
///     Tensor target = oneHot(label, {classes, 10});   // label: batch; target: batch, classes
Tensor oneHot(const Tensor &index, const Extent &classes, ElementType type = ElementType::F32,
              Here here = Here::current());

/// result[name = i + shift] = x[name = i], modulo the size of `name`: elements that are shifted out
/// at one end enter at the other.
Tensor roll(const Tensor &x, const Name &name, int64_t shift, Here here = Here::current());
/// The same with computed shifts. The result has the names of `x` and of `shift`; along a name that
/// both have, each coordinate has its own shift. Throws Error unless `shift` has integer elements,
/// and if it has `name`.
Tensor roll(const Tensor &x, const Name &name, const Tensor &shift, Here here = Here::current());

/// The variance of float elements over the names `over`, or all names of x: the sum of the squared
/// distances from the mean, divided by n - `correction` for n elements. 0 gives the mean of the
/// squared distances; 1 gives the unbiased estimate of a population's variance from a sample. Taps
/// that a window excludes are not counted. NaN where n is 0, and where n and `correction` are both
/// 1. Computed in `accumulator`, as in `sum`.
Tensor variance(Operand x, const Names &over, double correction = 0,
                std::optional<ElementType> accumulator = {});
Tensor variance(Operand x);

/// x where x > 0, else `slope` * x. The gradient at 0 is `slope`.
Tensor leakyRelu(Operand x, double slope = 0.01);

} // namespace heddle

#endif // HEDDLE_COMPOSITIONS_H
