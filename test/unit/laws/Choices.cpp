//===- Choices.cpp - random schedules, layouts, fusion-----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Choices.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

/// The last loops over a group may be part of the register tile. The level of other loops is ""
/// until the loops of all groups are in order.
static std::vector<nest::Loop> drawChain(Dice &dice, std::vector<std::string> names) {
  std::vector<nest::Loop> chain;
  int64_t step = dice.pick({1, 1, 2, 3, 4, 8, 16});
  while (step > 1) {
    chain.push_back({"", names, step});
    int64_t next = 1;
    for (int64_t divisor : {2, 3, 4})
      if (step % divisor == 0 && dice.chance(40))
        next = step / divisor;
    step = next;
  }
  chain.push_back({"", std::move(names), 1});
  return chain;
}

/// Levels of the register tile for the last loops over a group.
static void drawTile(Dice &dice, std::vector<nest::Loop> &chain, bool isReduced, bool &hasVector) {
  if (!hasVector && dice.chance(50)) {
    chain.back().level = "vector";
    hasVector = true;
  } else if (isReduced && dice.chance(25)) {
    chain.back().level = "unit";
  }
  size_t unrolled = dice.chance(40) ? size_t(dice.between(1, int64_t(chain.size()))) : 0;
  for (nest::Loop &loop : MutableArrayRef(chain).take_back(unrolled))
    if (loop.level.empty())
      loop.level = "register";
}

/// Gives loops outside of the register tile levels in a legal order.
static void drawLevels(Dice &dice, std::vector<nest::Loop> &loops, nd::DimsAttr reduced) {
  static const char *const hierarchy[] = {"grid", "cluster", "block", "warp", "lane"};
  bool onDevice = dice.chance(50);
  int64_t coarsest = 0, unrolled = 1;
  for (nest::Loop &loop : loops) {
    if (!loop.level.empty())
      continue;
    if (!reduced.contains(loop.names[0]) && dice.chance(50)) {
      coarsest = dice.between(coarsest, 4);
      loop.level = onDevice ? hierarchy[coarsest] : "thread";
      continue;
    }
    loop.level = dice.pick({"cache", "loop"});
    if (int64_t factor = dice.between(2, 5); dice.chance(20) && unrolled * factor <= 64) {
      loop.unroll = factor;
      unrolled *= factor;
    }
  }
}

/// Draws chains of loops over groups of names, and interleaves them.
static nest::Schedule drawSchedule(Dice &dice, nd::DimsAttr produced, nd::DimsAttr reduced,
                                   bool hasTile) {
  std::vector<std::vector<nest::Loop>> chains;
  bool hasVector = false;
  for (nd::DimsAttr dims : {produced, reduced})
    for (ArrayRef<nd::Dim> left = dims.getDims(); !left.empty();) {
      std::vector<std::string> names{left.consume_front().name.str()};
      if (dice.chance(15))
        continue; // the default loop
      if (!left.empty() && left[0].size().constant() && dice.chance(10))
        names.push_back(left.consume_front().name.str());
      chains.push_back(drawChain(dice, std::move(names)));
      if (hasTile)
        drawTile(dice, chains.back(), dims == reduced, hasVector);
    }
  nest::Schedule schedule;
  while (!chains.empty()) {
    size_t i = size_t(dice.below(int64_t(chains.size())));
    schedule.loops.push_back(chains[i].front());
    chains[i].erase(chains[i].begin());
    if (chains[i].empty())
      chains.erase(chains.begin() + int64_t(i));
  }
  drawLevels(dice, schedule.loops, reduced);
  return schedule;
}

/// By the tensors' dimensions.
using DrawnLayouts = llvm::DenseMap<nd::DimsAttr, Layout>;
static Layout drawLayout(Dice &dice, nd::NdTensorType type, DrawnLayouts &drawn);

/// Loops of a copy of a tensor; none: to be chosen.
static nest::Schedule drawCopy(Dice &dice, nd::NdTensorType type) {
  if (dice.chance(50))
    return {};
  return drawSchedule(dice, type.getDims(), nd::DimsAttr::get(type.getContext(), {}), true);
}

