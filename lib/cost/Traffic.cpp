//===- Traffic.cpp - bytes between the levels of the memory hierarchy -----===//
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

/// The part of a cache that the data of a loop may fill and still be there at its next step.
static constexpr double keptPart = 0.75;
/// Of more data than this many caches nothing stays; of less, a part does.
static constexpr double lostPart = 1.25;
/// The pages that a core finds without a search.
static constexpr double nearPages = 64;
/// Levels of which boxes are counted: those of memory, and pages.
static constexpr int pages = memoryLevels, allLevels = memoryLevels + 1;

double cost::capacityOf(const NestModel &nest, int level) {
  return double(level == L2 ? nest.l1 : level == L3 ? nest.l2 : nest.l3);
}

namespace {
/// A tensor of one or several nests, or a staged copy of a part of one.
struct Data {
  Value tensor;
  bool gathered;
  int copyOf = -1; ///< the access whose copy this is
  bool isWritten = false;
  bool isLoaded = false;   ///< operands, and results that hold parts of sums
  bool isWaitedFor = true; ///< only copies read it, which do not start early
  double run = INFINITY;   ///< bytes of its shortest contiguous runs
  double box = 0;          ///< at the level that is asked for: its bytes,
  double apart = 0;        ///< more of the cache that its few sets would need,
  double moved = 0;        ///< what all steps of this level touch,
  double crowded = 0;      ///< and the part of it that few sets hold
  double kept = 0;         ///< the part that loops further in keep
  std::array<double, allLevels> fetched = {0, 0, 0, 0}; ///< into the next nearer cache
};

/// An access, and where its data is.
struct Reach {
  const AccessBoxes *boxes;
  const Loops *loops;
  unsigned data; ///< of the tensor
  int copy = -1; ///< the data of its staged copy
  /// Levels outside of the copy, or of the loops that keep it in registers.
  size_t at = SIZE_MAX;
};

class Traffic {
public:
  Traffic(ArrayRef<const NestFacts *> nests, Fetched how) : nests(nests), how(how) {
    for (const NestFacts *nest : nests) {
      commonLevels = std::min(commonLevels, nest->loops().outerLevels);
      for (size_t i = 0; i < nest->nest().accesses.size(); ++i)
        add(*nest, unsigned(i));
    }
  }

  void count(Amounts &amounts) {
    for (int level = 0; level < allLevels; ++level)
      fetch(level);
    amounts.crowded += crowded / double(nests[0]->nest().line);
    for (const Data &each : data) {
      amounts.pages += each.fetched[pages];
      for (size_t memory = 0; memory < memoryLevels; ++memory) {
        double beyond = memory + 1 < memoryLevels ? each.fetched[memory + 1] : 0;
        double bytes = std::max(0.0, each.fetched[memory] - beyond);
        if (each.isWritten) // fetched and written back
          bytes *= 2;
        amounts.bytes[memory] += bytes;
        if (each.isLoaded) // stores are not waited for
          amounts.scattered[memory] +=
              bytes / (each.isWritten ? 2 : 1) * std::min(1.0, runStart / each.run);
        if (each.isWaitedFor && memory != L2)
          amounts.waited += bytes;
      }
    }
  }

private:
  ArrayRef<const NestFacts *> nests;
  Fetched how;
  size_t commonLevels = SIZE_MAX; ///< levels of loops around all nests
  double crowded = 0;             ///< bytes that the first cache loses since few sets hold them
  SmallVector<Data, 8> data;
  SmallVector<Reach, 8> accesses;

  void add(const NestFacts &facts, unsigned number) {
    const NestAccess &access = facts.nest().accesses[number];
    auto found = llvm::find_if(data, [&](const Data &each) {
      return each.copyOf < 0 && each.tensor == access.tensor && each.gathered == access.gathered;
    });
    if (found == data.end())
      found = data.insert(data.end(), {access.tensor, access.gathered});
    found->isWritten |= access.isWrite;
    const Loops &loops = facts.loops();
    found->isLoaded |=
        !access.isWrite || facts.isUpdate || (facts.nest().reduction && loops.isSplit());
    const AccessBoxes &boxes = facts.boxes(number);
    Reach reach{&boxes, &loops, unsigned(found - data.begin())};
    const Stage *staged = facts.stageOf(number);
    found->run = std::min(found->run, staged ? boxes.levels[staged->at].run : boxes.run);
    found->isWaitedFor &= staged && !staged->ahead;
    if (staged) {
      reach.at = staged->at;
      reach.copy = int(data.size());
      data.push_back({access.tensor, false, int(accesses.size())});
      data.back().isWaitedFor = false;
    } else if (facts.nest().reduction && (access.isWrite || access.inFinish)) {
      reach.at = loops.producedLevels();
    }
    accesses.push_back(reach);
  }

