//===- Footprint.cpp - bytes, lines and pages of accesses -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Footprint.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

void nest::setExtents(const NestModel &nest, ArrayRef<unsigned> names, int64_t points,
                      Extents &extents) {
  for (unsigned name : llvm::reverse(names)) {
    int64_t size = nest.sizes[name];
    extents[name] = std::min(size, std::max<int64_t>(points, 1));
    points = (points + size - 1) / size;
  }
}

PlacedAccess::PlacedAccess(const NestModel &nest, const NestAccess &access, const Layout &layout,
                           LaneKind lanes)
    : bytes(access.bytes()), isWrite(access.isWrite), lanes(lanes) {
  Sizes sizes = nest.sizesOf(access);
  std::vector<int64_t> extents = layout.extents(sizes);
  std::map<std::string, Dim> found;
  int64_t below = 1;
  for (size_t k = extents.size(); k-- > 0; below *= extents[k])
    for (const std::string &name : llvm::reverse(layout.factors[k].names)) {
      if (found.count(name))
        continue;
      Dim dim{name, sizes[name], {}, below, k + 1 == extents.size() && found.empty(), extents[k]};
      // Names of groups map to themselves. Symbolic factors of steps count as 1.
      Expr coordinate = access.map.lookup(name).value_or(Expr::name(name));
      for (const std::string &each : coordinate.names())
        if (int number = nest.indexOf(each); number >= 0)
          dim.terms.emplace_back(number,
                                 std::max<int64_t>(1, std::abs(coordinate.coefficient(each))));
      found[name] = dim;
      order.insert(order.begin(), name);
    }
  for (auto &[name, dim] : found)
    dims.push_back(std::move(dim));
  llvm::stable_sort(dims, [](const Dim &a, const Dim &b) { return a.stride < b.stride; });
}

const PlacedAccess::Dim *PlacedAccess::find(unsigned name) const {
  for (const Dim &dim : dims)
    for (const auto &[each, coefficient] : dim.terms)
      if (each == name)
        return &dim;
  return nullptr;
}

const PlacedAccess::Dim *PlacedAccess::plain(unsigned name) const {
  for (const Dim &dim : dims)
    if (dim.terms.size() == 1 && dim.terms[0] == std::pair<unsigned, int64_t>(name, 1))
      return &dim;
  return nullptr;
}

int64_t PlacedAccess::Dim::extent(const Extents &extents) const {
  int64_t extent = 1;
  for (const auto &[name, coefficient] : terms)
    extent += coefficient * (extents[name] - 1);
  return std::min(extent, size);
}

double nest::boxElements(const PlacedAccess &access, const Extents &extents, int64_t line) {
  double elements = 1;
  for (const PlacedAccess::Dim &dim : access.dims) {
    int64_t extent = dim.extent(extents);
    int64_t together = dim.contiguous ? std::max<int64_t>(1, std::min(dim.run, line)) : 1;
    elements *= double((extent + together - 1) / together * together);
  }
  return elements;
}

double nest::linesPerSet(const PlacedAccess &access, const Extents &extents, double run,
                         double lines, int64_t way, int64_t line) {
  run /= double(line);
  double first = std::clamp(run, 1.0, double(way / line)), sets = first;
  int64_t common = way;
  for (const PlacedAccess::Dim &dim : access.dims) {
    int64_t extent = dim.extent(extents), stride = dim.stride * access.bytes;
    if (extent <= 1 || double(stride) < run * double(line))
      continue;
    int64_t power = std::max(line, stride & -stride); // the largest power of 2 that divides it
    common = std::min(common, power);
    sets *= double(std::min(extent, std::max<int64_t>(1, way / power)));
  }
  return lines / std::min({sets, first * double(way / common), double(way / line)});
}

double nest::runBytes(const PlacedAccess &access, const Extents &extents, double *pitch) {
  int64_t covered = 1;
  bool ends = false;
  for (const PlacedAccess::Dim &dim : access.dims) {
    int64_t extent = dim.extent(extents), run = dim.contiguous ? dim.run : dim.size;
    ends |= dim.stride > covered;
    if (ends && extent > 1) {
      if (pitch)
        *pitch = double(dim.stride * access.bytes);
      break;
    }
    covered *= ends ? 1 : std::min(extent, run);
    ends |= extent < run;
  }
  return double(covered * access.bytes);
}

double nest::boxPages(const PlacedAccess &access, const Extents &extents, double run,
                      double pageBytes) {
  double bytes = double(access.bytes), span = 0;
  for (const PlacedAccess::Dim &dim : access.dims) {
    int64_t extent = dim.extent(extents);
    bytes *= double(extent);
    span += double((extent - 1) * dim.stride * access.bytes);
  }
  return std::min(bytes / run + bytes / pageBytes, 1 + span / pageBytes);
}