/// Draws copies of some reads whose indices are sums of names of constant sizes, each with its own
/// loops, so that the copied part is a box at any loop.
static void drawStages(Dice &dice, nest::ComputeOp op, nest::Schedule &schedule) {
  Sizes sizes;
  for (nd::DimsAttr dims : {op.getProduced(), op.getReduced()})
    for (const nd::Dim &dim : dims)
      if (auto size = dim.size().constant())
        sizes[dim.name.str()] = *size;
  for (const nest::Loop &loop : schedule.loops)
    for (const std::string &name : loop.names)
      if (loop.names.size() > 1)
        sizes.erase(name);
  for (auto [read, tensor] : llvm::enumerate(op.getReads())) {
    bool isSum = llvm::all_of(op.readMap(read).getEntries(), [&](const nest::MapEntry &entry) {
      return llvm::all_of(entry.expr().names(), [&](const std::string &name) {
        return sizes.count(name) && entry.expr().isLinearIn(name);
      });
    });
    auto at = unsigned(dice.below(int64_t(schedule.loops.size())));
    const nest::Loop &loop = schedule.loops[at];
    if (!isSum || !(loop.isParallel() || loop.isSequential()) || dice.chance(50))
      continue;
    bool inBlock = false, inWarp = false;
    for (const nest::Loop &outer : ArrayRef(schedule.loops).take_front(at + 1)) {
      inBlock |= outer.level == "block";
      inWarp |= outer.level == "warp" || outer.level == "lane";
    }
    DrawnLayouts none;
    // If a loop of the reduction makes the copy, sums may stay in registers.
    schedule.stages.push_back(
        {unsigned(read), at, inBlock && !inWarp && dice.chance(70) ? "shared" : "",
         drawLayout(dice, nd::tensorType(tensor), none),
         drawCopy(dice, nd::tensorType(tensor)).loops,
         op.getProduced().contains(loop.names[0]) && dice.chance(50) ? 2u : 1u, ""});
  }
}

/// Draws loops for the copies of updates and scans: for all of an op or none, as they are written.
static void drawCopies(Dice &dice, nest::CopyingInterface op, Drawn &drawn) {
  SmallVector<Attribute> copies;
  for (nd::NdTensorType type : op.getCopiedTypes()) {
    nest::Schedule copy = drawCopy(dice, type);
    if (copy.loops.empty())
      return;
    copies.push_back(nest::ScheduleAttr::get(op->getContext(), copy));
  }
  op.setCopiesAttr(ArrayAttr::get(op->getContext(), copies));
  if (failed(verify(op)))
    op.setCopiesAttr({});
  else
    ++drawn["copies"];
}

void laws::drawSchedules(func::FuncOp function, Dice &dice, Drawn &drawn) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  function.walk([&](Operation *op) {
    if (auto copying = dyn_cast<nest::CopyingInterface>(op))
      drawCopies(dice, copying, drawn);
    nd::DimsAttr produced, reduced = nd::DimsAttr::get(function.getContext(), {});
    auto compute = dyn_cast<nest::ComputeOp>(op);
    if (compute) {
      produced = compute.getProduced();
      reduced = compute.getReduced();
    } else if (auto update = dyn_cast<nest::UpdateOp>(op)) {
      produced = update.getSpace();
    } else if (auto group = dyn_cast<nest::GroupOp>(op)) {
      produced = group.getNames();
    } else if (auto sort = dyn_cast<nest::SortOp>(op)) {
      produced = sort.getLines();
    }
    if (!produced || !dice.chance(80))
      return;
    for (int tries = 0; tries < 5; ++tries) {
      nest::Schedule schedule =
          drawSchedule(dice, produced, reduced, isa<nest::ComputeOp, nest::UpdateOp>(op));
      if (compute && !schedule.loops.empty())
        drawStages(dice, compute, schedule);
      op->setAttr("schedule", nest::ScheduleAttr::get(function.getContext(), schedule));
      if (failed(verify(op)))
        continue;
      for (const nest::Loop &loop : schedule.loops)
        ++drawn[loop.unroll > 1 ? "unroll" : loop.level];
      for (const nest::Stage &stage : schedule.stages)
        ++drawn[(stage.level.empty() ? "stage" : stage.level) + std::to_string(stage.buffers)],
            drawn["copy"] += !stage.copy.empty();
      return;
    }
    op->removeAttr("schedule");
  });
}

/// The same factors with other padding.
static Layout paddedOtherwise(Dice &dice, Layout layout) {
  if (layout.factors.empty())
    return layout;
  std::vector<std::string> names = dice.pick(layout.factors).names;
  int64_t low = dice.below(3), high = dice.below(3);
  for (Layout::Factor &factor : layout.factors)
    if (factor.names == names)
      factor.low = low, factor.high = high;
  return layout;
}

