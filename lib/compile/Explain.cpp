//===- Explain.cpp - the decisions of a compilation -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Explain.h"

#include "lib/analysis/GpuLanes.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/compile/Dump.h"
#include "lib/conversion/nest_to_steps/PredictSteps.h"
#include "lib/transforms/nd/NeutralNames.h"
#include "lib/transforms/nest/schedule/ChooseSchedules.h"
#include "runtime/memory/RuntimeTensor.h"

#include "llvm/Support/FormatVariadic.h"

using namespace heddle;
using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

/// A decision is that of a value at the same location, with the layout that was chosen, or that of
/// a nest at the same location, with its name.
static std::string keyOf(StringRef what, StringRef location) {
  return (what + "|" + location).str();
}

/// Moves the facts of `from` into `to`, which keeps its own.
static void merge(Object &to, Object &&from) {
  for (auto &[key, value] : from)
    to.try_emplace(key, std::move(value));
}

/// The next decision with this key, in the order of the program.
template <typename Map>
static void mergeNext(Object &to, Map &decisions, const std::string &key) {
  auto found = decisions.find(key);
  if (found == decisions.end() || found->second.empty())
    return;
  merge(to, std::move(found->second.front()));
  found->second.pop_front();
}

double Explanation::seconds(double cycles) const { return rounded(timed.seconds(cycles)); }

Array Explanation::alternatives(ArrayRef<nest::ExplainedLayouts::Alternative> others,
                                const Labels &names) const {
  constexpr size_t most = 3; // as many as remarks have
  Array made;
  for (const auto &other : others.take_front(most))
    made.push_back(Object{{"what", respell(other.what, names)}, {"more", seconds(other.cycles)}});
  return made;
}

DecisionListeners Explanation::listeners() {
  return {[this](func::FuncOp function, const nest::FusionDecisions &made) {
            addFusion(function, made);
          },
          [this](const nest::ExplainedLayouts &made) { addLayouts(made); }};
}

void Explanation::addFusion(func::FuncOp function, const nest::FusionDecisions &decisions) {
  std::lock_guard lock(mutex);
  Labels names = spellings(function);
  Array &made = functions[function.getName().str()].fusion;
  for (const nest::FusionDecision &each : decisions.all())
    made.push_back(Object{{"nest", each.nest},
                          {"location", spellLocation(each.loc)},
                          {"chosen", respell(each.chosen, names)},
                          {"other", respell(each.other, names)},
                          {"more", rounded(each.seconds)}});
}

void Explanation::addLayouts(const nest::ExplainedLayouts &layouts) {
  std::lock_guard lock(mutex);
  func::FuncOp function = layouts.function;
  Labels names = spellings(function);
  Function &made = functions[function.getName().str()];
  Array open;
  for (unsigned v : layouts.open)
    open.push_back(Object{{"value", layouts.values[v].name},
                          {"location", spellLocation(layouts.values[v].loc)}});
  made.summary = Object{{"seconds", seconds(layouts.cycles)},
                        {"bound", seconds(layouts.bound)},
                        {"copies", int64_t(layouts.copies)},
                        {"open", std::move(open)}};
  for (const auto &nest : layouts.nests) {
    Object each{{"lanes", respell(nest.lanes, names)},
                {"others", alternatives(nest.others, names)}};
    std::string location = spellLocation(nest.loc);
    Object decision{{"nest", nest.name}, {"location", location}};
    merge(decision, Object(each));
    made.all.push_back(std::move(decision));
    made.nests[keyOf(nest.name, location)].push_back(std::move(each));
  }
  for (const auto &value : layouts.values) {
    Array uses;
    for (const auto &use : value.uses)
      uses.push_back(Object{{"nest", layouts.nests[use.nest].name},
                            {"location", spellLocation(layouts.nests[use.nest].loc)},
                            {"seconds", seconds(use.cycles)},
                            {"copy", respell(use.copy, names)}});
    Object each{{"given", value.given},
                {"others", alternatives(value.others, names)},
                {"uses", std::move(uses)}};
    std::string location = spellLocation(value.loc), layout = respell(value.layout, names);
    Object decision{{"value", value.name}, {"location", location}, {"layout", layout}};
    merge(decision, Object(each));
    made.all.push_back(std::move(decision));
    made.values[keyOf(layout, location)].push_back(std::move(each));
  }
}

