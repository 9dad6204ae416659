//===- Generate.h - generation of token sequences ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generating model has two compiled functions, which share a state: one takes the prompts, the
// other one token for each sample. Both return the logits of the next token.
//
//     struct State { Net net; std::vector<nn::KeyValueCache> caches; HEDDLE_FIELDS(net, caches) };
//     auto prefill = jit([](State &s, Tensor tokens, Tensor lengths) {...}); // tokens: batch, time
//     auto step = jit([](State &s, Tensor token) {...});                     // token: batch
//
//     auto texts = nn::generate(prefill(state, prompts, lengths), [&](Tensor token) {
//       nn::requireRoom(state);
//       return step(state, token);
//     }, {word}, {.most = 100, .sampling = {.temperature = 0.8, .topP = 0.9}, .seed = 1});
//
// Prompts of different lengths are padded at their ends; `nn::lastOf(x, time, lengths)` returns the
// features of each prompt's last token.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_GENERATE_H
#define HEDDLE_NN_GENERATE_H

#include "heddle/Jit.h"
#include "heddle/nn/Leaves.h"

namespace heddle::nn {

/// How to choose a token. The defaults draw from softmax over all logits.
struct Sampling {
  double temperature = 1;           ///< divides the logits; 0: choose the largest
  std::optional<int64_t> topK = {}; ///< draw from the k most probable tokens only
  std::optional<double> topP = {};  ///< draw from the fewest tokens with this total probability
                                    ///< (Holtzman et al., ICLR'20)
};
/// A token (i64) for each coordinate of the other names of the logits; -1 where a logit is NaN, and
/// where none is above -inf. Equal keys give equal tokens. Throws Error for a negative temperature,
/// topK below 1, or topP outside (0, 1].
Tensor sample(const Tensor &logits, const Name &word, const Tensor &key,
              const Sampling &sampling = {}, Here here = Here::current());

/// The slice of x at the last of `lengths` positions of each sample; zeros for the length 0. A
/// length below 0 or above the size gives NaN; JitOptions::check reports it.
Tensor lastOf(const Tensor &x, const Name &time, const Tensor &lengths,
              Here here = Here::current());

struct GenerateOptions {
  int64_t most = 100;              ///< the largest number of tokens of a sample
  std::optional<int64_t> end = {}; ///< the token after which a sample is complete
  Sampling sampling = {};
  uint64_t seed = 0;
  /// Called for each step with the chosen tokens, one for each sample (-1 for a sample that was
  /// complete before). Returns false to stop.
  std::function<bool(const std::vector<int64_t> &tokens)> onTokens = {};
};

/// Returns the next logits. `tokens` have the names of the logits without `word`.
using GenerateStep = std::function<Tensor(const Tensor &tokens)>;

/// The tokens of each sample. Samples are the coordinates of the logits' other names, row-major
/// over these names in sorted order. A complete sample ends with `end`. `step` is called once less
/// than there are tokens. Throws Error for an incomplete sample with a logit that is NaN, or
/// without a logit above -inf.
std::vector<std::vector<int64_t>> generate(const Tensor &logits, const GenerateStep &step,
                                           const Name &word, const GenerateOptions &options = {},
                                           Here here = Here::current());

/// A sequence and its score: the sum of its tokens' log-probabilities, divided by the length
/// penalty.
struct Hypothesis {
  std::vector<int64_t> tokens;
  double score = 0;
};
struct BeamOptions {
  int64_t most = 100;
  std::optional<int64_t> end = {};
  double lengthPenalty = 0; ///< scores are divided by (number of tokens)^penalty
};

/// Returns the next logits. Each of `tokens` continues the hypothesis number `parents` of its
/// sample (see `reorder`). Both have the names of the logits without `word`.
using BeamStep = std::function<Tensor(const Tensor &tokens, const Tensor &parents)>;

/// Beam search: the best sequences of each sample, best first. Each step keeps, of all
/// continuations of a sample's hypotheses, those with the largest sums, one for each coordinate of
/// `beam`, a name of the logits. A hypothesis that ends leaves the beam; a sample is complete when
/// as many have ended as the beam has coordinates, and no open one can score better. Throws Error
/// for logits as `generate` does.
///
///     Name beam("beam");
///     Tensor logits = prefill(state, prompts).broadcast({{beam, 4}});
///     nn::widen(state.caches, {beam, 4});
///     auto step = jit([](State &s, Tensor tokens, Tensor parents) {
///       nn::reorder(s.caches, beam, parents);
///       ...
///     });
std::vector<std::vector<Hypothesis>> beamSearch(const Tensor &logits, const BeamStep &step,
                                                const Name &word, const Name &beam,
                                                const BeamOptions &options = {},
                                                Here here = Here::current());

/// Repeats all tensors of a state along the name of the beam.
template <typename T>
void widen(T &state, const Extent &beam) {
  forEachTensor(state,
                [&](const std::string &, Tensor &tensor) { tensor = tensor.broadcast({beam}); });
}
/// Gives each hypothesis a copy of its parent's state.
template <typename T>
void reorder(T &state, const Name &beam, const Tensor &parents) {
  Name child = fresh(beam.str());
  Tensor from = parents.rename({{beam, child}});
  forEachTensor(state, [&](const std::string &, Tensor &tensor) {
    tensor = tensor.gather(beam, from).rename({{child, beam}});
  });
}

} // namespace heddle::nn

#endif // HEDDLE_NN_GENERATE_H
