//===- Sequences.h - shared code of sequence models -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     return {predicted(logits, fields.at("next"), word, fields), ...};
//     return Setting<Net>{net, lossOf, fortuneWords(4000, 35), trainedFor(4, 32, 3e-3)};
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_ZOO_SEQUENCES_H
#define HEDDLE_MODELS_ZOO_SEQUENCES_H

#include "heddle/nn/Initializers.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "models/zoo/Zoo.h"

namespace heddle::zoo {

/// The cross-entropy of logits and the measure "accuracy", means over all labels of all samples.
nn::Outcome classified(const Tensor &logits, const Tensor &label, const Name &classes,
                       const nn::Fields &fields);
/// The same for translations {batch, `time`}, padded by the word 0, which does not count; and the
/// measure "exact": the fraction of samples whose words are all predicted correctly from the
/// correct words before, so that greedy decoding yields the whole text.
nn::Outcome translated(const Tensor &logits, const Name &time, const Name &word,
                       const nn::Fields &fields);

/// The loss of a network that translates "source", given its lengths and the earlier words of the
/// translation.
template <typename Net>
nn::Outcome translate(const Net &net, const nn::Fields &fields, nn::Mode &mode) {
  return translated(net(fields.at("source"), fields.at("source_length"), fields.at("token"), mode),
                    Name("time"), Name("word"), fields);
}

/// Training by AdamW with gradients clipped to norm 1 and a triangular schedule. `longest`: the
/// length to which sequences are padded.
nn::Training trainedFor(int64_t epochs, int64_t batch, double rate, int64_t longest = 1,
                        const nn::Goal &goal = {});

} // namespace heddle::zoo

#endif // HEDDLE_MODELS_ZOO_SEQUENCES_H
