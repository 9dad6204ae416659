//===- KernelOrder.cpp - one order for what has none ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/KernelOrder.h"

#include "dialects/nest/Nest.h"
#include "dialects/nest/NestBuild.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <numeric>

using namespace heddle;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// True if a map or guard mentions what another read gave.
static bool isGathered(ArrayAttr maps, ArrayAttr guards) {
  auto mentions = [](const Expr &expr) {
    bool found = false;
    expr.substitute([&](const std::string &name) -> std::optional<Expr> {
      found |= nest::readIndex(name).has_value();
      return std::nullopt;
    });
    return found;
  };
  for (auto map : maps.getAsRange<nest::MapAttr>())
    for (const nest::MapEntry &entry : map.getEntries())
      if (mentions(entry.expr()))
        return true;
  for (auto guard : guards.getAsRange<nest::GuardAttr>())
    for (const nest::Condition &condition : guard.getConditions())
      if (mentions(condition.expr()))
        return true;
  return false;
}

/// Arguments first ... first + order.size() - 1 of a block change places: the new i-th is the old
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

void heddle::orderReads(Operation *nest, ArrayRef<std::string> keys) {
  auto maps = nest->getAttrOfType<ArrayAttr>("maps"),
       guards = nest->getAttrOfType<ArrayAttr>("guards");
  auto update = dyn_cast<nest::UpdateOp>(nest);
  auto compute = dyn_cast<nest::ComputeOp>(nest);
  if (isGathered(maps, guards) ||
      (update && isGathered(ArrayAttr::get(nest->getContext(), {update.getDestMapAttr()}),
                            ArrayAttr::get(nest->getContext(), {}))))
    return;
  unsigned offset = update ? 1 : 0,
           ofBody = update ? update.getReads().size() : compute.getReads().size();
  SmallVector<unsigned> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  auto byKey = [&](unsigned a, unsigned b) { return std::tie(keys[a], a) < std::tie(keys[b], b); };
  llvm::sort(order.begin(), order.begin() + ofBody, byKey);
  llvm::sort(order.begin() + ofBody, order.end(), byKey);
  if (llvm::is_sorted(order))
    return;
  SmallVector<Value> operands(nest->operand_begin(), nest->operand_begin() + offset);
  SmallVector<Attribute> newMaps, newGuards;
  SmallVector<unsigned> placeOf(order.size());
  for (auto [place, read] : llvm::enumerate(order)) {
    operands.push_back(nest->getOperand(offset + read));
    newMaps.push_back(maps[read]);
    newGuards.push_back(guards[read]);
    placeOf[read] = unsigned(place);
  }
  nest->setOperands(operands);
  nest->setAttr("maps", ArrayAttr::get(nest->getContext(), newMaps));
  nest->setAttr("guards", ArrayAttr::get(nest->getContext(), newGuards));
  ArrayRef<unsigned> all(order);
  permuteArguments(nest->getRegion(0).front(), 0, all.take_front(ofBody));
  if (compute && !compute.getFinish().empty()) {
    SmallVector<unsigned> ofFinish;
    for (unsigned read : all.drop_front(ofBody))
      ofFinish.push_back(read - ofBody);
    Block &finish = compute.getFinish().front();
    permuteArguments(finish, finish.getNumArguments() - unsigned(ofFinish.size()), ofFinish);
  }
  if (auto attr = nest->getAttrOfType<nest::ScheduleAttr>("schedule")) {
    nest::Schedule schedule = attr.getSchedule();
    for (nest::Stage &stage : schedule.stages)
      if (stage.operand < placeOf.size())
        stage.operand = placeOf[stage.operand];
    nest->setAttr("schedule", nest::ScheduleAttr::get(nest->getContext(), schedule));
  }
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
    std::string text;
    llvm::raw_string_ostream os(text);
    os << op.getName() << op.getAttrDictionary() << op.getResult(0).getType();
    for (Value operand : operands)
      os << " " << texts.lookup(operand);
    texts[op.getResult(0)] = shortened(text);
  }
  // What is needed, depth first.
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
    // Dead: users come after makers, so the last of them goes first.
    Operation *last = placed.empty() ? end->getPrevNode() : placed.front()->getPrevNode();
    last->erase();
  }
}

void heddle::orderScalars(Operation *nest) {
  nest->walk([](Operation *op) {
    if (isa<nest::ComputeOp, nest::UpdateOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          orderBlock(block);
  });
}
