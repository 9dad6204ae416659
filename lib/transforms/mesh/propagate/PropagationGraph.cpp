//===- PropagationGraph.cpp - links names that have the same sharding -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/propagate/PropagationGraph.h"

#include "dialects/nest/NestBuild.h"
#include "lib/transforms/mesh/partition/Reshard.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

unsigned PropagationGraph::addSite(ArrayRef<nd::DimsAttr> dims, std::string what) {
  Site site;
  site.what = std::move(what);
  for (nd::DimsAttr some : dims)
    for (const nd::Dim &dim : some) {
      site.nodes.push_back(unsigned(nodes.size()));
      nodes.push_back({unsigned(sites.size()), dim.name.str()});
    }
  site.apart.assign(recurrences.begin(), recurrences.end());
  for (unsigned each : recurrences)
    llvm::append_range(sites[nodes[each].site].apart, site.nodes);
  sites.push_back(std::move(site));
  return unsigned(sites.size()) - 1;
}

void PropagationGraph::addValue(Value value, std::string what) {
  if (isa<nd::NdTensorType>(value.getType()))
    siteOf[value.getAsOpaquePointer()] = addSite(tensorType(value).getDims(), std::move(what));
}

std::string PropagationGraph::describe(unsigned node) const {
  const std::string &what = sites[nodes[node].site].what;
  return "'" + nodes[node].name + "' of " + (what.empty() ? "a value" : what);
}

std::optional<unsigned> PropagationGraph::find(ArrayRef<unsigned> some, StringRef name) const {
  for (unsigned each : some)
    if (nodes[each].name == name)
      return each;
  return std::nullopt;
}

Sharding PropagationGraph::sharding(Operation *op) const {
  Sharding sharding;
  for (unsigned each : nodesOf(op))
    if (!nodes[each].axes.empty())
      sharding[nodes[each].name] = nodes[each].axes;
  return sharding;
}

Sharding PropagationGraph::sharding(Value value) const {
  Sharding sharding;
  for (unsigned each : nodesOf(value)) // including reduced names of a nest
    if (!nodes[each].axes.empty() && tensorType(value).has(nodes[each].name))
      sharding[nodes[each].name] = nodes[each].axes;
  return sharding;
}

void PropagationGraph::link(std::optional<unsigned> value, std::optional<unsigned> reader) {
  if (!value || value == reader)
    return;
  Read &read = reads.back();
  read.names.emplace_back(*value, reader);
  if (!reader)
    return;
  nodes[*value].links.emplace_back(*reader, read.bytes);
  nodes[*reader].links.emplace_back(*value, read.bytes);
}

void PropagationGraph::linkValues(Value a, Value b, Operation *along) {
  if (!isa<nd::NdTensorType>(a.getType()))
    return;
  reads.push_back({tensorBytes(a), {}});
  for (const nd::Dim &dim : tensorType(a).getDims())
    if (tensorType(b).size(dim.name) == dim.size())
      link(node(a, dim.name), node(b, dim.name));
    else if (along && !tensorType(b).has(dim.name))
      link(node(a, dim.name), node(along, dim.name));
}

void PropagationGraph::state(ArrayRef<unsigned> some, ShardingAttr sharding) {
  for (unsigned number : some) {
    Node &each = nodes[number];
    const NamedAxes *entry = sharding ? sharding.lookup(each.name) : nullptr;
    each.fixed = sharding && (entry ? !entry->open : sharding.getClosed());
    if (!entry)
      continue;
    each.stated = entry->list();
    each.priority = entry->priority;
  }
}

