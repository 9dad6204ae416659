//===- Propagate.cpp - chooses the sharding of every value ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/propagate/Propagate.h"

#include "dialects/nd/FunctionAttrs.h"
#include "lib/transforms/mesh/propagate/MoveAxes.h"
#include "lib/transforms/mesh/propagate/PropagationGraph.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

namespace {
/// Axes that a node could get from a neighbour.
struct Proposal {
  unsigned node;
  AxisList axes;
  double gain;        ///< bytes of communication that it saves
  unsigned from;      ///< the neighbour
  double seconds = 0; ///< that those take on the links of the axes
};

class Propagation {
public:
  Propagation(PropagationGraph &links, const cost::Network &network)
      : links(links), network(network), mesh(network.mesh) {}

  void run() {
    std::set<int64_t> priorities;
    for (const PropagationGraph::Node &node : links.nodes)
      priorities.insert(node.priority);
    for (int64_t priority : priorities) {
      for (PropagationGraph::Node &node : links.nodes)
        if (node.priority == priority && !node.stated.empty() && isFree(node, node.stated))
          node.axes = node.stated;
      while (spread())
        ;
    }
  }

private:
  PropagationGraph &links;
  const cost::Network &network;
  MeshAttr mesh;

  /// True if no other name of the site, of recurrences around it or of sites within it has one of
  /// the axes, or is stated to get it later.
  bool isFree(const PropagationGraph::Node &node, ArrayRef<Axis> axes) const {
    const PropagationGraph::Site &site = links.sites[node.site];
    return llvm::none_of(llvm::concat<const unsigned>(site.nodes, site.apart), [&](unsigned other) {
      return &links.nodes[other] != &node && (overlap(mesh, links.nodes[other].axes, axes) ||
                                              overlap(mesh, links.nodes[other].stated, axes));
    });
  }

  /// One round; true if a node got axes.
  bool spread() {
    std::vector<Proposal> chosen;
    for (const PropagationGraph::Site &site : links.sites)
      choose(site, chosen);
    // Recurrences first: sites within them can't have the same axes.
    for (bool isScan : {true, false})
      for (const Proposal &proposal : chosen)
        if (PropagationGraph::Node &node = links.nodes[proposal.node];
            links.sites[node.site].isScan == isScan && isFree(node, proposal.axes)) {
          node.axes = proposal.axes;
          node.from = proposal.from;
        }
    return !chosen.empty();
  }

  void choose(const PropagationGraph::Site &site, std::vector<Proposal> &chosen) {
    std::vector<Proposal> proposals;
    for (unsigned each : site.nodes)
      propose(each, proposals);
    for (Proposal &each : proposals) {
      cost::Transfer saved{1, std::abs(each.gain)};
      each.seconds =
          std::copysign(cost::costOf(saved, network.groupOf(each.axes)).seconds, each.gain);
    }
    llvm::stable_sort(proposals, [&](const Proposal &a, const Proposal &b) {
      if (a.seconds != b.seconds)
        return a.seconds > b.seconds;
      if (a.node != b.node) // nodes of a site are sorted by name
        return a.node < b.node;
      return rank(a.axes) < rank(b.axes);
    });
    size_t before = chosen.size();
    for (Proposal &proposal : proposals) {
      auto other = std::find_if(chosen.begin() + before, chosen.end(), [&](const Proposal &each) {
        return each.node == proposal.node || overlap(mesh, each.axes, proposal.axes);
      });
      if (other != chosen.end())
        links.nodes[proposal.node].declined.push_back(
            {proposal.axes, proposal.gain, other->gain, other->node});
      else
        chosen.push_back(std::move(proposal));
    }
  }

  /// An axis list as numbers that do not depend on the spelling of axes.
  SmallVector<int64_t> rank(ArrayRef<Axis> axes) const {
    SmallVector<int64_t> numbers;
    for (const Axis &axis : axes) {
      const auto &known = mesh.getSpec().axes;
      numbers.push_back(std::ranges::find(known, axis.name, [](auto &each) { return each.first; }) -
                        known.begin());
      numbers.push_back(axis.before);
      numbers.push_back(axis.count);
    }
    return numbers;
  }

