//===- Traffic.cpp - bytes between the levels of the memory hierarchy -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Amounts.h"

#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;
using nest::Extents;
using nest::NestAccess;
using nest::NestModel;
using nest::PlacedAccess;

/// The part of a cache that the data of a loop may fill and still be there at its next step.
static constexpr double keptPart = 0.75;
/// Of more data than this many caches nothing stays; of less, a part does.
static constexpr double lostPart = 1.25;
/// Contiguous runs below this many bytes end before a prefetcher is ahead of them.
static constexpr double shortRun = 512;

double cost::capacityOf(const NestModel &nest, int level) {
  return double(level == L2 ? nest.l1 : level == L3 ? nest.l2 : nest.l3);
}

/// The bytes of the lines that the steps of the first `level` levels of loops touch.
static double boxBytes(const NestFacts &facts, size_t number, size_t level) {
  const NestModel &nest = facts.nest();
  const NestAccess &access = nest.accesses[number];
  const PlacedAccess &place = facts.places()[number];
  const Extents &extents = facts.loops().extents[level];
  int64_t line = std::max<int64_t>(1, nest.line / place.bytes);
  double all = access.elements * double(place.bytes), box = double(place.bytes);
  for (const PlacedAccess::Dim &dim : place.dims) {
    int64_t extent = dim.extent(extents);
    if (dim.contiguous) // whole lines; those of a short name hold others, too
      extent = std::min<int64_t>(int64_t(llvm::alignTo(uint64_t(extent), uint64_t(line))),
                                 std::max(extent, dim.size));
    box *= double(extent);
  }
  if (access.gathered) // each point that the coordinates depend on may read another row
    box *= gatheredRows(access, extents);
  return std::min(all, box);
}

/// The bytes that the loops walk one after another without a gap, from the innermost loop outwards.
static double runOf(const NestFacts &facts, const PlacedAccess &place) {
  ArrayRef<Extents> extents = facts.loops().extents;
  auto run = double(place.bytes);
  for (size_t level = extents.size(); level-- > 0;) {
    double here = runBytes(place, extents[level]);
    if (here < boxElements(place, extents[level]) * double(place.bytes))
      break;
    run = here;
  }
  return run;
}

namespace {
/// A tensor of one or several nests.
struct Data {
  Value tensor;
  bool gathered;
  bool isScattered = false, isWritten = false;
  double box = 0;                                       ///< bytes at the level that is asked for
  std::array<double, memoryLevels> fetched = {0, 0, 0}; ///< into the next nearer cache
};

class Traffic {
public:
  Traffic(ArrayRef<const NestFacts *> nests, Fetched how) : nests(nests), how(how) {
    for (const NestFacts *nest : nests) {
      shared = std::min(shared, nest->loops().outerLevels);
      for (auto [i, access] : llvm::enumerate(nest->nest().accesses)) {
        auto found = llvm::find_if(data, [&](const Data &each) {
          return each.tensor == access.tensor && each.gathered == access.gathered;
        });
        if (found == data.end())
          found = data.insert(data.end(), {access.tensor, access.gathered});
        numbers.push_back(unsigned(found - data.begin()));
        found->isWritten |= access.isWrite;
        found->isScattered |= access.gathered ||
                              (nest->stagedAt(i) < 0 && runOf(*nest, nest->places()[i]) < shortRun);
      }
    }
  }

  void count(Amounts &amounts) {
    for (int memory = 0; memory < memoryLevels; ++memory)
      fetch(memory);
    for (const Data &each : data)
      for (int memory = 0; memory < memoryLevels; ++memory) {
        double beyond = memory + 1 < memoryLevels ? each.fetched[size_t(memory) + 1] : 0;
        double bytes = std::max(0.0, each.fetched[size_t(memory)] - beyond);
        if (each.isWritten) // fetched and written back
          bytes *= 2;
        amounts.bytes[size_t(memory)] += bytes;
        if (each.isScattered)
          amounts.scattered[size_t(memory)] += bytes;
      }
  }

private:
  ArrayRef<const NestFacts *> nests;
  Fetched how;
  size_t shared = SIZE_MAX; ///< levels of loops around all nests
  SmallVector<Data, 8> data;
  SmallVector<unsigned, 12> numbers; ///< of the data of each access

  /// Sets the boxes of the data of these nests in a step of the first `level` levels; returns their
  /// sum. `first`: the number of their first access.
  double measure(ArrayRef<const NestFacts *> of, size_t first, size_t level) {
    for (Data &each : data)
      each.box = 0;
    for (const NestFacts *nest : of)
      for (size_t i = 0; i < nest->nest().accesses.size(); ++i) {
        Data &each = data[numbers[first++]];
        each.box = std::max(each.box, boxBytes(*nest, i, level));
      }
    double sum = 0;
    for (const Data &each : data)
      sum += each.box;
    return sum;
  }

  /// Returns the part of `bytes` that a cache loses before they are used again.
  static double lost(double bytes, double capacity) {
    return std::clamp((bytes / capacity - keptPart) / (lostPart - keptPart), 0.0, 1.0);
  }

  /// Data is fetched again at each step of the innermost loop whose data does not fit, and of all
  /// around it. Looks at the levels from `begin` to `end`; returns false if the data of none fits.
  bool fetch(ArrayRef<const NestFacts *> of, size_t first, int memory, size_t begin, size_t end) {
    double capacity = capacityOf(nests[0]->nest(), memory);
    const Loops &loops = of[0]->loops();
    bool isTile = end == loops.levels.size(); // the data of a register tile fits
    size_t level = begin, last = isTile ? end : end + 1;
    while (level < last && measure(of, first, level) > keptPart * capacity)
      ++level;
    if (!isTile && level == last)
      return false;
    // The part that a loop keeps may be lost by those around it.
    for (double kept = 1; level-- > 0 && kept > 0;) {
      double part = kept * lost(measure(of, first, level), capacity);
      for (Data &each : data)
        each.fetched[size_t(memory)] += each.box * loops.runs[level] * part;
      kept -= part;
    }
    return true;
  }

  void fetch(int memory) {
    if (how == Fetched::Once) {
      double capacity = capacityOf(nests[0]->nest(), memory);
      double part = lost(measure(nests, 0, 0), capacity);
      for (Data &each : data)
        each.fetched[size_t(memory)] += each.box * part;
      return;
    }
    if (nests.size() > 1 && fetch(nests, 0, memory, 0, shared))
      return;
    size_t first = 0;
    for (const NestFacts *const &nest : nests) {
      size_t begin = nests.size() > 1 ? shared + 1 : 0;
      fetch(ArrayRef(&nest, 1), first, memory, begin, nest->loops().levels.size());
      first += nest->nest().accesses.size();
    }
  }
};
} // namespace

void cost::addBytes(ArrayRef<const NestFacts *> nests, Fetched how, Amounts &amounts) {
  if (!nests.empty())
    Traffic(nests, how).count(amounts);
}
