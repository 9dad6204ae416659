//===- RnnTc.cpp - a recurrent classifier of texts ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four LSTM layers read a text; the last state predicts the class of the text (Jia et al., Beyond
// data and model parallelism, 2018: RNNTC; 1024 units). The classes are the files of the fortunes.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"
#include "models/zoo/data/Text.h"

namespace heddle::zoo::rnntc {
const Name time("time"), word("word"), feature("feature"), hidden("hidden"), kind("kind");

struct RnnTc {
  nn::Embedding words;
  nn::Recurrent lstm;
  nn::Linear output;
  HEDDLE_FIELDS(words, lstm, output)
  double dropout;
};

static nn::Outcome lossOf(const RnnTc &net, const nn::Fields &fields, nn::Mode &mode) {
  Tensor x = net.words(fields.at("text"), word);
  x = nn::dropout(x, net.dropout, over(time, feature), mode);
  nn::RecurrentRun run{.lengths = fields.at("text_length")};
  x = mode.seen("last", net.lstm(x, time, feature, hidden, mode, run).last.back().h);
  x = mode.seen("output", net.output(nn::dropout(x, net.dropout, hidden, mode), hidden));
  return classified(x, fields.at("label"), kind, fields);
}

static Registered rnnTc("rnntc", "Jia et al., FlexFlow, 2018", [](Size size) {
  Extent words{word, pick(size, 11, 4000, 10000)}, in{feature, pick(size, 5, 128, 1024)};
  Extent units{hidden, in.size}, kinds{kind, pick(size, 11, 40, 40)};
  double dropout = pick(size, 0.0, 0.3, 0.3);
  RnnTc net{nn::Embedding::make(words, in, key(1), /*padding=*/0),
            nn::Recurrent::make(in, units, key(2), {.layers = 4, .dropout = dropout}),
            nn::Linear::make({units}, kinds, key(3)), dropout};
  int64_t longest = pick(size, 7, 40, 40);
  return Setting<RnnTc>{net, lossOf, fortuneFiles(words.size, longest, int64_t(kinds.size)),
                        trainedFor(8, 64, 2e-3, longest, {"accuracy", /*larger=*/true})};
});
} // namespace heddle::zoo::rnntc
