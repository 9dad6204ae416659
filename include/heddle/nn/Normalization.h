//===- Normalization.h - normalisation layers -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     nn::LayerNorm norm = nn::LayerNorm::make({{feature, 512}});
//     x = norm(x, feature);
//     nn::BatchNorm each = nn::BatchNorm::make({channel, 64});
//     x = each(x, over(batch, row, column), mode);           // moments: in the mode (Mode.h)
//     nn::GroupNorm groups = nn::GroupNorm::make({channel, 64}, 32);
//     x = groups(x, channel, over(row, column));
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_NORMALIZATION_H
#define HEDDLE_NN_NORMALIZATION_H

#include "heddle/nn/Mode.h"

namespace heddle::nn {

/// (x - mean) / sqrt(variance + epsilon) * scale + shift, with the moments of `x` over some names,
/// which scale and shift have (Ba, Kiros, Hinton, 2016; torch.nn.LayerNorm).
struct LayerNorm {
  Tensor scale, shift;
  HEDDLE_FIELDS(scale, shift)
  double epsilon = 1e-5;
  /// `extents`: the names to normalise over.
  static LayerNorm make(const std::vector<Extent> &extents, double epsilon = 1e-5,
                        Here here = Here::current());
  Tensor operator()(const Tensor &x, const Names &over, Here here = Here::current()) const;
};

/// x / sqrt(mean of x^2 + epsilon) * scale, with the mean over some names, which scale has (Zhang
/// and Sennrich, 2019; torch.nn.RMSNorm, whose default epsilon is that of f32).
struct RmsNorm {
  Tensor scale;
  HEDDLE_FIELDS(scale)
  double epsilon = 0x1p-23;
  static RmsNorm make(const std::vector<Extent> &extents, double epsilon = 0x1p-23,
                      Here here = Here::current());
  Tensor operator()(const Tensor &x, const Names &over, Here here = Here::current()) const;
};

/// Normalises each sample's groups of channels to mean 0 and variance 1, then scales and shifts
/// each channel (Wu and He, 2018; torch.nn.GroupNorm). With one group for each channel it is
/// instance normalisation.
struct GroupNorm {
  Tensor scale, shift;
  HEDDLE_FIELDS(scale, shift)
  int64_t groups = 1;
  double epsilon = 1e-5;
  /// Throws Error for groups that don't divide the channels.
  static GroupNorm make(const Extent &channel, int64_t groups, double epsilon = 1e-5,
                        Here here = Here::current());
  /// `over`: the positions to normalise over, besides the channels of a group.
  Tensor operator()(const Tensor &x, const Name &channel, const Names &over,
                    Here here = Here::current()) const;
};

/// Normalises each channel to mean 0 and variance 1 over the batch and all positions, then scales
/// and shifts it (Ioffe and Szegedy, ICML'15; torch.nn.BatchNorm1d to 3d). Training uses the
/// moments of `x` and updates the mode's running moments; evaluation uses the running moments.
struct BatchNorm {
  Tensor scale, shift;
  HEDDLE_FIELDS(scale, shift)
  MomentsSlot slot;
  double momentum = 0.1; ///< the weight of the new moments in the running ones
  double epsilon = 1e-5;
  static BatchNorm make(const Extent &channel, double momentum = 0.1, double epsilon = 1e-5,
                        Here here = Here::current());
  Tensor operator()(const Tensor &x, const Names &over, Mode &mode,
                    Here here = Here::current()) const;
  /// Normalises by the given moments of each channel, through which gradients flow
  /// (torch.nn.functional.batch_norm with training=False): (x - mean) / sqrt(variance + epsilon) *
  /// scale + shift. Narrow floats are computed in f32. Throws Error for moments with names that `x`
  /// lacks.
  ///
  ///     Tensor y = norm.with(moments.mean, moments.variance, x);
  Tensor with(const Tensor &mean, const Tensor &variance, const Tensor &x,
              Here here = Here::current()) const;
};

/// A weight as the product of a length and a normalised direction: direction * length /
/// |direction|, with norms along `over` (Salimans and Kingma, 2016;
/// torch.nn.utils.parametrizations.weight_norm):
///
///     nn::WeightNorm norm = nn::WeightNorm::make(linear.weight, in);
///     Tensor y = nn::Linear{norm(in), linear.bias}(x, in);
struct WeightNorm {
  Tensor direction, length;
  HEDDLE_FIELDS(direction, length)
  static WeightNorm make(const Tensor &weight, const Names &over, Here here = Here::current());
  Tensor operator()(const Names &over, Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_NORMALIZATION_H
