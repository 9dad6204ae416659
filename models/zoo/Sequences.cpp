//===- Sequences.cpp - shared code of sequence models ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"

using namespace heddle;

nn::Outcome zoo::classified(const Tensor &logits, const Tensor &label, const Name &classes,
                            const nn::Fields &fields) {
  return {nn::sampleMean(nn::crossEntropy(logits, label, classes), fields),
          {{"accuracy", nn::sampleMean(nn::isRight(logits, label, classes), fields)}}};
}

nn::Outcome zoo::translated(const Tensor &logits, const Name &time, const Name &word,
                            const nn::Fields &fields) {
  const Tensor &text = fields.at("next");
  // Words of texts that only pad the batch don't count.
  Tensor next = select((fields.at("weight") > 0.0).broadcast({{time, text.size(time)}}), text, 0.0);
  Tensor isRight = nn::isRight(logits, next, word), counts = notEqual(next, 0.0);
  Tensor exact = min(select(counts, isRight, 1.0), time);
  return nn::outcomeOf(
      nn::countedCrossEntropy(logits, next, word, {.ignored = 0}),
      {{"accuracy", nn::countedMean(isRight, counts)}, {"exact", nn::sampleMean(exact, fields)}});
}

nn::Training zoo::trainedFor(int64_t epochs, int64_t batch, double rate, int64_t longest,
                             const nn::Goal &goal) {
  return {.epochs = epochs,
          .batch = batch,
          .optimizer = nn::optimizer<nn::AdamW>(nn::AdamW::Options{.decay = 0.01}),
          .rate = rate,
          .schedule = nn::triangle,
          .clip = 1,
          .goal = goal,
          .multipleOf = longest};
}
