//===- Order.cpp - functions of the order of elements ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Order.h"
#include "dialects/nd/NdBuild.h"
#include "heddle/Jit.h"
#include "lib/builder/At.h"
#include "lib/builder/Graph.h"

#include <bit>

using namespace heddle;
using namespace heddle::detail;

namespace {
/// `part`, repeated along the names of `whole` that it lacks.
Tensor spread(const Tensor &part, const Tensor &whole, Here here) {
  std::vector<Extent> missing;
  for (const Extent &extent : whole.extents(here))
    if (!part.has(extent.name, here))
      missing.push_back(extent);
  return part.broadcast(missing, here);
}

ElementType wideTypeOf(ElementType type) { return isNarrowFloat(type) ? ElementType::F32 : type; }
} // namespace

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

static std::vector<Tensor> sortTo(const std::vector<Tensor> &tensors, const Name &along,
                                  bool descending, const Size &size, Here here) {
  std::vector<NodeRef> nodes = nodesOf(tensors, here);
  return makeAll(here, nodes, [&](OpBuilder &builder, Location loc) {
    return nd::buildSort(builder, loc, valuesOf(nodes), along.str(), descending, size.expr());
  });
}

static Sorted sortWithIndices(const Operand &x, const Name &along, bool descending,
                              const Size &size) {
  Tensor index = iota({along, x.tensor.size(along, x.here)}, ElementType::I64, x.here);
  std::vector<Tensor> sorted = sortTo({x.tensor, index.broadcast(x.tensor.extents(), x.here)},
                                      along, descending, size, x.here);
  return {sorted[0], sorted[1]};
}

Sorted heddle::sort(Operand x, const Name &along, bool descending) {
  return sortWithIndices(x, along, descending, x.tensor.size(along, x.here));
}

Sorted heddle::topK(Operand x, const Name &along, const Size &count) {
  return sortWithIndices(x, along, /*descending=*/true, count);
}

Tensor heddle::argsort(Operand x, const Name &along, bool descending) {
  return sort(x, along, descending).indices;
}

std::vector<Tensor> heddle::sortTogether(const std::vector<Tensor> &tensors, const Name &along,
                                         bool descending, Here here) {
  if (tensors.empty())
    fail(here, "expected tensors to sort along '" + along.str() + "'");
  return sortTo(tensors, along, descending, tensors[0].size(along, here), here);
}
//===----------------------------------------------------------------------===//
// Running values
//===----------------------------------------------------------------------===//

Tensor heddle::logCumSumExp(Operand x, const Name &along) {
  // log(exp(a) + exp(b)). The difference of two equal infinities is NaN, so their result is a
  // constant.
  auto add = [](const Scalars &a, const Scalars &b) {
    Scalar isFirst = a[0] > b[0];
    Scalar most = select(isFirst, a[0], b[0]), least = select(isFirst, b[0], a[0]);
    Scalar isSame = logicalAnd(equal(least, most), equal(abs(most), INFINITY));
    Scalar infinity = select(most > 0.0, INFINITY, -INFINITY);
    Scalar distance = select(isSame, 0.0, least) - select(isSame, 0.0, most);
    return Scalars{select(isSame, infinity, most + log1p(exp(distance)))};
  };
  return scan({x.tensor}, along, {-INFINITY}, add, false, false, x.here)[0];
}

/// `isBetter(a, b)`: true if the element b replaces a, which comes before it.
template <typename F>
static Running running(Operand x, const Name &along, F isBetter) {
  Tensor coordinates = iota({along, x.tensor.size(along, x.here)}, ElementType::I64, x.here)
                           .broadcast(x.tensor.extents(x.here), x.here);
  // An index of -1 stands for no element.
  auto later = [&](const Scalars &a, const Scalars &b) {
    Scalar better = logicalOr(isBetter(a[0], b[0]), a[1] < 0.0);
    Scalar isSecond = logicalAnd(better, b[1] >= 0.0);
    return Scalars{select(isSecond, b[0], a[0]), select(isSecond, b[1], a[1])};
  };
  Tensor index = scan({stopGradient(x.tensor, x.here), coordinates}, along, {0, -1}, later, false,
                      false, x.here)[1];
  return {x.tensor.gather(along, index, x.here), index};
}

