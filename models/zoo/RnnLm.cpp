//===- RnnLm.cpp - a recurrent language model -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layers of LSTM predict the next word (Zaremba, Sutskever, Vinyals, 2014; 2048 units, 10,000
// words and windows of 40 steps, as FlexFlow's RNNLM). "rnnlm-2" has windows of two steps, for
// which FlexFlow's authors searched all plans.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"
#include "models/zoo/data/Text.h"

namespace heddle::zoo::rnnlm {
const Name time("time"), word("word"), feature("feature"), hidden("hidden");

struct RnnLm {
  nn::Embedding words;
  nn::Recurrent lstm;
  nn::Linear output;
  HEDDLE_FIELDS(words, lstm, output)
  double dropout;
  Tensor operator()(const Tensor &token, nn::Mode &mode) const {
    Tensor x = nn::dropout(words(token, word), dropout, over(time, feature), mode);
    x = mode.seen("lstm", lstm(x, time, feature, hidden, mode).all);
    return output(nn::dropout(x, dropout, over(time, hidden), mode), hidden);
  }
};

static nn::Outcome lossOf(const RnnLm &net, const nn::Fields &fields, nn::Mode &mode) {
  Tensor logits = mode.seen("output", net(fields.at("token"), mode));
  return classified(logits, fields.at("next"), word, fields);
}

static Setting<RnnLm> setting(Size size, int64_t steps) {
  Extent words{word, pick(size, 11, 4000, 10000)}, in{feature, pick(size, 5, 192, 2048)};
  Extent units{hidden, in.size};
  double dropout = pick(size, 0.0, 0.3, 0.5);
  RnnLm net{nn::Embedding::make(words, in, key(1)),
            nn::Recurrent::make(in, units, key(2), {.layers = 2, .dropout = dropout}),
            nn::Linear::make({units}, words, key(3)), dropout};
  return {net, lossOf, fortuneWords(words.size, steps), trainedFor(4, 32, 3e-3)};
}
static Registered rnnLm("rnnlm", "Zaremba et al., 2014",
                        [](Size size) { return setting(size, pick(size, 7, 35, 40)); });
static Registered twoSteps("rnnlm-2", "Jia et al., FlexFlow, 2018",
                           [](Size size) { return setting(size, 2); });
} // namespace heddle::zoo::rnnlm
