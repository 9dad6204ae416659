//===- Simulate.cpp - how long a step takes with a plan -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Simulate.h"

#include "lib/cost/BlockWalk.h"
#include "lib/cost/Network.h"

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

void planner::stateTopology(ModuleOp module, const Topology &topology) {
  module.getContext()->getOrLoadDialect<nest::NestDialect>();
  Builder b(module.getContext());
  SmallVector<NamedAttribute> links;
  for (const Topology::Axis &axis : topology.axes)
    links.push_back(b.getNamedAttr(
        axis.name, b.getDictionaryAttr(
                       {b.getNamedAttr("bytes_per_second", b.getF64FloatAttr(axis.bytesPerSecond)),
                        b.getNamedAttr("start_seconds", b.getF64FloatAttr(axis.latencySeconds))})));
  auto own = nest::MachineAttr::get(
      b.getContext(), b.getDictionaryAttr({b.getNamedAttr("links", b.getDictionaryAttr(links))}));
  for (const auto &[key, value] : topology.facts)
    own = cost::withFact(own, key, value);
  auto stated = module->getAttrOfType<nest::MachineAttr>(machineAttrName);
  module->setAttr(machineAttrName, stated ? cost::withFacts(stated, own) : own);
}

FailureOr<Prediction> Simulator::predict(const std::vector<std::string> &rules) const {
  OwningOpRef<ModuleOp> copy(module.clone());
  SmallVector<StringRef> texts(rules.begin(), rules.end());
  (*copy)->setAttr(mesh::rulesAttrName, Builder(module).getStrArrayAttr(texts));
  if (failed(lower(*copy)))
    return failure();
  auto function = copy->lookupSymbol<func::FuncOp>(entry);
  assert(function && "passes keep public functions");
  Prediction result;
  cost::BlockWalk walk(function.front(), {});
  auto network = cost::Network::at(function);
  for (Operation &op : function.front())
    if (!cost::isTransfer(&op))
      result.computing += walk.end(&op) - walk.begin(&op);
  function.walk([&](Operation *op) {
    if (!cost::isTransfer(op))
      return;
    result.sentBytes += cost::runsOf(op) * network.costOf(op).bytes;
    ++result.transfers;
  });
  result.picoseconds = walk.end();
  result.mostBytes = walk.mostBytes();
  return result;
}
