//===- ChooseSchedule.cpp - schedules from an analytical model ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In order:
//
//   1. Vector: the produced name, or merged names of a layout, along which the result and most
//      reads are contiguous or invariant. A read with strided lanes counts as contiguous if it is
//      used often enough to be copied first. If there is no such name, a reduced name along which
//      the reads are contiguous.
//   2. Register tile: vectors along that name times points of names in which the vector reads are
//      invariant, so that each loaded vector and each broadcast scalar is used several times.
//      Accumulators, one row of vectors and one broadcast must fit the registers.
//   3. Reduced names are loops inside of the tile; the one that is contiguous in most reads is
//      innermost. For contractions a search (ScheduleModel.h) chooses the loops around tiles,
//      blocks of reduced names, and copies.
//   4. Pointwise nests: loops in the order of the result; if a read is contiguous along another
//      name, tiles of both names, which are transposed in registers.
//   5. Chunks for threads: large enough to be worth fetching.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ChooseSchedule.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/VectorLanes.h"
#include "lib/cost/ChunkOverhead.h"
#include "lib/transforms/nest/schedule/BoundCopies.h"
#include "lib/transforms/nest/schedule/ChooseVectorLanes.h"
#include "lib/transforms/nest/schedule/OuterLoops.h"
#include "lib/transforms/nest/schedule/ReductionOrder.h"
#include "lib/transforms/nest/schedule/ScheduleModel.h"

#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Returns the layout of each access of a nest from those of its distinct operands and its results.
static std::vector<Layout> layoutsOf(ComputeOp op, ArrayRef<Layout> operands,
                                     ArrayRef<Layout> results) {
  SmallVector<Value> distinct = kernelOperands(op);
  std::vector<Layout> layouts;
  for (Value operand : op.getOperands())
    layouts.push_back(operands[llvm::find(distinct, operand) - distinct.begin()]);
  layouts.insert(layouts.end(), results.begin(), results.end());
  return layouts;
}

namespace {
class Chooser {
public:
  Chooser(ComputeOp op, ArrayRef<Layout> operands, ArrayRef<Layout> results,
          const cost::Machine &machine)
      : op(op), machine(machine), nest(op, machine.facts, /*shrink=*/true),
        work(nest.points(nest.firstProduced, nest.names.size())),
        laid(nest, layoutsOf(op, operands, results), machine) {}

  /// `others`, if not null, gets what schedules of other kinds would cost.
  Schedule choose(std::vector<OtherSchedule> *others = nullptr) {
    vector = laid.chooseLanes();
    vectorReduced = !vector.empty() && nest.isReduced(vector[0]);
    pickTile();
    if (nest.reduction && !vector.empty() && !vectorReduced && nest.reusesReads() && !tiles.empty())
      return boundCopies(op, nest, contract(others));
    return write();
  }

private:
  ComputeOp op;
  const cost::Machine &machine;
  NestModel nest;
  double work; ///< points of the iteration space
  LaidNestModel laid;

  Lanes vector;
  bool vectorReduced = false;
  int64_t vectorTile = 1;                         ///< extent of a tile along the vector group
  std::vector<std::pair<unsigned, int64_t>> rows; ///< (name, points) unrolled in the tile
  std::vector<RegisterTile> tiles;                ///< the best first

  int64_t sizeOf(const std::string &name) const { return nest.sizes[size_t(nest.indexOf(name))]; }

  /// Chooses tiles of two names if reads are contiguous along a name other than the lanes.
  void pickTurn() {
    for (auto [i, access] : llvm::enumerate(nest.accesses)) {
      if (access.isWrite || laid.kindOf(i, vector) != LaneKind::Apart)
        continue;
      int name = laid.turnOf(i, vector);
      if (name < 0)
        continue;
      rows = {{unsigned(name), std::min(nest.sizes[size_t(name)], nest.lanes)}};
      vectorTile = nest.lanes;
      return;
    }
  }

  void pickTile() {
    if (vector.empty())
      return;
    vectorTile = std::min<int64_t>(nest.vectorsOf(vector), vectorReduced ? 1 : 2) * nest.lanes;
    if (!nest.reduction)
      return pickTurn();
    SmallVector<bool> onLanes;
    for (size_t i = 0; i < nest.accesses.size(); ++i)
      onLanes.push_back(laid.kindOf(i, vector) != LaneKind::Same);
    tiles = nest.registerTiles(vector, onLanes);
    if (tiles.empty())
      return;
    rows = tiles[0].rows;
    vectorTile = tiles[0].vectors * nest.lanes;
  }

