//===- Initializers.h - initial values of parameters ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fan-in of a weight is the number of products that are summed into one output, the fan-out the
// number of outputs that one input contributes to. Names state them: for a weight with the names
// ky, kx, in, out, an output sums the products along ky, kx and in.
//
//     Tensor w = nn::kaimingNormal(key(1), {{ky, 3}, {kx, 3}, {in, 16}, {out, 32}},
//                                  over(ky, kx, in));
//     Tensor v = nn::glorotUniform(key(2), {{in, 16}, {out, 32}}, over(in), over(out));
//     Tensor b = nn::filled(0.1, {{out, 32}});
//
// Random values depend only on the key and on the order of the extents.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_INITIALIZERS_H
#define HEDDLE_NN_INITIALIZERS_H

#include "heddle/Ops.h"

namespace heddle::nn {

/// A tensor in memory whose elements all are `value` (`constant` in heddle/Ops.h is part of the
/// program instead). Throws Error if memory runs out.
Tensor filled(double value, const std::vector<Extent> &extents, ElementType type = ElementType::F32,
              Here here = Here::current());
/// A tensor of zeros in memory, of the type of `like`.
Tensor zerosLike(const Tensor &like, Here here = Here::current());

/// 1 where the coordinates of two names are equal, else 0: a linear map that only renames `in` to
/// `out`. (torch.nn.init.eye_)
Tensor identity(const Extent &in, const Extent &out, Here here = Here::current());

/// Uniform in [low, high).
Tensor uniform(const Tensor &key, const std::vector<Extent> &extents, double low, double high,
               Here here = Here::current());
Tensor normal(const Tensor &key, const std::vector<Extent> &extents, double mean = 0,
              double deviation = 1, Here here = Here::current());
/// The normal distribution truncated to [low, high]. Throws Error unless low < high.
/// (torch.nn.init.trunc_normal_)
Tensor truncatedNormal(const Tensor &key, const std::vector<Extent> &extents, double mean = 0,
                       double deviation = 1, double low = -2, double high = 2,
                       Here here = Here::current());

/// Preserves the variance through a ReLU with this slope below 0 (He et al., ICCV'15): the standard
/// deviation is sqrt(2 / (1 + slope^2) / fan). `fan`: the names of the fan-in, or those of the
/// fan-out (PyTorch's modes fan_in and fan_out). Throws Error for a name that is not among the
/// extents. (torch.nn.init.kaiming_uniform_, kaiming_normal_)
Tensor kaimingUniform(const Tensor &key, const std::vector<Extent> &extents, const Names &fan,
                      double slope = 0, Here here = Here::current());
Tensor kaimingNormal(const Tensor &key, const std::vector<Extent> &extents, const Names &fan,
                     double slope = 0, Here here = Here::current());

/// Preserves the variance forwards and backwards (Glorot and Bengio, AISTATS'10): the standard
/// deviation is gain * sqrt(2 / (fan of `in` + fan of `out`)). A name in both lists (a window's)
/// counts in both fans. (torch.nn.init.xavier_uniform_, xavier_normal_)
Tensor glorotUniform(const Tensor &key, const std::vector<Extent> &extents, const Names &in,
                     const Names &out, double gain = 1, Here here = Here::current());
Tensor glorotNormal(const Tensor &key, const std::vector<Extent> &extents, const Names &in,
                    const Names &out, double gain = 1, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_INITIALIZERS_H
