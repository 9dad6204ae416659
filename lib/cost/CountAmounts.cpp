//===- CountAmounts.cpp - counts what a scheduled nest executes -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/CountAmounts.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/analysis/TurnedTile.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;
using nest::LaneKind;
using nest::NestAccess;
using nest::PlacedAccess;

/// Operations of a condition that differs from lane to lane: comparisons of numbers of 64 bits.
static constexpr double laneTest = 4;
/// Instructions by which the coordinate of one lane is extracted, clamped and multiplied.
static constexpr double laneCoordinate = 5;
/// From a vector to one with its lanes in another order.
static constexpr double shuffleCycles = 3;

namespace {
class Counter {
public:
  explicit Counter(const NestFacts &facts)
      : facts(facts), nest(facts.nest()), loops(facts.loops()), produced(loops.produced),
        reduced(MergedSet(produced).flip()), none(produced.size()) {}

  Amounts count() {
    Amounts amounts;
    countArithmetic(amounts);
    for (size_t i = 0; i < nest.accesses.size(); ++i)
      amounts += facts.counted(i, [&] {
        Amounts own;
        nest.accesses[i].isWrite ? countWrite(i, own) : countRead(i, own);
        return own;
      });
    return amounts;
  }

private:
  const NestFacts &facts;
  const nest::NestModel &nest;
  const Loops &loops;
  const MergedSet &produced;
  MergedSet reduced, none;

  void countArithmetic(Amounts &amounts) {
    amounts.chunks = loops.chunks;
    double points = loops.times(MergedSet(produced.size(), true), none);
    double finishes = loops.times(produced, reduced);
    const Instructions &body = facts.body, &combine = facts.combine, &finish = facts.finish;
    amounts.operations =
        points * (body.vector + combine.vector) / loops.together + finishes * finish.vector;
    amounts.products = points * combine.products / loops.together;
    amounts.calls =
        double(loops.width) * (points * (body.calls + combine.calls) + finishes * finish.calls);
    if (!loops.levels.empty()) {
      amounts.steps = loops.runs.back();
      amounts.entries = loops.runs[std::max(loops.levels.size() - 1, loops.outerLevels)];
    }
    if (!nest.reduction)
      return;
    // A register tile holds its accumulators, and a few registers hold operands.
    double held = double(nest.accumulators) * vectorsOfTile();
    double most = double(nest.registers) - 2;
    if (held > most)
      amounts.spilled = points * (1 - most / held);
    if (loops.lanesAreReduced()) { // lanes are added up, halves to halves
      double halves = std::log2(double(loops.width));
      amounts.operations += finishes * (2 + 2 * halves);
      amounts.chained += finishes * halves * shuffleCycles;
    }
    // Each step of the innermost loop waits for the sums of the one before.
    if (!loops.levels.empty() && reduced[loops.levels.back().merged])
      amounts.chained += combine.cycles * loops.runs.back();
    if (llvm::none_of(loops.levels, [&](const Level &level) { return reduced[level.merged]; }))
      return; // all that is reduced is in the tile
    amounts.tiles = loops.isSplit() ? loops.times(produced, none) : finishes;
    for (unsigned each : produced.set_bits())
      amounts.tiles /= loops.inTile(each);
  }

  double vectorsOfTile() const {
    double vectors = 1;
    for (unsigned each = 0; each < loops.merged.size(); ++each)
      if (produced[each] || int(each) == loops.vectors)
        vectors *= loops.inTile(each);
    return vectors;
  }

