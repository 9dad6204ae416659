//===- MeshPlanning.cpp - the plans of a program on a mesh ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeshPlanning.h"

#include "dialects/mesh/MeshDialect.h"
#include "lib/analysis/CanonicalNames.h"
#include "lib/analysis/Operators.h"
#include "lib/conversion/nest_to_steps/InsertCopies.h"
#include "lib/cost/Machine.h"
#include "lib/pipelines/Pipelines.h"
#include "lib/planner/PlanSpace.h"
#include "lib/support/PlanFile.h"
#include "lib/target/Target.h"
#include "lib/transforms/mesh/Passes.h"
#include "lib/transforms/names/GraphHash.h"
#include "lib/transforms/nest/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

bool MeshPlanning::read() {
  if (!PlanInput::read())
    return false;
  if (topology.axes.empty())
    return fail("expected --tasks or --paper with '" + options.topology +
                "': the devices of a mesh are in groups that are alike");
  auto target = findTarget("");
  if (!target)
    return fail(llvm::toString(target.takeError()));
  // As the compiler does on this machine.
  MLIRContext *context = module.get().getContext();
  context->loadDialect<nest::NestDialect>(); // the module may have no op of it yet
  auto given = module.get()->getAttrOfType<nest::MachineAttr>(machineAttrName);
  cost::stateFacts(module.get(), (*target)->machine(context, /*threads=*/1));
  if (!options.times.empty() || options.measures) {
    times.emplace(options, module.get(), given, (*target)->key());
    if (!times->open())
      return false;
  }
  return findScale() && lowerToNests();
}

StepPredictor MeshPlanning::predictorOf(ModuleOp nests) {
  StepPredictor predictor(nests, entry, [this](ModuleOp copy) {
    PassManager passes(copy.getContext());
    buildFusion(passes, {});
    buildLayouts(passes, {});
    buildStepPipeline(passes);
    if (failed(passes.run(copy)))
      return failure();
    insertCopies(copy);
    PassManager schedules(copy.getContext());
    schedules.addNestedPass<func::FuncOp>(nest::createNestChooseSchedulesPass());
    LogicalResult result = schedules.run(copy);
    stateTopology(copy, topology);
    return result;
  });
  if (times)
    predictor.setMeasured([this](ModuleOp copy) { return times->of(copy); });
  predictor.setScale(scale);
  return predictor;
}

std::vector<std::string> MeshPlanning::dataParallel() {
  std::string name = sampleName(function()), axes;
  for (const Topology::Axis &axis : topology.axes)
    axes += (axes.empty() ? "" : "+") + axis.name;
  return name.empty() ? std::vector<std::string>() : std::vector{name + ":" + axes};
}

/// Lowers a module to whole nests, for the mesh of a topology.
static LogicalResult lower(ModuleOp module, const Topology &topology, PipelineOptions pipeline) {
  pipeline.mesh = topology.mesh().str();
  stateLinks(module, topology);
  PassManager passes(module.getContext());
  buildNdPipeline(passes, pipeline);
  buildNests(passes);
  return passes.run(module);
}

bool MeshPlanning::findScale() {
  if (options.measuredSeconds == 0)
    return true;
  Topology alone = topology;
  for (Topology::Axis &axis : alone.axes)
    axis.devices = 1;
  PipelineOptions pipeline;
  pipeline.shard = dataParallel();
  OwningOpRef<ModuleOp> copy(module.get().clone());
  if (failed(lower(*copy, alone, pipeline)))
    return false;
  FailureOr<Prediction> found = predictorOf(*copy).predict({});
  if (failed(found))
    return false;
  int64_t predicted = std::max<int64_t>(found->picoseconds, 1);
  double factor = options.measuredSeconds * 1e12 / double(predicted);
  bool isNear = std::abs(1 / factor - 1) <= 0.05; // within what measurements differ by
  scale = isNear ? 1 : factor;
  if (!options.json)
    llvm::outs() << "predicted times are "
                 << (isNear ? "not scaled" : llvm::formatv("scaled by {0:f3}", scale).str())
                 << ": a step on one device is predicted to take " << milliseconds(predicted)
                 << ", and was measured to take "
                 << milliseconds(int64_t(options.measuredSeconds * 1e12)) << "\n";
  return true;
}

