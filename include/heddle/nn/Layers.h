//===- Layers.h - layers and losses -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer is a struct of tensors (a tree, heddle/Tree.h) and a call operator. The call states the
// names that it works along, so a layer fits the names of any model:
//
//     struct Net {
//       nn::Conv first;  nn::LayerNorm norm;  nn::Linear last;
//       HEDDLE_FIELDS(first, norm, last)
//     };
//     x = relu(net.first(x, row, column, channel, out));
//     x = net.norm(x, over(row, column, channel));
//     x = net.last(x, over(row, column, channel));
//
// Each function is a few operations of heddle/Ops.h, which the compiler differentiates and fuses
// like a user's own.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_LAYERS_H
#define HEDDLE_NN_LAYERS_H

#include "heddle/Ops.h"
#include "heddle/Tree.h"

namespace heddle::nn {

/// y[out] = sum over in of x[in] * weight[in, out] + bias[out]. Throws Error for an x that lacks a
/// name of `in`, or has `out` already, since names that are spelt alike are the same: rename one.
struct Linear {
  Tensor weight, bias;
  HEDDLE_FIELDS(weight, bias)
  /// Weights uniform in +-1/sqrt(inputs), as LeCun et al. (Efficient BackProp, 1998) advise; bias
  /// zero.
  static Linear make(const std::vector<Extent> &in, const Extent &out, const Tensor &key,
                     Here here = Here::current());
  /// `in`: the names that are summed over.
  Tensor operator()(const Tensor &x, const Names &in, Here here = Here::current()) const;
};

/// A convolution over two names, with padding that keeps the size, and a bias.
struct Conv {
  Tensor weight, bias; ///< weight: ky, kx, in, out
  HEDDLE_FIELDS(weight, bias)
  static Conv make(int64_t window, const Extent &in, const Extent &out, const Tensor &key,
                   Here here = Here::current());
  /// The result has `out` renamed to `in`. With a stride the size is ceil(size / stride).
  Tensor operator()(const Tensor &x, const Name &row, const Name &column, const Name &in,
                    const Name &out, int64_t stride = 1, Here here = Here::current()) const;
};

/// The largest element, or the mean, of each window x window square; squares do not overlap, and a
/// remainder at the end is dropped. Throws Error for a window larger than `x`.
Tensor maxPool(const Tensor &x, const Name &row, const Name &column, int64_t window,
               Here here = Here::current());
Tensor averagePool(const Tensor &x, const Name &row, const Name &column, int64_t window,
                   Here here = Here::current());

/// Over some names every slice is brought to mean 0 and variance 1, then scaled and shifted element
/// by element (Ba, Kiros, Hinton, 2016).
struct LayerNorm {
  Tensor scale, shift;
  HEDDLE_FIELDS(scale, shift)
  /// `extents`: of the names that are normalised over.
  static LayerNorm make(const std::vector<Extent> &extents, Here here = Here::current());
  Tensor operator()(const Tensor &x, const Names &over, double epsilon = 1e-5,
                    Here here = Here::current()) const;
};

/// Means and variances for use after training; part of the state, not of the parameters.
struct RunningMoments {
  Tensor mean, variance;
  HEDDLE_FIELDS(mean, variance)
};

/// Every channel is brought to mean 0 and variance 1 over the batch and all positions (Ioffe and
/// Szegedy, ICML'15). In training the moments of the batch are used and kept track of:
///
///     auto [result, gradient] = valueAndGrad([&](Net net) {
///       RunningMoments moments = s.moments;
///       Tensor y = net.norm.train(x, over(batch, row, column), moments);
///       return std::pair(loss(y), moments);
///     }, s.net);
///     s.moments = result.second;
struct BatchNorm {
  Tensor scale, shift;
  HEDDLE_FIELDS(scale, shift)
  static BatchNorm make(const Extent &channel, Here here = Here::current());
  static RunningMoments moments(const Extent &channel, Here here = Here::current());
  /// With the moments of `x` itself; `running` moves towards them by 1 - `momentum`.
  Tensor train(const Tensor &x, const Names &over, RunningMoments &running, double momentum = 0.9,
               double epsilon = 1e-5, Here here = Here::current()) const;
  /// With the moments that training has kept.
  Tensor operator()(const Tensor &x, const RunningMoments &running, double epsilon = 1e-5,
                    Here here = Here::current()) const;
};

/// x * P(X <= x) for a normal X (Hendrycks and Gimpel, 2016), exactly and by its usual formula with
/// tanh; x * sigmoid(x). relu, sigmoid and tanh are in heddle/Ops.h.
Tensor gelu(const Tensor &x, Here here = Here::current());
Tensor geluTanh(const Tensor &x, Here here = Here::current());
Tensor silu(const Tensor &x, Here here = Here::current());
/// exp(x) over its sum along `along`, and the logarithm of that; neither overflows.
Tensor softmax(const Tensor &x, const Names &along, Here here = Here::current());
Tensor logSoftmax(const Tensor &x, const Names &along, Here here = Here::current());

/// Sets elements to zero with probability `rate` and scales the others by 1 / (1 - rate). What is
/// dropped depends on the key and on the order of `by`, the extents that are drawn for, alone.
Tensor dropout(const Tensor &x, double rate, const Tensor &key, const std::vector<Extent> &by,
               Here here = Here::current());

/// Minus the logarithm of the probability that softmax over `classes` gives to `label`, a tensor of
/// integers with names of the logits. NaN for a label that is no class, which JitOptions::check
/// finds. Throws Error for labels of floats, and for names that the logits lack.
Tensor crossEntropy(const Tensor &logits, const Tensor &label, const Name &classes,
                    Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_LAYERS_H