  void countRead(size_t number, Amounts &amounts) {
    const NestAccess &access = nest.accesses[number];
    const PlacedAccess &place = facts.place(number);
    bool finish = access.inFinish;
    const MergedSet &skips = finish ? reduced : none;
    MergedSet matters = loops.mergedOf(access.mentioned);
    double tests = 0;    // operations
    if (!nest.reduction) // loops of reductions are cut where conditions change
      for (const llvm::SmallBitVector &names : access.conditions) {
        MergedSet tested = loops.mergedOf(names);
        tests += differsByLane(tested) ? laneTest : 1;
        matters |= tested;
      }
    matters.reset(skips);
    double count = loops.times(matters, skips);
    amounts.operations += count * tests;
    LaneKind kind = place.lanes;
    if (access.gathered) {
      MergedSet moves = loops.mergedOf(access.moved);
      bool byLane = differsByLane(moves);
      // No instruction gathers narrow elements.
      double narrow = byLane && place.bytes < 4 ? 2 : 1;
      double rows = loops.times(moves, skips) * (byLane ? narrow * double(loops.width) : 1);
      amounts.rows += rows;
      amounts.operations += byLane ? rows * laneCoordinate : 0;
    }
    bool isNarrow = place.bytes < 4 && isa<FloatType>(access.type.getElementType());
    const Stage *staged = facts.stageOf(number);
    if (staged || pairsAreContiguous(place))
      count /= loops.together; // a matrix unit loads neighbours at once
    if (staged) {
      countCopy(place, staged->at, isNarrow, amounts);
      if (kind == LaneKind::Apart)
        kind = LaneKind::Contiguous;
    } else {
      if (isNarrow && !(kind == LaneKind::Same && pairsAreContiguous(place)))
        amounts.converted += count;
      countAddresses(access, place, count, amounts);
    }
    double turned = kind == LaneKind::Apart ? count * turnedPart(access, place) : 0;
    amounts.turned += turned;
    if (kind != LaneKind::Apart) {
      amounts.loads += count;
      return;
    }
    amounts.loads += turned;
    countLanes(number, count - turned, amounts);
    if (loops.lanes().size() > 1 && !access.gathered) // each lane has coordinates of its own
      amounts.rows += (count - turned) * double(loops.width);
  }

  /// True if the points of one of these groups are lanes.
  bool differsByLane(const MergedSet &merged) const {
    return loops.vectors >= 0 && merged[unsigned(loops.vectors)];
  }

  /// True if the points that one instruction of a matrix unit adds are neighbours in memory.
  bool pairsAreContiguous(const PlacedAccess &place) const {
    if (loops.together <= 1)
      return false;
    const PlacedAccess::Dim *dim = place.find(loops.added);
    return dim && dim->contiguous && dim->run % int64_t(loops.together) == 0;
  }

  /// Counts the vectors of a staged copy. Its contiguous runs are rarely aligned to vectors.
  void countCopy(const PlacedAccess &place, size_t at, bool isNarrow, Amounts &amounts) {
    double run = runBytes(place, loops.extents[at]) / double(place.bytes);
    double vectors = loops.runs[at] * boxElements(place, loops.extents[at]) / run *
                     (std::ceil(run / double(nest.lanes)) + 0.5);
    amounts.copied += vectors;
    if (place.lanes == LaneKind::Apart)
      amounts.turned += vectors;
    if (isNarrow && loops.together <= 1)
      amounts.converted += vectors;
  }

  /// Counts loads that take longer because of where they are.
  void countAddresses(const NestAccess &access, const PlacedAccess &place, double count,
                      Amounts &amounts) {
    if (access.gathered)
      return;
    if (place.lanes == LaneKind::Contiguous && double(loops.width * place.bytes) > 16)
      amounts.divided += count * dividedPart(place);
    if (loops.levels.empty())
      return;
    const Merged &last = loops.merged[loops.levels.back().merged];
    if (const PlacedAccess::Dim *dim = place.find(last.names.back())) {
      double bytes = double(dim->stride * place.bytes * last.left);
      if (bytes > 1024)
        amounts.hops += loops.runs.back() * std::min(1.0, bytes / 2048);
    }
  }