static Layout drawLayout(Dice &dice, nd::NdTensorType type, DrawnLayouts &drawn) {
  if (auto found = drawn.find(type.getDims()); found != drawn.end() && dice.chance(40))
    return paddedOtherwise(dice, found->second);
  Sizes sizes = type.sizes();
  std::vector<std::string> names;
  for (const auto &[name, size] : sizes)
    names.push_back(name);
  dice.shuffle(names);
  Layout layout;
  for (size_t begin = 0; begin < names.size();) {
    Layout::Factor factor;
    for (size_t count = size_t(dice.between(1, 2)); count > 0 && begin < names.size(); --count)
      factor.names.push_back(names[begin++]);
    if (dice.chance(15)) {
      factor.low = dice.below(3);
      factor.high = dice.below(3);
    }
    int64_t divisor = 1;
    for (int64_t blocks = dice.between(-1, 2); blocks > 0; --blocks) {
      Layout::Factor inner = factor;
      inner.divisor = divisor;
      inner.modulus = dice.pick({2, 3, 4, 5, 16});
      divisor *= inner.modulus;
      layout.factors.push_back(inner);
    }
    factor.divisor = divisor;
    layout.factors.push_back(factor);
  }
  dice.shuffle(layout.factors);
  if (dice.chance(10))
    layout.swizzle = {dice.between(1, 2), dice.between(0, 2), dice.between(1, 3)};
  return drawn[type.getDims()] = layout;
}

int laws::drawLayouts(func::FuncOp function, Dice &dice) {
  llvm::DenseSet<Value> joined;
  function.walk([&](Operation *op) {
    if (!isa<nest::ComputeOp>(op))
      for (Value value : op->getOperands())
        joined.insert(value);
  });
  int written = 0;
  DrawnLayouts drawn;
  for (BlockArgument argument : function.getArguments())
    if (!joined.contains(argument) || isa<func::ReturnOp>(*argument.user_begin())) {
      auto layout = nest::LayoutAttr::get(function.getContext(),
                                          drawLayout(dice, nd::tensorType(argument), drawn));
      function.setArgAttr(argument.getArgNumber(), "nd.layout", layout);
      ++written;
    }
  for (auto nest : function.front().getOps<nest::ComputeOp>())
    for (unsigned i = 0; i < nest.getNumResults(); ++i) {
      bool inPlace = llvm::any_of(nest.getResult(i).getUsers(),
                                  [](Operation *user) { return isa<nest::UpdateOp>(user); });
      if (inPlace || dice.chance(20))
        continue;
      nest.setLayout(
          i, nest::LayoutAttr::get(function.getContext(),
                                   drawLayout(dice, nd::tensorType(nest.getResult(i)), drawn)));
      ++written;
    }
  return written;
}

void laws::drawFusion(func::FuncOp function, Dice &dice) {
  Builder b(function.getContext());
  for (Operation &op : function.front().without_terminator())
    if (isa<nest::ComputeOp>(op) && dice.chance(60))
      op.setAttr(dice.chance(50) ? "heddle.materialize" : "heddle.recompute", b.getUnitAttr());
}

int laws::drawSignature(func::FuncOp function, Dice &dice) {
  Builder b(function.getContext());
  DrawnLayouts drawn;
  auto layoutOf = [&](Type type) {
    return nest::LayoutAttr::get(b.getContext(),
                                 drawLayout(dice, cast<nd::NdTensorType>(type), drawn));
  };
  int written = 0;
  // A value that is updated in place has one layout before and after, and so has a carried
  // value.
  auto mayUpdate = [](Operation *op) {
    return isa<nd::ScatterOp, nd::UpdateSliceOp, nest::UpdateOp, nest::ScanOp, scf::IfOp,
               scf::ForOp, scf::WhileOp, nd::CallOp, nd::VjpOp, nd::JvpOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  bool updates = function.walk(mayUpdate).wasInterrupted();
  llvm::DenseSet<int64_t> taken;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    SmallVector<int64_t> fitting;
    for (auto [r, result] : llvm::enumerate(function.getResultTypes()))
      if (result == type)
        fitting.push_back(int64_t(r));
    if (!fitting.empty() && dice.chance(60)) {
      int64_t result = dice.pick(fitting);
      taken.insert(result);
      function.setArgAttr(unsigned(i), "heddle.donate", b.getI64IntegerAttr(result));
    } else if (!updates && dice.chance(40)) {
      function.setArgAttr(unsigned(i), "nd.layout",
                          dice.chance(30) ? Attribute(b.getStringAttr("any")) : layoutOf(type));
    } else {
      continue;
    }
    ++written;
  }
  for (auto [r, type] : llvm::enumerate(function.getResultTypes()))
    if (!updates && !taken.contains(int64_t(r)) && dice.chance(40)) {
      function.setResultAttr(unsigned(r), "nd.layout", layoutOf(type));
      ++written;
    }
  return written;
}
