//===- OrderOps.cpp - the order in which roles run ops --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/OrderOps.h"

#include "lib/cost/Whole.h"
#include "lib/transforms/mesh/Links.h"
#include "lib/transforms/mesh/Reshard.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

namespace {
struct Entry {
  Operation *op;
  SmallVector<size_t, 4> readers;
  unsigned missing = 0; ///< unfinished ops that it depends on
  double ready = 0;     ///< when all operands are available
};

/// The ops of a role whose operands will all be available.
struct Queue {
  double free = 0; ///< when the previous op ends
  std::set<std::pair<double, size_t>> coming;
  std::set<size_t> present; ///< by position in the program

  double nextStart() const {
    if (!present.empty())
      return free;
    return coming.empty() ? std::numeric_limits<double>::infinity()
                          : std::max(free, coming.begin()->first);
  }
  size_t take() {
    free = nextStart();
    while (!coming.empty() && coming.begin()->first <= free)
      present.insert(coming.extract(coming.begin()).value().second);
    return present.extract(present.begin()).value();
  }
};
} // namespace

static double timeOf(Operation *op) {
  if (isa<nest::LoopNestInterface, nest::HoldsNestsInterface>(op))
    return secondsOf(op);
  return secondsOf(0, tensorBytes(op->getResults()));
}

/// The ops of a block, each with its dependents: the users of its results and, if it has side
/// effects, the next op with side effects.
static std::vector<Entry> entriesOf(Block &block) {
  std::vector<Entry> entries;
  llvm::DenseMap<Operation *, size_t> numbers;
  Operation *effect = nullptr;
  for (Operation &op : block.without_terminator()) {
    llvm::SetVector<Operation *> makers;
    for (Value used : usesOf(&op))
      if (Operation *maker = used.getDefiningOp())
        makers.insert(maker);
    if (!isMemoryEffectFree(&op)) {
      if (effect)
        makers.insert(effect);
      effect = &op;
    }
    numbers[&op] = entries.size();
    for (Operation *maker : makers)
      entries[numbers[maker]].readers.push_back(entries.size());
    entries.push_back({&op, {}, unsigned(makers.size())});
  }
  return entries;
}

void mesh::orderOps(func::FuncOp function, const PlacedOps &placed) {
  std::vector<Entry> entries = entriesOf(function.front());
  // The last queue has the ops that each role computes; they take no time.
  std::vector<Queue> queues(size_t(placed.count) + 1);
  auto queueOf = [&](const Entry &entry) -> Queue & {
    return placed.isEverywhere(entry.op) ? queues.back() : queues[size_t(placed.placeOf(entry.op))];
  };
  for (auto [number, entry] : llvm::enumerate(entries))
    if (entry.missing == 0)
      queueOf(entry).present.insert(number);
  Operation *end = function.front().getTerminator();
  for (size_t left = entries.size(); left > 0; --left) {
    auto next = std::ranges::min_element(queues, {}, &Queue::nextStart);
    const Entry &entry = entries[next->take()];
    entry.op->moveBefore(end);
    if (!placed.isEverywhere(entry.op))
      next->free += timeOf(entry.op);
    for (size_t number : entry.readers) {
      Entry &reader = entries[number];
      reader.ready = std::max(reader.ready, next->free);
      if (--reader.missing == 0)
        queueOf(reader).coming.emplace(reader.ready, number);
    }
  }
}
