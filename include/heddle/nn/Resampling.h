//===- Resampling.h - tensors at other points -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor with other sizes along some names, or its values at computed points between elements:
//
//     Tensor larger = nn::resample(x, {{row, 56}, {column, 56}}, {.by = nn::Interpolation::Cubic});
//     Tensor half = nn::resampleBy(x, {{row, 0.5}, {column, 0.5}});
//     Tensor y = nn::gridSample(x, {{row, v}, {column, u}});   // u, v: any names, from -1 to 1
//
// Element i of n lies at (i + 0.5) / n of the whole, in the middle of its share. With `alignCorners`
// it lies at i / (n - 1), so that the first and the last elements keep their places.
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
  Nearest,      ///< the element whose share has the beginning of the new one ("nearest" in PyTorch)
  NearestExact, ///< the element whose share has the middle of the new one ("nearest-exact")
  Linear,       ///< between two elements along each name ("linear", "bilinear", "trilinear")
  Cubic         ///< between four, by cubic convolution with a = -0.75 ("bicubic")
};

struct ResampleOptions {
  Interpolation by = Interpolation::Linear;
  bool alignCorners = false; ///< of Linear and Cubic
};

/// `x` with other sizes of some names (torch.nn.functional.interpolate with `size`). Beyond the
/// first and the last element they are repeated. Throws Error for sizes below 1, of `x` or new ones,
/// and for alignCorners with nearest elements.
Tensor resample(const Tensor &x, const std::vector<Extent> &sizes,
                const ResampleOptions &options = {}, Here here = Here::current());
/// The same by factors: of n elements along a name floor(n * factor) are made, and the distance
/// between two of them is 1 / factor (interpolate with `scale_factor`). If n is symbolic, the factor
/// times 1024 has to be a whole number. Throws Error for factors that are not above 0.
Tensor resampleBy(const Tensor &x, const std::vector<std::pair<Name, double>> &factors,
                  const ResampleOptions &options = {}, Here here = Here::current());

/// The elements outside of a tensor: zeros, its first and last elements, or its mirror image.
enum class Beyond { Zero, Edge, Mirror };

struct GridOptions {
  Interpolation by = Interpolation::Linear; ///< Linear or Nearest, that is the nearest point
  Beyond beyond = Beyond::Zero;
  bool alignCorners = false;
};

/// The values of `x` at the points `at`: a tensor of floats for each name that is left, in which -1
/// is the beginning and 1 the end of the name (torch.nn.functional.grid_sample, "bilinear" and
/// "nearest", for any number of names). As in `gather`, names that `x` shares with these tensors
/// belong together; their other names are added. A point that is NaN gives NaN, also where PyTorch
/// takes it for an edge. What zeros hide reaches neither values nor gradients.
///
/// The slope with respect to a point is that between the elements around it, from an element to the
/// next one at the element itself; it is 0 where an edge is repeated. Throws Error for no names and
/// for points that are no floats.
Tensor gridSample(const Tensor &x, const std::vector<std::pair<Name, Tensor>> &at,
                  const GridOptions &options = {}, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_RESAMPLING_H
