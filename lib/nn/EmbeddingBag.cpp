//===- EmbeddingBag.cpp - reduced embeddings of several entries -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/EmbeddingBag.h"

#include "heddle/nn/Linear.h"
#include "lib/nn/LayerUtils.h"
#include "lib/nn/SizeAsTensor.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

EmbeddingBag EmbeddingBag::make(const Extent &entries, const Extent &feature, const Tensor &key,
                                BagMode mode, std::optional<int64_t> padding, Here here) {
  return {Embedding::make(entries, feature, key, padding, here).table, mode, padding};
}

namespace {
/// The rows of a table at indices, some of which belong to no bag.
class Rows {
public:
  Rows(const EmbeddingBag &layer, const Tensor &index, const Name &entries, const Name &along,
       const Tensor &weight, Here here)
      : layer(layer), index(index), entries(entries), weight(weight) {
    requireHas(index, along, here);
    if (isFloat(index.elementType()))
      refuse("expected an index of integers, entries of '" + entries.str() + "', got " +
                 index.type(),
             here);
    if (!weight.empty() && layer.mode != BagMode::Sum)
      refuse("expected weights in sums only, got " + weight.type(), here);
    if (!weight.empty() && !isFloat(weight.elementType()))
      refuse("expected weights of floats, got " + weight.type(), here);
    if (layer.padding)
      restrict(notEqual(index, double(*layer.padding)));
  }
  void restrict(const Tensor &condition) {
    inside = inside.empty() ? condition : logicalAnd(inside, condition);
  }
  /// True (i1) where the index belongs to a bag.
  Tensor counts() const {
    return inside.empty() ? constant(1, ElementType::I1).broadcast(index.extents()) : inside;
  }
  /// The rows; `otherwise` for indices that belong to no bag, whose values and weights are not
  /// read.
  Tensor take(double otherwise) const {
    Tensor number = inside.empty() ? index : select(inside, index, 0.0);
    Tensor rows = widened(layer.table).gather(entries, number);
    if (weight.empty())
      return hide(rows, otherwise);
    return hide(rows, otherwise) * hide(weight.cast(rows.elementType()), 0);
  }

private:
  Tensor hide(const Tensor &x, double otherwise) const {
    return inside.empty() ? x : select(inside, x, otherwise);
  }
  const EmbeddingBag &layer;
  const Tensor &index;
  const Name &entries;
  const Tensor &weight;
  Tensor inside;
};
} // namespace

Tensor EmbeddingBag::operator()(const Tensor &index, const Name &entries, const Name &position,
                                const BagOptions &options, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  Rows rows(*this, index, entries, position, options.weight, here);
  Tensor isLength;
  if (const Tensor &lengths = options.lengths; !lengths.empty()) {
    Size size = index.size(position);
    isLength = areLengths(lengths, position, size, here);
    rows.restrict(iota({position, size}).broadcast(lengths.extents()) <
                  lengths.cast(ElementType::I64));
  }
  Tensor count = sum(rows.counts().cast(ElementType::I64), position), y;
  if (mode == BagMode::Max) {
    y = max(rows.take(-INFINITY), position);
    y = select(equal(count, 0.0), 0.0, y);
  } else {
    y = sum(rows.take(0), position);
  }
  if (mode == BagMode::Mean)
    y = y / maximum(count, 1.0).cast(y.elementType());
  return (isLength.empty() ? y : select(isLength, y, NAN)).cast(table.elementType());
}

namespace {
/// The positions of the bags of a list.
struct Segments {
  Tensor number;  ///< the index of each item's bag (i64)
  Tensor belongs; ///< true (i1) for items that belong to a bag
  Tensor fits;    ///< true (i1) if all bags are within the list and in order
};
} // namespace

/// The offsets or lengths of a list.
static const Tensor &requireBags(const BagList &list, const Name &item, Here here) {
  const Name &bag = list.bag;
  if (list.offsets.empty() == list.lengths.empty())
    refuse("expected either offsets or lengths of the bags along '" + bag.str() + "'", here);
  const Tensor &given = list.offsets.empty() ? list.lengths : list.offsets;
  requireHas(given, bag, here);
  if (isFloat(given.elementType()) || given.has(item))
    refuse("expected integers without '" + item.str() + "' for the bags along '" + bag.str() +
               "', got " + given.type(),
           here);
  return given;
}

