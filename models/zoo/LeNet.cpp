//===- LeNet.cpp - two convolutions, three linear maps --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, 1998,
// with ReLUs and maxima instead of sigmoids and means. 61,706 parameters.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

namespace heddle::zoo {
namespace {
struct LeNet {
  nn::Conv first, second;
  nn::Linear wide, middle, last;
  HEDDLE_FIELDS(first, second, wide, middle, last)

  Tensor operator()(Tensor x, nn::Mode &mode) const {
    auto shrunk = [](const Tensor &x) {
      return nn::maxPool(relu(x), place, {.size = 2, .stride = 2});
    };
    x = mode.seen("first", shrunk(first(x, place, channel, out)));
    x = mode.seen("second", shrunk(second(x, place, channel, out)));
    x = mode.seen("wide", relu(wide(x, over(channel, row, column))));
    x = mode.seen("middle", relu(middle(x, hidden)));
    return mode.seen("last", last(x, out));
  }
};
} // namespace

static Registered leNet("lenet", "LeCun et al., 1998", [](Size size) {
  Images images = pick<Images>(size, {.side = 16}, {}, {});
  int64_t narrow = pick(size, 2, 6, 6), wide = pick(size, 3, 16, 16);
  int64_t grid = (images.side / 2 - 4) / 2;
  Extent units{hidden, pick(size, 7, 120, 120)}, fewer{out, pick(size, 5, 84, 84)};
  LeNet net{convolution(windowsOf(5), images.channels, narrow, key(1)),
            convolution({place, {.size = 5}}, narrow, wide, key(2)),
            nn::Linear::make({{channel, wide}, {row, grid}, {column, grid}}, units, key(3)),
            nn::Linear::make({units}, fewer, key(4)),
            nn::Linear::make({fewer}, {classes, images.classes}, key(5))};
  return Setting<LeNet>{net, classify<LeNet>, dataOf(images), trained(6, 2e-3, 0.88)};
});

} // namespace heddle::zoo
