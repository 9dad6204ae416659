//===- Amounts.cpp - what a scheduled nest executes and moves -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Amounts.h"

#include "lib/cost/Instructions.h"
#include "lib/cost/Loops.h"

#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;
using namespace heddle::nest;
using namespace mlir;

/// The part of a cache that the data of a loop may fill and still be there at its next step.
static constexpr double keptPart = 0.75;
/// Contiguous runs below this many bytes end before a prefetcher is ahead of them.
static constexpr double shortRun = 512;

/// The names of all amounts that add up, in the order in which they are printed.
static constexpr std::pair<const char *, double Amounts::*> sums[] = {
    {"operations", &Amounts::operations},
    {"calls", &Amounts::calls},
    {"loads", &Amounts::loads},
    {"stores", &Amounts::stores},
    {"gathered", &Amounts::gathered},
    {"turned", &Amounts::turned},
    {"rows", &Amounts::rows},
    {"converted", &Amounts::converted},
    {"chained", &Amounts::chained},
    {"steps", &Amounts::steps},
    {"entries", &Amounts::entries},
    {"tiles", &Amounts::tiles},
    {"copied", &Amounts::copied}};

Amounts &Amounts::operator+=(const Amounts &other) {
  for (auto [name, amount] : sums)
    this->*amount += other.*amount;
  for (int level = 0; level < memoryLevels; ++level) {
    bytes[level] += other.bytes[level];
    scattered[level] += other.scattered[level];
  }
  return *this;
}

Amounts Amounts::operator*(double times) const {
  Amounts result = *this;
  for (auto [name, amount] : sums)
    result.*amount *= times;
  for (int level = 0; level < memoryLevels; ++level) {
    result.bytes[level] *= times;
    result.scattered[level] *= times;
  }
  return result;
}

std::string Amounts::str() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto add = [&](const char *name, double amount) {
    if (amount)
      out << (text.empty() ? "" : ", ") << name << " " << llvm::format("%.6g", amount);
  };
  for (auto [name, amount] : sums)
    add(name, this->*amount);
  add("chunks", chunks);
  const char *levels[] = {"l2_bytes", "l3_bytes", "memory_bytes"};
  const char *apart[] = {"l2_scattered", "l3_scattered", "memory_scattered"};
  for (int level = 0; level < memoryLevels; ++level) {
    add(levels[level], bytes[level]);
    add(apart[level], scattered[level]);
  }
  return text;
}

namespace {
/// Where the data of an access lies, and how lanes reach it.
struct Placed {
  const NestAccess *access;
  PlacedAccess place;
  int staged = -1;       ///< the levels outside of its copy; -1: none
  bool isShared = false; ///< reads the lines that another read of its tensor counts

  /// The bytes of the lines that the steps of the first `level` levels touch.
  double box(const Loops &loops, size_t level) const {
    const Extents &extents = loops.extents[level];
    int64_t line = std::max<int64_t>(1, loops.nest.line / place.bytes);
    double all = access->elements * double(place.bytes);
    if (!access->gathered)
      return std::min(all, boxElements(place, extents, line) * double(place.bytes));
    // Each point that the coordinates depend on may read another row.
    double rows = 1;
    for (unsigned name = 0; name < loops.nest.names.size(); ++name)
      if (access->gatheredBy(name))
        rows *= double(extents[name]);
    return std::min(all, rows * boxElements(place, extents, line) * double(place.bytes));
  }
};

/// The loops of the groups around a nest, outermost first, then its own.
static std::vector<Loop> loopsOf(Operation *op) {
  std::vector<Loop> loops;
  for (Operation *each = op; each; each = each->getParentOp())
    if (each == op || isa<GroupOp>(each))
      if (auto chosen = cast<ScheduledInterface>(each).getScheduleAttr()) {
        const std::vector<Loop> &more = chosen.getSchedule().loops;
        loops.insert(loops.begin(), more.begin(), more.end());
      }
  return loops;
}

class Counter {
public:
  Counter(Operation *op, MachineAttr machine) : nest(op, machine), loops(nest, loopsOf(op)) {
    auto own = cast<ScheduledInterface>(op).getScheduleAttr();
    size_t ownFirst = loops.levelAfter.size() - (own ? own.getSchedule().loops.size() : 0);
    SmallVector<unsigned, 2> lanes;
    if (loops.vectors >= 0)
      lanes = loops.groups[unsigned(loops.vectors)].names;
    for (auto [i, access] : llvm::enumerate(nest.accesses)) {
      Layout layout = layoutOf(access.tensor);
      SizedLayout sized(layout, access.type, nest.sizesOf(access.type));
      LaneKind kind = lanes.empty() ? LaneKind::Same : nest.laneKind(access, sized, lanes);
      bool isShared = llvm::any_of(
          placed, [tensor = access.tensor, gathered = access.gathered](const Placed &other) {
            return other.access->tensor == tensor && other.access->gathered == gathered;
          });
      placed.push_back({&access, PlacedAccess(nest, access, layout, kind), -1, isShared});
      if (own)
        for (const Stage &stage : own.getSchedule().stages)
          if (stage.operand == i)
            placed.back().staged = int(loops.levelAfter[ownFirst + stage.at]);
    }
  }

