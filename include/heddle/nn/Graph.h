//===- Graph.h - layers for graphs ------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph is a list of neighbours of each node: the numbers of other nodes along a name of its own,
// as many as the largest number of neighbours, and how many of them count.
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
  Tensor number;    ///< of a node, by the node and `slot`; a node that sees itself is listed
  Tensor count;     ///< of the slots that count, by the node
  const Name &slot; ///< counts a node's neighbours
};

/// Each node becomes the mean of its neighbours' linear maps y[i], weighted by softmax of
/// leakyRelu(own * y[node] + other * y[i]), where the slope below 0 is 0.2 (Velickovic et al., ICLR'18).
/// A node without neighbours gets the bias. A count below 0 or above the number of slots gives NaN;
/// JitOptions::check tells it.
struct GraphAttention {
  Linear project;
  Tensor own, other, bias;
  HEDDLE_FIELDS(project, own, other, bias)
  /// `outs`: what is put out, the last one, for each of the names before it, such as heads.
  static GraphAttention make(const std::vector<Extent> &in, const std::vector<Extent> &outs,
                             const Tensor &key, Here here = Here::current());
  /// x has `node` and `in`; `out` is the name of what is put out.
  Tensor operator()(const Tensor &x, const Name &node, const Names &in, const Name &out,
                    const Neighbours &near, Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_GRAPH_H
