//===- Gat.cpp - a graph attention network --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each node of a graph is a mean of its neighbours, weighted by softmax of a score of the pair
// (Velickovic et al., Graph attention networks, ICLR'18). The neighbours of a node are a list of
// node indices, the node itself first. Full size is the model for Cora: 1,433 words, eight heads of
// eight features, seven classes, 92,373 parameters.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"
#include "models/zoo/data/Made.h"

namespace heddle::zoo::gat {
const Name node("node"), slot("slot"), word("word"), head("head"), feature("feature"),
    classes("class");

struct Gat {
  nn::GraphAttention first, second;
  HEDDLE_FIELDS(first, second)
  double dropout;
};

static nn::Outcome lossOf(const Gat &net, const nn::Fields &fields, nn::Mode &mode) {
  Tensor x = nn::dropout(fields.at("words"), net.dropout, over(node, word), mode);
  nn::Neighbours near{fields.at("neighbour"), fields.at("degree"), slot};
  x = mode.seen("first", nn::elu(net.first(x, node, word, feature, near)));
  x = nn::dropout(x, net.dropout, over(node, head, feature), mode);
  Tensor logits = mode.seen("second", net.second(x, node, over(head, feature), classes, near));
  return classified(logits, fields.at("label"), classes, fields);
}

static Registered gat("gat", "Velickovic et al., 2018", [](Size size) {
  CitationOptions data = pick<CitationOptions>(size, {11, 7, 3, 5}, {}, {2708, 1433, 7, 169, 1});
  Extent heads{head, pick(size, 2, 8, 8)}, features{feature, pick(size, 3, 8, 8)};
  Gat net{nn::GraphAttention::make({{word, data.words}}, {heads, features}, key(1)),
          nn::GraphAttention::make({heads, features}, {{classes, data.classes}}, key(2)),
          pick(size, 0.0, 0.0, 0.6)};
  return Setting<Gat>{net, lossOf, citations(data), trainedFor(2, 8, 5e-3)};
});
} // namespace heddle::zoo::gat
