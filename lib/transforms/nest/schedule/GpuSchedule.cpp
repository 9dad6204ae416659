//===- GpuSchedule.cpp - schedules for blocks of lanes --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/GpuSchedule.h"

#include "lib/analysis/Footprint.h"
#include "lib/analysis/GpuLanes.h"
#include "lib/analysis/StagedCopy.h"
#include "lib/analysis/VectorLanes.h"
#include "lib/cost/LaneBlocks.h"
#include "lib/transforms/nest/schedule/ChooseVectorLanes.h"

#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The most bytes of an access.
static constexpr int64_t accessBytes = 16;
/// Lanes share sums if there are fewer sums than this, and at least so many terms in each.
static constexpr double manySumsOfAll = 16384, manyTerms = 32;
/// The registers of a lane that hold addresses and indices.
static constexpr int64_t otherRegisters = 40;
/// Rows of a copy whose length in bytes this divides start in the same bank of shared memory.
static constexpr int64_t bankBytes = 128;

namespace {
/// How a lane, and a block of them, divide a group of names.
struct Part {
  Lanes group;
  int64_t points = 1; ///< of a lane
  int64_t lanes = 1;
  int64_t block() const { return points * lanes; }
};

class LaneChooser {
public:
  LaneChooser(ComputeOp op, std::vector<Layout> layouts, MachineAttr attribute)
      : op(op), attribute(attribute), machine(cost::Machine::of(attribute)), nest(op, attribute),
        laid(nest, std::move(layouts), machine) {
    if (isInner())
      manySums = double(mostLanes) * double(nest.lanes);
  }

  std::optional<Schedule> choose() {
    if (nest.names.size() == nest.firstProduced)
      return std::nullopt;
    fast = laid.chooseLanes();
    if (fast.empty())
      fast = {unsigned(nest.names.size() - 1)};
    width = std::min(nest.lanes, int64_t(llvm::PowerOf2Ceil(uint64_t(nest.sizeOf(fast)))));
    std::optional<Schedule> best;
    if (nest.reduction && !nest.isReduced(fast[0]) && nest.reusesReads())
      best = chooseTile();
    if (!best)
      best = nest.reduction ? reduce() : points();
    LaneForm form = laneFormOf(op, *best, attribute);
    if (form.lanes <= 1)
      return std::nullopt;
    return best;
  }

private:
  ComputeOp op;
  MachineAttr attribute;
  cost::Machine machine;
  NestModel nest;
  LaidNestModel laid;
  Lanes fast; ///< neighbours in memory, of most accesses
  int64_t width = 1;
  double manySums = manySumsOfAll;

  int64_t sizeOf(ArrayRef<unsigned> group) { return nest.sizeOf(group); }
  bool isSymbolic(ArrayRef<unsigned> group) {
    return llvm::any_of(group, [&](unsigned name) { return nest.symbolic[name]; });
  }
  /// Whether it runs within the block of a group or recurrence.
  bool isInner() { return isa<HoldsNestsInterface>(op->getParentOp()); }
  bool isFast(unsigned name) { return llvm::is_contained(fast, name); }

  /// The groups of produced names, the fastest in the first result last.
  std::vector<Lanes> producedGroups() {
    std::vector<std::pair<int64_t, unsigned>> order;
    const NestAccess &result = nest.accesses[op.getOperands().size()];
    const SizedLayout &layout = laid.sized[op.getOperands().size()];
    for (unsigned name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name)
      if (!isFast(name))
        order.emplace_back(-nest.step(result, layout, name), name);
    llvm::sort(order);
    std::vector<Lanes> groups;
    for (auto [stride, name] : order)
      groups.push_back({name});
    if (!nest.isReduced(fast[0]))
      groups.push_back(fast);
    return groups;
  }
  std::vector<unsigned> reducedNames() {
    std::vector<unsigned> names;
    for (unsigned name = unsigned(nest.firstReduced); name < nest.names.size(); ++name)
      if (!isFast(name))
        names.push_back(name);
    return names;
  }
  void add(Schedule &schedule, const char *level, ArrayRef<unsigned> group, int64_t step) {
    schedule.loops.push_back({level, nest.namesOf(group), step, 1});
  }
  /// Gives lanes to the last groups first, up to `most` of them; the rest of a group is for blocks.
  std::vector<Part> partsOf(const std::vector<Lanes> &groups, int64_t points, int64_t most) {
    std::vector<Part> parts;
    for (const Lanes &group : llvm::reverse(groups)) {
      Part part{group, group == fast ? points : 1, 1};
      part.lanes = std::min(most, int64_t(llvm::PowerOf2Ceil(
                                      uint64_t(llvm::divideCeil(sizeOf(group), part.points)))));
      most /= part.lanes;
      parts.insert(parts.begin(), part);
    }
    return parts;
  }
  void addTile(Schedule &schedule, ArrayRef<Part> parts) {
    for (const Part &part : parts)
      if (part.points > 1 && part.group != fast)
        add(schedule, "register", part.group, 1);
    for (const Part &part : parts)
      if (part.points > 1 && part.group == fast) {
        if (part.points > width)
          add(schedule, "register", part.group, width);
        add(schedule, "vector", part.group, 1);
      }
  }

