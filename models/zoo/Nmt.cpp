//===- Nmt.cpp - translation of sentences ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two LSTM layers encode a sentence and two decode its translation, with additive attention (Wu et
// al., Google's neural machine translation system, 2016; Bahdanau, Cho, Bengio, 2015; Jia et al.,
// 2018: NMT with 2+2 layers of 1024 units and 32,000 words). As in Google's system the state of the
// decoder's first layer is the query, and the context is an input of the second layer. The output
// reads the context too; in FlexFlow's size it does not, as in Google's system (138 M parameters).
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"
#include "models/zoo/data/Text.h"

#include <cmath>

namespace heddle::zoo::nmt {
const Name from("from"), time("time"), word("word"), feature("feature"), hidden("hidden"),
    match("match"), both("both");

struct Nmt {
  nn::Embedding source, target;
  nn::Recurrent reader, first, second;
  nn::Linear query, key, score, output;
  HEDDLE_FIELDS(source, target, reader, first, second, query, key, score, output)
  double dropout;
  bool outputReadsContext;

  static Nmt make(int64_t count, int64_t units, double dropout, bool outputReadsContext) {
    Extent words{word, count}, in{feature, units}, inner{hidden, units}, pair{match, units};
    auto seed = [](uint64_t number) { return heddle::key(number); };
    return {
        nn::Embedding::make(words, in, seed(1)),
        nn::Embedding::make(words, in, seed(2)),
        nn::Recurrent::make(in, inner, seed(3), {.layers = 2, .dropout = dropout}),
        nn::Recurrent::make(in, inner, seed(4)),
        nn::Recurrent::make({both, 2 * units}, inner, seed(5)),
        nn::Linear::make({inner}, pair, seed(6)),
        nn::Linear::make({inner}, pair, seed(7), /*bias=*/false),
        nn::Linear::make({pair}, std::vector<Extent>(), seed(8), /*bias=*/false),
        nn::Linear::make({outputReadsContext ? Extent{both, 2 * units} : inner}, words, seed(9)),
        dropout,
        outputReadsContext};
  }
  /// Additive attention: for each step of `y` the mean of `read`, weighted by softmax of
  /// score(tanh(query(y) + key(read))).
  Tensor attend(const Tensor &y, const Tensor &read, const Tensor &lengths) const {
    Tensor scores = score(tanh(query(y, hidden) + key(read, hidden)), match);
    Tensor place = iota({from, read.size(from)}, ElementType::I32);
    Tensor isThere = place.broadcast(lengths.extents()) < maximum(lengths, 1.0);
    Tensor weights = nn::softmax(select(isThere, scores, -INFINITY), from);
    return sum(weights * read, from);
  }
  /// The logits of the next word after each of `token`.
  Tensor operator()(const Tensor &text, const Tensor &lengths, const Tensor &token,
                    nn::Mode &mode) const {
    auto drop = [&](const Tensor &x, const Names &by) { return nn::dropout(x, dropout, by, mode); };
    Tensor x = drop(source(text, word), over(from, feature));
    auto [read, last] = reader(x, from, feature, hidden, mode, {.lengths = lengths});
    Tensor y = drop(target(token, word), over(time, feature));
    y = first(y, time, feature, hidden, mode, {.initial = {last[0]}}).all;
    y = mode.seen("first", y);
    Tensor context = mode.seen("attention", attend(y, read, lengths)).rename({{hidden, both}});
    auto join = [&](const Tensor &x) {
      return drop(concat({x.rename({{hidden, both}}), context}, both), over(time, both));
    };
    y = second(join(y), time, both, hidden, mode, {.initial = {last[1]}}).all;
    y = mode.seen("second", y);
    return mode.seen("output", outputReadsContext ? output(join(y), both)
                                                  : output(drop(y, over(time, hidden)), hidden));
  }
};

static Registered nmt("nmt", "Wu et al., 2016", [](Size size) {
  int64_t words = pick(size, 7, 2000, 32000), longest = pick(size, 12, 24, 40);
  Nmt net =
      Nmt::make(words, pick(size, 5, 128, 1024), pick(size, 0.0, 0.2, 0.2), size != Size::FlexFlow);
  return Setting<Nmt>{net, translate<Nmt>, verses(words, longest),
                      trainedFor(6, 32, 3e-3, longest)};
});
} // namespace heddle::zoo::nmt
