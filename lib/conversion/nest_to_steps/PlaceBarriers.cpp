//===- PlaceBarriers.cpp - barriers between steps -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/PlaceBarriers.h"

#include "lib/conversion/nest_to_steps/ControlRanges.h"

#include "llvm/ADT/IntervalMap.h"

using namespace heddle;
using namespace mlir;

using Kind = ValueSpec::Kind;

namespace {
/// A byte of the arena (-1), or of the value with this number outside of the arena.
using Byte = std::pair<int64_t, int64_t>;
/// Bytes that a step accesses.
struct Touched {
  Byte begin, end;
};

/// The union of the bytes that some steps access.
class ByteRanges {
public:
  void add(Touched range) {
    for (auto piece = pieces.find(range.begin); piece.valid() && piece.start() < range.end;
         piece.erase()) {
      range.begin = std::min(range.begin, piece.start());
      range.end = std::max(range.end, piece.stop());
    }
    pieces.insert(range.begin, range.end, true);
  }
  bool overlap(ArrayRef<Touched> ranges) const {
    return llvm::any_of(
        ranges, [&](const Touched &range) { return pieces.overlaps(range.begin, range.end); });
  }
  void clear() { pieces.clear(); }

private:
  using Pieces = llvm::IntervalMap<Byte, bool, 4, llvm::IntervalMapHalfOpenInfo<Byte>>;
  Pieces::Allocator allocator;
  Pieces pieces{allocator};
};

/// The accesses of steps since the last barrier.
struct Open {
  ByteRanges reads, writes;
  int32_t firstDeath = INT32_MAX; ///< the earliest end of a live range of a temporary

  void clear() {
    reads.clear();
    writes.clear();
    firstDeath = INT32_MAX;
  }
};
} // namespace

std::vector<bool> heddle::placeBarriers(const OutlinedEntry &entry,
                                        const std::vector<bool> &serial) {
  const std::vector<ValueSpec> &values = entry.spec.values;
  const bool isStatic = entry.spec.hasConstantSizes();
  auto touched = [&](int32_t value) -> Touched {
    while (values[size_t(value)].aliasOf >= 0)
      value = values[size_t(value)].aliasOf;
    const ValueSpec &buffer = values[size_t(value)];
    int64_t bytes = std::max<int64_t>(1, buffer.bytes.constant().value_or(1));
    if (buffer.kind == Kind::Temporary && isStatic)
      return {{-1, buffer.offset}, {-1, buffer.offset + bytes}};
    return {{value, 0}, {value, bytes}};
  };
  // If the runtime plans the arena, a value may reuse the memory of any dead value.
  std::vector<int32_t> last(values.size());
  for (auto [v, value] : llvm::enumerate(values)) {
    int32_t &ofBuffer = last[bufferOf(values, int32_t(v))];
    ofBuffer = std::max(ofBuffer, value.lastStep);
  }
  std::vector<bool> waits(entry.steps.size());
  std::vector<int32_t> sharedBefore{0}; // the number of parallel steps before each step
  for (auto [s, step] : llvm::enumerate(entry.steps))
    sharedBefore.push_back(sharedBefore.back() +
                           (step.spec.kind == StepKind::Kernel && !serial[s]));
  // [0]: of all threads; [1]: of thread 0, which runs serial steps in order.
  Open open[2];
  ControlRanges ranges(entry.steps);
  for (auto [s, step] : llvm::enumerate(entry.steps)) {
    auto touchedBy = [&](const std::vector<int32_t> &list) {
      return llvm::map_to_vector(list, touched);
    };
    SmallVector<Touched> reads = touchedBy(step.operands), writes = touchedBy(step.results);
    if (step.spec.kind == StepKind::Await) // the result is complete afterwards
      writes = reads;
    bool makes = !isStatic && llvm::any_of(step.results, [&](int32_t value) {
      return values[bufferOf(values, value)].kind == Kind::Temporary;
    });
    for (const Open &before : ArrayRef(open).take_front(serial[s] ? 1 : 2))
      if (before.writes.overlap(reads) || before.reads.overlap(writes) ||
          before.writes.overlap(writes) || (makes && before.firstDeath < int32_t(s)))
        waits[s] = true;
    // A barrier is needed where threads read a condition, where branches join, and at a loop's back
    // edge if its body has parallel steps, whose chunk counters are reset. One side of a branch
    // need not wait for the other.
    StepKind kind = step.spec.kind;
    size_t at = s;
    if (kind == StepKind::EndLoop || kind == StepKind::Else) {
      const ControlRange &range = *ranges.of(s);
      waits[s] =
          waits[s] || (kind == StepKind::EndLoop && sharedBefore[s] != sharedBefore[range.begin]);
      llvm::for_each(open, [](Open &each) { each.clear(); });
      at = range.begin;
      reads = {touched(entry.steps[at].operands[0])};
    } else if (kind != StepKind::Kernel) {
      waits[s] = true;
    }
    if (waits[s])
      llvm::for_each(open, [](Open &each) { each.clear(); });
    Open &own = open[serial[at]];
    llvm::for_each(reads, [&](const Touched &range) { own.reads.add(range); });
    llvm::for_each(writes, [&](const Touched &range) { own.writes.add(range); });
    for (const std::vector<int32_t> *list : {&entry.steps[at].operands, &entry.steps[at].results})
      for (int32_t value : *list)
        if (size_t buffer = bufferOf(values, value); values[buffer].kind == Kind::Temporary)
          own.firstDeath = std::min(own.firstDeath, last[buffer]);
  }
  return waits;
}
