//===- NestFacts.cpp - what the cost model knows of a nest ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/NestFacts.h"

#include "lib/analysis/Layouts.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/analysis/VectorLanes.h"
#include "lib/cost/Machine.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;
using nest::ComputeOp;
using nest::GroupOp;
using nest::LaneKind;
using nest::ScanOp;
using nest::ScheduledInterface;
using nest::UpdateOp;

NestFacts::NestFacts(Operation *op, nest::MachineAttr machine, bool shrink)
    : isUpdate(isa<UpdateOp>(op)), adjustments(adjustmentsOf(op->getContext())),
      model(op, machine, shrink, /*steps=*/true) {
  auto nest = cast<nest::LoopNestInterface>(op);
  body = instructionsOf(nest.getBody(), model.bitsOfLane);
  combine = instructionsOf(nest.getCombine(), model.bitsOfLane);
  model.op = nullptr;
  std::array<double, memoryLevels> capacities = capacitiesOf(machine);
  auto bytes = [](double number) { return int64_t(std::min(number, 1e18)); };
  model.l1 = bytes(capacities[L2]);
  model.l2 = bytes(capacities[L3]);
  model.l3 = bytes(capacities[Memory]);
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute)
    return;
  finish = instructionsOf(compute.getFinish(), model.bitsOfLane);
  if (contractionOf(compute) && isa<FloatType>(cast<TypedAttr>(compute.getNeutral()[0]).getType()))
    combine.vector -= 1, body.vector -= 1, combine.products = 1; // a multiply-add
  if (nest::UnitUse use = unitOf(compute, machine); use.unit && !use.names.empty())
    depth = depthOf(use.unit);
}

NestFacts NestFacts::ofCopy(Value tensor, nest::MachineAttr machine) {
  return NestFacts(nest::NestModel::ofCopy(tensor, machine));
}

void NestFacts::setSizes(ArrayRef<int64_t> sizes) {
  model.resize(sizes);
  if (basis == Knowledge::Nothing)
    return;
  std::vector<Layout> layouts;
  for (size_t access = 0; access < known.size(); ++access)
    layouts.push_back(layout(access));
  known.clear();
  setLayouts(layouts);
}

void NestFacts::setLayouts(ArrayRef<Layout> layouts) {
  assert(layouts.size() == model.accesses.size() && "a layout for each access");
  basis = Knowledge::Layouts;
  known.resize(layouts.size());
  for (auto [access, layout] : llvm::enumerate(layouts))
    choose(access, layout);
}

void NestFacts::setLayout(size_t access, const Layout &layout) {
  choose(access, layout);
  if (basis == Knowledge::Schedule)
    setLanes(access);
}

void NestFacts::choose(size_t access, const Layout &layout) {
  auto &[all, chosen] = known[access];
  auto found = llvm::find_if(all, [&](const Laid &each) { return each.layout == layout; });
  chosen = size_t(found - all.begin());
  if (found != all.end())
    return;
  const nest::NestAccess &of = model.accesses[access];
  all.push_back({layout, nest::SizedLayout(layout, of.type, model.sizesOf(of)),
                 nest::PlacedAccess(model, of, layout, LaneKind::Same)});
}

void NestFacts::setLanes(size_t access) {
  known[access].all[known[access].chosen].place.lanes = laneKind(access, walked.lanes());
}

void NestFacts::setLoops(ArrayRef<Loop> loops, ArrayRef<Stage> stages, size_t outer) {
  assert(basis != Knowledge::Nothing && "loops need layouts");
  basis = Knowledge::Schedule;
  walked = Loops(model, loops, outer);
  ++walk;
  for (size_t access = 0; access < known.size(); ++access)
    setLanes(access);
  setStages(stages, outer);
}

void NestFacts::setStages(ArrayRef<Stage> stages, size_t outer) {
  staged.clear();
  for (Stage stage : stages)
    staged.push_back({stage.access, walked.levelAfter[outer + stage.at], stage.ahead});
}

