//===- Pooling.cpp - pooling with options ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Pooling.h"

#include "lib/nn/LayerUtils.h"
#include "lib/nn/SizeAsTensor.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::nn;

namespace {
/// How a reduction treats taps outside of `x`: excluded, zero, or zero within the padding and
/// excluded beyond it.
enum class Outside { Excluded, Zero, ZeroThenExcluded };

/// Tap k of window o along `name` is element o * stride - low + k * dilation.
struct Tap {
  Name name, tap;
  int64_t stride, dilation;
  Tensor low; ///< the padding before the first element (i64)
};

/// The elements of windows along several names.
struct Taps {
  Tensor x;
  std::vector<Tap> taps;
  Names names() const {
    Names all;
    for (const Tap &each : taps)
      all.push_back(each.tap);
    return all;
  }
};
} // namespace

static void requirePooled(const Tensor &x, const Names &along, Here here) {
  if (along.empty())
    refuse("expected at least one name to pool along, got none", here);
  requireHas(x, along, here);
}

/// The padding before and after `whole` elements.
static std::pair<Expr, Expr> endsOf(const Expr &whole, const WindowOptions &options) {
  if (options.padding.kind != Padding::Kind::Same)
    return {options.padding.low, options.padding.high};
  // Enough for ceil(whole / stride) windows.
  int64_t reach = (options.size - 1) * options.dilation + 1;
  Expr total = Expr(reach - options.stride) + (Expr(0) - whole).mod(options.stride);
  total = Expr::max(total, Expr(0));
  return {total.floordiv(2), total - total.floordiv(2)};
}

/// Windows along `name`, whose size without padding is `whole`. With `ceil` the last window need
/// not fit, but begins before the end or within the padding before the first element. Padding by
/// stride - 1 further elements yields all these windows, and possibly one that begins beyond the
/// end, which is sliced off.
static Tensor windowsOf(const Tensor &x, const Expr &whole, const Name &name, const Name &tap,
                        WindowOptions options, bool ceil, Outside outside) {
  Padding &padding = options.padding;
  bool isSame = padding.kind == Padding::Kind::Same;
  int64_t low = padding.low, high = padding.high, beyond = ceil && !isSame ? options.stride - 1 : 0;
  if (outside == Outside::ZeroThenExcluded)
    padding = Padding::explicitly(0, beyond);
  else if (!isSame)
    padding = Padding::explicitly(low, high + beyond);
  padding.value = 0;
  padding.exclude = outside != Outside::Zero;
  Tensor windows = x.window(name, tap, options);
  if (beyond && high - (options.size - 1) * options.dilation - 1 + options.stride > 0)
    windows = windows.slice(name, 0, Size((whole + low).ceildiv(options.stride)));
  return windows;
}

static Names pooledNames(const Windows &windows) {
  Names names;
  for (const auto &[name, options] : windows.along)
    names.push_back(Name(name));
  return names;
}

static Taps tapsOf(const Tensor &x, const Windows &windows, bool ceil, Outside outside, Here here) {
  requirePooled(x, pooledNames(windows), here);
  Taps all{x, {}};
  // Elements that windows exclude can't be padded, so the zeros come first.
  if (outside == Outside::ZeroThenExcluded)
    for (const auto &[name, options] : windows.along) {
      auto [low, high] = endsOf(x.size(Name(name)).expr(), options);
      all.x = all.x.pad(Name(name), low, high);
    }
  for (const auto &[spelling, options] : windows.along) {
    Name name(spelling), tap = fresh(spelling);
    Expr whole = x.size(name).expr();
    Tensor low = widthOf({tap, endsOf(whole, options).first}, ElementType::I64);
    all.taps.push_back({name, tap, options.stride, options.dilation, low});
    all.x = windowsOf(all.x, whole, name, tap, options, ceil, outside);
  }
  return all;
}

/// Maxima over all taps and their indices, row-major over the taps. For a maximum that is NaN the
/// index is that of the first NaN, which argmax ignores.
static std::pair<Tensor, Tensor> maxima(const Tensor &x, const Names &taps) {
  Tensor values = max(x, taps), first = argmax(x, taps);
  if (isFloat(x.elementType()))
    first = select(isNan(values), argmax(isNan(x).cast(ElementType::I32), taps), first);
  return {values, first};
}

/// The coordinates along `names` of an element with the row-major index `number`.
static std::vector<Tensor> splitNumber(Tensor number, const Tensor &x, const Names &names) {
  std::vector<Tensor> coordinates(names.size());
  for (size_t i = names.size(); i-- > 0;) {
    Tensor size = widthOf({names[i], x.size(names[i])}, ElementType::I64);
    coordinates[i] = number % size;
    number = number / size;
  }
  return coordinates;
}

static Pooled placed(const Tensor &values, const Names &names, const std::vector<Tensor> &places) {
  Pooled result{values, {}};
  for (size_t i = 0; i < places.size(); ++i)
    result.at.push_back({names[i], places[i]});
  return result;
}

Tensor nn::maxPool(const Tensor &x, const Windows &windows, const MaxPoolOptions &options,
                   Here here) {
  CallScope scope(here);
  Taps all = tapsOf(x, windows, options.ceil, Outside::Excluded, here);
  return max(all.x, all.names());
}

