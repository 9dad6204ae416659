//===- Generate.h - sequences, token by token -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model that generates has two compiled functions, which share a state: one takes the prompts, the
// other a token for each sample. Both give the logits of the next token.
//
//     struct State { Net net; std::vector<nn::KeyValueCache> caches; HEDDLE_FIELDS(net, caches) };
//     auto prefill = jit([](State &s, Tensor tokens, Tensor lengths) {...});  // tokens: batch, time
//     auto step = jit([](State &s, Tensor token) {...});                      // token: batch
//
//     auto texts = nn::generate(prefill(state, prompts, lengths), [&](Tensor token) {
//       nn::requireRoom(state);
//       return step(state, token);
//     }, {word}, {.most = 100, .sampling = {.temperature = 0.8, .topP = 0.9}, .seed = 1});
//
// Prompts of different lengths are padded at their ends; `nn::lastOf(x, time, lengths)` gives the
// features that the logits come from.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_GENERATE_H
#define HEDDLE_NN_GENERATE_H

#include "heddle/Jit.h"
#include "heddle/nn/Leaves.h"

namespace heddle::nn {

/// How a token is chosen. The defaults draw from softmax over all logits.
struct Sampling {
  double temperature = 1;           ///< divides the logits; 0: the largest one is taken
  std::optional<int64_t> topK = {}; ///< only from the k most probable tokens
  std::optional<double> topP = {};  ///< only from the fewest that have this probability together
                                    ///< (Holtzman et al., ICLR'20)
};
/// A token (i64) for each coordinate of the other names of the logits; -1 where a logit is NaN, and
/// where none is above -inf. Equal keys give equal tokens.
/// Throws Error for a negative temperature, less than one token, or a probability outside (0, 1].
Tensor sample(const Tensor &logits, const Name &word, const Tensor &key,
              const Sampling &sampling = {}, Here here = Here::current());

/// The slice of x at the last of `lengths` positions of each sample; zeros for the length 0. A length
/// below 0 or above the size gives NaN; JitOptions::check tells it.
Tensor lastOf(const Tensor &x, const Name &time, const Tensor &lengths,
              Here here = Here::current());

struct GenerateOptions {
  int64_t most = 100;              ///< tokens
  std::optional<int64_t> end = {}; ///< the token after which a sample is complete
  Sampling sampling = {};
  uint64_t seed = 0;
  /// Called as soon as tokens are chosen, with one for each sample, -1 for those that were complete
  /// before; gives whether to go on.
  std::function<bool(const std::vector<int64_t> &tokens)> onTokens = {};
};

/// The logits that follow these tokens, which have the names of the logits but that of words.
using GenerateStep = std::function<Tensor(const Tensor &tokens)>;

/// Tokens for each sample: the coordinates of the logits' other names, the last of the sorted names
/// varying fastest. A sample that is complete ends with `end`. `step` is called once less than there
/// are tokens. Throws Error for a sample, not complete, with a logit that is NaN, and without one above
/// -inf.
std::vector<std::vector<int64_t>> generate(const Tensor &logits, const GenerateStep &step,
                                           const Name &word, const GenerateOptions &options = {},
                                           Here here = Here::current());

/// A sequence and the sum of its tokens' log-probabilities, divided as BeamOptions say.
struct Hypothesis {
  std::vector<int64_t> tokens;
  double score = 0;
};
struct BeamOptions {
  int64_t most = 100;
  std::optional<int64_t> end = {};
  double lengthPenalty = 0; ///< scores are divided by (number of tokens)^penalty
};

/// The logits after `tokens`, of which each continues the hypothesis `parents` of its sample. Both
/// have the names of the logits but that of words. See `reorder`.
using BeamStep = std::function<Tensor(const Tensor &tokens, const Tensor &parents)>;

/// The best sequences of each sample, best first: in each step, of all continuations of a sample's
/// hypotheses those with the largest sums are kept, one for each coordinate of `beam`, a name of the
/// logits. A hypothesis that ends leaves; a sample is complete when as many have left. Throws Error
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

/// Repeats all tensors of a state along the name of hypotheses.
template <typename T>
void widen(T &state, const Extent &beam) {
  forEachTensor(state,
                [&](const std::string &, Tensor &tensor) { tensor = tensor.broadcast({beam}); });
}
/// Lets each hypothesis go on with the state of its parent. This copies the state.
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
