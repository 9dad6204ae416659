//===- Resampling.h - interpolation -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interpolates a tensor to other sizes of some names, or at computed points between elements:
//
//     Tensor larger = nn::resample(x, {{row, 56}, {column, 56}}, {.by = nn::Interpolation::Cubic});
//     Tensor half = nn::resampleBy(x, {{row, 0.5}, {column, 0.5}});
//     Tensor y = nn::gridSample(x, {{row, v}, {column, u}});   // u, v: any names, from -1 to 1
//
// Element i of n lies at (i + 0.5) / n of the whole, in the middle of its cell. With `alignCorners`
// it lies at i / (n - 1), so that the first and the last elements stay at the ends.
//
// Floats of less than 32 bits are computed in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_RESAMPLING_H
#define HEDDLE_NN_RESAMPLING_H

#include "heddle/Ops.h"

#include <utility>
#include <vector>

namespace heddle::nn {

enum class Interpolation {
  Nearest,      ///< the element in whose cell the new cell begins ("nearest" in PyTorch)
  NearestExact, ///< the element whose cell has the middle of the new cell ("nearest-exact")
  Linear,       ///< between two elements along each name ("linear", "bilinear", "trilinear")
  Cubic         ///< between four, by cubic convolution with a = -0.75 ("bicubic")
};

struct ResampleOptions {
  Interpolation by = Interpolation::Linear;
  bool alignCorners = false; ///< of Linear and Cubic
};

/// `x` with other sizes of some names (torch.nn.functional.interpolate with `size`). Beyond the
/// ends the first or last element is repeated. Throws Error for an old or new size below 1, and for
/// alignCorners with Nearest or NearestExact.
Tensor resample(const Tensor &x, const std::vector<Extent> &sizes,
                const ResampleOptions &options = {}, Here here = Here::current());
/// The same by factors: n elements become floor(n * factor), at distances of 1 / factor
/// (interpolate with `scale_factor`). For a symbolic n, factor * 1024 must be a whole number.
/// Throws Error for factors that are not above 0.
Tensor resampleBy(const Tensor &x, const std::vector<std::pair<Name, double>> &factors,
                  const ResampleOptions &options = {}, Here here = Here::current());

/// The elements beyond the ends of a tensor: zeros, its first or last element, or its mirror image.
enum class Beyond { Zero, Edge, Mirror };

struct GridOptions {
  Interpolation by = Interpolation::Linear; ///< Linear, or Nearest: the nearest element
  Beyond beyond = Beyond::Zero;
  bool alignCorners = false;
};

/// The values of `x` at the points `at`: for each interpolated name a float tensor of coordinates,
/// where -1 is the beginning and 1 the end of the name (torch.nn.functional.grid_sample, "bilinear"
/// and "nearest", for any number of names). As in `gather`, names that `x` shares with these
/// tensors are aligned; their other names are added. A coordinate that is NaN gives NaN, also where
/// PyTorch treats it as an edge. Elements that Beyond::Zero replaces affect neither values nor
/// gradients.
///
/// The gradient with respect to a coordinate is the difference of the elements around it (at an
/// element: of it and the next one); it is 0 where an edge is repeated. Throws Error for no names
/// and for points that are not floats.
Tensor gridSample(const Tensor &x, const std::vector<std::pair<Name, Tensor>> &at,
                  const GridOptions &options = {}, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_RESAMPLING_H