  /// Chooses the loops around the tiles of a contraction.
  Schedule contract(std::vector<OtherSchedule> *others) {
    unsigned panel = 0;
    cost::NestFacts facts(op, machine.facts, /*shrink=*/true);
    facts.setLayouts(laid.layouts);
    Model model{nest, machine, facts, {}, vector};
    placeAccesses(model, panel);
    std::vector<RegisterTile> candidates;
    for (const RegisterTile &tile : ArrayRef(tiles).take_front(10))
      if (tile.score >= 0.8 * tiles[0].score)
        candidates.push_back(tile);
    std::vector<Loop> order = reductionOrder(op, laid, panel, vector, tiles);
    Model::Found best = model.search(candidates, order);
    // Products by a matrix unit, if that is faster than widening their factors.
    UnitUse use = unitOf(op, machine.facts);
    double rate = use.unit ? machine.facts.rate(use.unit) : 0;
    if (rate <= 1) {
      if (others)
        addOtherTile(*others, model, candidates, order, best);
      return best.schedule;
    }
    Model::Found plain = best;
    double paired = INFINITY;
    for (RegisterTile &tile : candidates)
      tile.cycles *= double(depthOf(use.unit)) / rate;
    for (const std::string &name : use.names) {
      model.pair = nest.indexOf(name);
      std::vector<Loop> pairs = order;
      bool isEven = sizeOf(name) > 1;
      for (Loop &loop : pairs)
        if (loop.names[0] == name) {
          isEven &= loop.step == 1 || loop.step % 2 == 0;
          loop.step = std::max<int64_t>(loop.step, 2);
        }
      if (!isEven)
        continue;
      Model::Found found = model.search(candidates, pairs);
      paired = std::min(paired, found.cost);
      if (found.cost < best.cost)
        best = std::move(found);
    }
    if (others && paired < INFINITY)
      others->push_back(paired < plain.cost
                            ? OtherSchedule{"without the matrix unit", plain.cost - paired}
                            : OtherSchedule{"with the matrix unit", paired - plain.cost});
    return best.schedule;
  }

  /// Adds the best schedule with other register tiles than the best one has.
  void addOtherTile(std::vector<OtherSchedule> &others, const Model &model,
                    ArrayRef<RegisterTile> candidates, ArrayRef<Loop> order,
                    const Model::Found &best) const {
    std::vector<RegisterTile> rest;
    for (const RegisterTile &tile : candidates)
      if (&tile != best.tile)
        rest.push_back(tile);
    if (rest.empty() && tiles.size() > 1)
      rest.push_back(tiles[1]);
    if (rest.empty())
      return;
    Model::Found found = model.search(rest, order);
    auto spelled = [&](ArrayRef<unsigned> names, int64_t points) {
      std::string list = llvm::join(nest.namesOf(names), ", ");
      return (names.size() == 1 ? list : "(" + list + ")") + " by " + std::to_string(points);
    };
    std::string what = "a register tile of ";
    for (auto [name, points] : found.tile->rows)
      what += spelled(name, points) + ", ";
    others.push_back(
        {what + spelled(vector, found.tile->vectors * nest.lanes), found.cost - best.cost});
  }

  /// `panel`: the longest vector read, which determines the order of the reduction.
  void placeAccesses(Model &model, unsigned &panel) {
    bool found = false;
    // The rest of merged lanes of symbolic size may begin anywhere within the inner names, so a
    // copy of it has no box.
    bool hasBox =
        vector.size() < 2 ||
        llvm::all_of(
            vector,
            [&](unsigned name) { return iterationSpace(op).lookup(nest.names[name]).constant(); });
    for (auto [i, access] : llvm::enumerate(nest.accesses)) {
      if (access.inFinish)
        continue;
      PlacedAccess made(nest, access, laid.layouts[i], laid.kindOf(i, vector));
      // Merged lanes are staged if the tensor has the merged names whole. A copy needs a separate
      // dimension for each name of the lanes.
      made.stageable = !access.isWrite && access.stageable && !laid.layouts[i].swizzle.bits &&
                       !(made.scattered() && vector.size() > 1) && (!made.onLanes() || hasBox) &&
                       (!made.onLanes() ||
                        llvm::all_of(vector, [&](unsigned name) { return made.plain(name); }));
      if (!access.isWrite && made.onLanes() &&
          (!found || access.elements > nest.accesses[panel].elements)) {
        panel = unsigned(i);
        found = true;
      }
      model.accesses.push_back(std::move(made));
    }
  }

  /// Returns the largest stride of a name in the writes or in the reads.
  int64_t stepOf(unsigned name, bool writes) {
    int64_t most = 0;
    for (auto [access, layout] : llvm::zip_equal(nest.accesses, laid.sized))
      if (access.isWrite == writes)
        most = std::max(most, nest.step(access, layout, name));
    return most;
  }

  /// Returns the names from `begin` to `end` by their strides in the writes or reads, outermost
  /// first.
  std::vector<unsigned> ordered(size_t begin, size_t end, bool writes) {
    std::vector<std::pair<int64_t, unsigned>> order;
    for (unsigned name = unsigned(begin); name < end; ++name)
      order.emplace_back(-stepOf(name, writes), name);
    llvm::sort(order);
    std::vector<unsigned> names;
    for (auto [step, name] : order)
      names.push_back(name);
    return names;
  }

