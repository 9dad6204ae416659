//===- OrderReads.cpp - canonical order of reads and ops ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/prepare/OrderReads.h"

#include "dialects/nest/Nest.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/AttributeText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace heddle;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// The reads to which a map or guard refers.
static std::set<unsigned> mentioned(nest::MapAttr map, nest::GuardAttr guard) {
  std::set<unsigned> reads;
  auto add = [&](const Expr &expr) {
    for (const std::string &name : expr.names())
      if (auto read = nest::readIndex(name))
        reads.insert(*read);
  };
  for (const nest::MapEntry &entry : map.getEntries())
    add(entry.expr());
  for (const nest::Condition &condition : guard.getConditions())
    add(condition.expr());
  return reads;
}

/// Orders elements first ... end - 1: the next is the one with the smallest key whose needs are
/// placed.
static void orderByKey(ArrayRef<std::string> keys, ArrayRef<std::set<unsigned>> needs,
                       unsigned first, unsigned end, SmallVectorImpl<unsigned> &order) {
  std::set<std::pair<StringRef, unsigned>> waiting;
  for (unsigned i = first; i < end; ++i)
    waiting.insert({keys[i], i});
  auto isOrdered = [&](unsigned read) { return llvm::is_contained(order, read); };
  while (!waiting.empty()) {
    auto next = llvm::find_if(
        waiting, [&](const auto &each) { return llvm::all_of(needs[each.second], isOrdered); });
    assert(next != waiting.end() && "the verifier lets a read mention earlier ones only");
    order.push_back(next->second);
    waiting.erase(next);
  }
}

/// Permutes arguments first ... first + order.size() - 1 of a block: the new i-th is the old
/// order[i]-th.
static void permuteArguments(Block &block, unsigned first, ArrayRef<unsigned> order) {
  unsigned count = unsigned(order.size());
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument old = block.getArgument(first + order[i]);
    BlockArgument moved = block.insertArgument(first + count + i, old.getType(), old.getLoc());
    old.replaceAllUsesWith(moved);
  }
  block.eraseArguments(first, count);
}

void nest::orderReads(LoopNestInterface nest, ArrayRef<std::string> keys) {
  ArrayAttr maps = nest.getMapsAttr(), guards = nest.getGuardsAttr();
  unsigned offset = nest.getFirstRead(), ofBody = nest.getNumBodyReads();
  std::vector<std::set<unsigned>> needs;
  for (unsigned i = 0; i < keys.size(); ++i)
    needs.push_back(mentioned(cast<nest::MapAttr>(maps[i]), cast<nest::GuardAttr>(guards[i])));
  SmallVector<unsigned> order;
  orderByKey(keys, needs, 0, ofBody, order);
  orderByKey(keys, needs, ofBody, unsigned(keys.size()), order);
  if (llvm::is_sorted(order))
    return;
  SmallVector<Value> operands(nest->operand_begin(), nest->operand_begin() + offset);
  SmallVector<Attribute> newMaps, newGuards;
  SmallVector<unsigned> positionOf(order.size());
  ExprMap renumbered;
  for (auto [position, read] : llvm::enumerate(order)) {
    positionOf[read] = unsigned(position);
    renumbered[nest::readName(read)] = Expr::name(nest::readName(unsigned(position)));
  }
  for (unsigned read : order) {
    operands.push_back(nest->getOperand(offset + read));
    newMaps.push_back(cast<nest::MapAttr>(maps[read]).substitute(renumbered));
    newGuards.push_back(cast<nest::GuardAttr>(guards[read]).substitute(renumbered));
  }
  nest->setOperands(operands);
  nest.setMapsAttr(ArrayAttr::get(nest->getContext(), newMaps));
  nest.setGuardsAttr(ArrayAttr::get(nest->getContext(), newGuards));
  if (auto update = dyn_cast<UpdateOp>(*nest))
    update.setDestMapAttr(update.getDestMapAttr().substitute(renumbered));
  ArrayRef<unsigned> all(order);
  permuteArguments(nest.getBody().front(), 0, all.take_front(ofBody));
  if (auto compute = dyn_cast<ComputeOp>(*nest); compute && !compute.getFinish().empty()) {
    SmallVector<unsigned> ofFinish;
    for (unsigned read : all.drop_front(ofBody))
      ofFinish.push_back(read - ofBody);
    Block &finish = compute.getFinish().front();
    permuteArguments(finish, finish.getNumArguments() - unsigned(ofFinish.size()), ofFinish);
  }
  auto scheduled = cast<ScheduledInterface>(*nest);
  if (ScheduleAttr attr = scheduled.getScheduleAttr()) {
    Schedule schedule = attr.getSchedule();
    for (Stage &stage : schedule.stages)
      if (stage.operand < positionOf.size())
        stage.operand = positionOf[stage.operand];
    scheduled.setScheduleAttr(ScheduleAttr::get(nest->getContext(), schedule));
  }
}