void PropagationGraph::addNest(nest::LoopNestInterface op) {
  SmallVector<nd::DimsAttr, 2> spaces = op.getIterationNames();
  unsigned site = siteOf[op] = addSite(spaces);
  auto sizeOf = [&](StringRef name) {
    for (nd::DimsAttr dims : spaces)
      if (nd::SizeAttr size = dims.lookup(name))
        return size;
    return nd::SizeAttr();
  };
  auto linkAccess = [&](Value tensor, nest::MapAttr map) {
    reads.push_back({tensorBytes(tensor), {}});
    for (const nd::Dim &dim : tensorType(tensor).getDims()) {
      auto at = map.lookup(dim.name)->asName();
      link(node(tensor, dim.name),
           at && sizeOf(*at) == dim.size() ? node(op, *at) : std::optional<unsigned>());
    }
  };
  for (auto [tensor, map] : llvm::zip_equal(op.getMappedReads(), op.getMapsAttr()))
    linkAccess(tensor, cast<nest::MapAttr>(map));
  double written = tensorBytes(op->getResults());
  if (auto update = dyn_cast<nest::UpdateOp>(*op)) {
    addValue(update.getResult());
    linkValues(update.getDest(), update.getResult());
    linkAccess(update.getResult(), update.getDestMap());
    // Names that are not a coordinate of the destination: their points are combined.
    for (unsigned each : sites[site].nodes) {
      bool owns = llvm::any_of(update.getDestMap().getEntries(), [&](const nest::MapEntry &entry) {
        return entry.expr().asName() == nodes[each].name;
      });
      nodes[each].price = owns ? 0 : 2 * written;
    }
    return;
  }
  sites[site].isCompute = true;
  for (Value result : op->getResults())
    siteOf[result.getAsOpaquePointer()] = site;
  for (const nd::Dim &dim : spaces[1])
    nodes[*node(op, dim.name)].price = 2 * written;
}

void PropagationGraph::addScan(nest::ScanOp op) {
  Block &body = op.getBody().front();
  unsigned site = siteOf[op] = addSite(op.getAlong());
  sites[site].isScan = true;
  for (Value result : op.getResults())
    addValue(result);
  recurrences.push_back(sites[site].nodes[0]);
  for (Value init : op.getInits()) // sent from device to device
    nodes[recurrences.back()].price += 2 * tensorBytes(init);
  for (BlockArgument argument : body.getArguments())
    addValue(argument);
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), op->getOperands()))
    linkValues(value, argument, op);
  add(body);
  recurrences.pop_back();
  size_t carried = op.getInits().size();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    linkValues(value, op.getResult(i));
    if (i < carried) {
      linkValues(body.getArgument(i), value);
    } else {
      StringRef along = op.getAlong().begin()->name.getValue();
      reads.push_back({tensorBytes(op.getResult(i)), {}});
      link(node(op.getResult(i), along), node(op, along));
    }
  }
}

void PropagationGraph::add(Operation *op) {
  if (auto nest = dyn_cast<nest::LoopNestInterface>(op))
    return addNest(nest);
  if (auto scan = dyn_cast<nest::ScanOp>(op))
    return addScan(scan);
  if (auto sort = dyn_cast<nest::SortOp>(op)) {
    unsigned site = siteOf[op] = addSite(sort.getLines());
    for (Value operand : op->getOperands()) {
      reads.push_back({tensorBytes(operand), {}});
      for (const nd::Dim &dim : tensorType(operand).getDims())
        link(node(operand, dim.name), node(op, dim.name));
    }
    for (Value result : op->getResults())
      siteOf[result.getAsOpaquePointer()] = site;
    return;
  }
  if (isa<ConstrainOp>(op) || passesOn(op)) {
    addValue(op->getResult(0), "a constraint");
    linkValues(op->getOperand(0), op->getResult(0));
    if (auto constrain = dyn_cast<ConstrainOp>(op))
      state(nodesOf(constrain.getResult()), constrain.getSharding());
  }
  // Results of other ops are not sharded, and no axes spread to them.
}

void PropagationGraph::add(Block &block) {
  for (Operation &op : block.without_terminator()) {
    add(&op);
    state(nodesOf(&op), op.getAttrOfType<ShardingAttr>(shardingAttrName));
  }
}

PropagationGraph::PropagationGraph(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nd::nameAttrName);
    addValue(argument, name ? "the argument '" + name.str() + "'"
                            : "argument " + std::to_string(argument.getArgNumber()));
    state(nodesOf(argument),
          function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), shardingAttrName));
  }
  add(function.front());
  for (auto [i, value] : llvm::enumerate(function.front().getTerminator()->getOperands())) {
    if (auto state = stateOf(function, unsigned(i)))
      linkValues(value, function.getArgument(*state));
    // The stated sharding of a result spreads to the ops that compute it.
    auto stated = function.getResultAttrOfType<ShardingAttr>(unsigned(i), shardingAttrName);
    if (!stated)
      continue;
    unsigned site = addSite(tensorType(value).getDims(), "result " + std::to_string(i));
    reads.push_back({tensorBytes(value), {}});
    state(sites[site].nodes, stated);
    for (unsigned each : sites[site].nodes) {
      nodes[each].fixed = true;
      link(node(value, nodes[each].name), each);
    }
  }
}
