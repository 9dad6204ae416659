//===- Generate.cpp - generation of token sequences -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Generate.h"

#include "heddle/nn/Activations.h"
#include "lib/nn/LayerUtils.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::nn;

/// Draws a token, at a temperature of at least 0.
static Tensor drawn(const Tensor &logits, const Name &word, const Tensor &key,
                    const Sampling &sampling) {
  if (sampling.temperature < std::numeric_limits<float>::min())
    return argmax(logits, word);
  // The argmax of logits plus Gumbel noise is a draw from their softmax.
  auto draw = [&](const Tensor &x) {
    std::vector<Extent> by; // the words last, whatever the spelling of the names
    for (const Extent &extent : x.extents())
      if (extent.name != word)
        by.push_back(extent);
    by.push_back({word, x.size(word)});
    return argmax(x - log(-log(randomUniform(key, by))), word);
  };
  Tensor wide = logits.cast(ElementType::F32); // less their maximum, so that nothing overflows
  Tensor scaled = (wide - max(wide, word)) / sampling.temperature;
  int64_t words = int64_t(logits.size(word)), most = sampling.topK.value_or(words);
  bool cuts = sampling.topP.value_or(1) < 1;
  if (most >= words && !cuts)
    return draw(scaled);
  Sorted sorted = topK(scaled, word, std::min(most, words));
  Tensor values = sorted.values;
  if (cuts) {
    Tensor likelier = scan(softmax(values, word), word, Combiner::Add, /*exclusive=*/true);
    values = select(likelier < *sampling.topP, values, -INFINITY);
  }
  return sorted.indices.gather(word, draw(values));
}

Tensor nn::sample(const Tensor &logits, const Name &word, const Tensor &key,
                  const Sampling &sampling, Here here) {
  CallScope scope(here);
  requireHas(logits, word, here);
  if (!(sampling.temperature >= 0))
    refuse("expected a temperature of at least 0, got " + std::to_string(sampling.temperature),
           here);
  if (sampling.topK && *sampling.topK < 1)
    refuse("expected to choose from at least one token (topK), got " +
               std::to_string(*sampling.topK),
           here);
  if (sampling.topP && !(*sampling.topP > 0 && *sampling.topP <= 1))
    refuse("expected a probability above 0 and up to 1 (topP), got " +
               std::to_string(*sampling.topP),
           here);
  // The maximum is NaN if any logit is.
  Tensor isPossible = max(logits, word) > -INFINITY;
  return select(isPossible, drawn(logits, word, key, sampling), -1.0);
}

Tensor nn::lastOf(const Tensor &x, const Name &time, const Tensor &lengths, Here here) {
  CallScope scope(here);
  Tensor isLength = areLengths(lengths, time, x.size(time), here);
  Tensor count = lengths.cast(ElementType::I64); // unsigned types have no -1
  Tensor last = x.gather(time, maximum(count - 1.0, 0.0));
  Tensor found = select(count > 0.0, last, 0.0);
  return isFloat(x.elementType()) ? select(isLength, found, NAN) : found;
}

namespace {
/// The names of the samples of logits, and their number.
struct Samples {
  std::vector<Extent> extents;
  size_t count = 1;

  Samples(const Tensor &logits, const Names &without, Here here) {
    requireHas(logits, without, here);
    for (const Extent &extent : logits.extents(here))
      if (std::find(without.begin(), without.end(), extent.name) == without.end()) {
        extents.push_back(extent);
        count *= size_t(int64_t(extent.size));
      }
  }
  /// The samples' names, followed by `then`.
  Names names(const Names &then = {}) const {
    Names all;
    for (const Extent &extent : extents)
      all.push_back(extent.name);
    for (const Name &name : then)
      all.push_back(name);
    return all;
  }
  /// Throws Error that names the sample (an index in the order of `names`) and the number of its
  /// tokens so far, because its logits allow no token.
  [[noreturn]] void refuseLogits(size_t sample, size_t tokens, const Tensor &logits,
                                 const Name &word, const Names &then, Here here) const;
};
} // namespace

