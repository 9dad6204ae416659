//===- Convolution.h - convolutions and pooling -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     // 7x7 windows, every second one, over images with 3 channels; 64 new channels.
//     nn::Conv first = nn::Conv::make(
//         {over(row, column), {.size = 7, .stride = 2, .padding = Same}},
//         {channel, 3}, {out, 64}, key(1));
//     x = relu(first(x, over(row, column), channel, out));
//     x = nn::maxPool(x, over(row, column), {.size = 3, .stride = 2, .padding = Same});
//     x = mean(x, over(row, column));                               // global pooling
//
//     // Different windows along each name, no bias, depthwise (each channel by itself).
//     nn::Conv::make({{row, {.size = 1}}, {column, {.size = 7, .padding = Same}}},
//                    {channel, 64}, {out, 64}, key(2), {.groups = 64, .bias = false});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_CONVOLUTION_H
#define HEDDLE_NN_CONVOLUTION_H

#include "heddle/Ops.h"
#include "heddle/Tree.h"

namespace heddle::nn {

/// Padding as PyTorch counts it: the same number on both sides.
inline Padding padded(int64_t eachSide) { return Padding::explicitly(eachSide, eachSide); }

/// The windows along several names: the same options for all, or different ones for each.
struct Windows {
  std::map<std::string, WindowOptions> along;
  HEDDLE_PLAIN(along)
  Windows() = default;
  Windows(const Names &names, const WindowOptions &options) {
    for (const Name &name : names)
      along[name.str()] = options;
  }
  Windows(std::initializer_list<std::pair<Name, WindowOptions>> each) {
    for (const auto &[name, options] : each)
      along[name.str()] = options;
  }
};

/// A number for all names, or one for each: `1`, `{{row, 1}, {column, 0}}`.
struct PerName {
  int64_t others = 0; ///< of names that are not in `along`
  std::map<std::string, int64_t> along;
  HEDDLE_PLAIN(others, along)
  PerName(int64_t all = 0) : others(all) {}
  PerName(std::initializer_list<std::pair<Name, int64_t>> each) {
    for (const auto &[name, number] : each)
      along[name.str()] = number;
  }
  int64_t of(const std::string &name) const {
    auto found = along.find(name);
    return found == along.end() ? others : found->second;
  }
};

struct ConvOptions {
  int64_t groups = 1; ///< of channels; each group of outputs reads one group of inputs
  bool bias = true;
  bool transposed = false;
  /// Additional elements at the end of the result of a transposed convolution (PyTorch's
  /// output_padding). Less than the larger of stride and dilation.
  PerName outputPadding = 0;
};

/// A convolution over 1 to 3 names (torch.nn.Conv1d to Conv3d; transposed: ConvTranspose1d to 3d,
/// the adjoint of the convolution with the same windows).
struct Conv {
  Tensor weight; ///< names: `in` (of one group), `out`, and `row_k` for the taps along `row`
  std::optional<Tensor> bias;
  HEDDLE_FIELDS(weight, bias)
  Windows windows;
  ConvOptions options = {};
  /// Draws weights and bias from [-b, b) with b = 1/sqrt(inputs of a window), as PyTorch. Throws
  /// Error for channels that the groups don't divide, and for an output padding that is too large
  /// or along no window.
  static Conv make(const Windows &windows, const Extent &in, const Extent &out, const Tensor &key,
                   const ConvOptions &options = {}, Here here = Here::current());
  /// `along`: the names of the windows. The result has `out` renamed to `in`.
  Tensor operator()(const Tensor &x, const Names &along, const Name &in, const Name &out,
                    Here here = Here::current()) const;
};

/// The largest element of each window (torch.nn.MaxPool1d to 3d); padding is never chosen. Throws
/// Error for a window larger than `x` and its padding.
Tensor maxPool(const Tensor &x, const Names &along, const WindowOptions &window,
               Here here = Here::current());
/// The mean of each window (torch.nn.AvgPool1d to 3d); zeros of the padding count as elements
/// unless `countPadding` is false.
Tensor averagePool(const Tensor &x, const Names &along, const WindowOptions &window,
                   bool countPadding = true, Here here = Here::current());
/// The means of `parts` ranges of nearly equal length along each name: of n elements range i has
/// those from floor(i * n / parts) to below ceil((i + 1) * n / parts) (torch.nn.AdaptiveAvgPool1d
/// to 3d). Throws Error for parts below 1, and for no elements.
Tensor adaptiveAveragePool(const Tensor &x, const Names &along, int64_t parts,
                           Here here = Here::current());
/// Repeats each element `times` times along each name (torch.nn.Upsample, "nearest"). Throws Error
/// for `times` below 1.
Tensor repeated(const Tensor &x, const Names &along, int64_t times, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_CONVOLUTION_H