/// Each item belongs to the last bag that begins at or before it. A prefix sum counts the bags that
/// begin along the list, in time linear in items and bags.
static Segments segmentsOf(const BagList &list, const Name &item, const Size &size, Here here) {
  const Name &bag = list.bag;
  const Tensor &given = requireBags(list, item, here);
  Tensor begin, end;
  Tensor wide = given.cast(ElementType::I64), whole = widthOf({item, size}, ElementType::I64);
  if (list.offsets.empty()) {
    begin = scan(wide, bag, Combiner::Add, /*exclusive=*/true);
    end = begin + wide;
  } else {
    begin = wide;
    Size bags = wide.size(bag);
    std::vector<Extent> last{{bag, 1}};
    for (const Extent &extent : wide.extents())
      if (extent.name != bag)
        last.push_back(extent);
    end = concat({wide.slice(bag, 1, bags - 1), whole.broadcast(last)}, bag);
  }
  Tensor fits = logicalAnd(logicalAnd(areLengths(begin, item, size, here), begin <= end),
                           areLengths(end, item, size, here));
  Name place = fresh("place");
  std::vector<Extent> places{{place, size + 1}}; // bags may begin at the end
  for (const Extent &extent : given.extents())
    if (extent.name != bag)
      places.push_back(extent);
  Tensor marks = scatterAdd(zeros(places, ElementType::I64), place, clamp(begin, 0.0, whole),
                            constant(1, ElementType::I64).broadcast(begin.extents()));
  Tensor number = cumulativeSum(marks, place).slice(place, 0, size).rename({{place, item}}) - 1.0;
  Tensor safe = maximum(number, 0.0);
  Tensor at = iota({item, size});
  Tensor belongs = logicalAnd(number >= 0.0, at < end.gather(bag, safe));
  return {select(belongs, safe, 0.0), belongs, min(fits, bag)};
}

Tensor EmbeddingBag::ofList(const Tensor &index, const Name &entries, const Name &item,
                            const BagList &list, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  Rows rows(*this, index, entries, item, list.weight, here);
  const Tensor &given = requireBags(list, item, here);
  Size size = index.size(item), bags = given.size(list.bag);
  if (bags.isNumber() && int64_t(bags) == 0) // no bag that items could be part of
    return across(sum(rows.take(0), item), given).cast(table.elementType());
  auto [number, belongs, fits] = segmentsOf(list, item, size, here);
  rows.restrict(belongs);
  // Combines the `updates` of all items of each bag.
  auto perBag = [&](const Tensor &updates, double neutral, Combiner combiner) {
    std::vector<Extent> extents{{list.bag, bags}};
    for (const Extent &extent : updates.extents())
      if (extent.name != item)
        extents.push_back(extent);
    return scatter(constant(neutral, updates.elementType(), extents), {{list.bag, number}}, updates,
                   combiner);
  };
  Tensor y;
  if (mode == BagMode::Max) {
    // Finds the first item with the largest element, which alone gets the gradient.
    Tensor all = rows.take(-INFINITY), fixed = stopGradient(all);
    Tensor most = perBag(fixed, -INFINITY, Combiner::Max).gather(list.bag, number);
    Tensor isMost = logicalAnd(logicalOr(equal(fixed, most), isNan(fixed)), rows.counts());
    Tensor end = widthOf({item, size}, ElementType::I64);
    Tensor first = perBag(select(isMost, iota({item, size}), end), 0x1p53, Combiner::Min);
    y = select(first < end, all.gather(item, minimum(first, end - 1.0)), 0.0);
  } else {
    y = perBag(rows.take(0), 0, Combiner::Add);
  }
  if (mode == BagMode::Mean) {
    Tensor count = perBag(rows.counts().cast(ElementType::I64), 0, Combiner::Add);
    y = y / maximum(count, 1.0).cast(y.elementType());
  }
  return select(fits, y, NAN).cast(table.elementType());
}