void Explanation::addSchedule(Object &to, Operation *op, bool emitRemarks) const {
  // On a machine with lanes: how the lanes of a block run a step, or a nest inside of it.
  nest::LaneForm form;
  if (choices.facts && choices.facts.integer("lanes_per_block", 0) > 1 &&
      isa<nest::ScheduledInterface, nest::HoldsNestsInterface>(op)) {
    form = nest::laneFormOf(op, choices.facts);
    to["lanes_of_block"] = form.lanes;
    if (!form.lacks.empty())
      to["lacks"] = form.lacks;
  }
  auto scheduled = dyn_cast<nest::ScheduledInterface>(op);
  if (!scheduled || !scheduled.getScheduleAttr())
    return;
  std::string text;
  llvm::raw_string_ostream(text) << scheduled.getScheduleAttr();
  std::optional<InFlightDiagnostic> remark;
  if (emitRemarks)
    remark.emplace(emitRemark(op->getLoc()) << "'" << nameOf(op) << "' has the schedule " << text);
  to["schedule"] = std::move(text);
  if (form)
    return;
  if (!form.lacks.empty() && remark)
    remark->attachNote() << "one lane runs a chunk alone; lanes would need " << form.lacks;
  Array others;
  for (const nest::OtherSchedule &other : nest::otherSchedules(op, choices)) {
    if (remark)
      remark->attachNote() << llvm::formatv("{0} would take {1:f2} us more", other.what,
                                            timed.seconds(other.cycles) * 1e6)
                                  .str();
    others.push_back(Object{{"what", other.what}, {"more", seconds(other.cycles)}});
  }
  if (!others.empty())
    to["other_schedules"] = std::move(others);
}

/// The nests of a group or scan, the outermost first.
Array Explanation::nestsIn(Operation *step, bool emitRemarks) const {
  Array made;
  step->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == step || !isa<nest::ScheduledInterface>(op))
      return;
    Object each{{"name", nameOf(op)}, {"location", spellLocation(op->getLoc())}, {"schedule", ""}};
    addSchedule(each, op, emitRemarks);
    made.push_back(std::move(each));
  });
  return made;
}

Object Explanation::describeStep(const StepSpec &step, const OutlinedStep &outlined,
                                 const EntrySpec &entry, bool emitRemarks) const {
  Object made{{"name", step.name},
              {"location", step.location},
              {"reads", Array(outlined.operands)},
              {"writes", Array(outlined.results)},
              {"flops", step.flops},
              {"bytes", step.bytesMoved},
              {"chunks", step.chunks},
              {"serial", step.serial},
              {"waits", step.waits}};
  if (step.kind != StepKind::Kernel)
    made["control"] = step.communication ? StringRef("communication") : StringRef("control flow");
  if (step.predicted > 0) {
    made["seconds"] = step.predicted;
    made["bound"] = step.bound;
    made["limit"] = step.limit;
    made["typical"] = entry.isTypical(step);
  }
  if (!outlined.nest)
    return made;
  addSchedule(made, outlined.nest, emitRemarks);
  if (Array inside = nestsIn(outlined.nest, emitRemarks); !inside.empty())
    made["nests"] = std::move(inside);
  return made;
}

void Explanation::addSteps(const OutlinedEntry &entry, bool emitRemarks) {
  static constexpr const char *kinds[] = {"argument", "result", "temporary", "constant"};
  const EntrySpec &spec = entry.spec;
  func::FuncOp function = entry.function;
  Function &known = functions[function.getName().str()];
  Array values, steps;
  for (const ValueSpec &value : spec.values) {
    Object made{{"name", value.name},
                {"location", value.location},
                {"kind", kinds[int(value.kind)]},
                {"type", describe(value.type)},
                {"layout", value.layout.str()},
                {"bytes", value.bytes.str()}};
    mergeNext(made, known.values, keyOf(value.layout.str(), value.location));
    values.push_back(std::move(made));
  }
  for (auto [step, outlined] : llvm::zip_equal(spec.steps, entry.steps)) {
    Object made = describeStep(step, outlined, spec, emitRemarks);
    if (outlined.nest)
      mergeNext(made, known.nests, keyOf(nameOf(outlined.nest), step.location));
    steps.push_back(std::move(made));
  }
  entries.push_back(Object{{"name", spec.name},
                           {"role", spec.role},
                           {"location", spellLocation(function.getLoc())},
                           {"layouts", std::move(known.summary)},
                           {"decisions", std::move(known.all)},
                           {"fusion", std::move(known.fusion)},
                           {"arena", spec.arenaBytes},
                           {"values", std::move(values)},
                           {"steps", std::move(steps)}});
}

llvm::json::Value Explanation::json() const {
  return Object{{"heddle_explain", 1}, {"functions", Array(entries)}};
}

LogicalResult Explanation::write(ModuleOp module, const std::string &jsonPath,
                                 const std::string &htmlPath) const {
  llvm::json::Value record = json();
  if (!jsonPath.empty() &&
      failed(writeText(module, jsonPath, llvm::formatv("{0:2}\n", record).str())))
    return failure();
  return htmlPath.empty() ? success() : writeText(module, htmlPath, explanationPage(record));
}