  Amounts count() {
    Amounts amounts;
    amounts.chunks = loops.chunks;
    countOperations(amounts);
    for (const Placed &each : placed)
      each.access->isWrite ? countWrite(each, amounts) : countRead(each, amounts);
    for (int level = 0; level < memoryLevels; ++level)
      countBytes(level, amounts);
    return amounts;
  }

private:
  NestModel nest;
  Loops loops;
  std::vector<Placed> placed;

  bool isProduced(unsigned group) const { return !loops.groups[group].reduced; }

  void countOperations(Amounts &amounts) {
    auto compute = dyn_cast<ComputeOp>(nest.op);
    auto update = dyn_cast<UpdateOp>(nest.op);
    auto none = [](unsigned) { return false; };
    auto produced = [&](unsigned group) { return isProduced(group); };
    auto reduced = [&](unsigned group) { return !isProduced(group); };
    double points = loops.times([](unsigned) { return true; }, none);
    double finishes = loops.times(produced, reduced);
    Instructions body = instructionsOf(compute ? compute.getBody() : update.getBody()), finish;
    Instructions combine = instructionsOf(compute ? compute.getCombine() : update.getCombine());
    if (compute) {
      finish = instructionsOf(compute.getFinish());
      if (contractionOf(compute) &&
          isa<FloatType>(cast<TypedAttr>(compute.getNeutral()[0]).getType()))
        combine.vector -= 1; // a multiply-add
    }
    amounts.operations =
        points * (body.vector + combine.vector) / loops.together + finishes * finish.vector;
    amounts.calls =
        double(loops.width) * (points * (body.calls + combine.calls) + finishes * finish.calls);
    if (!loops.levels.empty()) {
      amounts.steps = loops.runs.back();
      amounts.entries = loops.runs[loops.levels.size() - 1];
    }
    if (!nest.reduction)
      return;
    if (loops.lanesAreReduced()) // lanes are added up
      amounts.operations += finishes * (2 + 2 * std::log2(double(loops.width)));
    // Each step of the innermost loop waits for the sums of the one before.
    if (!loops.levels.empty() && reduced(loops.levels.back().group))
      amounts.chained = combine.cycles * loops.runs.back();
    if (llvm::none_of(loops.levels, [&](const Level &level) { return reduced(level.group); }))
      return; // all that is reduced is in the tile
    amounts.tiles = loops.isSplit() ? loops.times(produced, none) : finishes;
    for (unsigned group = 0; group < loops.groups.size(); ++group)
      if (produced(group))
        amounts.tiles /= loops.inTile(group);
  }

  void countRead(const Placed &each, Amounts &amounts) {
    const NestAccess &access = *each.access;
    bool finish = access.inFinish;
    auto matters = [&](unsigned group) {
      return loops.mentions(access, group) && !(finish && loops.groups[group].reduced);
    };
    auto skips = [&](unsigned group) { return finish && loops.groups[group].reduced; };
    double count = loops.times(matters, skips);
    LaneKind kind = each.place.lanes;
    if (access.gathered) {
      auto moves = [&](unsigned group) {
        return llvm::any_of(loops.groups[group].names,
                            [&](unsigned name) { return access.gatheredBy(name); });
      };
      bool byLane = loops.vectors >= 0 && moves(unsigned(loops.vectors));
      amounts.rows += loops.times(moves, skips) * (byLane ? double(loops.width) : 1);
    }
    if (each.staged >= 0) {
      size_t at = size_t(each.staged);
      amounts.copied += loops.runs[at] * boxElements(each.place, loops.extents[at]);
      if (kind == LaneKind::Apart)
        kind = LaneKind::Contiguous;
    } else if (each.place.bytes < 4 && isa<FloatType>(access.type.getElementType())) {
      amounts.converted += count;
    }
    if (kind == LaneKind::Apart && isTurned(each)) {
      amounts.loads += count;
      amounts.turned += count;
    } else if (kind == LaneKind::Apart) {
      amounts.gathered += count * double(loops.width);
    } else {
      amounts.loads += count;
    }
  }

