//===- Resampling.cpp - interpolation -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Resampling.h"

#include "lib/nn/LayerUtils.h"
#include "lib/nn/SizeAsTensor.h"

#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::nn;

//===----------------------------------------------------------------------===//
// Other sizes
//===----------------------------------------------------------------------===//

namespace {
/// The new elements along one name: their number, and the factor if one was given. Positions are
/// computed in f64 and sizes exactly, so that rounding does not select a wrong element.
struct Scaled {
  Name name;
  Size whole, size;
  std::optional<double> factor;

  Tensor number() const { return iota({name, size}); }
  /// `x` times the distance between two new elements.
  Tensor distance(const Tensor &x) const {
    if (factor)
      return x / *factor;
    return x * widthOf({name, whole}, ElementType::F64) / widthOf({name, size}, ElementType::F64);
  }
  Tensor last() const { return widthOf({name, whole}, ElementType::I64) - 1.0; }
  /// The positions of the new elements, in units of old elements.
  Tensor positions(bool alignCorners) const {
    Tensor at = number().cast(ElementType::F64);
    if (!alignCorners)
      return distance(at + 0.5) - 0.5;
    Tensor steps = widthOf({name, size}, ElementType::F64) - 1.0;
    return at * last().cast(ElementType::F64) / maximum(steps, 1.0);
  }
};
} // namespace

/// The weights of taps -1, 0, 1, 2 for a point at the distance `t` after tap 0 (Keys, Cubic
/// convolution interpolation for digital image processing, 1981).
static Tensor cubicWeights(const Tensor &t, const Name &tap) {
  const double a = -0.75;
  Tensor distance = abs(t - (iota({tap, 4}, ElementType::F64) - 1.0).broadcast(t.extents()));
  Tensor nearest = ((a + 2) * distance - (a + 3)) * distance * distance + 1.0;
  Tensor other = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a;
  return select(distance <= 1.0, nearest, other);
}

/// The weighted sum of two or four elements. An element of weight 0 is ignored, even if it is NaN
/// or infinite.
static Tensor interpolated(const Tensor &x, const Scaled &scaled, const ResampleOptions &options) {
  const Name &name = scaled.name;
  Name from = fresh(name.str()), tap = fresh("tap");
  bool isCubic = options.by == Interpolation::Cubic;
  Tensor at = scaled.positions(options.alignCorners);
  if (!isCubic)
    at = maximum(at, 0.0); // before the first element: exactly that element
  Tensor begin = floor(at), t = at - begin;
  Tensor weights = isCubic ? cubicWeights(t, tap)
                           : select(equal(iota({tap, 2}), 0.0).broadcast(t.extents()), 1.0 - t, t);
  Tensor number = begin.cast(ElementType::I64) +
                  (iota({tap, isCubic ? 4 : 2}) - (isCubic ? 1.0 : 0.0)).broadcast(t.extents());
  number = minimum(maximum(number, 0.0), scaled.last());
  Tensor taps = x.rename({{name, from}}).gather(from, number);
  return sum(select(equal(weights, 0.0), 0.0, taps * weights.cast(x.elementType())), tap);
}

static Tensor nearest(const Tensor &x, const Scaled &scaled, Interpolation by) {
  const Name &name = scaled.name;
  Name from = fresh(name.str());
  Tensor number = scaled.number();
  if (by == Interpolation::Nearest && !scaled.factor) {
    number = number * widthOf({name, scaled.whole}, ElementType::I64) /
             widthOf({name, scaled.size}, ElementType::I64);
  } else {
    double middle = by == Interpolation::Nearest ? 0 : 0.5;
    Tensor at = scaled.distance(number.cast(ElementType::F64) + middle);
    number = minimum(floor(at).cast(ElementType::I64), scaled.last());
  }
  return x.rename({{name, from}}).gather(from, number);
}

static Tensor resampled(const Tensor &x, const std::vector<Scaled> &all,
                        const ResampleOptions &options, Here here) {
  bool isNearest =
      options.by == Interpolation::Nearest || options.by == Interpolation::NearestExact;
  if (isNearest && options.alignCorners)
    refuse("expected alignCorners of linear and cubic interpolation only", here);
  if (!isNearest && !isFloat(x.elementType()))
    refuse("expected an x of floats to interpolate, got " + x.type(), here);
  Tensor y = isNearest ? x : widened(x);
  for (const Scaled &each : all) {
    for (const Size &size : {each.whole, each.size})
      if (size.isNumber() && int64_t(size) < 1)
        refuse("expected at least 1 element of '" + each.name.str() + "', got " +
                   each.whole.expr().str() + " to make " + each.size.expr().str() + " of",
               here);
    y = isNearest ? nearest(y, each, options.by) : interpolated(y, each, options);
  }
  return y.cast(x.elementType());
}

static void requireOnce(std::set<std::string> &names, const Name &name, Here here) {
  if (!names.insert(name.str()).second)
    refuse("expected each name once, got '" + name.str() + "' twice", here);
}

Tensor nn::resample(const Tensor &x, const std::vector<Extent> &sizes,
                    const ResampleOptions &options, Here here) {
  CallScope scope(here);
  std::set<std::string> names;
  std::vector<Scaled> all;
  for (const auto &[name, size] : sizes) {
    requireHas(x, name, here);
    requireOnce(names, name, here);
    all.push_back({name, x.size(name), size, {}});
  }
  return resampled(x, all, options, here);
}

