//===- Pooling.h - pooling with options -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pooling whose windows differ from name to name, with the options of PyTorch's classes. Where all
// windows are alike and nothing else is asked for, Convolution.h has shorter functions.
//
//     Tensor y = nn::maxPool(x, {{row, {.size = 3, .stride = 2}}, {column, {.size = 2}}}, {.ceil = true});
//     Tensor z = nn::averagePool(x, {{row, {.size = 3}}}, {.divisor = 2});
//     Tensor u = nn::adaptiveMaxPool(x, over(row, column), {{row, 5}, {column, 7}});
//
// The places of the maxima are one tensor of coordinates for each name, as `gather` takes them:
//
//     nn::Pooled p = nn::maxPoolPlaces(x, {over(row, column), {.size = 2, .stride = 2}});
//     Tensor same = other.gather(p.at);                        // what `other` has at these places
//     Tensor sparse = nn::maxUnpool(p.values, p.at, {{row, 28}, {column, 28}});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_POOLING_H
#define HEDDLE_NN_POOLING_H

#include "heddle/nn/Convolution.h"

namespace heddle::nn {

struct MaxPoolOptions {
  /// Also windows that reach over the end, if they begin before it: ceil instead of floor in the
  /// number of windows (ceil_mode). Windows with padding `Same` are these already.
  bool ceil = false;
};
/// The largest element of each window (torch.nn.MaxPool1d to 3d); NaN if one is NaN. Padding takes
/// no part. Throws Error for a window larger than `x` and its padding.
Tensor maxPool(const Tensor &x, const Windows &windows, const MaxPoolOptions &options = {},
               Here here = Here::current());

/// Largest elements, and where they are: a coordinate (i64) for each name that is pooled along.
struct Pooled {
  Tensor values;
  std::vector<std::pair<Name, Tensor>> at;
};
/// The same with the places of the elements, in `x` without padding (return_indices). Of equal
/// elements it is the first, row-major in the order of the names' spellings; of NaN the first NaN.
Pooled maxPoolPlaces(const Tensor &x, const Windows &windows, const MaxPoolOptions &options = {},
                     Here here = Here::current());
/// Zeros along `extents`, and `values` at the places `at` (torch.nn.MaxUnpool1d to 3d). No place may
/// occur twice, as it does where windows overlap.
Tensor maxUnpool(const Tensor &values, const std::vector<std::pair<Name, Tensor>> &at,
                 const std::vector<Extent> &extents, Here here = Here::current());

struct AveragePoolOptions {
  bool ceil = false; ///< as in MaxPoolOptions
  /// Zeros of the padding count as elements. What `ceil` adds beyond the padding never counts.
  bool countPadding = true;
  std::optional<int64_t> divisor = {}; ///< of each window's sum, instead of its number of elements
};
/// The mean of each window (torch.nn.AvgPool1d to 3d). Throws Error for a divisor of 0.
Tensor averagePool(const Tensor &x, const Windows &windows, const AveragePoolOptions &options = {},
                   Here here = Here::current());

/// The largest elements of ranges that cover each name as evenly as can be, as many as `parts` says:
/// of n elements range i has those from floor(i * n / parts) to below ceil((i + 1) * n / parts)
/// (torch.nn.AdaptiveMaxPool1d to 3d). Throws Error for parts below 1, and for no elements.
Tensor adaptiveMaxPool(const Tensor &x, const Names &along, const PerName &parts,
                       Here here = Here::current());
Pooled adaptiveMaxPoolPlaces(const Tensor &x, const Names &along, const PerName &parts,
                             Here here = Here::current());
/// The means of such ranges.
Tensor adaptiveAveragePool(const Tensor &x, const Names &along, const PerName &parts,
                           Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_POOLING_H