const Stage *NestFacts::stageOf(size_t access) const {
  for (const Stage &stage : staged)
    if (stage.access == access)
      return &stage;
  return nullptr;
}

const NestFacts::Laid &NestFacts::laidInLoops(size_t access) const {
  const Laid &of = laid(access);
  if (std::exchange(of.walk, walk) != walk) {
    of.boxes.levels.clear();
    of.counts.clear();
  }
  return of;
}

const Amounts &NestFacts::counted(size_t access, function_ref<Amounts()> count) const {
  const Laid &of = laidInLoops(access);
  const Stage *copy = stageOf(access);
  size_t at = copy ? copy->at : SIZE_MAX;
  for (const auto &[level, amounts] : of.counts)
    if (level == at)
      return amounts;
  return of.counts.emplace_back(at, count()).second;
}

LaneKind NestFacts::laneKind(size_t access, ArrayRef<unsigned> lanes) const {
  const Laid &of = laid(access);
  for (const auto &[known, kind] : of.kinds)
    if (ArrayRef(known) == lanes)
      return kind;
  LaneKind kind =
      lanes.empty() ? LaneKind::Same : model.laneKind(model.accesses[access], of.sized, lanes);
  of.kinds.emplace_back(Names(lanes), kind);
  return kind;
}

//===----------------------------------------------------------------------===//
// From IR
//===----------------------------------------------------------------------===//

/// Sets the layouts if the op, or the one whose value it yields, states those of its results.
static bool setStatedLayouts(NestFacts &facts, Operation *op) {
  bool isStated = false;
  for (Operation *each = op; each; each = each->getParentOp())
    if (auto laid = dyn_cast<nest::LaidOutInterface>(each))
      isStated |= bool(laid.getLayoutsAttr());
  if (!isStated)
    return false;
  std::vector<Layout> layouts;
  for (const nest::NestAccess &access : facts.nest().accesses)
    layouts.push_back(nest::layoutOf(access.tensor));
  facts.setLayouts(layouts);
  return true;
}

/// Sets the loops of the groups and recurrences around the nest and its own, if they are stated.
static void setStatedLoops(NestFacts &facts, Operation *op) {
  auto own = cast<ScheduledInterface>(op).getScheduleAttr();
  if (!own || own.getSchedule().isPartial())
    return;
  SmallVector<Loop, 12> loops;
  auto add = [&](Operation *each) {
    if (auto scan = dyn_cast<ScanOp>(each)) {
      StringRef along = scan.getAlong().begin()->name.getValue();
      loops.emplace_back(Loop::Sequential, Names{unsigned(facts.nest().indexOf(along))}, 1);
    } else if (auto chosen = cast<ScheduledInterface>(each).getScheduleAttr()) {
      for (const nest::Loop &loop : chosen.getSchedule().loops)
        loops.emplace_back(facts.nest(), loop);
    }
  };
  SmallVector<Operation *, 2> parents;
  for (Operation *each = op->getParentOp(); each; each = each->getParentOp())
    if (isa<GroupOp, ScanOp>(each))
      parents.push_back(each);
  for (Operation *each : llvm::reverse(parents))
    add(each);
  size_t outer = loops.size();
  add(op);
  SmallVector<Stage, 4> stages;
  for (const nest::Stage &stage : own.getSchedule().stages)
    stages.push_back({stage.operand, stage.at, stage.buffers > 1});
  facts.setLoops(loops, stages, outer);
}

static void addFacts(Operation *op, nest::MachineAttr machine, std::vector<NestFacts> &all) {
  if (isa<ComputeOp, UpdateOp>(op)) {
    NestFacts &facts = all.emplace_back(op, machine);
    if (setStatedLayouts(facts, op))
      setStatedLoops(facts, op);
  } else if (isa<ScanOp, GroupOp>(op)) {
    for (Operation &inner : op->getRegion(0).front())
      addFacts(&inner, machine, all);
  }
}

std::vector<NestFacts> cost::factsOf(Operation *op, nest::MachineAttr machine) {
  std::vector<NestFacts> all;
  addFacts(op, machine, all);
  return all;
}