Pooled nn::maxPoolPlaces(const Tensor &x, const Windows &windows, const MaxPoolOptions &options,
                         Here here) {
  CallScope scope(here);
  Taps all = tapsOf(x, windows, options.ceil, Outside::Excluded, here);
  auto [values, number] = maxima(all.x, all.names());
  std::vector<Tensor> places;
  for (const Tap &tap : all.taps) {
    Tensor window = iota({tap.name, values.size(tap.name)});
    places.push_back(window * double(tap.stride) - tap.low);
  }
  std::vector<Tensor> numbers = splitNumber(number, all.x, all.names());
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = places[i] + numbers[i] * double(all.taps[i].dilation);
  return placed(values, pooledNames(windows), places);
}

Tensor nn::maxUnpool(const Tensor &values, const std::vector<std::pair<Name, Tensor>> &at,
                     const std::vector<Extent> &extents, Here here) {
  CallScope scope(here);
  std::vector<std::string> given, placed;
  std::vector<Extent> all = extents;
  for (const Extent &extent : extents)
    given.push_back(extent.name.str());
  for (const auto &[name, place] : at)
    placed.push_back(name.str());
  std::ranges::sort(given);
  std::ranges::sort(placed);
  if (given != placed)
    refuse("expected sizes of the names that have places, " + quoted(placed) + ", got " +
               (given.empty() ? "none" : quoted(given)),
           here);
  // In `values` the names count windows. They are renamed, since in the result the same names count
  // elements.
  std::vector<Rename> windows;
  for (const std::string &name : placed)
    windows.push_back({Name(name), fresh(name)});
  for (const Extent &extent : values.extents())
    if (!std::ranges::count(placed, extent.name.str()))
      all.push_back(extent);
  std::vector<std::pair<Name, Tensor>> places;
  for (const auto &[name, place] : at)
    places.push_back({name, renameExisting(place, windows)});
  return scatterUnique(zeros(all, values.elementType()), places, renameExisting(values, windows));
}

Tensor nn::averagePool(const Tensor &x, const Windows &windows, const AveragePoolOptions &options,
                       Here here) {
  CallScope scope(here);
  if (!options.divisor) {
    Outside outside = !options.countPadding ? Outside::Excluded
                      : options.ceil        ? Outside::ZeroThenExcluded
                                            : Outside::Zero;
    Taps all = tapsOf(x, windows, options.ceil, outside, here);
    return mean(all.x, all.names());
  }
  if (*options.divisor == 0)
    refuse("expected a divisor other than 0", here);
  Taps all = tapsOf(widened(x), windows, options.ceil, Outside::Zero, here);
  return (sum(all.x, all.names()) / double(*options.divisor)).cast(x.elementType());
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

namespace {
/// The elements of ranges along several names: in `x` each name counts ranges, and a name of
/// `within` the elements of a range. `first` is each range's first element.
struct Parts {
  Tensor x;
  Names within;
  std::vector<Tensor> first;
};
} // namespace

/// Ranges shorter than the longest repeat their last element, which changes neither the maximum nor
/// the first of equal elements.
static void addRange(Parts &all, const Name &name, int64_t parts) {
  Size size = all.x.size(name);
  Name within = fresh("within"), from = fresh(name.str());
  Tensor number = iota({name, parts}), first, end;
  if (size.isNumber() && int64_t(size) % parts == 0) {
    int64_t length = int64_t(size) / parts;
    all.x = all.x.rename({{name, from}}).split(from, {{name, parts}, {within, length}});
    first = number * double(length);
  } else {
    Tensor count = widthOf({from, size}, ElementType::I64);
    first = number * count / double(parts);
    end = ((number + 1.0) * count + double(parts - 1)) / double(parts);
    Tensor place = iota({within, (size + (parts - 1)) / parts + 1}).broadcast({{name, parts}});
    all.x = all.x.rename({{name, from}}).gather(from, minimum(first + place, end - 1.0));
  }
  all.within.push_back(within);
  all.first.push_back(first);
}

static Parts partsOf(const Tensor &x, const Names &along, const PerName &parts, Here here) {
  requirePooled(x, along, here);
  Parts all{x, {}, {}};
  for (size_t i = 0; i < along.size(); ++i) {
    const Name &name = along[i];
    if (std::count(along.begin(), along.begin() + int64_t(i), name))
      refuse("expected each name to pool along once, got '" + name.str() + "' twice", here);
    int64_t count = parts.of(name.str());
    Size size = x.size(name);
    if (count < 1 || (size.isNumber() && int64_t(size) < 1))
      refuse("expected at least 1 part of at least 1 element of '" + name.str() + "', got " +
                 std::to_string(count) + " of " + size.expr().str(),
             here);
    addRange(all, name, count);
  }
  return all;
}

Tensor nn::adaptiveMaxPool(const Tensor &x, const Names &along, const PerName &parts, Here here) {
  CallScope scope(here);
  Parts all = partsOf(x, along, parts, here);
  return max(all.x, all.within);
}

Pooled nn::adaptiveMaxPoolPlaces(const Tensor &x, const Names &along, const PerName &parts,
                                 Here here) {
  CallScope scope(here);
  Parts all = partsOf(x, along, parts, here);
  auto [values, number] = maxima(all.x, all.within);
  std::vector<Tensor> places = splitNumber(number, all.x, all.within);
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = all.first[i] + places[i];
  return placed(values, along, places);
}

Tensor nn::adaptiveAveragePool(const Tensor &x, const Names &along, const PerName &parts,
                               Here here) {
  CallScope scope(here);
  Tensor means = x;
  for (const Name &name : along)
    means = adaptiveAveragePool(means, name, parts.of(name.str()), here);
  return means;
}
