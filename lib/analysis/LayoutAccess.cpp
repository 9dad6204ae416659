//===- LayoutAccess.cpp - lanes and steps of an access in a layout --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/NestModel.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

SizedLayout::SizedLayout(const Layout &layout, nd::NdTensorType type, const Sizes &sizes)
    : layout(layout), sizes(sizes) {
  std::map<std::string, unsigned, std::less<>> position;
  for (const nd::Dim &dim : type.getDims())
    position.try_emplace(dim.name.str(), unsigned(position.size()));
  std::vector<int64_t> extents = layout.extents(sizes);
  for (size_t i = 0; i < extents.size(); ++i) {
    const Layout::Factor &from = layout.factors[i];
    Factor factor{{}, {}, from.divisor, from.modulus, from.low, extents[i]};
    for (const std::string &name : from.names) {
      factor.dims.push_back(position[name]);
      factor.sizes.push_back(sizes.find(name)->second);
    }
    count *= extents[i];
    if (extents[i] > 1)
      factors.push_back(std::move(factor));
  }
}

static int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

int64_t SizedLayout::offset(const std::vector<int64_t> &position) const {
  int64_t offset = 0;
  for (const Factor &factor : factors) {
    int64_t index = 0;
    for (size_t i = 0; i < factor.dims.size(); ++i)
      index = index * factor.sizes[i] + position[factor.dims[i]];
    index += factor.low;
    if (factor.divisor != 1)
      index = floorDiv(index, factor.divisor);
    if (factor.modulus)
      index -= floorDiv(index, factor.modulus) * factor.modulus;
    offset = offset * factor.extent + index;
  }
  return offset;
}

namespace {
/// Offsets of an access at points near the middle of the space.
class Probe {
public:
  Probe(const NestModel &nest, const NestAccess &access, const SizedLayout &layout)
      : nest(nest), access(access), layout(layout), point(nest.names.size()),
        position(access.coordinates.size()) {
    setOthers(0);
  }

  /// Sets all other names to the middle, or `before` it.
  void setOthers(int64_t before) {
    for (size_t i = 0; i < point.size(); ++i)
      point[i] = std::max<int64_t>(nest.sizes[i] / 2 - before, 0);
  }

  int64_t offset() {
    for (size_t i = 0; i < position.size(); ++i)
      position[i] = access.coordinates[i].at(point, nest.names);
    return layout.offset(position);
  }

  void setLane(ArrayRef<unsigned> merged, int64_t lane) {
    for (unsigned name : llvm::reverse(merged)) {
      point[name] = lane % nest.sizes[name];
      lane /= nest.sizes[name];
    }
  }

  int64_t offsetAt(unsigned name, int64_t index) {
    int64_t was = std::exchange(point[name], index), found = offset();
    point[name] = was;
    return found;
  }

private:
  const NestModel &nest;
  const NestAccess &access;
  const SizedLayout &layout;
  std::vector<int64_t> point, position;
};
} // namespace

LaneKind NestModel::laneKind(const NestAccess &access, const SizedLayout &layout,
                             ArrayRef<unsigned> merged) const {
  if (!access.mentionsAny(merged))
    return LaneKind::Same;
  if (llvm::any_of(merged, [&](unsigned name) { return access.gatheredBy(name); }))
    return LaneKind::Apart;
  int64_t size = sizeOf(merged), width = std::min(lanes, size), count = size / width;
  Probe probe(*this, access, layout);
  bool same = true, contiguous = true;
  // The first vector, and an odd one, which is split if it is not aligned to blocks of vectors.
  for (int64_t vector : {int64_t(0), std::min(count / 2 | 1, count - 1)}) {
    probe.setOthers(vector > 0);
    probe.setLane(merged, vector * width);
    int64_t first = probe.offset();
    for (int64_t lane = 1; lane < width && (same || contiguous); ++lane) {
      probe.setLane(merged, vector * width + lane);
      int64_t moved = probe.offset() - first;
      same &= moved == 0;
      contiguous &= moved == lane;
    }
  }
  if (!same && !contiguous)
    return LaneKind::Apart;
  if (merged.size() > 1)
    return derivedKind(access, layout, merged, width);
  return same ? LaneKind::Same : LaneKind::Contiguous;
}

LaneKind NestModel::derivedKind(const NestAccess &access, const SizedLayout &layout,
                                ArrayRef<unsigned> merged, int64_t width) const {
  const char *lane = "lane$", *vector = "vector$";
  Ranges ranges;
  for (auto [name, size] : llvm::zip_equal(names, sizes))
    ranges[name] = {0, size - 1};
  ranges[lane] = {0, width - 1};
  ranges[vector] = {0, (sizeOf(merged) - 1) / width};
  ExprMap lanesAt, coordinates;
  for (size_t i = 0; i < merged.size(); ++i) {
    Expr index = (Expr::name(vector) * Expr(width) + Expr::name(lane))
                     .floordiv(sizeOf(merged.drop_front(i + 1)));
    lanesAt[names[merged[i]]] = (i > 0 ? index.mod(sizes[merged[i]]) : index).simplify(ranges);
  }
  for (auto [dim, coordinate] : llvm::zip_equal(access.dims, access.coordinates))
    coordinates[dim] = coordinate.expr.substitute(lanesAt);
  Expr address = layout.layout.address(layout.sizes).substitute(coordinates).simplify(ranges);
  if (!address.mentions(lane))
    return LaneKind::Same;
  return address.isLinearIn(lane) && address.coefficient(lane) == 1 ? LaneKind::Contiguous
                                                                    : LaneKind::Apart;
}

int64_t NestModel::step(const NestAccess &access, const SizedLayout &layout, unsigned name) const {
  if (sizes[name] < 2 || !access.mentions(name))
    return 0;
  Probe probe(*this, access, layout);
  return std::abs(probe.offsetAt(name, 1) - probe.offsetAt(name, 0));
}