  /// The part of vectors that begin in one line and end in the next: those of rows whose length is
  /// no multiple of a line.
  double dividedPart(const PlacedAccess &place) const {
    int64_t common = nest.line;
    for (const PlacedAccess::Dim &dim : place.dims)
      for (auto [name, coefficient] : dim.terms)
        if (loops.extents.front()[name] > 1 && !llvm::is_contained(loops.lanes(), name)) {
          int64_t bytes = dim.stride * coefficient * place.bytes;
          common = std::min(common, bytes & -bytes);
        }
    double vector = double(loops.width * place.bytes);
    return std::max(0.0,
                    std::min(1.0, vector / double(nest.line)) - double(common) / double(nest.line));
  }

  /// Counts vectors whose lanes are loaded or stored one by one.
  void countLanes(size_t number, double count, Amounts &amounts) {
    double lanes = count * double(loops.width);
    amounts.gathered += lanes;
    if (facts.boxes(number).levels.back().occupied > double(nest.l1))
      amounts.missed += lanes;
  }

  /// The part of the vectors that are transposed in registers (lib/analysis/TurnedTile.h).
  double turnedPart(const NestAccess &access, const PlacedAccess &place) const {
    if (access.gathered || loops.lanes().size() != 1 || loops.lanesAreReduced())
      return 0;
    nest::TileCode code = codeOf(access);
    auto lanes = int64_t(llvm::PowerOf2Ceil(uint64_t(loops.width)));
    for (const PlacedAccess::Dim &dim : place.dims)
      if (dim.contiguous && dim.terms.size() == 1 && dim.terms[0].second == 1)
        for (auto [number, each] : llvm::enumerate(loops.merged)) {
          // The rows of a tile must lie in one block of the tensor.
          bool isRun = dim.run >= dim.size || dim.run % each.left == 0;
          if (llvm::is_contained(each.names, dim.terms[0].first) && isRun &&
              turnsAlong(code, tileLoop(unsigned(number))))
            return double(nest::turnedRows(each.left, lanes, access.isWrite)) / double(each.left);
        }
    return 0;
  }

  nest::TileCode codeOf(const NestAccess &access) const {
    if (facts.isUpdate)
      return nest::TileCode::Update;
    if (!nest.reduction)
      return nest::TileCode::Points;
    if (!access.isWrite && !access.inFinish)
      return nest::TileCode::Steps;
    if (access.isWrite && loops.isSplit())
      return nest::TileCode::PartialSums;
    return nest::finishOf(nest.finishCost, vectorsOfTile());
  }

  nest::TileLoop tileLoop(unsigned number) const {
    const Merged &each = loops.merged[number];
    return {.isReduced = each.reduced,
            .isOfLanes = int(number) == loops.vectors,
            .isAlone = each.unrolled.size() == 1,
            .points = each.left,
            .step = each.unrolled.empty() ? 1 : each.unrolled.front()};
  }

  void countWrite(size_t number, Amounts &amounts) {
    const PlacedAccess &place = facts.place(number);
    bool split = nest.reduction && loops.isSplit();
    double count = loops.times(produced, split ? none : reduced);
    if (split || facts.isUpdate)
      amounts.loads += count;
    if (place.bytes < 4 && isa<FloatType>(nest.accesses[number].type.getElementType()))
      amounts.converted += count;
    bool isApart = place.lanes == LaneKind::Apart && !loops.lanesAreReduced();
    double turned = isApart ? count * turnedPart(nest.accesses[number], place) : 0;
    amounts.turned += turned;
    amounts.stores += isApart ? turned : count;
    if (isApart)
      countLanes(number, count - turned, amounts);
  }
};
} // namespace

double cost::gatheredRows(const NestAccess &access, ArrayRef<int64_t> extents) {
  double rows = 1;
  for (unsigned name = 0; name < extents.size(); ++name)
    if (access.gatheredBy(name))
      rows *= double(extents[name]);
  return rows;
}

Amounts cost::countInstructions(const NestFacts &nest) {
  assert(nest.knowledge() == Knowledge::Schedule && "no loops to count");
  return Counter(nest).count();
}