bool MeshPlanning::lowerToNests() {
  graph = graphHash(function());
  PipelineOptions pipeline;
  pipeline.plan = options.plan;
  mesh::Plan given;
  if (!options.plan.empty()) {
    if (std::string problem = given.readFile(options.plan); !problem.empty())
      return fail(problem);
    rules = given.rules;
    for (const MeshRule &rule : given.rules)
      first.push_back(rule.text);
  } else {
    first = pipeline.shard = dataParallel();
  }
  if (failed(lower(module.get(), topology, pipeline)))
    return false;
  stateLinks(module.get(), topology); // instead of links of the plan
  return true;
}

std::optional<std::vector<std::string>> MeshPlanning::rulesOf(const std::string &path) const {
  mesh::Plan found;
  std::string problem = found.readFile(path);
  auto of = found.settings.find("graph");
  if (problem.empty() && of != found.settings.end() && of->second.text != graph)
    problem = "expected a plan for the graph " + graph + ", got " + of->second.text + " (" +
              of->second.where + ")";
  std::vector<std::string> own;
  std::set<std::string> known(first.begin(), first.end());
  for (const MeshRule &rule : found.rules)
    if (!known.erase(rule.text))
      own.push_back(rule.text);
  if (problem.empty() && !known.empty())
    problem =
        "expected the rule '" + *known.begin() + "' of this search in '" + path + "', got none";
  if (problem.empty())
    return own;
  fail(problem);
  return std::nullopt;
}

FailureOr<Prediction> MeshPlanning::predict(const std::vector<std::string> &rules) {
  std::vector<std::string> all;
  if (auto stated = module.get()->getAttrOfType<ArrayAttr>(mesh::rulesAttrName))
    for (Attribute text : stated)
      all.push_back(cast<StringAttr>(text).str());
  all.insert(all.end(), rules.begin(), rules.end());
  return predictorOf(module.get()).predict(all);
}

std::string MeshPlanning::text(const std::vector<std::string> &rules) const {
  std::string text = "mesh " + topology.mesh().str() + "\ngraph " + graph + "\n";
  for (const Topology::Axis &axis : topology.axes)
    text += mesh::Plan::Links{axis.name, axis.bytesPerSecond, axis.latencySeconds, ""}.str() + "\n";
  for (const std::string &rule : first)
    text += rule + "\n";
  for (const std::string &rule : rules)
    text += rule + "\n";
  return text;
}

FailureOr<std::vector<MeshPlanning::Split>> MeshPlanning::splits() {
  OwningOpRef<ModuleOp> copy(module.get().clone());
  PassManager passes(copy->getContext());
  passes.addPass(mesh::createMeshPropagatePass({}));
  if (failed(passes.run(*copy)))
    return failure();
  auto function = copy->lookupSymbol<func::FuncOp>(entry);
  Labels spelled = spellings(function);
  std::vector<Split> all;
  for (const Operator &each : operatorsOf(function)) {
    Split &split =
        all.emplace_back(Split{each.name, std::vector<std::string>(topology.axes.size())});
    for (Operation *op : each.splitNests())
      if (auto sharding = op->getAttrOfType<mesh::ShardingAttr>(mesh::shardingAttrName))
        for (const mesh::NamedAxes &name : sharding.getNames())
          for (const mesh::Axis &axis : name.list())
            for (size_t i = 0; i < topology.axes.size(); ++i)
              if (topology.axes[i].name == axis.name)
                split.ofAxes[i] = labelOf(spelled, name.name.str());
  }
  return all;
}
