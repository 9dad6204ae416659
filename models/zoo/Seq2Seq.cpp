//===- Seq2Seq.cpp - an LSTM encoder and decoder --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two LSTM layers encode a text; two others start with their state and decode the translation. Each
// step of the decoder attends to all steps of the encoder by dot products (Luong, Pham, Manning,
// 2015: global attention, dot). At full size it has 58,113,792 parameters: 32,000 words of both
// languages with 512 features (32,768,000), four layers of 512 units (8,404,992), the map of
// context and state to features (524,800), and the output (16,416,000).
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"
#include "models/zoo/data/Text.h"

namespace heddle::zoo::seq2seq {
const Name from("from"), time("time"), word("word"), feature("feature"), hidden("hidden");

struct Seq2Seq {
  nn::Embedding source, target;
  nn::Recurrent reader, writer;
  nn::Linear context, state, output;
  HEDDLE_FIELDS(source, target, reader, writer, context, state, output)
  double dropout;

  static Seq2Seq make(int64_t count, int64_t units, double dropout) {
    Extent words{word, count}, in{feature, units}, inner{hidden, units};
    nn::RecurrentOptions layers{.layers = 2, .dropout = dropout};
    return {nn::Embedding::make(words, in, key(1)),
            nn::Embedding::make(words, in, key(2)),
            nn::Recurrent::make(in, inner, key(3), layers),
            nn::Recurrent::make(in, inner, key(4), layers),
            nn::Linear::make({inner}, in, key(5), /*bias=*/false),
            nn::Linear::make({inner}, in, key(6)),
            nn::Linear::make({in}, words, key(7)),
            dropout};
  }
  /// The logits of the next word after each of `token`.
  Tensor operator()(const Tensor &text, const Tensor &lengths, const Tensor &token,
                    nn::Mode &mode) const {
    auto drop = [&](const Tensor &x, const Names &by) { return nn::dropout(x, dropout, by, mode); };
    Tensor x = drop(source(text, word), over(from, feature));
    auto [read, last] = reader(x, from, feature, hidden, mode, {.lengths = lengths});
    Tensor y = drop(target(token, word), over(time, feature));
    y = writer(y, time, feature, hidden, mode, {.initial = last}).all;
    y = mode.seen("writer", y);
    Tensor seen = nn::attention(y, read, read, from, hidden, {.lengths = lengths, .scale = 1.0});
    Tensor all = mode.seen("attention", tanh(context(seen, hidden) + state(y, hidden)));
    return mode.seen("output", output(drop(all, over(time, feature)), feature));
  }
};

static Registered seq2Seq("seq2seq", "Luong et al., 2015", [](Size size) {
  int64_t words = pick(size, 7, 48, 32000), longest = pick(size, 5, 16, 50);
  Seq2Seq net = Seq2Seq::make(words, pick(size, 5, 128, 512), pick(size, 0.0, 0.0, 0.2));
  return Setting<Seq2Seq>{net, translate<Seq2Seq>, numbers(words, longest, 40000),
                          trainedFor(3, 64, 3e-3, longest, {"exact", /*larger=*/true, 0.99})};
});
} // namespace heddle::zoo::seq2seq
