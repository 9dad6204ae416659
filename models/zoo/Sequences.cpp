//===- Sequences.cpp - what models of sequences share ---------------------===//
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
  const Tensor &next = fields.at("next");
  Tensor isRight = nn::isRight(logits, next, word), counts = notEqual(next, 0.0);
  Tensor weight = counts.cast(ElementType::F32), exact = min(select(counts, isRight, 1.0), time);
  Names all = nn::namesOf(next);
  return {nn::crossEntropyMean(logits, next, word, all, {.ignored = 0}),
          {{"accuracy", sum(isRight * weight, all) / sum(weight, all)},
           {"exact", nn::sampleMean(exact, fields)}}};
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
