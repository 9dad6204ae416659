//===- LaneChoices.cpp - random schedules whose lanes run together --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Choices.h"

#include "lib/analysis/GpuLanes.h"

#include "mlir/IR/Verifier.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

/// Less than any GPU has: the most lanes of a block, registers of a lane, elements of a copy.
static constexpr int64_t mostLanes = 256, mostRegisters = 64, mostCopied = 1024;

namespace {
/// Draws the steps of one nest's names; then puts the loops of all names in order, level by level.
struct GpuSchedule {
  Dice &dice;
  int64_t lanes = mostLanes; ///< that are left
  bool hasVector = false;
  std::vector<nest::Loop> blocks, outer, bound, inner, tile;
  std::map<std::string, int64_t> boxes = {}; ///< points of each name in a copy, if known

  void add(std::vector<nest::Loop> &loops, const char *level, const std::string &name,
           int64_t step) {
    loops.push_back({level, {name}, step, 1});
  }
  int64_t drawLanes() {
    int64_t drawn = std::min(lanes, dice.pick<int64_t>({1, 2, 3, 4, 5, 8, 16, 32}));
    lanes /= drawn;
    return drawn;
  }
  /// The points of a lane: a vector, registers, both or one. Returns their number.
  int64_t drawTile(const std::string &name) {
    int64_t points = 1;
    if (!hasVector && dice.chance(40)) {
      hasVector = true;
      points = dice.pick({2, 4});
      add(tile, "vector", name, 1);
    }
    if (int64_t rows = dice.between(1, 3); rows > 1) {
      tile.insert(tile.begin(), {"register", {name}, points, 1});
      points *= rows;
    }
    return points;
  }
  void produced(const std::string &name) {
    int64_t points = drawTile(name), step = points;
    if (dice.chance(70)) {
      add(bound, "lane", name, step);
      step *= drawLanes();
      if (dice.chance(25)) {
        bound.insert(bound.begin(), {"warp", {name}, step, 1});
        step *= std::min(lanes, dice.between(1, 3));
        lanes = std::max<int64_t>(1, lanes / 3);
      }
    }
    boxes[name] = step;
    add(blocks, "block", name, step);
  }
  void reduced(const nd::Dim &dim) {
    std::string name = dim.name.str();
    int64_t step = 1;
    if (!hasVector && dice.chance(20)) {
      hasVector = true;
      step = dice.pick({2, 4});
      add(tile, "vector", name, 1);
    }
    if (dice.chance(30)) {
      add(bound, "lane", name, step);
      step *= drawLanes();
    } else {
      add(inner, "loop", name, step);
      step *= dice.between(1, 6);
    }
    if (dice.chance(70)) {
      add(outer, "loop", name, step);
      boxes[name] = step;
    } else if (std::optional<int64_t> size = dim.size().constant()) {
      boxes[name] = *size;
    }
  }
  nest::Schedule schedule() {
    nest::Schedule result;
    dice.shuffle(blocks);
    for (auto *loops : {&blocks, &outer, &bound, &inner, &tile})
      result.loops.insert(result.loops.end(), loops->begin(), loops->end());
    return result;
  }
  /// Copies of some reads in each step of the last loop around the lanes.
  void drawStages(nest::ComputeOp op, nest::Schedule &schedule) {
    unsigned at = unsigned(blocks.size() + outer.size());
    if (at == 0)
      return;
    for (auto [read, tensor] : llvm::enumerate(op.getReads())) {
      int64_t elements = 1;
      bool isBox = llvm::all_of(op.readMap(read).getEntries(), [&](const nest::MapEntry &entry) {
        int64_t extent = 1;
        for (const std::string &name : entry.expr().names()) {
          if (!boxes.count(name) || !entry.expr().isLinearIn(name))
            return false;
          extent += std::abs(entry.expr().coefficient(name)) * (boxes[name] - 1);
        }
        elements *= extent;
        return true;
      });
      unsigned buffers = unsigned(dice.between(1, 2));
      if (!isBox || elements * buffers > mostCopied || dice.chance(50))
        continue;
      std::vector<std::string> order;
      for (const nd::Dim &dim : nd::tensorType(tensor).getDims())
        order.push_back(dim.name.str());
      dice.shuffle(order);
      Layout layout = Layout::rowMajor(order);
      if (!layout.factors.empty() && dice.chance(30))
        layout.factors.back().high = dice.between(1, 4);
      schedule.stages.push_back({unsigned(read), at - 1, "shared", layout, {}, buffers, ""});
    }
  }
};
} // namespace

void laws::drawLaneSchedules(func::FuncOp function, Dice &dice, Drawn &drawn) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  function.walk([&](Operation *op) {
    auto compute = dyn_cast<nest::ComputeOp>(op);
    auto update = dyn_cast<nest::UpdateOp>(op);
    if (!(compute || update) || !dice.chance(80))
      return;
    bool inBlock = isa<nest::HoldsNestsInterface>(op->getParentOp());
    for (int tries = 0; tries < 8; ++tries) {
      GpuSchedule made{dice};
      for (const nd::Dim &dim : compute ? compute.getProduced() : update.getSpace())
        made.produced(dim.name.str());
      if (compute)
        for (const nd::Dim &dim : compute.getReduced())
          made.reduced(dim);
      nest::Schedule schedule = made.schedule();
      if (compute)
        made.drawStages(compute, schedule);
      op->setAttr("schedule", nest::ScheduleAttr::get(function.getContext(), schedule));
      if (failed(verify(op)))
        continue;
      nest::LaneForm form = nest::laneFormOf(op, {});
      if (form && form.lanes <= mostLanes && form.registers <= mostRegisters) {
        ++drawn[inBlock ? "together in a block" : "together"];
        for (const nest::Loop &loop : schedule.loops)
          ++drawn[loop.level];
        for (const nest::Stage &stage : schedule.stages)
          ++drawn["shared" + std::to_string(stage.buffers)];
        return;
      }
    }
    op->removeAttr("schedule");
  });
}
