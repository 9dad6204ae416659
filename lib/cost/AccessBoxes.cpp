//===- AccessBoxes.cpp - what loops touch of tensors ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/CountAmounts.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;
using nest::Extents;
using nest::NestAccess;
using nest::NestModel;
using nest::PlacedAccess;

/// The bytes of a way of the first cache: those of a page.
static constexpr int64_t l1Way = 4096;

/// The bytes of the lines that a step of loops with these extents touches.
static double boxBytes(const NestModel &nest, const NestAccess &access, const PlacedAccess &place,
                       const Extents &extents) {
  int64_t line = std::max<int64_t>(1, nest.line / place.bytes);
  double box = double(place.bytes), all = box * access.storedElements();
  for (const PlacedAccess::Dim &dim : place.dims) {
    int64_t extent = dim.extent(extents);
    if (dim.contiguous) // whole lines; those of a short name hold others, too
      extent = std::min<int64_t>(int64_t(llvm::alignTo(uint64_t(extent), uint64_t(line))),
                                 std::max(extent, dim.size));
    box *= double(extent);
  }
  if (access.gathered) // each point that the coordinates depend on may read another row
    box *= gatheredRows(access, extents);
  // Each point touches one line. Dimensions that depend on one name have fewer points than extents.
  double points = 1;
  for (unsigned name = 0; name < nest.names.size(); ++name)
    if (access.mentions(name))
      points *= double(extents[name]);
  return std::min({all, box, points * double(nest.line)});
}

/// The bytes of the first cache that a box occupies: more than its own if many of its lines are in
/// few sets. The sets of farther caches depend on physical addresses.
static double occupiedOf(const NestModel &nest, const PlacedAccess &place, const Extents &extents,
                         const Box &box) {
  double ways = double(nest.l1) / double(l1Way), lines = box.bytes / double(nest.line);
  if (lines <= ways / 2 || box.bytes > 2 * double(nest.l1)) // fits, or not, in any case
    return box.bytes;
  double ofSet = linesPerSet(place, extents, box.run, lines, l1Way, nest.line);
  return ofSet > ways / 2 ? std::max(box.bytes, ofSet * double(l1Way)) : box.bytes;
}

/// What the box of an access in a layout depends on.
static SmallVector<int64_t, 12> keyOf(const NestAccess &access, const Extents &extents,
                                      int64_t element, int64_t line) {
  SmallVector<int64_t, 12> key{element, line};
  for (unsigned name : access.mentioned.set_bits())
    key.push_back(extents[name]);
  return key;
}

const AccessBoxes &NestFacts::boxes(size_t number) const {
  const Laid &of = laidInLoops(number);
  AccessBoxes &all = of.boxes;
  if (!all.levels.empty())
    return all;
  const NestAccess &access = model.accesses[number];
  const PlacedAccess &place = of.place;
  // Copies hold narrow elements widened, unless a matrix unit multiplies these. Panels waste no
  // lanes.
  int64_t element = walked.together > 1 ? place.bytes : std::max<int64_t>(place.bytes, 4);
  int64_t line = place.onLanes() ? 1 : model.line / element;
  MergedSet matters = walked.mergedOf(access.mentioned);
  for (size_t level = 0; level < walked.extents.size(); ++level) {
    if (level && !matters[walked.levels[level - 1].merged]) {
      all.levels.push_back(Box(all.levels.back()));
      continue;
    }
    const Extents &extents = walked.extents[level];
    SmallVector<int64_t, 12> key = keyOf(access, extents, element, line);
    auto [found, isNew] = of.boxOf.try_emplace(
        StringRef(reinterpret_cast<const char *>(key.data()), key.size_in_bytes()));
    Box &box = found->second;
    if (!isNew) {
      all.levels.push_back(box);
      continue;
    }
    box.bytes = boxBytes(model, access, place, extents);
    box.run = access.gathered ? double(model.line) : runBytes(place, extents);
    box.copied = access.isWrite ? 0 : boxElements(place, extents, line) * double(element);
    box.pages = access.gathered ? std::ceil(box.bytes / pageBytes)
                                : boxPages(place, extents, box.run, pageBytes);
    box.occupied = access.gathered ? box.bytes : occupiedOf(model, place, extents, box);
    box.isRun = box.run >= boxElements(place, extents) * double(place.bytes);
    all.levels.push_back(box);
  }
  all.run = all.levels.back().run;
  for (size_t level = walked.extents.size(); level-- > 0 && all.levels[level].isRun;)
    all.run = all.levels[level].run;
  return all;
}
