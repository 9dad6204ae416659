//===- PipelineSchedules.cpp - GPipe, 1F1B and others ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/roles/PipelineSchedules.h"

#include "lib/transforms/mesh/partition/Reshard.h"
#include "lib/transforms/mesh/roles/BatchParts.h"

#include <deque>
#include <map>

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

namespace {
/// The forward or backward pass of a chunk for a part.
struct Pass {
  bool isBackward;
  int part, chunk;
  auto operator<=>(const Pass &) const = default;
};

class Sorter {
public:
  Sorter(func::FuncOp function, const PlacedOps &placed, StringRef schedule)
      : function(function), placed(placed), schedule(schedule), parts(BatchParts::of(function)) {
    for (Operation &op : function.front().without_terminator()) {
      uses[&op] = usesOf(&op);
      order.push_back(&op);
    }
  }

  FailureOr<bool> run() {
    if (parts.count == 0)
      return false;
    if (parts.count == 1)
      function.emitWarning() << "the schedule '" << schedule
                             << "' has one part of a batch to order; expected several, as "
                             << "micro-batches";
    findStages();
    findChunks();
    if (failed(checkChunks()))
      return failure();
    for (int64_t role = 0; role < placed.roles.count(); ++role)
      rankPasses(role);
    rankOps();
    if (failed(sort()))
      return failure();
    return true;
  }

private:
  func::FuncOp function;
  const PlacedOps &placed;
  StringRef schedule;
  BatchParts parts;
  std::vector<Operation *> order; ///< of the program
  DenseMap<Operation *, llvm::SetVector<Value>> uses;
  std::map<int64_t, int> stages; ///< of roles with forward passes: the place in their order
  DenseMap<Operation *, int> chunkOf;
  int chunks = 1;
  std::map<std::pair<int64_t, Pass>, size_t> rankOf; ///< by role and pass
  DenseMap<Operation *, std::optional<Pass>> passOf; ///< none: of no pass, so at the end
  DenseMap<Operation *, size_t> ranks;
  DenseSet<Operation *> done;

  void findStages() {
    for (Operation *op : order) {
      BatchParts::Place at = parts.ops.lookup(op);
      if (at.part == 0 && !at.isBackward && !placed.isEverywhere(op))
        stages.try_emplace(placed.placeOf(op), int(stages.size()));
    }
  }
  int stageOf(Operation *op) const {
    auto found = stages.find(placed.placeOf(op));
    return found == stages.end() ? 0 : found->second;
  }

  /// Forward passes count the ways from a later stage to an earlier one, backward passes those from
  /// an earlier one to a later one, from the last chunk on.
  void findChunks() {
    auto follow = [&](bool isBackward, auto &&better) {
      for (Operation *op : order) {
        if (parts.ops.lookup(op).isBackward != isBackward || placed.isEverywhere(op))
          continue;
        int own = isBackward ? chunks - 1 : 0;
        for (Value used : uses[op]) {
          Operation *maker = used.getDefiningOp();
          if (!maker || parts.ops.lookup(maker).isBackward != isBackward ||
              parts.ops.lookup(maker).part < 0 || placed.isEverywhere(maker))
            continue;
          int from = stageOf(maker), to = stageOf(op), chunk = chunkOf.lookup(maker);
          own = better(own, isBackward ? chunk - (to > from) : chunk + (to < from));
        }
        chunkOf[op] = own;
      }
    };
    follow(/*isBackward=*/false, [&](int a, int b) { return std::max(a, b); });
    for (const auto &[op, chunk] : chunkOf)
      chunks = std::max(chunks, chunk + 1);
    follow(/*isBackward=*/true, [&](int a, int b) { return std::max(0, std::min(a, b)); });
  }

  LogicalResult checkChunks() {
    bool isInterleaved = schedule == "interleaved";
    if (!isInterleaved && chunks == 1)
      return success();
    if (schedule == "1f1b")
      return function.emitError() << "values pass some roles along '" << placed.roles.text() << "' "
                                  << chunks << " times; expected once for the schedule "
                                  << "'1f1b', or the schedule 'interleaved'";
    if (isInterleaved && chunks == 1)
      return function.emitError() << "values pass each role along '" << placed.roles.text()
                                  << "' once; expected several times for the schedule "
                                  << "'interleaved', or the schedule '1f1b'";
    if (isInterleaved && size_t(parts.count) % stages.size() != 0)
      return function.emitError() << "expected a number of parts of a batch that " << stages.size()
                                  << " roles along '" << placed.roles.text()
                                  << "' divide for the schedule 'interleaved', got " << parts.count;
    return success();
  }