Running heddle::cumulativeMax(Operand x, const Name &along) {
  return running(x, along,
                 [](const Scalar &a, const Scalar &b) { return logicalOr(isNan(b), b >= a); });
}
Running heddle::cumulativeMin(Operand x, const Name &along) {
  return running(x, along,
                 [](const Scalar &a, const Scalar &b) { return logicalOr(isNan(b), b <= a); });
}

//===----------------------------------------------------------------------===//
// Quantiles
//===----------------------------------------------------------------------===//

/// Interpolates from `low` to `high`; all of one type. Equal operands give the same value, also
/// infinite ones.
static Tensor interpolated(const Tensor &low, const Tensor &high, const Tensor &part, At at) {
  Tensor isFlat =
      logicalAnd(at(equal(at(low), at(high))), at(equal(at(abs(at(low))), at(INFINITY))));
  Tensor from = select(at(isFlat), at(0.0), at(low)), to = select(at(isFlat), at(0.0), at(high));
  // Computed from the nearer end, so that a part of 1 gives exactly `high`.
  Tensor isNear = at(part) < at(0.5);
  Tensor step = at(to) - at(from);
  Tensor fromLow = at(from) + at(at(step) * at(part));
  Tensor fromHigh = at(to) - at(at(step) * at(at(1.0) - at(part)));
  return select(at(isFlat), at(low), at(select(at(isNear), at(fromLow), at(fromHigh))));
}

Tensor heddle::quantile(Operand x, const Names &over, Operand part, Between between) {
  At at{x.here};
  ElementType type = x.tensor.elementType(x.here);
  bool interpolates = between == Between::Linear || between == Between::Midpoint;
  if (interpolates && !isFloat(type))
    fail(x.here,
         "a quantile between integers is not an integer: expected floats, or Between::Lower, "
         "Higher or Nearest, got " +
             typeAndOrigin(x.tensor));
  if (over.empty())
    fail(x.here, "expected at least one name that the quantile is over");
  if (part.tensor.empty() && !(part.number >= 0 && part.number <= 1))
    fail(part.here,
         "expected a part from 0 to 1 of the elements, got " + std::to_string(part.number));
  Name along = over.size() == 1 ? over[0] : fresh("all", x.here);
  Tensor line = over.size() == 1 ? x.tensor : x.tensor.merge(over, along, x.here);
  Size size = line.size(along, x.here);
  if (size.isNumber() && int64_t(size) == 0)
    fail(x.here, "expected at least one element for a quantile, got " + typeAndOrigin(x.tensor));

  Tensor sorted = sort(at(line), along).values;
  Tensor fraction = part.tensor.empty() ? constant(part.number, ElementType::F64, {}, part.here)
                                        : part.tensor.cast(ElementType::F64, part.here);
  Tensor count = countOf(at(line), along, ElementType::F64);
  Tensor rank = clamp(at(fraction), at(0.0), at(1.0));
  rank = stopGradient(at(rank) * at(at(count) - at(1.0)), x.here);
  auto element = [&](const Tensor &rank) {
    return sorted.gather(along, rank.cast(ElementType::I64, x.here), x.here);
  };
  Tensor low = floor(at(rank)), result;
  switch (between) {
  case Between::Lower:
    result = element(low);
    break;
  case Between::Higher:
    result = element(ceil(at(rank)));
    break;
  case Between::Nearest:
    result = element(roundEven(at(rank)));
    break;
  case Between::Linear:
  case Between::Midpoint: {
    ElementType wide = wideTypeOf(type);
    Tensor way = between == Between::Linear ? at(rank) - at(low) : at(ceil(at(rank))) - at(low);
    if (between == Between::Midpoint)
      way = at(way) * at(0.5);
    result = interpolated(element(low).cast(wide, x.here),
                          element(ceil(at(rank))).cast(wide, x.here), way.cast(wide, x.here), at)
                 .cast(type, x.here);
  }
  }
  if (!isFloat(type))
    return result;
  // NaN comes last.
  Tensor hasNan = isNan(at(sorted.at(along, -1, x.here)));
  if (!part.tensor.empty())
    hasNan = logicalOr(at(spread(hasNan, result, x.here)),
                       at(spread(isNan(at(fraction)), result, x.here)));
  return select(at(hasNan), at(NAN), at(result));
}

