//===- PropagationGraph.h - links of names that share axes ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph along which axes spread (Propagate.h). A site is a value or a nest; its nodes are the
// names of the value, or the iteration names of the nest. Results of a `nest.compute` share its
// site.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_PROPAGATIONGRAPH_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_PROPAGATIONGRAPH_H

#include "dialects/mesh/MeshDialect.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/analysis/Operators.h"

namespace heddle::mesh {

struct PropagationGraph {
  /// Axes that a node could have had, but another node of its site got.
  struct Declined {
    AxisList axes;
    double gain, winnersGain; ///< saved bytes, for this node and for the other
    unsigned winner;          ///< the other node
  };
  struct Node {
    unsigned site;
    std::string name;
    AxisList axes;
    bool fixed = false;   ///< closed to further axes
    int64_t priority = 0; ///< of the stated axes
    AxisList stated;      ///< stated axes, which spread from their priority on
    double price = 0;     ///< bytes that a device sends if the name is split
    SmallVector<std::pair<unsigned, double>, 4> links; ///< other nodes, and bytes
    std::optional<unsigned> from; ///< the node that its axes come from; none if they are stated
    std::vector<Declined> declined;
    std::string reason; ///< why it has another name's axes; for messages
  };
  struct Site {
    std::string what; ///< for messages
    SmallVector<unsigned, 4> nodes;
    bool isCompute = false; ///< a nest.compute and its results
    bool isScan = false;
    /// Nodes of other sites that can't have the same axes: for a recurrence, all nodes within it;
    /// for a site within recurrences, their nodes.
    SmallVector<unsigned, 1> apart;
  };
  /// An operand of a nest, or the source of another value.
  struct Read {
    double bytes;
    /// The nodes of the operand, each with the linked node of the reader, if any.
    SmallVector<std::pair<unsigned, std::optional<unsigned>>, 4> names;
  };
  std::vector<Node> nodes;
  std::vector<Site> sites;
  std::vector<Read> reads;

  explicit PropagationGraph(func::FuncOp function);

  /// The node of a name; none for values without links.
  template <typename Place>
  std::optional<unsigned> node(Place place, StringRef name) const {
    return find(nodesOf(place), name);
  }
  ArrayRef<unsigned> nodesOf(Value value) const { return nodesAt(value.getAsOpaquePointer()); }
  ArrayRef<unsigned> nodesOf(Operation *op) const { return nodesAt(op); }
  /// Describes a node for messages: `'batch' of the argument 'x'`.
  std::string describe(unsigned node) const;
  /// The axes of all names of a value, or of the iteration names of a nest.
  Sharding sharding(Value value) const;
  Sharding sharding(Operation *op) const;

private:
  DenseMap<const void *, unsigned> siteOf; ///< by value or op
  SmallVector<unsigned> recurrences;       ///< nodes of the enclosing recurrences

  unsigned addSite(ArrayRef<nd::DimsAttr> dims, std::string what = "");
  void addValue(Value value, std::string what = "");
  /// Links a name of a value to a name of its reader, if that exists; for the last one of `reads`.
  void link(std::optional<unsigned> value, std::optional<unsigned> reader);
  /// Links all names that two values have in common. A name that only `a` has is linked to that of
  /// `along`, if any.
  void linkValues(Value a, Value b, Operation *along = nullptr);
  void state(ArrayRef<unsigned> some, ShardingAttr sharding);
  ArrayRef<unsigned> nodesAt(const void *place) const {
    auto site = siteOf.find(place);
    return site == siteOf.end() ? ArrayRef<unsigned>() : ArrayRef(sites[site->second].nodes);
  }
  /// Finds the node of a name.
  std::optional<unsigned> find(ArrayRef<unsigned> some, StringRef name) const;

  void add(Block &block);
  void add(Operation *op);
  void addNest(nest::LoopNestInterface op);
  void addScan(nest::ScanOp op);
};

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_PROPAGATIONGRAPH_H