  /// Sets the boxes of the data of these accesses in a step of the first `level` levels; returns
  /// their sum.
  double measure(ArrayRef<Reach> of, size_t level, int memory) {
    for (Data &each : data)
      each.box = each.apart = each.moved = each.crowded = 0;
    for (const Reach &each : of) {
      ArrayRef<double> runs = of[0].loops[0].runs;
      size_t at = std::min(level, each.at);
      const Box &box = each.boxes->levels[at];
      double bytes = memory == pages ? box.pages : box.bytes;
      Data &tensor = data[each.data];
      double occupied = memory == L2 && each.copy < 0 ? box.occupied : bytes;
      if (level <= each.at) {
        tensor.box = std::max(tensor.box, bytes);
        tensor.apart = std::max(tensor.apart, occupied - bytes);
      }
      tensor.moved = std::max(tensor.moved, bytes * runs[at]);
      if (occupied > bytes)
        tensor.crowded = tensor.moved;
      if (each.copy < 0)
        continue;
      double copied = each.boxes->levels[std::max(level, each.at)].copied;
      if (memory == pages)
        copied = std::ceil(copied / pageBytes);
      Data &copy = data[unsigned(each.copy)];
      copy.box = copied;
      copy.moved = level < each.at ? 0 : copied * runs[level];
    }
    double sum = 0;
    for (const Data &each : data)
      sum += each.box;
    return sum;
  }

  double capacityOf(int memory) const {
    return memory == pages ? nearPages : cost::capacityOf(nests[0]->nest(), memory);
  }

  /// Returns the part of some data that a cache loses before it is used again, if `bytes` are used
  /// in between. `apart`: more bytes that the few sets of this data would need.
  static double lost(double bytes, double apart, double capacity) {
    auto between = [&](double least, double used) {
      return std::clamp((used / capacity - least) / (lostPart - least), 0.0, 1.0);
    };
    double all = between(keptPart, bytes);
    return apart ? std::max(all, between(1, bytes + apart)) : all;
  }

  /// Data is fetched again at each step of the innermost loop whose data does not fit, and of all
  /// around it. Looks at the levels from `begin` to `end`; returns false if the data of none fits.
  bool fetch(ArrayRef<Reach> of, int memory, size_t begin, size_t end) {
    double capacity = capacityOf(memory);
    bool isTile = end == of[0].loops[0].levels.size();
    auto isKept = [&](double sum) {
      return llvm::all_of(data, [&](const Data &each) {
        return !each.moved || lost(sum, each.apart, capacity) == 0;
      });
    };
    size_t level = begin;
    while (level <= end && !isKept(measure(of, level, memory)))
      ++level;
    if (!isTile && level > end)
      return false;
    // The part that a loop keeps may be lost by those around it.
    for (Data &each : data)
      each.kept = 1;
    while (level-- > 0) {
      double sum = measure(of, level, memory);
      for (Data &each : data) {
        double part = each.kept * lost(sum, each.apart, capacity);
        each.kept -= part;
        each.fetched[size_t(memory)] += each.moved * part;
        if (memory == L2)
          crowded += each.crowded * part;
      }
      if (llvm::all_of(data, [](const Data &each) { return each.kept <= 0; }))
        break;
    }
    return true;
  }

  void fetch(int memory) {
    if (how == Fetched::Once) {
      double sum = measure(accesses, 0, memory);
      for (Data &each : data)
        each.fetched[size_t(memory)] += each.moved * lost(sum, each.apart, capacityOf(memory));
      return;
    }
    if (nests.size() > 1 && fetch(accesses, memory, 0, commonLevels))
      return;
    ArrayRef<Reach> left = accesses;
    for (const NestFacts *nest : nests) {
      size_t begin = nests.size() > 1 ? commonLevels + 1 : 0, count = nest->nest().accesses.size();
      if (count)
        fetch(left.take_front(count), memory, begin, nest->loops().levels.size());
      left = left.drop_front(count);
    }
  }
};
} // namespace

void cost::addBytes(ArrayRef<const NestFacts *> nests, Fetched how, Amounts &amounts) {
  if (!nests.empty())
    Traffic(nests, how).count(amounts);
}