  /// True if a register tile has whole vectors along another name along which the tensor is contiguous.
  bool isTurned(const Placed &each) const {
    if (each.access->gathered)
      return false;
    for (const PlacedAccess::Dim &dim : each.place.dims)
      if (dim.contiguous && dim.terms.size() == 1 && dim.terms[0].second == 1)
        for (auto [number, group] : llvm::enumerate(loops.groups))
          if (int(number) != loops.vectors && llvm::is_contained(group.names, dim.terms[0].first))
            return group.left > 1;
    return false;
  }

  void countWrite(const Placed &each, Amounts &amounts) {
    bool split = nest.reduction && loops.isSplit();
    double count = loops.times([&](unsigned group) { return isProduced(group); },
                               [&](unsigned group) { return !split && !isProduced(group); });
    if (split || isa<UpdateOp>(nest.op))
      amounts.loads += count;
    if (each.place.bytes < 4 && isa<FloatType>(each.access->type.getElementType()))
      amounts.converted += count;
    if (each.place.lanes == LaneKind::Apart && !loops.lanesAreReduced())
      amounts.gathered += count * double(loops.width);
    else
      amounts.stores += count;
  }

  double capacity(int level) const {
    return keptPart * double(level == L2 ? nest.l1 : level == L3 ? nest.l2 : nest.l3);
  }

  /// The bytes that the loops walk one after another without a gap, from the innermost loop outwards.
  double runOf(const Placed &each) const {
    double run = double(each.place.bytes);
    for (size_t level = loops.extents.size(); level-- > 0;) {
      const Extents &extents = loops.extents[level];
      double here = runBytes(each.place, extents);
      if (here < boxElements(each.place, extents) * double(each.place.bytes))
        break;
      run = here;
    }
    return run;
  }

  /// Data is fetched again at each step of the innermost loop whose data does not fit, and of all
  /// around it.
  void countBytes(int memory, Amounts &amounts) {
    size_t level = 0;
    for (; level < loops.levels.size(); ++level) {
      double total = 0;
      for (const Placed &each : placed)
        total += each.isShared ? 0 : each.box(loops, level);
      if (total <= capacity(memory))
        break;
    }
    if (level == 0)
      return;
    for (const Placed &each : placed) {
      if (each.isShared)
        continue;
      double bytes = each.box(loops, level - 1) * loops.runs[level - 1];
      if (each.access->isWrite) // fetched and written back
        bytes *= 2;
      amounts.bytes[size_t(memory)] += bytes;
      if ((runOf(each) < shortRun && each.staged < 0) || each.access->gathered)
        amounts.scattered[size_t(memory)] += bytes;
    }
  }
};
} // namespace

Amounts cost::amountsOf(Operation *op, MachineAttr machine) {
  if (isa<ComputeOp, UpdateOp>(op))
    return Counter(op, machine).count();
  Amounts sum;
  if (auto group = dyn_cast<GroupOp>(op)) { // each nest counts all points and chunks of the group
    for (Operation &inner : group.getBody().front())
      if (isa<ScheduledInterface>(inner)) {
        Amounts each = amountsOf(&inner, machine);
        sum += each;
        sum.chunks = std::max(sum.chunks, each.chunks);
      }
    return sum;
  }
  if (auto scan = dyn_cast<ScanOp>(op)) {
    for (Operation &inner : scan.getBody().front())
      sum += amountsOf(&inner, machine);
    return sum * pointsOf(scan.getAlong());
  }
  if (isa<SortOp>(op))
    sum.operations = arithmeticOf(op);
  return sum;
}
