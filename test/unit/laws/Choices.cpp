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

/// Chains of loops over each name, woven together.
static nest::Schedule drawSchedule(Dice &dice, nd::DimsAttr produced, nd::DimsAttr reduced) {
  std::vector<std::vector<nest::Loop>> chains;
  bool hasVector = false;
  auto add = [&](const std::string &name, bool isReduced) {
    if (dice.chance(15))
      return; // the default loop
    auto level = [&]() -> std::string {
      return isReduced ? dice.pick({"loop", "loop", "cache", "register"})
                       : dice.pick({"thread", "cache", "loop", "register", "register"});
    };
    std::vector<nest::Loop> chain;
    int64_t step = dice.pick({1, 1, 2, 3, 4, 8, 16});
    while (step > 1) {
      chain.push_back({level(), {name}, step});
      int64_t next = 1;
      for (int64_t divisor : {2, 3, 4})
        if (step % divisor == 0 && dice.chance(40))
          next = step / divisor;
      step = next;
    }
    bool isVector = !hasVector && dice.chance(50);
    hasVector |= isVector;
    chain.push_back({isVector ? "vector" : level(), {name}, 1});
    chains.push_back(std::move(chain));
  };
  for (const nd::Dim &dim : produced)
    add(dim.name.str(), false);
  for (const nd::Dim &dim : reduced)
    add(dim.name.str(), true);
  nest::Schedule schedule;
  while (!chains.empty()) {
    size_t i = size_t(dice.below(int64_t(chains.size())));
    schedule.loops.push_back(chains[i].front());
    chains[i].erase(chains[i].begin());
    if (chains[i].empty())
      chains.erase(chains.begin() + int64_t(i));
  }
  return schedule;
}

void laws::drawSchedules(func::FuncOp function, Dice &dice) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  for (Operation &op : function.front()) {
    nd::DimsAttr produced, reduced = nd::DimsAttr::get(function.getContext(), {});
    if (auto compute = dyn_cast<nest::ComputeOp>(op)) {
      produced = compute.getProduced();
      reduced = compute.getReduced();
    } else if (auto update = dyn_cast<nest::UpdateOp>(op)) {
      produced = update.getSpace();
    }
    if (!produced || !dice.chance(80))
      continue;
    op.setAttr("schedule", nest::ScheduleAttr::get(function.getContext(),
                                                   drawSchedule(dice, produced, reduced)));
    if (failed(verify(&op)))
      op.removeAttr("schedule");
  }
}

/// The same factors on other padding.
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

/// `drawn`: the layouts so far, by the tensors' dimensions.
using Drawn = llvm::DenseMap<nd::DimsAttr, Layout>;
static Layout drawLayout(Dice &dice, nd::NdTensorType type, Drawn &drawn) {
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
  Drawn drawn;
  for (BlockArgument argument : function.getArguments())
    if (!joined.contains(argument) || isa<func::ReturnOp>(*argument.user_begin())) {
      auto layout = nest::LayoutAttr::get(function.getContext(),
                                          drawLayout(dice, nest::tensorTypeOf(argument), drawn));
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
                                   drawLayout(dice, nest::tensorTypeOf(nest.getResult(i)), drawn)));
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
  Drawn drawn;
  auto layoutOf = [&](Type type) {
    return nest::LayoutAttr::get(b.getContext(),
                                 drawLayout(dice, cast<nd::NdTensorType>(type), drawn));
  };
  int written = 0;
  // What is updated in place cannot lie in one way before and in another after, nor what is
  // carried.
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