  /// Proposes the neighbours' axis lists of which the node's own is a proper prefix.
  void propose(unsigned number, std::vector<Proposal> &proposals) {
    const PropagationGraph::Node &node = links.nodes[number];
    if (node.fixed)
      return;
    size_t first = proposals.size();
    for (auto [other, bytes] : node.links) {
      ArrayRef<Axis> axes = links.nodes[other].axes;
      if (axes.size() <= node.axes.size() ||
          axes.take_front(node.axes.size()) != ArrayRef<Axis>(node.axes) || !isFree(node, axes))
        continue;
      auto known = std::find_if(proposals.begin() + first, proposals.end(),
                                [&](const Proposal &each) { return ArrayRef(each.axes) == axes; });
      if (known == proposals.end()) {
        proposals.push_back({number, AxisList(axes), -node.price, other});
        known = std::prev(proposals.end());
      }
      known->gain += bytes;
    }
  }
};
} // namespace

/// Rejects shardings that partition does not support.
static LogicalResult checkSupported(func::FuncOp function) {
  auto check = [](Attribute stated, function_ref<InFlightDiagnostic()> emitError,
                  bool isArgument = false) -> LogicalResult {
    auto sharding = dyn_cast_or_null<ShardingAttr>(stated);
    if (!sharding)
      return success();
    if (!sharding.getPartial().empty())
      return emitError() << "states a partial value over " << sharding.getPartial().str()
                         << "; expected whole values, whose parts mesh-partition combines";
    if (!sharding.getPlace().empty() && !isArgument)
      return emitError() << "states a place along '" << sharding.getPlace()[0].axis.getValue()
                         << "'; expected places of arguments only";
    if (sharding.getMemory() && !isArgument)
      return emitError() << "states the memory '" << sharding.getMemory().getValue()
                         << "'; expected it for arguments only; their new values inherit it";
    return success();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(check(
            function.getArgAttr(i, shardingAttrName),
            [&] { return emitError(function.getArgument(i).getLoc()) << "argument " << i << " "; },
            /*isArgument=*/true)))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(check(function.getResultAttr(i, shardingAttrName),
                     [&] { return function.emitError() << "result " << i << " "; })))
      return failure();
  WalkResult done = function.walk([&](Operation *op) {
    auto name = isa<ConstrainOp>(op) ? "sharding" : shardingAttrName.data();
    return WalkResult(check(op->getAttr(name), [&] { return op->emitOpError(); }));
  });
  return failure(done.wasInterrupted());
}

static void write(func::FuncOp function, const PropagationGraph &links) {
  MLIRContext *context = function.getContext();
  auto attribute = [&](const Sharding &sharding) { return ShardingAttr::get(context, sharding); };
  function.walk([&](Operation *op) {
    if (auto constrain = dyn_cast<ConstrainOp>(op))
      constrain.setShardingAttr(attribute(links.sharding(constrain.getResult())));
    else if (Sharding sharding = links.sharding(op); !sharding.empty())
      op->setAttr(shardingAttrName, attribute(sharding));
    else
      op->removeAttr(shardingAttrName);
    if (auto scan = dyn_cast<nest::ScanOp>(op)) {
      SmallVector<Attribute> carried;
      for (BlockArgument argument : scan.getBody().getArguments())
        carried.push_back(attribute(links.sharding(argument)));
      op->setAttr(carriedAttrName, ArrayAttr::get(context, carried));
    }
  });
  nd::setArgAttrs(function, shardingAttrName, [&](unsigned i) {
    auto stated = function.getArgAttrOfType<ShardingAttr>(i, shardingAttrName);
    ShardingAttr found = attribute(links.sharding(function.getArgument(i)));
    return stated ? found.at(stated.getPlace(), stated.getMemory()) : found;
  });
  nd::setResultAttrs(function, shardingAttrName, [&](unsigned i) -> Attribute {
    auto state = stateOf(function, i);
    if (function.getResultAttr(i, shardingAttrName) || !state)
      return {};
    return attribute(links.sharding(function.getArgument(*state)));
  });
}

LogicalResult mesh::propagate(func::FuncOp function, MeshAttr mesh, Tell tell) {
  if (failed(checkSupported(function)))
    return failure();
  PropagationGraph links(function);
  cost::Network network{mesh, cost::Machine::at(function)};
  Propagation(links, network).run();
  moveAxes(links, network);
  write(function, links);
  if (tell.explain || tell.record)
    describeShardings(function, links, tell);
  return success();
}
