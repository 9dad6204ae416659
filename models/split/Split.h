//===- Split.h - small networks that are split by names ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three networks that are split along other dimensions than samples. Their code mentions no device:
//
//     heddle-launch -n 2 heddle-split sequence --mesh seq=2 --shard time:seq
//     heddle-launch -n 2 heddle-split experts --mesh data=2 --shard batch:data \
//       --shard 'experts/expert:data'
//     heddle-launch -n 2 heddle-split layers --mesh stage=2 --shard layer:stage
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_SPLIT_SPLIT_H
#define HEDDLE_MODELS_SPLIT_SPLIT_H

#include "heddle/heddle.h"
#include "heddle/nn/Network.h"

namespace heddle::split {

/// The number of tokens of a sample, and the size of the vocabulary.
inline constexpr int64_t length = 16, words = 12;

/// Attention over the sequence, to be split along the sequence.
nn::Network sequence();
/// A mixture-of-experts layer that sends each token to one expert (Fedus et al., "Switch
/// Transformers", JMLR 2022, section 2).
nn::Network experts();
/// A stack of layers with residual connections, whose weights have the name `layer`.
nn::Network layers();

/// The cross-entropy of the next token and the measure "accuracy".
nn::Outcome nextToken(const Tensor &logits, const nn::Fields &fields);

} // namespace heddle::split

#endif // HEDDLE_MODELS_SPLIT_SPLIT_H