void Samples::refuseLogits(size_t sample, size_t tokens, const Tensor &logits, const Name &word,
                           const Names &then, Here here) const {
  std::vector<Extent> all = extents;
  for (const Name &name : then)
    all.push_back({name, logits.size(name)});
  Names order = names(then);
  order.push_back(word);
  size_t words = size_t(int64_t(logits.size(word)));
  std::vector<float> values = logits.to<float>(order, here);
  auto own = values.begin() + ptrdiff_t(sample * words), end = own + ptrdiff_t(words);
  auto bad = std::find_if(own, end, [](float x) { return std::isnan(x); });
  std::string expected = ", one of them above -inf, got none", where;
  if (bad != end)
    expected = " that are numbers, got NaN at " + std::to_string(bad - own);
  for (size_t i = all.size(), rest = sample; i-- > 0; rest /= size_t(int64_t(all[i].size)))
    where = " '" + all[i].name.str() + "' " + std::to_string(rest % size_t(int64_t(all[i].size))) +
            (where.empty() ? "" : ",") + where;
  throw Error("token " + std::to_string(tokens + 1) + (where.empty() ? "" : " at") + where +
                  ": expected logits along '" + word.str() + "'" + expected,
              here);
}

/// Requires the logits of a step to have the names and sizes of those before.
static Tensor alike(const Tensor &next, const Tensor &before, Here here) {
  std::vector<Extent> extents = before.extents(here);
  if (next.names(here).size() != extents.size() ||
      !std::all_of(extents.begin(), extents.end(), [&](const Extent &extent) {
        return next.has(extent.name) && int64_t(next.size(extent.name)) == int64_t(extent.size);
      }))
    throw Error("expected logits of the next token with the names and sizes of those before, " +
                    before.type(here) + ", got " + next.type(here),
                here);
  return next;
}

static void requireSteps(int64_t most, Here here) {
  if (most < 1)
    throw Error("expected to generate at least one token, got " + std::to_string(most), here);
}

std::vector<std::vector<int64_t>> nn::generate(const Tensor &logits, const GenerateStep &step,
                                               const Name &word, const GenerateOptions &options,
                                               Here here) {
  requireSteps(options.most, here);
  Samples samples(logits, word, here);
  auto draw = jit(
      [&](Tensor logits, Tensor seed, Tensor number) {
        return sample(logits, word, fold(seed, number), options.sampling, here);
      },
      {.name = "sample"}, here);
  std::vector<std::vector<int64_t>> texts(samples.count);
  std::vector<bool> isComplete(samples.count);
  Tensor now = logits, seed = key(options.seed);
  for (int64_t i = 0; i < options.most; ++i) {
    Tensor chosen = draw(now, seed, i);
    std::vector<int64_t> tokens = chosen.to<int64_t>(samples.names(), here);
    for (size_t s = 0; s < samples.count; ++s) {
      if (isComplete[s]) {
        tokens[s] = -1;
        continue;
      }
      if (tokens[s] < 0)
        samples.refuseLogits(s, texts[s].size(), now, word, {}, here);
      texts[s].push_back(tokens[s]);
      isComplete[s] = tokens[s] == options.end;
    }
    bool goesOn = !options.onTokens || options.onTokens(tokens);
    if (!goesOn || i + 1 == options.most ||
        std::all_of(isComplete.begin(), isComplete.end(), [](bool each) { return each; }))
      break;
    if (!step)
      throw Error("expected a function for the logits of the next token, got an empty one", here);
    now = alike(step(chosen), now, here);
  }
  return texts;
}

namespace {
/// The hypotheses of one sample.
class Beams {
public:
  Beams(size_t count, const BeamOptions &options) : options(options) {
    for (size_t i = 0; i < count; ++i) // all are equal at first: only one is alive
      open.push_back({{}, i == 0 ? 0 : -INFINITY});
  }

  /// Continues the open hypotheses by the best tokens. `logs`: the log-probabilities of the tokens
  /// of each hypothesis. Appends the chosen tokens and the indices of their parents.
  void advance(const float *logs, size_t words, std::vector<int64_t> &tokens,
               std::vector<int64_t> &parents) {
    std::vector<std::pair<double, size_t>> all;
    for (size_t i = 0; i < open.size() * words; ++i)
      if (double sum = open[i / words].score + double(logs[i]); sum > -INFINITY)
        all.emplace_back(-sum, i);
    // Each open hypothesis has at most one continuation that ends it, so among the best 2 * count
    // continuations at least `count` stay open.
    size_t count = open.size(), first = std::min(2 * count, all.size());
    std::partial_sort(all.begin(), all.begin() + ptrdiff_t(first), all.end());
    std::vector<Hypothesis> next;
    for (size_t c = 0; c < first && next.size() < count; ++c) {
      auto [cost, i] = all[c];
      Hypothesis longer{open[i / words].tokens, -cost};
      longer.tokens.push_back(int64_t(i % words));
      if (longer.tokens.back() == options.end) {
        finish(std::move(longer));
        continue;
      }
      tokens.push_back(longer.tokens.back());
      parents.push_back(int64_t(i / words));
      next.push_back(std::move(longer));
    }
    for (; next.size() < count; next.push_back({{}, -INFINITY})) {
      tokens.push_back(0);
      parents.push_back(0);
    }
    open = std::move(next);
  }