  /// All passes of one direction in the order in which a role runs them.
  std::vector<Pass> passes(bool isBackward) const {
    std::vector<Pass> made;
    int together = schedule == "interleaved" ? int(stages.size()) : parts.count;
    for (int first = 0; first < parts.count; first += together)
      for (int i = 0; i < chunks; ++i)
        for (int part = first; part < first + together; ++part)
          made.push_back({isBackward, part, isBackward ? chunks - 1 - i : i});
    return made;
  }
  void rankPasses(int64_t role) {
    std::vector<Pass> forward = passes(false), backward = passes(true);
    size_t begin = forward.size(); // number of forward passes before the first backward pass
    if (auto stage = stages.find(role); stage != stages.end() && schedule != "gpipe") {
      size_t after = stages.size() - 1 - size_t(stage->second);
      begin = schedule == "1f1b" ? after : 2 * after + size_t(chunks - 1) * stages.size();
      begin = std::min(begin + 1, forward.size());
    }
    size_t rank = 0, f = 0, b = 0;
    auto next = [&](const Pass &pass) { rankOf[{role, pass}] = rank++; };
    while (f < begin)
      next(forward[f++]);
    while (b < backward.size()) {
      next(backward[b++]);
      if (f < forward.size())
        next(forward[f++]);
    }
  }

  /// An op that depends on no part is run with the first op of its role that uses it.
  void rankOps() {
    for (Operation *op : llvm::reverse(order)) {
      int64_t role = placed.placeOf(op);
      auto rank = [&](const std::optional<Pass> &pass) {
        return pass ? rankOf.at({role, *pass}) : rankOf.size();
      };
      std::optional<Pass> &own = passOf[op];
      if (BatchParts::Place at = parts.ops.lookup(op); at.part >= 0)
        own = Pass{at.isBackward, at.part, chunkOf.lookup(op)};
      else
        for (Operation *user : op->getUsers())
          if (auto known = passOf.find(function.front().findAncestorOpInBlock(*user));
              known != passOf.end() && rank(known->second) < rank(own))
            own = known->second;
      ranks[op] = rank(own);
    }
  }

  /// True if the operands are there; what each reader computes itself is, if its operands are.
  bool isReady(Operation *op) const {
    return llvm::all_of(uses.find(op)->second, [&](Value used) {
      Operation *maker = used.getDefiningOp();
      return !maker || done.contains(maker) || (placed.isEverywhere(maker) && isReady(maker));
    });
  }
  void take(Operation *op) {
    if (!done.insert(op).second)
      return;
    for (Value used : uses.find(op)->second)
      if (Operation *maker = used.getDefiningOp())
        take(maker);
    op->moveBefore(function.front().getTerminator());
  }
  /// Each role runs its ops one after another, as soon as their operands are there.
  LogicalResult sort() {
    std::vector<std::deque<Operation *>> left(size_t(placed.roles.count()));
    for (Operation *op : order)
      if (!placed.isEverywhere(op))
        left[size_t(placed.placeOf(op))].push_back(op);
    for (auto &ops : left)
      llvm::stable_sort(
          ops, [&](Operation *a, Operation *b) { return ranks.lookup(a) < ranks.lookup(b); });
    for (bool isMoving = true; isMoving;) {
      isMoving = false;
      for (auto &ops : left)
        for (; !ops.empty() && isReady(ops.front()); ops.pop_front(), isMoving = true)
          take(ops.front());
    }
    for (auto &ops : left)
      if (!ops.empty())
        return ops.front()->emitOpError()
               << "is next in the role " << placed.roles.name(placed.placeOf(ops.front()))
               << " by the schedule '" << schedule << "', but waits for ops that follow it; "
               << "expected values that pass the roles in one order, or the schedule 'greedy'";
    for (Operation *op : order)
      take(op); // what only the function's results read
    return success();
  }
};
} // namespace

FailureOr<bool> mesh::sortBySchedule(func::FuncOp function, const PlacedOps &placed,
                                     StringRef schedule) {
  return Sorter(function, placed, schedule).run();
}
