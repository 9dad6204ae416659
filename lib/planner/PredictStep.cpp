//===- PredictStep.cpp - how long a step takes with a plan ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/PredictStep.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/BlockTimes.h"
#include "lib/cost/Network.h"

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

void planner::stateLinks(ModuleOp module, const Topology &topology) {
  module.getContext()->getOrLoadDialect<nest::NestDialect>();
  std::map<std::string, cost::Link> links;
  for (const Topology::Axis &axis : topology.axes)
    links[axis.name] = {axis.bytesPerSecond, axis.latencySeconds};
  cost::stateFacts(module, cost::factsOfLinks(module.getContext(), links));
}

void planner::stateTopology(ModuleOp module, const Topology &topology) {
  module.getContext()->getOrLoadDialect<nest::NestDialect>();
  std::map<std::string, cost::Link> links;
  for (const Topology::Axis &axis : topology.axes)
    links[axis.name] = {axis.bytesPerSecond, axis.latencySeconds, axis.coreBytesPerSecond,
                        axis.coreSeconds};
  nest::MachineAttr facts = cost::factsOfLinks(module.getContext(), links);
  for (const auto &[key, value] : topology.facts)
    facts = cost::withFact(facts, key, value);
  cost::stateFacts(module, facts);
}

/// Adds the transfers of a function that runs so often, and of those that its loops call.
static void addTransfers(func::FuncOp function, const cost::Network &network, double runs,
                         Prediction &result) {
  function.walk([&](Operation *op) {
    if (auto loop = cost::turnsOf(op))
      addTransfers(loop->second, network, runs * loop->first, result);
    if (!cost::isTransfer(op))
      return;
    result.sentBytes += runs * cost::runsOf(op) * network.costOf(op).bytes;
    ++result.transfers;
  });
}

FailureOr<Prediction> StepPredictor::predict(const std::vector<std::string> &rules) const {
  OwningOpRef<ModuleOp> copy(module.clone());
  SmallVector<StringRef> texts(rules.begin(), rules.end());
  (*copy)->setAttr(mesh::rulesAttrName, Builder(module).getStrArrayAttr(texts));
  if (failed(lower(*copy)))
    return failure();
  auto function = copy->lookupSymbol<func::FuncOp>(entry);
  assert(function && "passes keep public functions");
  Prediction result;
  cost::BlockTimesOptions options;
  options.scale = scale;
  options.known = cost::Knowledge::Schedule;
  auto seconds = measured ? measured(*copy) : llvm::DenseMap<Operation *, double>();
  options.secondsOf = [&](Operation *nest) -> std::optional<double> {
    auto found = seconds.find(nest);
    ++(found == seconds.end() ? result.estimated : result.measured);
    return found == seconds.end() ? std::nullopt : std::optional(found->second);
  };
  cost::BlockTimes times(function.front(), options);
  auto network = cost::Network::at(function);
  for (Operation &op : function.front()) {
    int64_t begin = times.begin(&op), end = times.end(&op);
    bool isTransfer = cost::isTransfer(&op);
    if (!isTransfer)
      result.computing += end - begin;
    if (end > begin)
      result.steps.push_back(
          {labelOf(&op), isTransfer ? "links " + network.slowest(cost::axesOf(&op)).str() : "cores",
           begin, end});
  }
  for (const cost::TaskTimes::Held &each : times.held())
    result.held.emplace_back(each.time, each.bytes);
  addTransfers(function, network, 1, result);
  result.picoseconds = times.end();
  result.mostBytes = times.mostBytes();
  return result;
}
