//===- Speech.h - layers for sequences of frames ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     x = nn::specAugment(x, time, band, {.bands = 2, .widestBand = 27}, mode);   // in training
//     nn::Conformer layer = nn::Conformer::make(time, {feature, 256}, key(1), {.heads = 4});
//     x = layer(x, time, feature, mode, {.lengths = length});
//     auto block = nn::TimeDepthSeparable::make(time, {band, 80}, {channel, 10}, 21, key(2));
//     y = block(y, time, band, channel, mode);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_SPEECH_H
#define HEDDLE_NN_SPEECH_H

#include "heddle/nn/Convolution.h"
#include "heddle/nn/Transformer.h"

namespace heddle::nn {

struct SpecAugmentOptions {
  int64_t bands = 2, widestBand = 27; ///< number of masks of adjacent bands; widths are 0 to widest
  int64_t spans = 2, longestSpan = 100; ///< number of masks of adjacent times
  double longestPart = 1;               ///< the largest fraction of all times that one span masks
};
/// SpecAugment: sets random bands and spans of each sample to zero in training; returns x unchanged
/// in evaluation (Park et al., 2019).
Tensor specAugment(const Tensor &x, const Name &time, const Name &band,
                   const SpecAugmentOptions &options, Mode &mode, Here here = Here::current());

struct ConformerOptions {
  int64_t heads = 4, hidden = 1024, window = 31; ///< window: of the convolution along time
  double dropout = 0.1;
  Attention::Options attention = {}; ///< its dropout is replaced by `dropout`
};

/// A Conformer block: a feed-forward network with half weight, attention, a convolution along time,
/// and a second half-weight feed-forward network, each with a residual, then a normalisation
/// (Gulati et al., 2020, section 2; torchaudio's ConformerLayer).
struct Conformer {
  FeedForward first, last;
  Attention attention;
  Linear widen, narrow; ///< around the convolution
  Conv conv;            ///< of each feature by itself
  BatchNorm convNorm;
  std::vector<LayerNorm> norms; ///< before each part, and at the end
  HEDDLE_FIELDS(first, last, attention, widen, narrow, conv, convNorm, norms)
  ConformerOptions options = {};
  static Conformer make(const Name &time, const Extent &feature, const Tensor &key,
                        const ConformerOptions &options = {}, Here here = Here::current());
  Tensor operator()(const Tensor &x, const Name &time, const Name &feature, Mode &mode,
                    const Attend &attend = {}, Here here = Here::current()) const;
};

/// A time-depth separable block: a convolution along time for each band, then two linear maps over
/// all bands and channels; each of the two parts has a residual and a normalisation over the bands
/// and channels of each step (Hannun et al., 2019; Flashlight's TDSBlock).
struct TimeDepthSeparable {
  Conv conv;
  Linear up, down;
  LayerNorm convNorm, norm; ///< of bands and channels
  HEDDLE_FIELDS(conv, up, down, convNorm, norm)
  double dropout = 0;
  static TimeDepthSeparable make(const Name &time, const Extent &band, const Extent &channel,
                                 int64_t window, const Tensor &key, double dropout = 0,
                                 Here here = Here::current());
  Tensor operator()(const Tensor &x, const Name &time, const Name &band, const Name &channel,
                    Mode &mode, Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_SPEECH_H
