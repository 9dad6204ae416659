//===- LayoutCost.cpp - what a layout costs a nest ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/LayoutCost.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

PlacedLayout::PlacedLayout(const Layout &layout, nd::NdTensorType type) {
  Sizes sizes = type.sizes();
  std::map<std::string, unsigned, std::less<>> position;
  for (const nd::Dim &dim : type.getDims())
    position.try_emplace(dim.name.str(), unsigned(position.size()));
  std::vector<int64_t> extents = layout.extents(sizes);
  for (size_t i = 0; i < extents.size(); ++i) {
    const Layout::Factor &from = layout.factors[i];
    Factor factor{{}, {}, from.divisor, from.modulus, from.low, extents[i]};
    for (const std::string &name : from.names) {
      factor.dims.push_back(position[name]);
      factor.sizes.push_back(sizes[name]);
    }
    factors.push_back(std::move(factor));
    count *= extents[i];
  }
}

static int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

int64_t PlacedLayout::offset(const std::vector<int64_t> &position) const {
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

int64_t Place::at(const std::vector<int64_t> &point, const std::vector<std::string> &names) const {
  if (plain >= 0)
    return point[size_t(plain)];
  if (linear) {
    int64_t value = constant;
    for (int name : mentioned)
      value += steps[size_t(name)] * point[size_t(name)];
    return value;
  }
  auto value = expr.evaluate([&](const std::string &name) -> std::optional<int64_t> {
    for (int i : mentioned)
      if (names[size_t(i)] == name)
        return point[size_t(i)];
    return 0; // read values
  });
  return value.value_or(0);
}

void Place::mention(int name) {
  if (!llvm::is_contained(mentioned, name))
    mentioned.push_back(name);
}

void Place::mentionAll(const LaidAccess &read) {
  gathered = true;
  for (const Place &place : read.places)
    for (int name : place.mentioned)
      mention(name);
}

bool LaidAccess::mentions(unsigned name) const {
  for (const Place &place : places)
    if (llvm::is_contained(place.mentioned, int(name)))
      return true;
  return false;
}

bool LaidAccess::gatheredBy(unsigned name) const {
  for (const Place &place : places)
    if (place.gathered && llvm::is_contained(place.mentioned, int(name)))
      return true;
  return false;
}

int64_t LaidAccess::bytes() const { return int64_t(elementBytes(type.getElementType())); }

/// What a group yields lies in the group's result.
static Value placeOf(Value value) {
  for (Operation *made = value.getDefiningOp(); made && !isa<UpdateOp>(made);
       made = value.getDefiningOp()) {
    auto group = dyn_cast<GroupOp>(made->getParentOp());
    if (!group)
      break;
    auto yielded = made->getBlock()->getTerminator()->getOperands();
    auto found = llvm::find(yielded, value);
    if (found == yielded.end())
      break;
    value = group->getResult(unsigned(found - yielded.begin()));
  }
  return value;
}

static LaidAccess accessOf(const NestModel &nest, Value tensor, MapAttr map) {
  LaidAccess access;
  tensor = placeOf(tensor);
  access.tensor = tensor;
  access.type = tensorTypeOf(tensor);
  access.gathered = isGathered(map);
  for (const nd::Dim &dim : access.type.getDims()) {
    access.dims.push_back(dim.name.str());
    Place place;
    // A group's names stand for themselves.
    place.expr = atTypical(map.lookup(dim.name.getValue()).value_or(Expr::name(dim.name.str())),
                           [&](const std::string &name) { return nest.indexOf(name) >= 0; });
    place.constant = place.expr.offset();
    place.steps.assign(nest.names.size(), 0);
    for (const std::string &name : place.expr.names()) {
      int index = nest.indexOf(name);
      if (index < 0) {
        place.linear = false;
        if (auto read = readIndex(name))
          place.mentionAll(nest.accesses[*read]);
        continue;
      }
      place.mention(index);
      place.linear &= place.expr.isLinearIn(name);
      place.steps[size_t(index)] = place.expr.coefficient(name);
    }
    if (auto name = place.expr.asName())
      place.plain = nest.indexOf(*name);
    access.places.push_back(std::move(place));
  }
  return access;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

int NestModel::indexOf(StringRef name) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return int(i);
  return -1;
}

double NestModel::points(size_t begin, size_t end) const {
  double count = 1;
  for (size_t i = begin; i < end; ++i)
    count *= double(sizes[i]);
  return count;
}

NestModel::NestModel(Operation *op, MachineAttr machine) : op(op), rates(Rates::of(machine)) {
  auto add = [&](nd::DimsAttr dims) {
    for (const nd::Dim &dim : dims) {
      names.push_back(dim.name.str());
      sizes.push_back(std::max<int64_t>(1, dim.size().typical()));
    }
  };
  for (auto group = op->getParentOfType<GroupOp>(); group;
       group = group->getParentOfType<GroupOp>())
    add(group.getNames());
  firstProduced = names.size();
  auto compute = dyn_cast<ComputeOp>(op);
  auto update = dyn_cast<UpdateOp>(op);
  add(compute ? compute.getProduced() : update.getSpace());
  firstReduced = names.size();
  if (compute)
    add(compute.getReduced());
  for (const NestRead &read : readsOf(op)) {
    accesses.push_back(accessOf(*this, read.value, read.map));
    accesses.back().inFinish = read.inFinish;
  }
  int64_t bits = 32;
  if (compute) {
    reduction = compute.isReduction();
    bodyCost = costOf(compute.getBody()) + costOf(compute.getCombine());
    finishCost = costOf(compute.getFinish());
    for (Value result : compute.getResults()) {
      accesses.push_back(accessOf(*this, result, MapAttr::identity(tensorTypeOf(result))));
      accesses.back().isWrite = true;
      bits = std::max<int64_t>(bits, 8 * elementBytes(tensorTypeOf(result).getElementType()));
    }
  } else {
    bodyCost = costOf(update.getBody()) + costOf(update.getCombine());
    accesses.push_back(accessOf(*this, update.getResult(), update.getDestMap()));
    accesses.back().isWrite = true;
  }
  lanes = (machine ? machine.integer("vector_bytes", 64) : 64) * 8 / bits;
}

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

namespace {
/// Points of some produced names that are computed together.
struct RowTile {
  std::set<unsigned> names;
  std::vector<std::pair<unsigned, int64_t>> rows;
  double score;
};
} // namespace

/// The produced names of which a tile has several points: they leave some read along the lanes as
/// it is, and move another one.
static std::vector<unsigned> rowNames(const NestModel &nest, const std::vector<unsigned> &lanes) {
  std::vector<unsigned> result;
  for (unsigned name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name) {
    if (llvm::is_contained(lanes, name) || nest.sizes[name] < 2)
      continue;
    bool reuses = false, matters = false;
    for (const LaidAccess &access : nest.accesses) {
      if (access.isWrite || access.inFinish)
        continue;
      bool onLanes = llvm::any_of(lanes, [&](unsigned lane) { return access.mentions(lane); });
      reuses |= onLanes && !access.mentions(name);
      matters |= access.mentions(name);
    }
    if (reuses && matters)
      result.push_back(name);
  }
  return result;
}

/// The part of a tile's points that is there, where the last tile of a name is short.
static double usedPart(const NestModel &nest, unsigned name, int64_t points) {
  int64_t size = nest.sizes[name];
  return double(size) / double((size + points - 1) / points * points);
}

/// The best tile of at most `most` points over each set of one or two names, the best first; only
/// those that are nearly as good.
static std::vector<RowTile> rowTiles(const NestModel &nest, const std::vector<unsigned> &names,
                                     int64_t most) {
  std::vector<RowTile> found;
  auto consider = [&](std::vector<std::pair<unsigned, int64_t>> rows) {
    double count = 1, used = 1;
    std::set<unsigned> own;
    for (auto [name, points] : rows) {
      own.insert(name);
      count *= double(points);
      used *= usedPart(nest, name, points);
    }
    double score = used * count / (count + 2);
    if (count > double(most))
      return;
    auto known = llvm::find_if(found, [&](const RowTile &each) { return each.names == own; });
    if (known == found.end())
      found.push_back({std::move(own), std::move(rows), score});
    else if (score > known->score * 1.001)
      *known = {std::move(own), std::move(rows), score};
  };
  consider({});
  for (unsigned name : names)
    for (int64_t points = std::min(most, nest.sizes[name]); points >= 2; --points) {
      consider({{name, points}});
      if (points == nest.sizes[name])
        for (unsigned second : names)
          if (second != name)
            for (int64_t more = std::min(most / points, nest.sizes[second]); more >= 2; --more)
              consider({{name, points}, {second, more}});
    }
  llvm::stable_sort(found, [](const RowTile &a, const RowTile &b) { return a.score > b.score; });
  llvm::erase_if(found, [&](const RowTile &each) { return each.score < 0.97 * found[0].score; });
  return found;
}

WayModel::WayModel(const NestModel &nest, std::vector<unsigned> names, bool reduced, unsigned tile)
    : lanes(std::move(names)), reduced(reduced) {
  for (unsigned name : lanes)
    laneSize = int64_t(std::min<uint64_t>(
        llvm::SaturatingMultiply(uint64_t(laneSize), uint64_t(nest.sizes[name])), INT64_MAX / 8));
  width = lanes.empty()
              ? 1
              : std::min<int64_t>(nest.lanes, int64_t(llvm::PowerOf2Ceil(uint64_t(laneSize))));
  double all = nest.points(0, nest.names.size()), produced = nest.points(0, nest.firstReduced);
  double runs = std::ceil(double(laneSize) / double(width)) / double(laneSize);
  vectors = all * runs;
  finishVectors = reduced ? produced : produced * runs;
  double reducedPoints = nest.points(nest.firstReduced, nest.names.size());
  int64_t along = (laneSize + width - 1) / width;
  if (!nest.reduction || lanes.empty()) {
    arithmetic = vectors * nest.bodyCost * 0.5 + finishVectors * nest.finishCost * 0.5;
    return;
  }
  tileVectors = reduced ? 1 : std::min<int64_t>(2, along);
  int64_t most = std::max<int64_t>(1, (nest.lanes >= 16 ? 28 : 12) / tileVectors);
  std::vector<RowTile> found = rowTiles(nest, rowNames(nest, lanes), most);
  tiles = unsigned(found.size());
  rows = found[std::min<size_t>(tile, tiles - 1)].rows;

  double count = 1, used = 1, loads = 0;
  for (auto [name, points] : rows) {
    count *= double(points);
    used *= usedPart(nest, name, points);
  }
  for (const LaidAccess &access : nest.accesses)
    if (!access.isWrite && !access.inFinish) {
      bool onLanes = llvm::any_of(lanes, [&](unsigned lane) { return access.mentions(lane); });
      loads += 1 / reuse(access) / (onLanes ? 1 : double(tileVectors));
    }
  // Two multiply-adds, two loads a cycle; four cycles until an accumulator may be added to again.
  double cycles = std::max({0.25 * nest.bodyCost, 0.5 * loads, 4 / (count * double(tileVectors))});
  arithmetic = vectors * cycles / used + finishVectors * nest.finishCost * 0.5;
  if (reduced)
    arithmetic = arithmetic * 1.1 + produced * 8; // lanes are added up
  else
    arithmetic +=
        finishVectors * (2 + 60 / std::max(1.0, reducedPoints)); // start and end of the tile
  // Names are merged where that fills vectors, not for its own sake.
  arithmetic *= 1 + 0.005 * double(lanes.size() - 1);
}

double WayModel::reuse(const LaidAccess &access) const {
  double reuse = 1;
  for (auto [name, points] : rows)
    if (!access.mentions(name))
      reuse *= double(points);
  return reuse;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// Offsets of an access at points near a base.
class Probe {
public:
  Probe(const NestModel &nest, const LaidAccess &access, const PlacedLayout &layout)
      : nest(nest), access(access), layout(layout), point(nest.names.size()),
        position(access.places.size()) {
    for (size_t i = 0; i < point.size(); ++i)
      point[i] = nest.sizes[i] / 2;
  }

  int64_t offset() {
    for (size_t i = 0; i < position.size(); ++i)
      position[i] = access.places[i].at(point, nest.names);
    return layout.offset(position);
  }

  void setLane(const WayModel &way, int64_t lane) {
    for (size_t i = way.lanes.size(); i-- > 0;) {
      point[way.lanes[i]] = lane % nest.sizes[way.lanes[i]];
      lane /= nest.sizes[way.lanes[i]];
    }
  }

  /// How far one step along a name leads.
  int64_t step(unsigned name) {
    int64_t was = point[name];
    if (nest.sizes[name] < 2)
      return 0;
    point[name] = 0;
    int64_t from = offset();
    point[name] = 1;
    int64_t to = offset();
    point[name] = was;
    return std::abs(to - from);
  }

private:
  const NestModel &nest;
  const LaidAccess &access;
  const PlacedLayout &layout;
  std::vector<int64_t> point, position;
};

enum class Kind { Same, Contiguous, Apart };

Kind kindOf(Probe &probe, const WayModel &way) {
  bool same = true, contiguous = true;
  int64_t tiles = way.laneSize / way.width;
  for (int64_t tile : {int64_t(0), tiles / 2}) {
    if (tile * way.width >= way.laneSize)
      continue;
    int64_t lanes = std::min(way.width, way.laneSize - tile * way.width);
    probe.setLane(way, tile * way.width);
    int64_t first = probe.offset();
    for (int64_t lane = 1; lane < lanes; ++lane) {
      probe.setLane(way, tile * way.width + lane);
      int64_t moved = probe.offset() - first;
      same &= moved == 0;
      contiguous &= moved == lane;
    }
  }
  probe.setLane(way, 0);
  return same ? Kind::Same : contiguous ? Kind::Contiguous : Kind::Apart;
}
} // namespace

/// True if some place is a sum of the name and others.
static bool inWindow(const NestModel &nest, unsigned name) {
  for (const LaidAccess &access : nest.accesses)
    for (const Place &place : access.places)
      if (place.isSum() && llvm::is_contained(place.mentioned, int(name)))
        return true;
  return false;
}

double nest::accessCost(const NestModel &nest, const WayModel &way, const LaidAccess &access,
                        const PlacedLayout &layout) {
  const Rates &r = nest.rates;
  bool once = access.isWrite ? nest.reduction : access.inFinish;
  double runs = once ? way.finishVectors : way.vectors;
  double bytes = double(access.bytes());
  bool large = double(layout.elements()) * bytes > 512 * 1024;
  double vector = (large ? r.streamedLine : r.cachedLine) * bytes * double(way.width) / r.lineBytes;
  Probe probe(nest, access, layout);
  if (way.lanes.empty()) {
    // One by one; neighbours should still follow one another.
    return runs * 0.5 * (way.reduced ? 1 : 2);
  }
  Kind kind = way.reduced && once ? Kind::Same : kindOf(probe, way);
  if (llvm::any_of(way.lanes, [&](unsigned lane) { return access.gatheredBy(lane); }))
    kind = Kind::Apart;
  if (once || !nest.reduction || access.gathered) {
    if (access.gathered)
      runs /= way.reuse(access);
    if (kind == Kind::Same)
      return runs * 0.3;
    if (kind == Kind::Contiguous)
      return runs * vector;
    // Of a line that is met at a computed place one element is wanted.
    double line = access.gathered ? double(way.width) * r.newLine : vector;
    return runs * (double(way.width) * r.gatherLane * (access.isWrite ? r.scatterPart : 1) +
                   line * (large ? 2 : 1));
  }

  // A read of a reduction's body, which the register tile uses several times. A schedule may stage
  // what lies badly: then every element is moved about once.
  double loads = runs / way.reuse(access), elements = double(layout.elements());
  bool stages = nest.accesses.size() > 2 && loads * double(way.width) > 4 * elements;
  // What is stored in less than 32 bits is widened at every load, or once in a stage.
  double widening = bytes < 4 && isa<FloatType>(access.type.getElementType()) ? 1 : 0;
  auto staged = [&](double cost, double perElement, double perUse = 0.01) {
    cost += loads * widening;
    return stages ? std::min(cost, elements * perElement + runs * perUse) : cost;
  };
  if (kind == Kind::Apart)
    return staged(loads * double(way.width) * r.gatherLane,
                  2.0); // turned, once for several chunks each
  int64_t nearestReduced = std::numeric_limits<int64_t>::max(), nearestRow = nearestReduced;
  double conflicts = 0;
  int64_t longestReduced = 1;
  for (int64_t size : ArrayRef(nest.sizes).drop_front(nest.firstReduced))
    longestReduced = std::max(longestReduced, size);
  for (unsigned name = 0; name < nest.names.size(); ++name) {
    if (llvm::is_contained(way.lanes, name))
      continue;
    int64_t step = probe.step(name) * int64_t(bytes);
    if (step == 0)
      continue;
    // A window's small names stay outside of the others: few steps of the reduction walk them.
    if (nest.isReduced(name) && (nest.sizes[name] * 4 >= longestReduced || !inWindow(nest, name)))
      nearestReduced = std::min(nearestReduced, step);
    for (auto [row, points] : way.rows)
      if (row == name) {
        nearestRow = std::min(nearestRow, step);
        if (points > 2 && step >= 4096)
          conflicts = std::max(conflicts, step % 4096 == 0 ? 1.0 : 0.3);
      }
  }
  if (kind == Kind::Same) {
    // Of a tile's scalars either each row's next one, or the next row's, should lie in the same
    // line.
    loads /= double(way.tileVectors);
    if (double(nearestRow) <= r.lineBytes / 4)
      return staged(loads * r.newLine * (double(nearestReduced) <= r.lineBytes ? 0.01 : 0.05), 1.0);
    double cost = double(nearestReduced) <= r.lineBytes / 8
                      ? 0
                      : std::min(1.0, double(std::min(nearestReduced, nearestRow)) / r.lineBytes);
    return staged(loads * r.newLine * (cost + 0.3 * conflicts), 0.6);
  }
  if (way.reduced)
    return 0;
  // Vectors of a panel: the next step of the reduction should be the next vectors.
  int64_t tile = way.width * way.tileVectors * int64_t(bytes);
  if (nearestReduced == std::numeric_limits<int64_t>::max() || nearestReduced <= 2 * tile)
    return staged(0, 0.4);
  return staged(loads * (nearestReduced % 1024 == 0 ? r.sameSets
                         : nearestReduced >= 512    ? r.farStep
                                                    : 0.2),
                0.4, 0.006); // seldom more than once
}

double nest::copyCost(nd::NdTensorType type, const Layout &from, const Layout &to, const Rates &r) {
  PlacedLayout a(from, type), b(to, type);
  size_t rank = type.getDims().size();
  std::vector<int64_t> position(rank, 0);
  int64_t startA = a.offset(position), startB = b.offset(position);
  // The run that is contiguous on both sides.
  double run = 1;
  size_t d = 0;
  for (const nd::Dim &dim : type.getDims()) {
    int64_t size = dim.size().typical();
    int64_t length = 1;
    for (; length < std::min<int64_t>(size, 64); ++length) {
      position[d] = length;
      if (a.offset(position) - startA != length || b.offset(position) - startB != length)
        break;
    }
    position[d++] = 0;
    run = std::max(run, double(length));
  }
  double elements = pointsOf(type.getDims()), bytes = elementBytes(type.getElementType());
  double total = bytes * (double(a.elements()) + double(b.elements()));
  double perByte = total > (1 << 20) ? r.relayoutFar : r.relayoutNear;
  return r.relayoutStart + total * perByte + elements * (run >= 16 ? 0.05 : run >= 4 ? 0.5 : 1.2);
}
