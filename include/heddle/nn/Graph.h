//===- Graph.h - layers of graph networks -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph is a list of neighbours for each node, padded to the largest number of neighbours: the
// numbers of the neighbouring nodes, along a name for the slots, and how many slots are used.
//
//     nn::Neighbours near{neighbour, degree, slot};       // i32 {node, slot}, i32 {node}
//     auto layer = nn::GraphAttention::make({{word, 1433}}, {{head, 8}, {feature, 8}}, key(1));
//     Tensor y = layer(x, node, word, feature, near);     // x: node, word; y: node, head, feature
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_GRAPH_H
#define HEDDLE_NN_GRAPH_H

#include "heddle/nn/Linear.h"

namespace heddle::nn {

/// The neighbours of nodes.
struct Neighbours {
  Tensor number;    ///< neighbouring nodes, by node and `slot`; a self-loop lists the node itself
  Tensor count;     ///< the number of used slots, by node
  const Name &slot; ///< numbers a node's neighbours
};

/// A graph attention layer (Velickovic et al., ICLR'18). With y = project(x), the result of a node
/// is the mean of y[i] over its neighbours i, weighted by softmax of leakyRelu(own * y[node] +
/// other * y[i]) with the slope 0.2 below 0, plus the bias. A node without neighbours gets the bias
/// alone. A count below 0 or above the number of slots gives NaN; JitOptions::check reports it.
struct GraphAttention {
  Linear project;
  Tensor own, other, bias;
  HEDDLE_FIELDS(project, own, other, bias)
  /// `outs`: the extents of the result; the last one is the output feature, those before it count
  /// independent outputs, such as heads.
  static GraphAttention make(const std::vector<Extent> &in, const std::vector<Extent> &outs,
                             const Tensor &key, Here here = Here::current());
  /// x has `node` and `in`; `out` is the name of the output feature.
  Tensor operator()(const Tensor &x, const Name &node, const Names &in, const Name &out,
                    const Neighbours &near, Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_GRAPH_H