/// Merges equal reads, which fusion may leave; otherwise the code would depend on which of them a
/// scalar uses.
template <typename Nest>
static void mergeReads(Nest nest) {
  if (!nest::scheduleOf(nest).stages.empty())
    return; // stages refer to reads by number
  ExprMap renumbered;
  SmallVector<Attribute> maps, guards;
  unsigned first = 0; // first read of the current block
  auto merge = [&](Block &block, unsigned firstArgument, MutableOperandRange reads) {
    SmallVector<Value> kept;
    size_t before = maps.size();
    for (unsigned i = 0, argument = firstArgument; i < reads.size(); ++i) {
      auto map = cast<nest::MapAttr>(nest.getMaps()[first + i]).substitute(renumbered);
      auto guard = cast<nest::GuardAttr>(nest.getGuards()[first + i]).substitute(renumbered);
      size_t same = 0;
      while (same < kept.size() && (kept[same] != reads[i].get() || maps[before + same] != map ||
                                    guards[before + same] != guard))
        ++same;
      renumbered[nest::readName(first + i)] = Expr::name(nest::readName(unsigned(before + same)));
      if (same < kept.size()) {
        block.getArgument(argument).replaceAllUsesWith(
            block.getArgument(firstArgument + unsigned(same)));
        block.eraseArgument(argument);
        continue;
      }
      kept.push_back(reads[i].get());
      maps.push_back(map);
      guards.push_back(guard);
      ++argument;
    }
    first += reads.size();
    reads.assign(kept);
  };
  merge(nest.getBody().front(), 0, nest.getReadsMutable());
  if constexpr (std::is_same_v<Nest, nest::ComputeOp>) {
    if (!nest.getFinish().empty()) {
      Block &finish = nest.getFinish().front();
      merge(finish, finish.getNumArguments() - unsigned(nest.getFinishReads().size()),
            nest.getFinishReadsMutable());
    }
  } else {
    nest.setDestMapAttr(nest.getDestMapAttr().substitute(renumbered));
  }
  MLIRContext *context = nest.getContext();
  nest.setMapsAttr(ArrayAttr::get(context, maps));
  nest.setGuardsAttr(ArrayAttr::get(context, guards));
}

//===----------------------------------------------------------------------===//
// Scalar ops
//===----------------------------------------------------------------------===//

static std::string shortened(const std::string &text) {
  return text.size() <= 24 ? text : "h" + llvm::utohexstr(llvm::xxh3_64bits(text));
}

static void orderBlock(Block &block) {
  Operation *end = block.getTerminator();
  for (Operation &op : block.without_terminator())
    if (op.getNumRegions() || op.getNumResults() != 1 || !isPure(&op))
      return;
  llvm::DenseMap<Value, std::string> texts;
  for (BlockArgument argument : block.getArguments())
    texts[argument] = "a" + std::to_string(argument.getArgNumber());
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> operands(op.getOperands());
    if (op.hasTrait<OpTrait::IsCommutative>() && operands.size() == 2 &&
        texts.lookup(operands[1]) < texts.lookup(operands[0])) {
      std::swap(operands[0], operands[1]);
      op.setOperands(operands);
    }
    std::string text = op.getName().getStringRef().str() + printed(op.getAttrDictionary()) +
                       printed(op.getResult(0).getType());
    for (Value operand : operands)
      text += " " + texts.lookup(operand);
    texts[op.getResult(0)] = shortened(text);
  }
  // Used ops, depth first.
  llvm::SetVector<Operation *> placed;
  SmallVector<std::pair<Operation *, unsigned>> open = {{end, 0}};
  while (!open.empty()) {
    auto &[op, next] = open.back();
    if (next == op->getNumOperands()) {
      if (op != end)
        placed.insert(op);
      open.pop_back();
      continue;
    }
    Operation *maker = op->getOperand(next++).getDefiningOp();
    if (maker && maker->getBlock() == &block && !placed.contains(maker))
      open.push_back({maker, 0});
  }
  for (Operation *op : placed)
    op->moveBefore(end);
  while (&block.front() != end && !placed.contains(&block.front())) {
    // Dead ops: users come after definitions, so erase from the end.
    Operation *last = placed.empty() ? end->getPrevNode() : placed.front()->getPrevNode();
    last->erase();
  }
}

void nest::orderScalars(Operation *nest) {
  nest->walk([](Operation *op) {
    if (isa<LoopNestInterface>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          orderBlock(block);
  });
}

//===----------------------------------------------------------------------===//
// All nests of a function
//===----------------------------------------------------------------------===//

void nest::orderNests(Operation *function) {
  llvm::DenseMap<Value, unsigned> numbers;
  auto number = [&](ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, unsigned(numbers.size()));
  };
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    number(op->getResults());
    if (isa<LoopNestInterface>(op))
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        number(block.getArguments());
    return WalkResult::advance();
  });
  function->walk([&](LoopNestInterface op) {
    if (auto compute = dyn_cast<nest::ComputeOp>(*op))
      mergeReads(compute);
    else if (auto update = dyn_cast<nest::UpdateOp>(*op))
      mergeReads(update);
    std::vector<std::string> keys;
    for (auto [read, map, guard] :
         llvm::zip_equal(op.getMappedReads(), op.getMapsAttr(), op.getGuardsAttr())) {
      std::string key = std::to_string(numbers.lookup(read));
      key.insert(0, 8 - std::min<size_t>(8, key.size()), ' ');
      llvm::raw_string_ostream(key) << " " << map << guard;
      keys.push_back(std::move(key));
    }
    orderReads(op, keys);
    orderScalars(op);
  });
}
