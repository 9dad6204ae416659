//===- Pooling.h - pooling with options -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pooling with a window for each name and the options of PyTorch's classes. Convolution.h has
// shorter functions for equal windows without options.
//
//     Tensor y = nn::maxPool(x, {{row, {.size = 3, .stride = 2}}, {column, {.size = 2}}},
//                            {.ceil = true});
//     Tensor z = nn::averagePool(x, {{row, {.size = 3}}}, {.divisor = 2});
//     Tensor u = nn::adaptiveMaxPool(x, over(row, column), {{row, 5}, {column, 7}});
//
// The positions of the maxima are one tensor of coordinates for each name, as `gather` takes them:
//
//     nn::Pooled p = nn::maxPoolPlaces(x, {over(row, column), {.size = 2, .stride = 2}});
//     Tensor same = other.gather(p.at);                        // the elements of `other` there
//     Tensor sparse = nn::maxUnpool(p.values, p.at, {{row, 28}, {column, 28}});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_POOLING_H
#define HEDDLE_NN_POOLING_H

#include "heddle/nn/Convolution.h"

namespace heddle::nn {

struct MaxPoolOptions {
  /// Rounds the number of windows up instead of down, which adds a window that begins before the
  /// end and reaches beyond it (ceil_mode). Padding `Same` has these windows in any case.
  bool ceil = false;
};
/// The largest element of each window (torch.nn.MaxPool1d to 3d); NaN if one is NaN. Padding is
/// never chosen. Throws Error for a window larger than `x` and its padding.
Tensor maxPool(const Tensor &x, const Windows &windows, const MaxPoolOptions &options = {},
               Here here = Here::current());

/// The largest elements and their positions: coordinates (i64) for each pooled name.
struct Pooled {
  Tensor values;
  std::vector<std::pair<Name, Tensor>> at;
};
/// The same with the positions of the elements in `x`, without padding (return_indices). Of equal
/// elements the first is chosen, row-major over the sorted names; if there are NaNs, the first NaN.
Pooled maxPoolPlaces(const Tensor &x, const Windows &windows, const MaxPoolOptions &options = {},
                     Here here = Here::current());
/// A tensor with the sizes `extents` that has `values` at the positions `at` and zeros elsewhere
/// (torch.nn.MaxUnpool1d to 3d). No position may occur twice, as it can with overlapping windows.
Tensor maxUnpool(const Tensor &values, const std::vector<std::pair<Name, Tensor>> &at,
                 const std::vector<Extent> &extents, Here here = Here::current());

struct AveragePoolOptions {
  bool ceil = false; ///< as in MaxPoolOptions
  /// The mean includes the zeros of the padding. It never includes elements that `ceil` adds beyond
  /// the padding.
  bool countPadding = true;
  std::optional<int64_t> divisor = {}; ///< divides window sums, instead of the number of elements
};
/// The mean of each window (torch.nn.AvgPool1d to 3d). Throws Error for a divisor of 0.
Tensor averagePool(const Tensor &x, const Windows &windows, const AveragePoolOptions &options = {},
                   Here here = Here::current());

/// The largest elements of `parts` ranges of nearly equal length along each name: of n elements
/// range i has those from floor(i * n / parts) to below ceil((i + 1) * n / parts)
/// (torch.nn.AdaptiveMaxPool1d to 3d). Throws Error for parts below 1, and for no elements.
Tensor adaptiveMaxPool(const Tensor &x, const Names &along, const PerName &parts,
                       Here here = Here::current());
Pooled adaptiveMaxPoolPlaces(const Tensor &x, const Names &along, const PerName &parts,
                             Here here = Here::current());
/// The mean of each of these ranges (torch.nn.AdaptiveAvgPool1d to 3d).
Tensor adaptiveAveragePool(const Tensor &x, const Names &along, const PerName &parts,
                           Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_POOLING_H
