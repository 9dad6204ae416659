//===- Convolution.cpp - convolutions and pooling -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Convolution.h"

#include "lib/nn/LayerUtils.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

Conv Conv::make(const Windows &windows, const Extent &in, const Extent &out, const Tensor &key,
                const ConvOptions &options, Here here) {
  CallScope scope(here);
  for (const Extent &channels : {in, out})
    if (options.groups < 1 || int64_t(channels.size) % options.groups)
      refuse("expected groups that divide '" + channels.name.str() + "' of size " +
                 std::to_string(channels.size) + ", got " + std::to_string(options.groups),
             here);
  for (const auto &[name, more] : options.outputPadding.along)
    if (!windows.along.contains(name))
      refuse("expected output paddings of the names that the windows move along, " +
                 quoted(keysOf(windows.along)) + ", got one of '" + name + "'",
             here);
  std::vector<Extent> extents;
  double inputs = double(in.size) / double(options.groups);
  for (const auto &[name, window] : windows.along) {
    int64_t more = options.outputPadding.of(name);
    int64_t bound =
        window.padding.kind == Padding::Kind::Same ? 1 : std::max(window.stride, window.dilation);
    if (!options.transposed && more != 0)
      refuse("expected an output padding of a transposed convolution only, got " +
                 std::to_string(more) + " along '" + name + "'",
             here);
    if (options.transposed && (more < 0 || more >= bound))
      refuse("expected an output padding from 0 to below " + std::to_string(bound) + " along '" +
                 name + "', got " + std::to_string(more),
             here);
    extents.push_back({Name(name + "_k"), window.size});
    inputs *= double(window.size);
  }
  extents.push_back({in.name, in.size / options.groups});
  extents.push_back(out);
  double bound = 1 / std::sqrt(std::max(inputs, 1.0)); // inputs may be 0
  Conv layer{uniform(key, extents, -bound, bound, here), {}, windows, options};
  if (options.bias)
    layer.bias = uniform(biasKey(key), {out}, -bound, bound, here);
  return layer;
}

/// The input size of the convolution whose adjoint yields `windows` windows.
static Size transposedSize(const Size &windows, const WindowOptions &window, int64_t more) {
  if (window.padding.kind == Padding::Kind::Same)
    return windows * window.stride;
  return (windows - 1) * window.stride + (window.size - 1) * window.dilation + 1 + more -
         window.padding.low - window.padding.high;
}

Tensor Conv::operator()(const Tensor &x, const Names &along, const Name &in, const Name &out,
                        Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  if (along.size() != windows.along.size())
    refuse("expected all names that the windows move along, " + quoted(keysOf(windows.along)) +
               ", got " + std::to_string(along.size()) + " of them",
           here);
  Names summed{in};
  Name group = options.groups > 1 ? fresh("group") : in;
  Tensor input = x, taps = weight;
  if (options.groups > 1) {
    input = x.split(in, {{group, options.groups}, {in, x.size(in) / options.groups}});
    taps = weight.split(out, {{group, options.groups}, {out, weight.size(out) / options.groups}});
  }
  std::map<std::string, Name> tapOf;
  for (const Name &name : along) {
    auto window = windows.along.find(name.str());
    if (window == windows.along.end() || !tapOf.emplace(name.str(), fresh(name.str())).second)
      refuse("expected the names that the windows move along, " + quoted(keysOf(windows.along)) +
                 ", each once, got '" + name.str() + "'",
             here);
    const Name &tap = tapOf.at(name.str());
    taps = taps.rename({{Name(name.str() + "_k"), tap}});
    if (options.transposed)
      continue;
    input = input.window(name, tap, window->second);
    summed.push_back(tap);
  }
  requireNames(input, taps, summed, here);
  Tensor y = sum(input * taps, summed);
  if (options.transposed)
    for (const Name &name : along) {
      const WindowOptions &window = windows.along.at(name.str());
      int64_t more = options.outputPadding.of(name.str());
      // With a stride below the dilation the convolution may have further windows, whose elements
      // are zero.
      if (more >= window.stride)
        y = y.pad(name, 0, more / window.stride);
      y = y.unwindow(name, tapOf.at(name.str()), window,
                     transposedSize(x.size(name), window, more));
    }
  if (options.groups > 1)
    y = y.merge({group, out}, out);
  return (bias ? y + *bias : y).rename({{out, in}});
}

/// `reduce` over the elements of each window.
template <typename F>
static Tensor pool(const Tensor &x, const Names &along, const WindowOptions &window, F &&reduce) {
  Tensor windows = x;
  Names taps;
  for (size_t i = 0; i < along.size(); ++i)
    if (std::ranges::count(along, along[i]) > 1)
      refuse("expected each name to pool along once, got '" + along[i].str() + "' twice",
             Here::current());
  for (const Name &name : along) {
    taps.push_back(fresh(name.str()));
    windows = windows.window(name, taps.back(), window);
  }
  return reduce(windows, taps);
}

static WindowOptions excluded(WindowOptions window) {
  if (window.padding.kind != Padding::Kind::Valid)
    window.padding = window.padding.excluded();
  return window;
}

Tensor nn::maxPool(const Tensor &x, const Names &along, const WindowOptions &window, Here here) {
  CallScope scope(here);
  return pool(x, along, excluded(window),
              [](const Tensor &windows, const Names &taps) { return max(windows, taps); });
}

Tensor nn::averagePool(const Tensor &x, const Names &along, const WindowOptions &window,
                       bool countPadding, Here here) {
  CallScope scope(here);
  return pool(x, along, countPadding ? window : excluded(window),
              [](const Tensor &windows, const Names &taps) { return mean(windows, taps); });
}

/// The mean of each of the ranges along one name.
static Tensor rangeMeans(const Tensor &x, const Name &name, int64_t parts) {
  int64_t size = x.size(name);
  if (size == parts)
    return x;
  Name part = fresh("part"), within = fresh("within");
  if (size % parts == 0)
    return mean(x.split(name, {{part, parts}, {within, size / parts}}), within)
        .rename({{part, name}});
  Tensor number = iota({part, parts}), place = iota({name, size}).broadcast({{part, parts}});
  Tensor first = number * double(size) / double(parts);
  Tensor end = ((number + 1.0) * double(size) + double(parts - 1)) / double(parts);
  // Elements of other parts may be infinite, so they are selected away, not multiplied by 0.
  Tensor wide = widened(x), inside = logicalAnd(place >= first, place < end);
  Tensor total = sum(select(inside, wide, 0.0), name);
  return (total / (end - first).cast(wide.elementType()))
      .cast(x.elementType())
      .rename({{part, name}});
}

Tensor nn::adaptiveAveragePool(const Tensor &x, const Names &along, int64_t parts, Here here) {
  CallScope scope(here);
  requireHas(x, along, here);
  Tensor means = x;
  for (const Name &name : along) {
    if (parts < 1 || int64_t(x.size(name)) < 1)
      refuse("expected at least 1 part of at least 1 element of '" + name.str() + "', got " +
                 std::to_string(parts) + " of " + std::to_string(int64_t(x.size(name))),
             here);
    means = rangeMeans(means, name, parts);
  }
  return means;
}

Tensor nn::repeated(const Tensor &x, const Names &along, int64_t times, Here here) {
  CallScope scope(here);
  requireHas(x, along, here);
  if (times < 1)
    refuse("expected each element at least once, got " + std::to_string(times) + " times", here);
  Tensor y = x;
  for (const Name &name : along) {
    Name copy = fresh("copy");
    y = y.broadcast({{copy, times}}).merge({name, copy}, name);
  }
  return y;
}
