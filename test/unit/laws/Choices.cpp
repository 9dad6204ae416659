//===- Choices.cpp - random layouts, schedules and fusion -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Choices.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

Layout laws::drawLayout(Dice &dice, const Sizes &sizes) {
  std::vector<std::string> names;
  for (const auto &[name, size] : sizes)
    names.push_back(name);
  dice.shuffle(names);
  for (int tries = 0; tries < 8; ++tries) {
    Layout layout;
    for (size_t begin = 0; begin < names.size();) {
      size_t end = begin + (begin + 1 < names.size() && dice.chance(20) ? 2 : 1);
      Layout::Factor factor;
      for (; begin < end; ++begin)
        factor.names.push_back(names[begin]);
      if (dice.chance(10)) {
        factor.low = dice.below(3);
        factor.high = dice.below(3);
      }
      if (dice.chance(35)) {
        Layout::Factor inner = factor;
        inner.modulus = factor.divisor = dice.pick({2, 3, 4, 8, 16});
        layout.factors.push_back(inner);
        if (dice.chance(60)) // lanes lie innermost
          std::swap(layout.factors.back(),
                    layout.factors[size_t(dice.below(int64_t(layout.factors.size())))]);
      }
      layout.factors.insert(layout.factors.begin() + dice.below(int64_t(layout.factors.size()) + 1),
                            factor);
    }
    if (dice.chance(5))
      layout.swizzle = {dice.between(1, 2), dice.between(0, 1), dice.between(2, 3)};
    if (layout.verify(sizes).empty())
      return layout;
  }
  return Layout::rowMajor(names);
}

/// Chains of loops over each name, woven together.
static nest::Schedule drawSchedule(Dice &dice, const Sizes &produced, const Sizes &reduced) {
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
  for (const auto &[name, size] : produced)
    add(name, false);
  for (const auto &[name, size] : reduced)
    add(name, true);
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

void laws::drawChoices(func::FuncOp function, Dice &dice, bool layouts) {
  MLIRContext *context = function.getContext();
  if (layouts)
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (dice.chance(70)) {
        auto type = cast<nd::NdTensorType>(function.getArgumentTypes()[i]);
        function.setArgAttr(i, "nd.layout",
                            nest::LayoutAttr::get(context, drawLayout(dice, type.sizes())));
      }
  for (Operation &op : function.front().without_terminator()) {
    if (!isa<nest::ComputeOp, nest::UpdateOp, nest::ScanOp>(op))
      continue;
    if (layouts && dice.chance(80)) {
      SmallVector<Attribute> list;
      for (Value result : op.getResults())
        list.push_back(
            nest::LayoutAttr::get(context, drawLayout(dice, nest::tensorTypeOf(result).sizes())));
      op.setAttr("layouts", ArrayAttr::get(context, list));
    }
    auto compute = dyn_cast<nest::ComputeOp>(op);
    if (!compute || !dice.chance(80))
      continue;
    Sizes produced = nest::sizesOf(compute.getProduced()),
          reduced = nest::sizesOf(compute.getReduced());
    nest::Schedule schedule = drawSchedule(dice, produced, reduced);
    Sizes all(produced);
    all.insert(reduced.begin(), reduced.end());
    // Without points there is nothing to schedule.
    bool isEmpty = llvm::any_of(all, [](const auto &size) { return size.second == 0; });
    if (!isEmpty && schedule.verify(all).empty())
      compute.setScheduleAttr(nest::ScheduleAttr::get(context, schedule));
  }
}

void laws::drawFusion(func::FuncOp function, Dice &dice) {
  Builder b(function.getContext());
  for (Operation &op : function.front().without_terminator())
    if (isa<nest::ComputeOp>(op) && dice.chance(60))
      op.setAttr(dice.chance(50) ? "heddle.materialize" : "heddle.recompute", b.getUnitAttr());
}