  /// The first open hypothesis with a NaN among its log-probabilities.
  std::optional<size_t> firstWithNan(const float *logs, size_t words) const {
    for (size_t i = 0; i < open.size(); ++i)
      if (open[i].score > -INFINITY && std::any_of(logs + i * words, logs + (i + 1) * words,
                                                   [](float x) { return std::isnan(x); }))
        return i;
    return {};
  }

  /// As many hypotheses have ended as are kept, and no open one can score better.
  bool isComplete() const {
    double reachable = -INFINITY;
    for (const Hypothesis &each : open)
      if (each.score > -INFINITY)
        reachable = std::max(reachable, bound(each));
    return reachable == -INFINITY ||
           (finished.size() == open.size() && finished.back().score >= reachable);
  }

  std::vector<Hypothesis> best() {
    if (!isComplete())
      for (Hypothesis &each : open)
        if (each.score > -INFINITY)
          finish(each);
    return finished;
  }

private:
  const BeamOptions &options;
  std::vector<Hypothesis> open;     ///< their scores are sums
  std::vector<Hypothesis> finished; ///< the best ones, best first

  double scoreOf(double sum, int64_t length) const {
    return sum / std::pow(double(length), options.lengthPenalty);
  }

  /// An upper bound of an open hypothesis's final score: its sum can only decrease, and the divisor
  /// is the power of a length between the next one and the largest.
  double bound(const Hypothesis &each) const {
    auto next = int64_t(each.tokens.size()) + 1;
    return std::max(scoreOf(each.score, next), scoreOf(each.score, std::max(next, options.most)));
  }

  void finish(Hypothesis hypothesis) {
    hypothesis.score = scoreOf(hypothesis.score, int64_t(hypothesis.tokens.size()));
    auto isBetter = [](const Hypothesis &a, const Hypothesis &b) {
      return std::tie(b.score, a.tokens) < std::tie(a.score, b.tokens);
    };
    finished.insert(std::upper_bound(finished.begin(), finished.end(), hypothesis, isBetter),
                    std::move(hypothesis));
    finished.resize(std::min(finished.size(), open.size()));
  }
};
} // namespace

std::vector<std::vector<Hypothesis>> nn::beamSearch(const Tensor &logits, const BeamStep &step,
                                                    const Name &word, const Name &beam,
                                                    const BeamOptions &options, Here here) {
  requireSteps(options.most, here);
  Samples samples(logits, over(word, beam), here);
  size_t count = size_t(int64_t(logits.size(beam))), words = size_t(int64_t(logits.size(word)));
  auto logsOf = jit([&](Tensor logits) { return logSoftmax(logits.cast(ElementType::F32), word); },
                    {.name = "logs"}, here);
  std::vector<Beams> all(samples.count, Beams(count, options));
  std::vector<Extent> extents = samples.extents;
  extents.push_back({beam, logits.size(beam)});
  Tensor now = logits;
  for (int64_t i = 0; i < options.most; ++i) {
    std::vector<float> logs = logsOf(now).to<float>(samples.names(over(beam, word)), here);
    std::vector<int64_t> tokens, parents;
    bool isComplete = true;
    for (size_t s = 0; s < samples.count; ++s) {
      if (all[s].isComplete()) {
        tokens.resize(tokens.size() + count);
        parents.resize(parents.size() + count);
      } else {
        const float *own = &logs[s * count * words];
        if (auto bad = all[s].firstWithNan(own, words))
          samples.refuseLogits(s * count + *bad, size_t(i), now, word, beam, here);
        all[s].advance(own, words, tokens, parents);
      }
      isComplete &= all[s].isComplete();
    }
    if (isComplete || i + 1 == options.most)
      break;
    now = alike(step(Tensor::of<int64_t>(tokens, extents, here),
                     Tensor::of<int64_t>(parents, extents, here)),
                now, here);
  }
  std::vector<std::vector<Hypothesis>> result;
  for (Beams &each : all)
    result.push_back(each.best());
  return result;
}
