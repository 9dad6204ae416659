//===- NestModel.cpp - the model of a nest for cost models ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/NestModel.h"

#include "dialects/nd/NdTypical.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Lanes.h"
#include "lib/analysis/NestAnalysis.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The number of points of a nest beyond which its size symbols are assumed to be smaller than
/// `typicalSymbol`: several symbols are rarely large together.
static constexpr double typicalPoints = 1e10;
/// Factor on the score of tiles that may leave a remainder of a symbolic size, which needs a
/// remainder loop, if other tiles leave none.
static constexpr double withRest = 0.6;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

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

int64_t Coordinate::at(const std::vector<int64_t> &point,
                       const std::vector<std::string> &names) const {
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

void Coordinate::mention(int name) {
  if (!llvm::is_contained(mentioned, name))
    mentioned.push_back(name);
}

void Coordinate::gather(const NestAccess &read) {
  gathered = true;
  for (const Coordinate &coordinate : read.coordinates)
    for (int name : coordinate.mentioned) {
      mention(name);
      movers.push_back(name);
    }
}

int64_t Coordinate::extent(ArrayRef<int64_t> sizes, int64_t most) const {
  if (plain >= 0)
    return sizes[size_t(plain)];
  if (gathered || !linear)
    return most;
  int64_t extent = 1;
  for (int name : mentioned)
    extent += std::abs(steps[size_t(name)]) * (sizes[size_t(name)] - 1);
  return std::min(extent, most);
}

void NestAccess::add(Coordinate coordinate, size_t names) {
  mentioned.resize(unsigned(names));
  moved.resize(unsigned(names));
  for (int name : coordinate.mentioned)
    mentioned.set(unsigned(name));
  for (int name : coordinate.movers)
    moved.set(unsigned(name));
  coordinates.push_back(std::move(coordinate));
}

int NestAccess::dimOf(unsigned name) const {
  int found = -1;
  for (size_t d = 0; d < coordinates.size(); ++d) {
    if (!llvm::is_contained(coordinates[d].mentioned, int(name)))
      continue;
    if (found >= 0 || coordinates[d].plain != int(name))
      return -1;
    found = int(d);
  }
  return found;
}

int64_t NestAccess::bytes() const { return int64_t(elementBytes(type.getElementType())); }

/// Returns the value that stores `value`: for a value that a group yields, the group's result.
/// `steps`: for a slice of a recurrence, the operand or result of which it is one.
static Value storedValue(Value value, bool steps) {
  if (auto argument = dyn_cast<BlockArgument>(value); argument && steps)
    if (auto scan = dyn_cast<ScanOp>(argument.getOwner()->getParentOp()))
      if (argument.getArgNumber() >= scan.getInits().size())
        return scan.getReads()[argument.getArgNumber() - scan.getInits().size()];
  for (Operation *made = value.getDefiningOp(); made && !isa<UpdateOp>(made);
       made = value.getDefiningOp()) {
    Operation *holder = made->getParentOp();
    if (!isa_and_nonnull<GroupOp>(holder) && !(steps && isa_and_nonnull<ScanOp>(holder)))
      break;
    auto yielded = made->getBlock()->getTerminator()->getOperands();
    // The first values that a recurrence yields are its next state.
    size_t states = isa<ScanOp>(holder) ? cast<ScanOp>(holder).getInits().size() : 0;
    auto slices = yielded.drop_front(states);
    auto found = llvm::find(slices, value);
    if (found == slices.end())
      break;
    value = holder->getResult(unsigned(states + size_t(found - slices.begin())));
  }
  return value;
}

static bool isStageable(ComputeOp op, size_t read) {
  MapAttr map = op.readMap(read);
  GuardAttr guard = op.readGuard(read);
  return llvm::all_of(map.getEntries(),
                      [](const MapEntry &entry) { return entry.expr().isAffine(); }) &&
         !isGathered(map) &&
         (guard.isTrivial() || !guard.excludes() ||
          nd::isNarrowFloat(tensorType(op.getReads()[read]).getElementType()));
}

void NestModel::addAccess(Value tensor, MapAttr map, bool isWrite, bool inFinish, bool steps) {
  NestAccess access;
  access.tensor = storedValue(tensor, steps);
  access.type = tensorType(access.tensor);
  access.map = map;
  access.gathered = isGathered(map);
  for (const auto &[name, size] : sizesOf(tensorType(tensor)))
    access.elements *= double(size);
  access.isWrite = isWrite;
  access.inFinish = inFinish;
  for (const nd::Dim &dim : access.type.getDims()) {
    access.dims.push_back(dim.name.str());
    access.sizes.push_back(typicalOf(dim.size()));
    Coordinate coordinate;
    // A group's names map to themselves; loop variables are assumed to be at their start.
    coordinate.expr =
        map.lookup(dim.name.getValue())
            .value_or(Expr::name(dim.name.str()))
            .substitute([&](const std::string &name) -> std::optional<Expr> {
              if (readIndex(name) || indexOf(name) >= 0)
                return std::nullopt;
              return Expr(name.back() == '$' ? 0 : std::min(symbol, nd::typicalOf(name)));
            });
    coordinate.constant = coordinate.expr.offset();
    coordinate.steps.assign(names.size(), 0);
    for (const std::string &name : coordinate.expr.names()) {
      int index = indexOf(name);
      if (index < 0) {
        coordinate.linear = false;
        if (auto read = readIndex(name))
          coordinate.gather(accesses[*read]);
        continue;
      }
      coordinate.mention(index);
      coordinate.linear &= coordinate.expr.isLinearIn(name);
      coordinate.steps[size_t(index)] = coordinate.expr.coefficient(name);
    }
    if (auto name = coordinate.expr.asName())
      coordinate.plain = indexOf(*name);
    access.add(std::move(coordinate), names.size());
  }
  accesses.push_back(std::move(access));
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

std::vector<std::string> NestModel::namesOf(ArrayRef<unsigned> merged) const {
  std::vector<std::string> result;
  for (unsigned name : merged)
    result.push_back(names[name]);
  return result;
}

std::optional<std::vector<unsigned>> NestModel::writtenLanes() const {
  auto scheduled = dyn_cast<ScheduledInterface>(op);
  if (!scheduled || !scheduled.getScheduleAttr())
    return std::nullopt;
  std::vector<unsigned> lanes;
  for (const Loop &loop : scheduled.getScheduleAttr().getSchedule().loops)
    if (loop.level == "vector")
      for (const std::string &name : loop.names)
        lanes.push_back(unsigned(indexOf(name)));
  return lanes;
}

double NestModel::points(size_t begin, size_t end) const {
  double count = 1;
  for (size_t i = begin; i < end; ++i)
    count *= double(sizes[i]);
  return count;
}

int64_t NestModel::sizeOf(ArrayRef<unsigned> merged) const {
  uint64_t size = 1;
  for (unsigned name : merged)
    size = std::min<uint64_t>(llvm::SaturatingMultiply(size, uint64_t(sizes[name])), INT64_MAX / 8);
  return int64_t(size);
}

int64_t NestModel::vectorsOf(ArrayRef<unsigned> merged) const {
  return llvm::divideCeil(sizeOf(merged), lanes);
}

int64_t NestModel::typicalOf(nd::SizeAttr size) const {
  auto value = size.getExpr().evaluate([&](const std::string &name) {
    return name.back() == '$' ? 0 : std::min(symbol, nd::typicalOf(name));
  });
  return std::max<int64_t>(value.value_or(symbol), 1);
}

Sizes NestModel::sizesOf(nd::NdTensorType type) const {
  Sizes result;
  for (const nd::Dim &dim : type.getDims())
    result[dim.name.str()] = typicalOf(dim.size());
  return result;
}

Sizes NestModel::sizesOf(const NestAccess &access) const {
  Sizes result;
  for (auto [name, size] : llvm::zip_equal(access.dims, access.sizes))
    result[name] = size;
  return result;
}

void NestModel::resize(ArrayRef<int64_t> to) {
  sizes.assign(to.begin(), to.end());
  divisors = sizes;
  symbolic.assign(sizes.size(), false);
  for (NestAccess &access : accesses) {
    double all = 1;
    for (int64_t size : access.sizes)
      all *= double(size);
    bool hasOuter = all > access.elements; // the names of groups count as elements of others
    for (auto [size, coordinate] : llvm::zip_equal(access.sizes, access.coordinates)) {
      int64_t before = std::exchange(size, coordinate.extent(sizes, size));
      bool isOuter = coordinate.plain >= 0 && size_t(coordinate.plain) < firstProduced;
      if (!(hasOuter && isOuter))
        access.elements *= double(size) / double(before);
    }
  }
}

bool NestModel::reusesReads() const {
  double work = points(firstProduced, names.size());
  return llvm::any_of(accesses, [&](const NestAccess &access) {
    return !access.isWrite && work >= 8 * access.elements;
  });
}

void NestModel::addNames(nd::DimsAttr dims) {
  for (const nd::Dim &dim : dims) {
    names.push_back(dim.name.str());
    sizes.push_back(typicalOf(dim.size()));
    symbolic.push_back(!dim.size().constant());
    Expr size = dim.size().getExpr();
    int64_t divisor = std::abs(size.offset());
    for (const Expr::Term &term : size.terms())
      divisor = std::gcd(divisor, term.coefficient);
    divisors.push_back(divisor);
  }
}

void NestModel::addGuard(NestAccess &access, GuardAttr guard) const {
  for (const Condition &condition : guard.getConditions()) {
    llvm::SmallBitVector &tested = access.conditions.emplace_back(unsigned(names.size()));
    for (const std::string &name : condition.expr().names())
      if (auto read = readIndex(name))
        tested |= accesses[*read].mentioned;
      else if (int index = indexOf(name); index >= 0)
        tested.set(unsigned(index));
  }
}

NestModel::NestModel(Operation *op, MachineAttr machine, bool shrink, bool steps)
    : op(op), symbol(nd::typicalSymbol) {
  auto compute = dyn_cast<ComputeOp>(op);
  auto update = dyn_cast<UpdateOp>(op);
  auto addAll = [&] {
    names.clear(), sizes.clear(), symbolic.clear(), divisors.clear();
    for (Operation *holder = op->getParentOp(); holder; holder = holder->getParentOp())
      if (isa<GroupOp>(holder) || (steps && isa<ScanOp>(holder)))
        addNames(cast<HoldsNestsInterface>(holder).getOuterNames());
    firstProduced = names.size();
    addNames(compute ? compute.getProduced() : update.getSpace());
    firstReduced = names.size();
    if (compute)
      addNames(compute.getReduced());
  };
  for (addAll(); shrink && points(firstProduced, names.size()) > typicalPoints && symbol > 32;
       addAll())
    symbol /= 2;
  for (const NestRead &read : readsOf(op)) {
    addAccess(read.value, read.map, /*isWrite=*/false, read.inFinish, steps);
    addGuard(accesses.back(), read.guard);
  }
  if (compute)
    for (size_t i = 0; i < compute.getReads().size(); ++i)
      accesses[i].stageable = isStageable(compute, i);
  unsigned bits = 32;
  Region *body = compute ? &compute.getBody() : &update.getBody();
  Region *combine = compute ? &compute.getCombine() : &update.getCombine();
  bodyCost = costOf(*body) + costOf(*combine);
  if (compute) {
    reduction = compute.isReduction();
    finishCost = costOf(compute.getFinish());
    for (Value result : compute.getResults())
      addAccess(result, MapAttr::identity(tensorType(result)), /*isWrite=*/true, false, steps);
    bits = std::max(bits, laneBits(compute));
    accumulators = int64_t(compute.getNeutral().size());
  } else {
    addAccess(update.getResult(), update.getDestMap(), /*isWrite=*/true, false, steps);
  }
  if (reduction)
    operations =
        std::max<int64_t>(1, llvm::range_size(body->front().without_terminator()) +
                                 llvm::range_size(combine->front().without_terminator()) - 1);
  addMachine(machine, bits);
}

NestModel::NestModel() : symbol(nd::typicalSymbol) {}

NestModel NestModel::ofCopy(Value tensor, MachineAttr machine) {
  NestModel copy;
  nd::NdTensorType type = tensorType(tensor);
  copy.addNames(type.getDims());
  copy.firstReduced = copy.names.size();
  for (bool isWrite : {false, true})
    copy.addAccess(tensor, MapAttr::identity(type), isWrite, /*inFinish=*/false, /*steps=*/false);
  copy.addMachine(machine, std::max(32u, unsigned(copy.accesses[0].bytes()) * 8));
  return copy;
}

void NestModel::addMachine(MachineAttr machine, unsigned bits) {
  bitsOfLane = bits;
  if (machine) {
    l1 = machine.integer("l1_bytes", l1);
    l2 = machine.integer("l2_bytes", l2);
    l3 = machine.integer("l3_bytes", l3);
    line = machine.integer("line_bytes", line);
    registers = machine.integer("vector_registers", 16);
  }
  lanes = std::max<int64_t>(2, (machine ? machine.integer("vector_bytes", 32) : 64) * 8 / bits);
}

//===----------------------------------------------------------------------===//
// Accesses in a layout
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

namespace {
class TileFinder {
public:
  TileFinder(const NestModel &nest, ArrayRef<unsigned> merged, ArrayRef<bool> onLanes)
      : nest(nest), merged(merged), onLanes(onLanes), vectors(nest.vectorsOf(merged)),
        limit(nest.registers - 1) {
    for (auto [access, isVector] : llvm::zip_equal(nest.accesses, onLanes))
      if (!access.isWrite)
        ++(isVector ? vectorReads : scalarReads);
  }

  std::vector<RegisterTile> find() {
    bool reduced = nest.isReduced(merged[0]);
    std::vector<unsigned> names = rowNames();
    for (int64_t nv : {2, 1, 3, 4}) {
      if (reduced ? nv > 1 : nv > vectors)
        continue;
      int64_t most = (limit - 1 - nv) / (nv * nest.accumulators);
      consider(nv, {});
      for (unsigned name : names) {
        std::set<int64_t> some = pointsOf(name, most);
        for (int64_t points : llvm::reverse(some)) {
          if (points < 2)
            continue;
          consider(nv, {{name, points}});
          if (points != nest.sizes[name] || most / points < 2)
            continue;
          for (unsigned second : names)
            if (second != name)
              for (int64_t more : pointsOf(second, most / points))
                if (more >= 2)
                  consider(nv, {{second, more}, {name, points}});
        }
      }
    }
    llvm::stable_sort(
        tiles, [](const RegisterTile &a, const RegisterTile &b) { return a.score > b.score; });
    return std::move(tiles);
  }

private:
  const NestModel &nest;
  ArrayRef<unsigned> merged;
  ArrayRef<bool> onLanes;
  int64_t vectors, limit;
  unsigned vectorReads = 0, scalarReads = 0;
  std::vector<RegisterTile> tiles;

  /// Returns the produced names of which some vector read is independent, so that every row reuses
  /// the same vectors, and on which another read depends.
  std::vector<unsigned> rowNames() const {
    std::vector<unsigned> result;
    for (unsigned name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name) {
      if (llvm::is_contained(merged, name) || nest.sizes[name] < 2)
        continue;
      bool reuses = false, matters = false;
      for (auto [access, isVector] : llvm::zip_equal(nest.accesses, onLanes)) {
        if (access.isWrite)
          continue;
        reuses |= isVector && !access.mentions(name);
        matters |= access.mentions(name);
      }
      if (reuses && matters)
        result.push_back(name);
    }
    return result;
  }

  /// Returns the points of a name in a tile: as many as registers allow, or slightly fewer so that
  /// the last tile is as large as the others.
  std::set<int64_t> pointsOf(unsigned name, int64_t limit) const {
    int64_t size = nest.sizes[name];
    auto largestDivisor = [&](int64_t known, int64_t points) {
      while (points >= 2 && known % points != 0)
        --points;
      return points;
    };
    if (nest.symbolic[name]) // divisors of the typical size are irrelevant
      return {limit, largestDivisor(nest.divisors[name], limit)};
    int64_t fewest = (size + limit - 1) / std::max<int64_t>(limit, 1);
    std::set<int64_t> result{std::min(limit, size), largestDivisor(size, std::min(limit, size))};
    for (int64_t parts : {fewest, fewest + 1, fewest + 2})
      result.insert(std::min(limit, (size + parts - 1) / parts));
    return result;
  }

  /// Adds a tile of `nv` vectors and these rows, if it fits into the registers: accumulators, one
  /// row of vectors and one broadcast.
  void consider(int64_t nv, std::vector<std::pair<unsigned, int64_t>> rows) {
    int64_t count = 1;
    double used = 1;
    for (auto [name, points] : rows) {
      count *= points;
      int64_t size = nest.sizes[name];
      used *= nest.symbolic[name]
                  ? (nest.divisors[name] == 1 || nest.divisors[name] % points == 0 ? 1 : withRest)
                  : double(size) / double((size + points - 1) / points * points);
    }
    if (count * nv * nest.accumulators + nv + 1 > limit)
      return;
    used *= double(vectors) / double((vectors + nv - 1) / nv * nv);
    // A cycle issues two loads and two operations, four in all; a sum has a latency of four cycles.
    double work = double(count * nv * nest.operations),
           loads = double(nv * vectorReads + count * scalarReads);
    double most = std::max({work / 2, loads / 2, (work + loads + 3) / 4, 4.0});
    double cycles = most + 0.1 * (work / 2 + loads / 2 + (work + loads + 3) / 4 + 4 - most);
    // Unused points count less than half, so that narrower tiles are not discarded.
    double score = (0.6 * used + 0.4 * std::sqrt(used)) * work / 2 / cycles;
    tiles.push_back({nv, std::move(rows), cycles, score, used});
  }
};
} // namespace

std::vector<RegisterTile> NestModel::registerTiles(ArrayRef<unsigned> merged,
                                                   ArrayRef<bool> onLanes) const {
  return TileFinder(*this, merged, onLanes).find();
}