  Schedule write() {
    Schedule schedule;
    // Loops around tiles.
    std::vector<OuterLoop> outer;
    auto addOuter = [&](const Lanes &names, int64_t size, int64_t step) {
      bool any = llvm::any_of(names, [&](unsigned name) { return nest.symbolic[name]; });
      outer.push_back({nest.namesOf(names), step, int64_t(llvm::divideCeil(size, step)), any});
    };
    bool placedVector = vectorReduced || vector.empty();
    auto placeVector = [&] {
      if (std::exchange(placedVector, true))
        return;
      addOuter(vector, nest.sizeOf(vector),
               std::min(vectorTile, nest.vectorsOf(vector) * nest.lanes));
    };
    for (unsigned name : ordered(nest.firstProduced, nest.firstReduced, /*writes=*/true)) {
      if (llvm::is_contained(vector, name) && !vectorReduced) {
        placeVector();
        continue;
      }
      int64_t step = 1, size = nest.sizes[name];
      for (auto [row, points] : rows)
        if (row == name)
          step = std::min(points, size);
      addOuter({name}, size, step);
    }
    placeVector();
    auto add = [&](const char *level, ArrayRef<unsigned> group, int64_t step) {
      schedule.loops.push_back({level, nest.namesOf(group), step, 1});
    };
    double flops =
        work * nest.bodyCost + nest.points(nest.firstProduced, nest.firstReduced) * nest.finishCost;
    schedule.loops =
        sharedLoops(outer, cost::chunksWorthFetching(std::max(2 * work, flops), machine));
    // The reduction, the most contiguous name innermost.
    for (unsigned name : ordered(nest.firstReduced, nest.names.size(), /*writes=*/false))
      if (!llvm::is_contained(vector, name))
        add("loop", name, 1);
    // Short bodies use several independent accumulators.
    int64_t width = nest.lanes, together = width, operations = 0;
    for (Region *region : {&op.getBody(), &op.getCombine()})
      operations += llvm::range_size(region->front());
    if (vectorReduced && rows.empty() && operations <= 10)
      while (together < 4 * width && 4 * together <= nest.sizeOf(vector))
        together *= 2;
    if (vectorReduced)
      add("loop", vector, together);
    for (auto [name, points] : rows)
      add("register", name, 1);
    if (!vector.empty()) {
      if (!vectorReduced || together > width)
        add("register", vector, width);
      add("vector", vector, 1);
    }
    return schedule;
  }
};
} // namespace

/// The lines to sort are distributed over threads.
static Schedule chooseSortSchedule(SortOp op) {
  constexpr int64_t enoughChunks = 64, mostSteps = 256; // chunks of lines, and steps of one name
  Schedule schedule;
  int64_t chunks = 1;
  Sizes sizes = sizesOf(op.getLines());
  for (const auto &[name, size] : sizes) {
    if (chunks >= enoughChunks)
      break;
    int64_t step = std::max<int64_t>(1, size / mostSteps);
    schedule.loops.push_back({"thread", {name}, step, 1});
    chunks *= (size + step - 1) / step;
  }
  for (const auto &[name, size] : sizes)
    if (llvm::none_of(schedule.loops, [&, name = name](const Loop &loop) {
          return loop.names[0] == name && loop.step == 1;
        }))
      schedule.loops.push_back({"loop", {name}, 1, 1});
  return schedule;
}

std::vector<OtherSchedule> nest::otherSchedules(Operation *nest, ArrayRef<Layout> operandLayouts,
                                                ArrayRef<Layout> resultLayouts,
                                                const cost::Machine &machine) {
  std::vector<OtherSchedule> others;
  auto op = dyn_cast<ComputeOp>(nest);
  if (op && pointsOf(op.getProduced()) > 0 && pointsOf(op.getReduced()) > 0)
    Chooser(op, operandLayouts, resultLayouts, machine).choose(&others);
  return others;
}

Schedule nest::chooseSchedule(Operation *nest, ArrayRef<Layout> operandLayouts,
                              ArrayRef<Layout> resultLayouts, const cost::Machine &machine) {
  auto isEmpty = [](nd::DimsAttr dims) {
    return llvm::any_of(dims, [](const nd::Dim &dim) { return dim.size().constant() == 0; });
  };
  if (auto update = dyn_cast<UpdateOp>(nest))
    return isEmpty(update.getSpace()) ? Schedule()
                                      : chooseUpdateSchedule(update, resultLayouts[0], machine);
  if (auto group = dyn_cast<GroupOp>(nest))
    return isEmpty(group.getNames()) ? Schedule() : chooseGroupSchedule(group, machine);
  if (auto sort = dyn_cast<SortOp>(nest))
    return isEmpty(sort.getLines()) ? Schedule() : chooseSortSchedule(sort);
  auto op = dyn_cast<ComputeOp>(nest);
  if (!op || isEmpty(op.getProduced()) || isEmpty(op.getReduced()))
    return {};
  return Chooser(op, operandLayouts, resultLayouts, machine).choose();
}
