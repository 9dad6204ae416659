//===- TaskPlanning.cpp - the tasks of a program on a topology ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskPlanning.h"

#include "dialects/mesh/MeshDialect.h"
#include "lib/pipelines/Pipelines.h"
#include "lib/planner/CutRecurrences.h"
#include "lib/planner/PlanSpace.h"
#include "lib/planner/PredictStep.h"
#include "lib/planner/ReadGraph.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

bool TaskPlanning::readCluster() {
  if (topology.mesh().ranks() > Cluster::mostDevices)
    return fail("expected at most " + Twine(Cluster::mostDevices) + " devices, got " +
                Twine(topology.mesh().ranks()));
  cluster = clusterOf(topology);
  auto all = unsigned(cluster.devices.size());
  devices = options.devices ? options.devices : all;
  if (devices > all)
    return fail("expected at most the " + Twine(all) + " devices of '" + options.topology +
                "', got --devices " + Twine(devices));
  for (Cluster::Kind &kind : cluster.kinds) {
    kind.operationsPerSecond *= options.rates;
    kind.bytesPerSecond *= options.rates;
  }
  for (Cluster::Link &link : cluster.links)
    link.bytesPerSecond *= options.links;
  return true;
}

bool TaskPlanning::readGraph() {
  if (!topology.axes.empty())
    stateTopology(module.get(), topology);
  // With a mesh, recurrences do not become loops.
  MLIRContext *context = module.get().getContext();
  context->getOrLoadDialect<mesh::MeshDialect>();
  MeshSpec spec;
  spec.axes.emplace_back("device", int64_t(cluster.devices.size()));
  module.get()->setAttr(mesh::meshAttrName, mesh::MeshAttr::get(context, spec));
  PassManager passes(context);
  buildNdPipeline(passes, {});
  buildNests(passes);
  if (failed(passes.run(module.get())))
    return false;
  graph = cutRecurrences(
      planner::readGraph(function(), cost::Machine::at(module.get()), options.isPaper),
      options.cut);
  return !graph.operators.empty() ||
         fail("expected a function with operators, got none in '" + entry + "'");
}

bool TaskPlanning::read() {
  if (!options.plan.empty())
    return fail("expected --plan without --tasks and --paper: plans are of a mesh");
  if (!PlanInput::read())
    return false;
  std::string sample = sampleName(function());
  if (!readCluster() || !readGraph())
    return false;
  // Samples may be split wherever they are, as in the loss, which is summed over them.
  for (Graph::Choice &choice : graph.choices)
    for (Graph::Name &name : choice.names)
      name.isSummed &= name.label != sample;
  tasks.emplace(graph, cluster, TaskOptions{.isPaper = options.isPaper});
  costs.emplace(*tasks, graph, devices, TaskCostOptions{options.isFull, options.isToTheEnd});
  TaskSearchOptions how{.sample = sample,
                        .devices = devices,
                        .nodes = nodesOf(cluster, devices),
                        .isLimited = !options.isPaper,
                        .isDrawn = options.isDrawn,
                        .search = {.seed = options.seed,
                                   .proposals = options.proposals,
                                   .beta = options.beta,
                                   .patience = options.patience,
                                   .isInterrupted = untilInterrupted()}};
  search.emplace(*tasks, *costs, graph, cluster, how);
  return true;
}

SpaceKind TaskPlanning::space() const {
  const std::vector<SpaceKind> &all = allSpaces();
  auto kind = llvm::find_if(all, [&](SpaceKind each) { return spelling(each) == options.space; });
  assert(kind != all.end() && "the command line accepts spaces only");
  return *kind;
}

std::optional<Point> TaskPlanning::find() {
  std::optional<Point> found = search->find(space());
  if (!found) {
    const TaskSearch::Excess &least = search->leastExcess();
    int64_t state = tasks->stateBytes();
    fail((search->isTooLarge() ? Twine("no plan fits")
                               : "no plan of '" + Twine(options.space) + "' was found that fits") +
         "; the one that needs least, of those tried, has " + Twine(least.bytes) + " bytes on '" +
         cluster.devices[least.device].name + "', which has " +
         Twine(cluster.kinds[cluster.devices[least.device].kind].memoryBytes) +
         "; parameters and other state have " + Twine(state) + " bytes, at least " +
         Twine((state + devices - 1) / devices) + " on one of " + Twine(devices) + " devices");
    return std::nullopt;
  }
  search->show(*found);
  return found;
}

int64_t TaskPlanning::mostMemory() const {
  std::vector<int64_t> memory = tasks->memory();
  return *std::max_element(memory.begin(), memory.end());
}

llvm::json::Object TaskPlanning::result(StringRef what) const {
  const Tasks::Totals &totals = tasks->totals();
  return llvm::json::Object{{"plan", what.str()},
                            {"picoseconds", tasks->end()},
                            {"computing_picoseconds", totals.computing},
                            {"sent_bytes", totals.bytes},
                            {"messages", totals.transfers},
                            {"memory_bytes", mostMemory()}};
}

void TaskPlanning::print(StringRef what) const {
  if (options.json)
    return void(llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(result(what))));
  const Tasks::Totals &totals = tasks->totals();
  llvm::outs() << what << ": " << milliseconds(tasks->end()) << " a step; all tasks together "
               << "compute " << milliseconds(totals.computing) << ", and send " << totals.bytes
               << " bytes in " << totals.transfers << " messages; a device needs " << mostMemory()
               << " bytes of memory\n";
}

std::string TaskPlanning::text(unsigned choice, const Configuration &each) const {
  std::string text = graph.choices[choice].name;
  for (size_t k = 0; k < each.degrees.size(); ++k)
    if (each.degrees[k] > 1)
      text += " " + graph.choices[choice].names[k].label + "=" + std::to_string(each.degrees[k]);
  text += " on";
  for (unsigned device : each.devices)
    text += " " + cluster.devices[device].name;
  if (each.scattered)
    text += ", sums in blocks of " + graph.choices[choice].names[*each.scattered].label;
  return text + (each.isFetched ? ", fetched" : "");
}

std::string TaskPlanning::text(const Point &point) const {
  std::string lines;
  for (unsigned i = 0; i < point.size(); ++i)
    lines += text(i, costs->of(i)[point[i]]) + "\n";
  return lines;
}