/// floor(size * factor).
static Size scaledSize(const Name &name, const Size &size, double factor, Here here) {
  if (size.isNumber() && double(size) * factor < 1e18)
    return int64_t(std::floor(double(size) * factor));
  const int64_t parts = 1024;
  double whole = factor * double(parts);
  if (whole != std::floor(whole) || whole > 1e15)
    refuse("expected a factor whose product with 1024 is a whole number along '" + name.str() +
               "', whose size is " + size.expr().str() + ", got " + std::to_string(factor),
           here);
  return Size(size.expr() * Expr(int64_t(whole))) / parts;
}

Tensor nn::resampleBy(const Tensor &x, const std::vector<std::pair<Name, double>> &factors,
                      const ResampleOptions &options, Here here) {
  CallScope scope(here);
  std::set<std::string> names;
  std::vector<Scaled> all;
  for (const auto &[name, factor] : factors) {
    requireHas(x, name, here);
    requireOnce(names, name, here);
    if (!(factor > 0) || std::isinf(factor))
      refuse("expected a factor above 0 of '" + name.str() + "', got " + std::to_string(factor),
             here);
    Size size = x.size(name);
    all.push_back({name, size, scaledSize(name, size, factor, here), factor});
  }
  return resampled(x, all, options, here);
}

//===----------------------------------------------------------------------===//
// Computed points
//===----------------------------------------------------------------------===//

namespace {
/// The elements around points along one name: two along `tap`, or the nearest one.
struct Neighbours {
  Name name, from;
  Tensor index, outside; ///< of the elements; true (i1) where the index is out of bounds
  Tensor isNan;          ///< true (i1) for a point that is NaN, which is replaced by 0
  Tensor weight = {};    ///< of each of two elements
  Names tap = {};
};
} // namespace

/// The position of a point after reflections at the ends of the name, as many as necessary.
static Tensor reflected(const Tensor &at, const Tensor &size, bool alignCorners) {
  double low = alignCorners ? 0 : -0.5;
  Tensor span = alignCorners ? size - 1.0 : size;
  Tensor isPoint = span <= 0.0; // a single element is its own mirror image
  Tensor period = select(isPoint, 1.0, span);
  Tensor distance = at - low;
  distance = select(distance < 0.0, -distance, distance); // unlike abs, has a gradient at 0
  Tensor rest = distance % period, turns = floor(distance / period);
  Tensor isForth = equal(turns % 2.0, 0.0);
  return select(isPoint, 0.0, select(isForth, rest, period - rest) + low);
}

static Neighbours neighboursOf(const Tensor &x, const Name &name, const Tensor &given,
                               const GridOptions &options) {
  ElementType type = given.elementType();
  Tensor isNone = isNan(given), point = select(isNone, 0.0, given);
  Name from = fresh(name.str());
  Tensor size = widthOf({name, x.size(name)}, type), last = size - 1.0;
  Tensor at =
      options.alignCorners ? (point + 1.0) * 0.5 * last : ((point + 1.0) * size - 1.0) * 0.5;
  if (options.beyond == Beyond::Mirror)
    at = reflected(at, size, options.alignCorners);
  if (options.beyond != Beyond::Zero)
    at = clamp(at, 0.0, last);
  auto read = [&](const Tensor &element) {
    Tensor outside = logicalOr(element<0.0, element> last);
    return Neighbours{name, from, clamp(element, 0.0, last).cast(ElementType::I64), outside,
                      isNone};
  };
  if (options.by == Interpolation::Nearest)
    return read(roundEven(at));
  Name tap = fresh("tap");
  Tensor begin = floor(at), t = at - begin;
  Tensor which = iota({tap, 2}, type).broadcast(point.extents());
  Neighbours two = read(begin + which);
  two.weight = select(two.outside, 0.0, select(equal(which, 0.0), 1.0 - t, t));
  two.tap = tap;
  return two;
}

Tensor nn::gridSample(const Tensor &x, const std::vector<std::pair<Name, Tensor>> &at,
                      const GridOptions &options, Here here) {
  CallScope scope(here);
  if (at.empty())
    refuse("expected points along at least one name, got none", here);
  if (options.by != Interpolation::Linear && options.by != Interpolation::Nearest)
    refuse("expected linear interpolation or the nearest element", here);
  if (!isFloat(x.elementType()))
    refuse("expected an x of floats, got " + x.type(), here);
  std::set<std::string> names;
  std::vector<Neighbours> all;
  std::vector<std::pair<Name, Tensor>> index;
  Tensor wide = widened(x);
  for (const auto &[name, point] : at) {
    requireHas(x, name, here);
    requireOnce(names, name, here);
    if (!isFloat(point.elementType()))
      refuse("expected points of floats along '" + name.str() + "', got " + point.type(), here);
    if (Size size = x.size(name); size.isNumber() && int64_t(size) < 1)
      refuse("expected at least 1 element of '" + name.str() + "', got " + x.type(), here);
    all.push_back(neighboursOf(x, name, point.cast(wide.elementType()), options));
    wide = wide.rename({{name, all.back().from}});
    index.push_back({all.back().from, all.back().index});
  }
  Tensor y = wide.gather(index);
  Names taps;
  for (const Neighbours &each : all) {
    y = select(each.outside, 0.0, y);
    if (!each.weight.empty())
      y = y * each.weight;
    for (const Name &tap : each.tap)
      taps.push_back(tap);
  }
  if (!taps.empty())
    y = sum(y, taps);
  for (const Neighbours &each : all)
    y = select(each.isNan, NAN, y);
  return y.cast(x.elementType());
}