  /// A nest without sums.
  Schedule points() {
    Schedule schedule;
    bool many = nest.points(nest.firstProduced, nest.names.size()) >= manySums;
    std::vector<Part> parts = partsOf(producedGroups(), many ? width : 1, mostLanes);
    for (const Part &part : parts)
      add(schedule, "block", part.group, part.block());
    for (const Part &part : parts)
      add(schedule, "lane", part.group, part.points);
    addTile(schedule, parts);
    return schedule;
  }

  /// Sums that reuse no operand.
  Schedule reduce() {
    Schedule schedule;
    std::vector<unsigned> reduced = reducedNames();
    double sums = nest.points(nest.firstProduced, nest.firstReduced),
           terms = nest.points(nest.firstReduced, nest.names.size());
    bool fastReduced = nest.isReduced(fast[0]);
    // The reduced names whose steps are divided among lanes, with their number.
    Part divided{fastReduced ? fast : Lanes(), 1, 1};
    if (fastReduced && !isSymbolic(fast) && sizeOf(fast) % width == 0)
      divided.points = width;
    if (!fastReduced && sums < manySums && terms >= manyTerms && !reduced.empty())
      divided.group = {*llvm::max_element(
          reduced, [&](unsigned a, unsigned b) { return nest.sizes[a] < nest.sizes[b]; })};
    if (!divided.group.empty()) {
      int64_t most = fastReduced ? mostLanes : mostLanes / 32;
      divided.lanes =
          std::min(most, int64_t(llvm::PowerOf2Ceil(
                             uint64_t(llvm::divideCeil(sizeOf(divided.group), divided.points)))));
    }
    // A lane has whole vectors of sums if there are enough of them for all lanes.
    bool isWide = !fastReduced && divided.group.empty() && !isSymbolic(fast) &&
                  sizeOf(fast) % width == 0 && sums >= manySums * (isInner() ? 1.0 : double(width));
    std::vector<Part> parts =
        partsOf(producedGroups(), isWide ? width : 1, mostLanes / divided.lanes);
    for (const Part &part : parts)
      add(schedule, "block", part.group, part.block());
    for (unsigned name : reduced)
      if (Lanes{name} != divided.group)
        add(schedule, "loop", {name}, 1);
    if (!divided.group.empty() &&
        (divided.block() < sizeOf(divided.group) || isSymbolic(divided.group)))
      add(schedule, "loop", divided.group, divided.block());
    auto addLanes = [&](bool last) {
      for (const Part &part : parts)
        if ((part.group == fast) == last)
          add(schedule, "lane", part.group, part.points);
    };
    addLanes(false);
    if (!divided.group.empty())
      add(schedule, "lane", divided.group, divided.points);
    addLanes(true);
    if (divided.points > 1)
      add(schedule, "vector", divided.group, 1);
    addTile(schedule, parts);
    return schedule;
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// The produced name of which a lane computes several points for each element along the fast
  /// names; -1: there is none.
  int rowName() {
    int best = -1;
    for (unsigned name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name) {
      bool reuses = !isFast(name) && llvm::any_of(nest.accesses, [&](const NestAccess &access) {
        return !access.isWrite && !access.inFinish && !access.mentions(name) &&
               access.mentionsAny(fast);
      });
      if (reuses && (best < 0 || nest.sizes[name] > nest.sizes[unsigned(best)]))
        best = int(name);
    }
    return best;
  }
  /// The reduced name whose steps are staged together: the largest.
  unsigned depthName() {
    std::vector<unsigned> names = reducedNames();
    return *llvm::max_element(
        names, [&](unsigned a, unsigned b) { return nest.sizes[a] < nest.sizes[b]; });
  }

  struct Tile {
    Part row, column;
    int64_t depth;
    unsigned buffers = 1; ///< of each copy
  };
  std::vector<Part> partsOf(const Tile &tile) {
    std::vector<Part> parts;
    for (const Lanes &group : producedGroups())
      parts.push_back(group == tile.row.group      ? tile.row
                      : group == tile.column.group ? tile.column
                                                   : Part{group, 1, 1});
    return parts;
  }
  /// The points of each name that a block covers while it uses one copy.
  Extents extentsOf(const Tile &tile, unsigned depthName) {
    Extents extents(nest.names.size(), 1);
    for (const Part &part : partsOf(tile))
      setExtents(nest, part.group, std::min(part.block(), sizeOf(part.group)), extents);
    extents[depthName] = std::min(tile.depth, nest.sizes[depthName]);
    return extents;
  }
  /// Whether the lanes of a block share elements of a read.
  bool isShared(unsigned read, unsigned row, unsigned depthName) {
    const NestAccess &access = nest.accesses[read];
    return access.stageable && access.mentions(depthName) &&
           !(access.mentions(row) && access.mentionsAny(fast));
  }

  cost::BlockAmounts amountsOf(const Tile &tile, unsigned row, unsigned depthName) {
    cost::BlockAmounts amounts;
    amounts.blocks = nest.points(0, nest.firstProduced);
    std::vector<Part> parts = partsOf(tile);
    for (const Part &part : parts)
      amounts.blocks *= double(llvm::divideCeil(sizeOf(part.group), part.block()));
    amounts.lanes = tile.row.lanes * tile.column.lanes;
    int64_t sums = tile.row.points * tile.column.points;
    amounts.registers =
        sums * nest.accumulators + tile.row.points + tile.column.points + otherRegisters;
    Extents extents = extentsOf(tile, depthName);
    double terms = nest.points(nest.firstReduced, nest.names.size()), perStep = double(sums),
           copies = terms / double(extents[depthName]),
           steps = std::ceil(double(nest.sizes[depthName]) / double(extents[depthName]));
    bool inTurns = tile.buffers > 1;
    amounts.ahead = inTurns ? (steps - 1) / steps : 0; // of each loop all but the first
    for (unsigned read = 0; read < op.getReads().size(); ++read) {
      const NestAccess &access = nest.accesses[read];
      PlacedAccess placed(nest, access, laid.layouts[read], laid.kindOf(read, fast));
      double loads = (access.mentions(row) ? double(tile.row.points) : 1.0) *
                     (access.mentionsAny(fast) ? double(tile.column.points) / double(width) : 1.0);
      perStep += loads;
      double box = boxElements(placed, extents) * double(access.bytes());
      amounts.bytes += box * copies;
      if (isShared(read, row, depthName)) {
        // A copy widens narrow floats.
        bool isNarrow = nd::isNarrowFloat(access.type.getElementType());
        double copied = isNarrow ? box / double(access.bytes()) * 4 : box;
        amounts.sharedBytes += int64_t(copied * 1.25) * tile.buffers;
        amounts.registers += inTurns ? int64_t(copied / double(amounts.lanes) / 4) + 1 : 0;
        amounts.barriers = copies * (inTurns ? 1 + 1 / steps : 2);
        amounts.instructions += copies * 4 * std::ceil(box / double(amounts.lanes * accessBytes));
      }
    }
    amounts.bytes += double(tile.row.block() * tile.column.block()) * 4;
    amounts.instructions += terms * perStep * double(nest.operations) + double(sums) * 8;
    return amounts;
  }

  std::optional<Schedule> chooseTile() {
    int row = rowName();
    if (row < 0 || reducedNames().empty())
      return std::nullopt;
    unsigned depth = depthName();
    Tile best{};
    double least = INFINITY;
    for (int64_t rowPoints : {8, 4, 2, 1})
      for (int64_t columnPoints : {2 * width, width, int64_t(1)})
        for (int64_t rowLanes : {16, 8, 4, 2, 1})
          for (int64_t columnLanes : {32, 16, 8, 4})
            for (int64_t steps : {32, 16, 8})
              for (unsigned buffers : {1, 2}) {
                int64_t lanes = rowLanes * columnLanes;
                if (lanes < machine.occupancy.warp || lanes > mostLanes ||
                    (buffers > 1 && nest.sizes[depth] <= steps))
                  continue;
                Tile tile{{{unsigned(row)}, rowPoints, rowLanes},
                          {fast, columnPoints, columnLanes},
                          steps,
                          buffers};
                double seconds = cost::secondsOf(amountsOf(tile, unsigned(row), depth), machine);
                if (seconds < least * 0.999) {
                  least = seconds;
                  best = tile;
                }
              }
    if (least == INFINITY)
      return std::nullopt;
    return write(best, unsigned(row), depth);
  }

  Schedule write(const Tile &tile, unsigned row, unsigned depth) {
    Schedule schedule;
    std::vector<Part> parts = partsOf(tile);
    for (const Part &part : parts)
      add(schedule, "block", part.group, part.block());
    for (unsigned name : reducedNames())
      if (name != depth)
        add(schedule, "loop", {name}, 1);
    unsigned at = unsigned(schedule.loops.size());
    add(schedule, "loop", {depth}, tile.depth);
    for (const Part &part : parts)
      if (part.block() > 1)
        add(schedule, "lane", part.group, part.points);
    add(schedule, "loop", {depth}, 1);
    addTile(schedule, parts);
    for (unsigned read = 0; read < op.getReads().size(); ++read)
      if (isShared(read, row, depth))
        addStage(schedule, read, at, row, extentsOf(tile, depth), tile.buffers);
    return schedule;
  }

  /// Adds a copy in which a lane's points, or neighbouring lanes, are neighbours. Rows are padded
  /// so that they start in different banks.
  void addStage(Schedule &schedule, unsigned read, unsigned at, unsigned row,
                const Extents &extents, unsigned buffers) {
    const NestAccess &access = nest.accesses[read];
    std::vector<std::pair<int, std::string>> order;
    int64_t last = 1;
    for (auto [dim, coordinate] : llvm::zip_equal(access.dims, access.coordinates)) {
      auto mentions = [&](unsigned name) {
        return llvm::is_contained(coordinate.mentioned, int(name));
      };
      bool isFastest = access.mentionsAny(fast) ? mentions(fast.back()) : mentions(row);
      order.emplace_back(isFastest, dim);
    }
    llvm::stable_sort(order, [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<std::string> names;
    for (const auto &[isLast, name] : order)
      names.push_back(name);
    Layout layout = Layout::rowMajor(names);
    PlacedAccess placed(nest, access, laid.layouts[read], LaneKind::Same);
    for (const PlacedAccess::Dim &dim : placed.dims)
      if (!names.empty() && dim.name == names.back())
        last = dim.extent(extents);
    if (names.size() > 1 && last * access.bytes() % bankBytes == 0)
      layout.factors.back().high = accessBytes / access.bytes();
    schedule.stages.push_back({read, at, "shared", layout, {}, buffers, ""});
    // Parts that are no boxes are read where they are.
    unsigned nextVariable = 0;
    ScheduledLoops scheduled =
        scheduledLoops(op.getProduced(), op.getReduced(), schedule, laneBits(op), attribute,
                       nextVariable, unitOf(op, attribute), /*bindLanes=*/true);
    size_t entered = 0;
    for (auto [i, walk] : llvm::enumerate(scheduled.loops))
      if (llvm::is_contained(walk.stages, schedule.stages.size() - 1))
        entered = i + 1;
    auto box = findBox(op, scheduled, stageContext(op, scheduled, entered), read,
                       op.getReads()[read], op.readGuard(read));
    if (!box || !layout.verify(box->sizes()).empty())
      schedule.stages.pop_back();
  }
};
} // namespace

std::optional<Schedule> nest::chooseGpuSchedule(ComputeOp op, std::vector<Layout> layouts,
                                                MachineAttr machine) {
  if (!machine || machine.integer("lanes_per_block", 0) <= 1)
    return std::nullopt;
  if (isa<HoldsNestsInterface>(op->getParentOp()))
    machine = cost::withFact(machine, "shared_bytes", machine.number("shared_bytes", 0) / 2);
  return LaneChooser(op, std::move(layouts), machine).choose();
}

std::vector<Loop> nest::chooseLaneCopy(ComputeOp copy, const Layout &from, int64_t lanes) {
  // The names of the box, in the order of memory.
  std::vector<std::string> names;
  for (const Layout::Factor &factor : llvm::reverse(from.factors))
    for (const std::string &name : llvm::reverse(factor.names))
      if (copy.getProduced().contains(name) && !llvm::is_contained(names, name))
        names.insert(names.begin(), name);
  if (names.empty())
    return {};
  auto sizeOf = [&](const std::string &name) {
    return std::max<int64_t>(copy.getProduced().lookup(name).most(), 1);
  };
  // Narrow floats are loaded as they lie in memory, and may be wider in the copy.
  Type element = tensorType(copy.getReads()[0]).getElementType();
  int64_t bits = std::max(8u, element.getIntOrFloatBitWidth()), wide = accessBytes * 8 / bits;
  while (wide > 1 &&
         copy.getProduced().lookup(names.back()).getExpr().mod(wide).constant() != int64_t(0))
    wide /= 2;
  // Lanes for the last names first.
  std::vector<Loop> outer, bound;
  for (const std::string &name : llvm::reverse(names)) {
    int64_t each = name == names.back() ? wide : 1,
            count = std::min(lanes, int64_t(llvm::divideCeil(sizeOf(name), each)));
    lanes /= count;
    if (count * each < sizeOf(name))
      outer.insert(outer.begin(), {"loop", {name}, count * each, 1});
    bound.insert(bound.begin(), {"lane", {name}, each, 1});
  }
  llvm::append_range(outer, bound);
  if (wide > 1)
    outer.push_back({"vector", {names.back()}, 1, 1});
  return outer;
}