Tensor heddle::median(Operand x, const Names &over) {
  return quantile(x, over, Operand(0.5, x.here), Between::Lower);
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

Tensor heddle::searchSorted(const Tensor &edges, const Name &along, const Tensor &x, Side side,
                            Here here) {
  At at{here};
  if (edges.elementType(here) != x.elementType(here))
    fail(here, "the edges and the values differ in their element types: " + typeAndOrigin(edges) +
                   ", " + typeAndOrigin(x));
  Name edge = fresh("edge", here);
  Tensor sorted = stopGradient(edges, here).rename({{along, edge}}, here);
  Tensor value = stopGradient(x, here);
  Size size = sorted.size(edge, here);
  // The result has the names of both.
  value = spread(value, sum(at(zeros(sorted.extents(here), ElementType::I64, here)), edge), here);
  Tensor none = constant(0, ElementType::I64, value.extents(here), here);
  if (size.isNumber() && int64_t(size) == 0)
    return none;

  struct Range {
    Tensor low, high;
    HEDDLE_FIELDS(low, high)
  };
  auto narrow = [&](const Tensor &, const Range &range) {
    Tensor middle = at(at(range.low) + at(range.high)) / at(2.0);
    Tensor pivot = sorted.gather(edge, middle, here);
    Tensor isBelow = side == Side::Left ? at(pivot) < at(value) : at(pivot) <= at(value);
    if (isFloat(x.elementType(here))) {
      // NaN is larger than every number, and equal to itself.
      Tensor isNumber = logicalNot(at(isNan(at(pivot))));
      Tensor isNanBelow =
          side == Side::Left ? isNumber : constant(1, ElementType::I1, value.extents(here), here);
      isBelow = select(at(isNan(at(value))), at(isNanBelow), at(isBelow));
    }
    Tensor isOpen = at(range.low) < at(range.high);
    Tensor isRight = logicalAnd(at(isOpen), at(isBelow));
    Tensor isLeft = logicalAnd(at(isOpen), at(logicalNot(at(isBelow))));
    return Range{select(at(isRight), at(at(middle) + at(1.0)), at(range.low)),
                 select(at(isLeft), at(middle), at(range.high))};
  };
  Tensor count = countOf(at(sorted), edge, ElementType::I64);
  Range all{none, at(none) + at(count)};
  if (size.isNumber())
    return forLoop(std::bit_width(uint64_t(int64_t(size))), all, narrow, here).low;
  // One step for each bit of the number of edges.
  Name bit = fresh("bit", here);
  Tensor powers = shiftLeft(at(constant(1, ElementType::I64, {{bit, 63}}, here)),
                            at(iota({bit, 63}, ElementType::I64, here)));
  Tensor steps = sum(at((at(powers) <= at(count)).cast(ElementType::I64, here)), bit);
  return forLoop(steps, all, narrow, -1, here).low;
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

Tensor heddle::scatterInto(const Tensor &destination,
                           const std::vector<std::pair<Name, Tensor>> &where, const Tensor &updates,
                           Scattered kind, bool withOld, Here here) {
  At at{here};
  ElementType type = destination.elementType(here);
  if (kind == Scattered::Mean && !isFloat(type))
    fail(here, "expected floats to take means of, got " + typeAndOrigin(destination));
  bool rounds = kind != Scattered::Max && kind != Scattered::Min;
  ElementType wide = rounds ? wideTypeOf(type) : type;
  Tensor old = destination.cast(wide, here);
  Combiner combiner = kind == Scattered::Product ? Combiner::Multiply
                      : kind == Scattered::Max   ? Combiner::Max
                      : kind == Scattered::Min   ? Combiner::Min
                                                 : Combiner::Add;
  Tensor ones = constant(1, ElementType::I64, updates.extents(here), here);
  Tensor count = scatter(zeros(destination.extents(here), ElementType::I64, here), where, ones,
                         Combiner::Add, here);
  Tensor isHit = at(count) > at(0.0);
  Tensor start = old;
  if (!withOld) {
    // The reduction of no elements is the neutral element.
    Name none = fresh("none", here);
    Operand nothing = at(zeros({{none, 0}}, wide, here));
    Tensor neutral = kind == Scattered::Product ? product(nothing, none)
                     : kind == Scattered::Max   ? max(nothing, none)
                     : kind == Scattered::Min   ? min(nothing, none)
                                                : sum(nothing, none);
    start = select(at(isHit), at(neutral), at(old));
  }
  Tensor result = scatter(start, where, updates.cast(wide, here), combiner, here);
  if (kind == Scattered::Mean) {
    Tensor divisor = withOld ? at(count) + at(1.0) : maximum(at(count), at(1.0));
    result = at(result) / at(divisor.cast(wide, here));
  }
  return result.cast(type, here);
}
