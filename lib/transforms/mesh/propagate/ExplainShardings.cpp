//===- ExplainShardings.cpp - explains shardings and collectives ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/propagate/ExplainShardings.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nest/Nest.h"
#include "lib/cost/Network.h"
#include "lib/transforms/mesh/partition/ScanPipeline.h"
#include "lib/transforms/mesh/propagate/PropagationGraph.h"
#include "lib/transforms/mesh/roles/Roles.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

static std::string bytesText(double bytes) { return llvm::formatv("{0:f0} bytes", bytes).str(); }

static std::string textOf(const Sharding &sharding) {
  std::string text;
  for (const auto &[name, axes] : sharding)
    text += (text.empty() ? "" : ", ") + name + ": " + mesh::str(axes);
  return "{" + text + "}";
}

/// Explains where the axes of each name come from. `rules`: the plan's rules, for an argument.
static std::string reasons(const PropagationGraph &links, ArrayRef<unsigned> nodes,
                           ArrayAttr rules) {
  std::string text;
  auto add = [&](const PropagationGraph::Node &node, const std::string &what) {
    text += (text.empty() ? "'" : "; '") + node.name + "' " + what;
  };
  auto stated = [&](const PropagationGraph::Node &node) -> std::string {
    if (!node.reason.empty()) // moved by MoveAxes
      return "";
    bool isRule = rules && node.priority > 0 && node.priority <= int64_t(rules.size());
    StringRef rule = isRule ? cast<StringAttr>(rules[node.priority - 1]).getValue() : "";
    return isRule ? " by the rule '" + rule.split(" #").first.str() + "'" : " as stated";
  };
  for (unsigned each : nodes) {
    const PropagationGraph::Node &node = links.nodes[each];
    unsigned origin = each;
    while (links.nodes[origin].from)
      origin = *links.nodes[origin].from;
    if (!node.axes.empty())
      add(node, "has " + mesh::str(node.axes) +
                    (origin != each ? " as " + links.describe(origin) : stated(node)) +
                    node.reason);
    else if (node.fixed && rules)
      add(node, "is whole" + stated(node));
    for (const PropagationGraph::Declined &declined : node.declined)
      add(node, "could have " + mesh::str(declined.axes) + " (it keeps " +
                    bytesText(declined.gain) + " in place, '" + links.nodes[declined.winner].name +
                    "' " + bytesText(declined.winnersGain) +
                    (declined.gain > declined.winnersGain ? " of slower links)" : ")"));
  }
  return text;
}

void mesh::describeShardings(func::FuncOp function, const PropagationGraph &links, Tell tell) {
  Builder b(function.getContext());
  SmallVector<Attribute> rows;
  auto rules = function->getParentOp()->getAttrOfType<ArrayAttr>(rulesAttrName);
  auto describe = [&](Location loc, StringRef name, Value value, const Twine &what,
                      const Sharding &split, ShardingAttr sharding, const std::string &reason) {
    if (tell.explain && !split.empty())
      emitRemark(loc) << what << textOf(split) << ": " << reason;
    if (tell.record)
      rows.push_back(b.getArrayAttr(
          {LocationAttr(loc), b.getStringAttr(name), TypeAttr::get(value.getType()), sharding,
           b.getStringAttr(reason.empty() ? "no axis reaches its names" : reason)}));
  };
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(i, nd::nameAttrName);
    describe(argument.getLoc(), name ? name.str() : "argument" + std::to_string(i), argument,
             "argument " + Twine(i) + " ", links.sharding(argument),
             function.getArgAttrOfType<ShardingAttr>(i, shardingAttrName),
             reasons(links, links.nodesOf(argument), rules));
  }
  function.walk([&](Operation *op) {
    std::string name = labelOf(op);
    bool isFirst = true;
    for (Value value : op->getResults()) // one remark for all results
      if (isa<nd::NdTensorType>(value.getType()))
        describe(op->getLoc(), name, value, "",
                 std::exchange(isFirst, false) ? links.sharding(op) : Sharding(),
                 ShardingAttr::get(b.getContext(), links.sharding(value)),
                 reasons(links,
                         links.nodesOf(op).empty() ? links.nodesOf(value) : links.nodesOf(op),
                         rules));
  });
  if (tell.record)
    function->setAttr(nd::notesAttrName, b.getArrayAttr(rows));
}

void mesh::describeCollectives(func::FuncOp function, MeshAttr mesh, Tell tell) {
  Builder b(function.getContext());
  SmallVector<Attribute> rows;
  auto network = cost::Network::at(function);
  double all = 0;
  function.walk([&](Operation *op) {
    if (!cost::isTransfer(op) || isa<ReceiveOp>(op))
      return;
    double sent = network.costOf(op).bytes, padding = 0;
    if (auto collective = dyn_cast<CollectiveInterface>(op)) {
      auto transfer = cast<nest::TransferInterface>(op);
      double blocks = transfer.getSentBlocks() /
                      std::pow(collective.getParts(), transfer.getOutermostNames().size());
      padding = sent;
      for (auto [from, to] : llvm::zip_equal(op->getOperands(), op->getResults()))
        padding -= blocks * sharedBytes(from, to, /*isWhole=*/true);
    }
    sent *= cost::runsOf(op);
    padding *= cost::runsOf(op);
    all += sent;
    std::string axes = str(cost::axesOf(op));
    int64_t whole = std::llround(sent),
            beyond = std::clamp<int64_t>(std::llround(padding), 0, whole);
    auto loop = dyn_cast<nest::ScanOp>(op->getParentOp());
    nd::SizeAttr turns = loop ? loop.getAlong().lookup(turnName) : nd::SizeAttr();
    if (tell.explain && !isa<SendOp>(op)) // explainMessages reports these
      op->emitRemark() << op->getName().getStringRef() << " over " << axes << ": each device sends "
                       << bytesText(sent)
                       << (beyond ? ", " + std::to_string(beyond) + " of them padding" : "")
                       << (turns ? ", in " + std::to_string(turns.typical()) + " turns" : "");
    rows.push_back(b.getArrayAttr(
        {LocationAttr(op->getLoc()), b.getStringAttr(op->getName().stripDialect()),
         b.getStringAttr(axes), b.getI64IntegerAttr(whole), b.getI64IntegerAttr(beyond)}));
  });
  if (tell.explain)
    function.emitRemark() << rows.size() << " collectives, in which each device of "
                          << mesh.devices() << " sends " << bytesText(all);
  if (tell.record)
    function->setAttr(collectivesAttrName, b.getArrayAttr(rows));
}

void mesh::explainMessages(func::FuncOp role) {
  for (auto send : role.front().getOps<SendOp>()) {
    Role self = *Role::of(role), other = self;
    other.number = int64_t(send.getCoordinate());
    send.emitRemark() << self.name() << " sends " << bytesText(tensorBytes(send.getInput()))
                      << " to " << other.name();
  }
}
