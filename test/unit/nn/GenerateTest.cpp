//===- GenerateTest.cpp - caches, sampling, beams -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps with caches are compared with the network on whole sequences, draws with the probabilities
// of softmax, beams with the enumeration of all sequences.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Generate.h"
#include "heddle/Compositions.h"
#include "heddle/nn/Layers.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), timeName("time"), feature("feature"), word("word"), beam("beam");
constexpr int64_t words = 11, features = 8;

/// A small transformer over tokens.
struct Net {
  nn::Embedding table;
  std::optional<nn::PositionEmbedding> positions;
  std::vector<nn::TransformerLayer> layers;
  nn::Linear last;
  HEDDLE_FIELDS(table, positions, layers, last)

  static Net make(int kind) {
    nn::TransformerOptions options{.heads = 2, .hidden = 13, .dropout = 0, .preNorm = true};
    if (kind == 1)
      options.attention.rotary = 10000;
    if (kind == 2)
      options.attention.reach = 3;
    Net net{nn::Embedding::make({word, words}, {feature, features}, key(1)), {}, {}, {}};
    if (kind == 0)
      net.positions = nn::PositionEmbedding::make({timeName, 200}, {feature, features}, key(2));
    for (double i : {3.0, 4.0})
      net.layers.push_back(
          nn::TransformerLayer::make({feature, features}, fold(key(5), i), options));
    net.last = nn::Linear::make({{feature, features}}, {word, words}, key(6));
    return net;
  }
  /// The features of all positions.
  Tensor inner(const Tensor &tokens, std::vector<nn::KeyValueCache> *caches = nullptr,
               const Tensor &lengths = {}) const {
    nn::Mode evaluation;
    Tensor x = table(tokens, word);
    if (positions)
      x = x +
          (*positions)(timeName, tokens.size(timeName), caches ? caches->front().filled : Tensor());
    for (size_t i = 0; i < layers.size(); ++i)
      x = layers[i](
          x, timeName, feature, evaluation,
          {.causal = true, .lengths = lengths, .cache = caches ? &(*caches)[i] : nullptr});
    return x;
  }
  Tensor logits(const Tensor &inner) const { return last(inner, feature); }
};

struct State {
  std::vector<nn::KeyValueCache> caches;
  HEDDLE_FIELDS(caches)
};

State emptyState(const Net &net, const std::vector<Extent> &samples, int64_t capacity) {
  State state;
  for (const nn::TransformerLayer &layer : net.layers)
    state.caches.push_back(layer.attention.cache(samples, capacity));
  return state;
}

Tensor tokensOf(const std::vector<int64_t> &values, const std::vector<Extent> &extents) {
  return Tensor::of<int64_t>(values, extents);
}

int64_t tokenAt(int64_t sample, int64_t position) {
  return (7 * sample + position * position) % words;
}

class Generation : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Positions, Generation, testing::Values(0, 1, 2));
} // namespace

TEST_P(Generation, PrefillAndStepsGiveTheLogitsOfTheWhole) {
  Net net = Net::make(GetParam());
  // During generation the first prompt reaches a third block of 64 keys, the second prompt stays in
  // the first.
  std::vector<int64_t> lengths{126, 61, 1};
  int64_t longest = 126, steps = 5, count = int64_t(lengths.size());
  auto whole = jit([&](Tensor tokens) { return net.logits(net.inner(tokens)); });
  std::vector<std::vector<float>> wanted; // of each sample alone
  for (int64_t s = 0; s < count; ++s) {
    std::vector<int64_t> own;
    for (int64_t i = 0; i < lengths[size_t(s)] + steps; ++i)
      own.push_back(tokenAt(s, i));
    wanted.push_back(
        whole(tokensOf(own, {{timeName, int64_t(own.size())}})).to<float>({timeName, word}));
  }
  auto expectAt = [&](const std::vector<float> &got, size_t row, int64_t s, int64_t position) {
    for (int64_t w = 0; w < words; ++w)
      EXPECT_NEAR(got[row * words + size_t(w)], wanted[size_t(s)][size_t(position * words + w)],
                  1e-4)
          << "sample " << s << " at " << position;
  };
  auto prefill = jit([&](State &s, Tensor tokens, Tensor lengths) {
    return net.logits(net.inner(tokens, &s.caches, lengths));
  });
  auto step = jit([&](State &s, Tensor token) {
    Tensor x = net.inner(token.broadcast({{timeName, 1}}), &s.caches);
    return net.logits(x.at(timeName, 0));
  });
  State state = emptyState(net, {{batch, count}}, 150);
  // Blocks after the prompts are not read.
  std::vector<int64_t> padded;
  for (int64_t s = 0; s < count; ++s)
    for (int64_t i = 0; i < longest; ++i)
      padded.push_back(i < lengths[size_t(s)] ? tokenAt(s, i) : 3);
  auto got = prefill(state, tokensOf(padded, {{batch, count}, {timeName, longest}}),
                     tokensOf(lengths, {{batch, count}}))
                 .to<float>({batch, timeName, word});
  for (int64_t s = 0; s < count; ++s)
    for (int64_t i = 0; i < lengths[size_t(s)]; ++i)
      expectAt(got, size_t(s * longest + i), s, i);
  for (int64_t i = 0; i < steps; ++i) {
    std::vector<int64_t> now;
    for (int64_t s = 0; s < count; ++s)
      now.push_back(tokenAt(s, lengths[size_t(s)] + i));
    auto logits = step(state, tokensOf(now, {{batch, count}})).to<float>({batch, word});
    for (int64_t s = 0; s < count; ++s)
      expectAt(logits, size_t(s), s, lengths[size_t(s)] + i);
  }
  EXPECT_EQ(state.caches[1].filled.to<int64_t>({batch}), (std::vector<int64_t>{131, 66, 6}));
}

TEST(Generate, AStepReadsFilledBlocksAlone) {
  Net net = Net::make(1);
  auto step = jit([&](State &s, Tensor token) {
    return net.logits(net.inner(token.broadcast({{timeName, 1}}), &s.caches).at(timeName, 0));
  });
  auto logitsOf = [&](float rest) {
    State state = emptyState(net, {}, 300);
    for (nn::KeyValueCache &cache : state.caches)
      for (Tensor *tensor : {&cache.keys, &cache.values})
        *tensor = select(iota({Name("position"), 300}) >= 64.0, double(rest), *tensor);
    Tensor logits;
    for (int64_t i = 0; i < 3; ++i)
      logits = step(state, tokenAt(0, i));
    return valuesOf(logits);
  };
  EXPECT_EQ(logitsOf(NAN), logitsOf(0));
}

TEST(Generate, AStepCopiesNoCache) {
  for (int kind : {0, 1, 2}) {
    Net net = Net::make(kind);
    auto step = jit([&](State &s, Tensor token) {
      return net.logits(net.inner(token.broadcast({{timeName, 1}}), &s.caches).at(timeName, 0));
    });
    State state = emptyState(net, {{batch, 2}}, 50000);
    step(state, tokensOf({1, 2}, {{batch, 2}}));
    EXPECT_LT(step.statistics().arenaBytes, 1 << 20); // of keys alone 3.2 MB
  }
}

TEST(Generate, AFullCacheIsAnError) {
  Net net = Net::make(0);
  State state = emptyState(net, {{batch, 2}}, 6);
  auto prefill = jit([&](State &s, Tensor tokens, Tensor lengths) {
    return net.logits(nn::lastOf(net.inner(tokens, &s.caches, lengths), timeName, lengths));
  });
  auto step = jit([&](State &s, Tensor token) {
    return net.logits(net.inner(token.broadcast({{timeName, 1}}), &s.caches).at(timeName, 0));
  });
  Tensor lengths = tokensOf({4, 2}, {{batch, 2}});
  Tensor logits = prefill(state, zeros({{batch, 2}, {timeName, 4}}, ElementType::I64), lengths);
  auto run = [&] {
    nn::generate(logits,
                 [&](const Tensor &token) {
                   nn::requireRoom(state);
                   return step(state, token);
                 },
                 word, {.most = 10});
  };
  refused(run, {"full", "1 more positions", "got 0 of 6"});
  EXPECT_EQ(state.caches[0].filled.to<int64_t>({batch}), (std::vector<int64_t>{6, 4}));
  refused([&] { nn::requireRoom(state, 3); }, {"3 more positions"});
  refused([&] { net.layers[0].attention.cache({}, 0); }, {"at least one position, got 0"});
}

namespace {
/// How often each token is drawn for one row of logits.
std::vector<double> frequencies(const std::vector<float> &logits, const nn::Sampling &sampling) {
  constexpr int64_t draws = 40000;
  auto count = int64_t(logits.size());
  Tensor all = tensor(logits, {{word, count}}).broadcast({{batch, draws}});
  std::vector<double> found(logits.size());
  for (int64_t token : nn::sample(all, word, key(3), sampling).to<int64_t>({batch}))
    found.at(size_t(token)) += 1.0 / double(draws);
  return found;
}
/// Five standard deviations of a frequency.
void expectFrequencies(const std::vector<float> &logits, const nn::Sampling &sampling,
                       const std::vector<double> &wanted) {
  auto found = frequencies(logits, sampling);
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(found[i], wanted[i], 5 * std::sqrt(wanted[i] * (1 - wanted[i]) / 40000)) << i;
}
} // namespace

TEST(Sampling, DrawsHaveTheProbabilities) {
  std::vector<double> p{0.1, 0.4, 0.05, 0.25, 0.2};
  std::vector<float> logits;
  for (double each : p)
    logits.push_back(float(std::log(each)) + 3);
  expectFrequencies(logits, {}, p);
  std::vector<double> sharper;
  double total = 0;
  for (double each : p)
    total += each * each;
  for (double each : p)
    sharper.push_back(each * each / total);
  expectFrequencies(logits, {.temperature = 0.5}, sharper);
  expectFrequencies(logits, {.topK = 2}, {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  // 0.4 + 0.25 are less than 0.7; with 0.2 they are enough.
  expectFrequencies(logits, {.topP = 0.7}, {0, 0.4 / 0.85, 0, 0.25 / 0.85, 0.2 / 0.85});
  expectFrequencies(logits, {.topK = 3, .topP = 0.5}, {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
  for (const nn::Sampling &greedy :
       {nn::Sampling{.temperature = 0}, {.topK = 1}, {.topP = 1e-9}, {.temperature = 1e-6}})
    EXPECT_NEAR(frequencies(logits, greedy)[1], 1, 1e-9);
  EXPECT_EQ(frequencies(logits, {.topK = 99}), frequencies(logits, {.topK = 5}));
}

TEST(Sampling, TokensDoNotDependOnTheSpellingOfNames) {
  Tensor logits = zeros({{batch, 20}, {word, 9}});
  for (const nn::Sampling &how : {nn::Sampling{}, nn::Sampling{.topK = 5}}) {
    auto tokens = nn::sample(logits, word, key(1), how).to<int64_t>({batch});
    for (const char *spelling : {"a", "z"}) {
      Name other(spelling);
      Tensor renamed = logits.rename({{batch, other}});
      EXPECT_EQ(nn::sample(renamed, word, key(1), how).to<int64_t>({other}), tokens) << spelling;
    }
  }
}

/// A temperature below the smallest f32 counts as 0, and the quotients by a small one do not
/// overflow.
TEST(Sampling, SmallTemperaturesTakeTheLikeliest) {
  Tensor logits = random({{batch, 20}, {word, 9}}, 1) * 100;
  auto likeliest = argmax(logits, word).to<int64_t>({batch});
  for (double temperature : {0.0, 1e-46, 1e-40, 2e-38, 1e-30})
    EXPECT_EQ(nn::sample(logits, word, key(1), {.temperature = temperature}).to<int64_t>({batch}),
              likeliest)
        << temperature;
}

TEST(Sampling, Mistakes) {
  Tensor logits = zeros({{word, 3}});
  auto refuses = [&](const nn::Sampling &sampling, const std::string &part) {
    refused([&] { nn::sample(logits, word, key(1), sampling); }, {part});
  };
  refuses({.temperature = -1}, "a temperature of at least 0");
  refuses({.topK = 0}, "at least one token (topK), got 0");
  refuses({.topP = 0}, "a probability above 0");
  refuses({.topP = 1.5}, "got 1.5");
  refused([&] { nn::sample(logits, batch, key(1)); }, {"'batch'"});
  refused([&] { nn::generate(logits, nullptr, word, {.most = 0}); }, {"at least one token, got 0"});
}

namespace {
/// The logits of the token after another one.
const std::vector<std::vector<float>> chain{{0.1f, 2.0f, 1.5f, 0.3f},
                                            {0.5f, 0.2f, 0.4f, 0.1f},
                                            {0.0f, 0.3f, 4.0f, 0.2f},
                                            {1, 0, 0.5f, 0.7f}};
Tensor chainLogits(const Tensor &tokens) {
  std::vector<float> all;
  for (const auto &row : chain)
    all.insert(all.end(), row.begin(), row.end());
  Name from("from");
  return tensor(all, {{from, 4}, {word, 4}}).gather(from, tokens);
}
double logOf(size_t from, size_t to) {
  double total = 0;
  for (float each : chain[from])
    total += std::exp(each);
  return chain[from][to] - std::log(total);
}
} // namespace

TEST(Generate, GoesOnToTheEndOfEachSample) {
  int calls = 0;
  auto step = [&](const Tensor &tokens) { return ++calls, chainLogits(tokens); };
  Tensor first = chainLogits(tokensOf({1, 0, 2}, {{batch, 3}}));
  std::vector<std::vector<int64_t>> seen;
  nn::GenerateOptions options{.most = 6, .end = 1, .sampling = {.temperature = 0}};
  options.onTokens = [&](const std::vector<int64_t> &tokens) {
    seen.push_back(tokens);
    return true;
  };
  auto texts = nn::generate(first, step, word, options);
  EXPECT_EQ(texts, (std::vector<std::vector<int64_t>>{{0, 1}, {1}, {2, 2, 2, 2, 2, 2}}));
  EXPECT_EQ(seen[1], (std::vector<int64_t>{1, -1, 2}));
  EXPECT_EQ(calls, 5);
  options.onTokens = [&](const std::vector<int64_t> &) { return false; };
  EXPECT_EQ(nn::generate(first, step, word, options)[2].size(), 1u);
  // Draws differ from step to step and from seed to seed.
  Tensor even = zeros({{word, 1000}});
  auto drawn = [&](uint64_t seed) {
    return nn::generate(even, [&](const Tensor &) { return even; }, word,
                        {.most = 4, .seed = seed})[0];
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  EXPECT_NE(drawn(1)[0], drawn(1)[1]);
}

TEST(Generate, LogitsWithoutATokenAreNamed) {
  Tensor good = zeros({{batch, 2}, {word, 4}}), second = Tensor::of<float>({0, 1}, {{batch, 2}});
  Tensor nan = select(logicalAnd((second > 0.0).broadcast({{word, 4}}),
                                 oneHot(constant(2, ElementType::I64), {word, 4}) > 0.0),
                      NAN, good);
  Tensor none = select((second > 0.0).broadcast({{word, 4}}), -INFINITY, good);
  for (nn::Sampling sampling : {nn::Sampling{}, {.temperature = 0}, {.topK = 2}, {.topP = 0.5}}) {
    for (const Tensor &bad : {nan, none}) {
      std::vector<int64_t> tokens = nn::sample(bad, word, key(1), sampling).to<int64_t>({batch});
      EXPECT_GE(tokens[0], 0);
      EXPECT_EQ(tokens[1], -1);
    }
    nn::GenerateOptions options{.most = 5, .sampling = sampling};
    int calls = 0;
    auto step = [&](const Tensor &) { return ++calls == 2 ? nan : good; };
    refused([&] { nn::generate(good, step, word, options); },
            {"token 3 at 'batch' 1: expected logits along 'word' that are numbers, got NaN at 2"});
    EXPECT_EQ(calls, 2);
  }
  refused([&] { nn::generate(none, nullptr, word); },
          {"token 1 at 'batch' 1: expected logits along 'word', one of them above -inf"});
  refused([&] { nn::generate(nan.at(batch, 1), nullptr, word); },
          {"token 1: expected logits along 'word' that are numbers, got NaN at 2"});
  // The next logits must have the same names and sizes.
  for (const Tensor &other : {good.slice(word, 0, 3), good.at(batch, 0)})
    refused([&] { nn::generate(good, [&](const Tensor &) { return other; }, word, {.most = 2}); },
            {"the names and sizes of those before", "batch: 2, word: 4", "got " + other.type()});
  refused([&] { nn::generate(good, nullptr, word, {.most = 2}); }, {"got an empty one"});
  // A complete sample may have any logits.
  Tensor ends = oneHot(constant(3, ElementType::I64), {word, 4}) * 9.0;
  nn::GenerateOptions options{.most = 3, .end = 3, .sampling = {.temperature = 0}};
  EXPECT_EQ(nn::generate(
                select((second > 0.0).broadcast({{word, 4}}), ends.broadcast({{batch, 2}}), good),
                [&](const Tensor &) { return nan; }, word, options)[1],
            std::vector<int64_t>{3});
}

TEST(Beams, LogitsWithoutATokenAreNamed) {
  Tensor good = Tensor::of<float>({0, 1, 2, 3}, {{word, 4}}).broadcast({{batch, 2}, {beam, 3}});
  Tensor last =
      oneHot(constant(5, ElementType::I64), {beam, 6}).split(beam, {{batch, 2}, {beam, 3}});
  Tensor bad = select(last.broadcast({{word, 4}}) > 0.0, NAN, good);
  auto step = [&](const Tensor &, const Tensor &) { return bad; };
  refused([&] { nn::beamSearch(good, step, word, beam, {.most = 3}); },
          {"token 2 at 'batch' 1, 'beam' 2: expected logits", "got NaN at 0"});
  refused(
      [&] {
        auto fewer = [&](const Tensor &, const Tensor &) { return good.slice(word, 0, 2); };
        nn::beamSearch(good, fewer, word, beam, {.most = 3});
      },
      {"the names and sizes of those before", "word: 2"});
  // At first a single hypothesis is alive.
  EXPECT_EQ(nn::beamSearch(bad, step, word, beam, {.most = 1})[1][0].tokens,
            std::vector<int64_t>{3});
}

namespace {
/// All sequences from `from` that end, or have `most` tokens, best first.
std::vector<nn::Hypothesis> enumerated(size_t from, const nn::BeamOptions &options) {
  std::vector<nn::Hypothesis> found;
  std::function<void(nn::Hypothesis, size_t)> extend = [&](nn::Hypothesis h, size_t last) {
    for (size_t next = 0; next < 4; ++next) {
      nn::Hypothesis longer = h;
      longer.tokens.push_back(int64_t(next));
      longer.score += logOf(last, next);
      if (int64_t(next) == options.end || int64_t(longer.tokens.size()) == options.most) {
        longer.score /= std::pow(double(longer.tokens.size()), options.lengthPenalty);
        found.push_back(longer);
      } else {
        extend(longer, next);
      }
    }
  };
  extend({}, from);
  std::sort(found.begin(), found.end(), [](auto &a, auto &b) { return a.score > b.score; });
  return found;
}
std::vector<std::vector<nn::Hypothesis>> chainBeams(int64_t beams, const nn::BeamOptions &options) {
  Tensor first = chainLogits(tokensOf({0, 2}, {{batch, 2}})).broadcast({{beam, beams}});
  auto step = [&](const Tensor &tokens, const Tensor &) { return chainLogits(tokens); };
  return nn::beamSearch(first, step, word, beam, options);
}
} // namespace

TEST(Beams, AllSequencesInTheirOrder) {
  for (nn::BeamOptions options : {nn::BeamOptions{.most = 4},
                                  {.most = 4, .end = 1},
                                  {.most = 4, .end = 1, .lengthPenalty = 0.8}}) {
    auto got = chainBeams(300, options);
    for (size_t s = 0; s < 2; ++s) {
      auto wanted = enumerated(s ? 2 : 0, options);
      ASSERT_EQ(got[s].size(), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(got[s][i].score, wanted[i].score, 1e-4);
      EXPECT_EQ(got[s][0].tokens, wanted[0].tokens);
    }
  }
}

TEST(Beams, FewFindWhatTheGreedyOneMisses) {
  nn::BeamOptions options{.most = 3};
  // 1 is more probable than 2 after 0, but the token after 2 is nearly certain.
  EXPECT_EQ(chainBeams(1, options)[0][0].tokens, (std::vector<int64_t>{1, 0, 1}));
  auto two = chainBeams(2, options)[0];
  EXPECT_EQ(two[0].tokens, enumerated(0, options)[0].tokens);
  EXPECT_EQ(two[0].tokens, (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(two.size(), 2u);
}

/// A bad hypothesis that ends early does not displace better ones that are still open.
TEST(Beams, EndWhenNoOpenOneCanBeBetter) {
  // After A comes C, after C the end, nearly certainly; the end may come at once, which is
  // unlikely.
  enum { A, B, C, End };
  const float bad = std::log(0.01f);
  std::vector<std::vector<float>> after{{bad, bad, std::log(0.86f), std::log(0.12f)},
                                        {bad, bad, bad, std::log(0.97f)},
                                        {bad, bad, bad, std::log(0.97f)}};
  std::vector<float> first{std::log(0.8f), std::log(0.07f), bad, std::log(0.12f)};
  auto step = [&](const Tensor &tokens, const Tensor &) {
    std::vector<float> rows;
    for (int64_t token : tokens.to<int64_t>({beam})) {
      const std::vector<float> &row = after[size_t(token)];
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return Tensor::of<float>(rows, {{beam, tokens.size(beam)}, {word, 4}});
  };
  for (int64_t beams : {1, 2, 3})
    for (double penalty : {0.0, 1.0}) {
      Tensor begin = Tensor::of<float>(first, {{word, 4}}).broadcast({{beam, beams}});
      auto best = nn::beamSearch(begin, step, word, beam,
                                 {.most = 6, .end = End, .lengthPenalty = penalty})[0];
      ASSERT_FALSE(best.empty());
      EXPECT_EQ(best[0].tokens, (std::vector<int64_t>{A, C, End}))
          << beams << " beams, penalty " << penalty;
      for (size_t i = 1; i < best.size(); ++i)
        EXPECT_GE(best[i - 1].score, best[i].score);
    }
}

TEST(Beams, StatesGoAlongWithTheirHypotheses) {
  Net net = Net::make(1);
  constexpr int64_t samples = 2, beams = 3;
  std::vector<int64_t> prompt{1, 5, 2, 7, 3, 8};
  Tensor tokens = tokensOf(prompt, {{batch, samples}, {timeName, 3}});
  State state = emptyState(net, {{batch, samples}}, 20);
  auto prefill = jit([&](State &s, Tensor tokens) {
    return net.logits(net.inner(tokens, &s.caches).at(timeName, -1));
  });
  auto step = jit([&](State &s, Tensor tokens, Tensor parents) {
    nn::reorder(s.caches, beam, parents);
    return net.logits(net.inner(tokens.broadcast({{timeName, 1}}), &s.caches).at(timeName, 0));
  });
  Tensor first = prefill(state, tokens).broadcast({{beam, beams}});
  nn::widen(state.caches, {beam, beams});
  nn::BeamOptions options{.most = 5, .end = 4};
  auto got = nn::beamSearch(
      first, [&](const Tensor &t, const Tensor &p) { return step(state, t, p); }, word, beam,
      options);
  // The same without caches, on whole sequences.
  std::vector<std::vector<int64_t>> texts;
  for (int64_t i = 0; i < samples * beams; ++i)
    texts.emplace_back(prompt.begin() + i / beams * 3, prompt.begin() + i / beams * 3 + 3);
  auto whole = [&](const Tensor &next, const Tensor &from) {
    auto t = next.to<int64_t>({batch, beam}), p = from.to<int64_t>({batch, beam});
    auto before = texts;
    std::vector<int64_t> all;
    for (size_t i = 0; i < texts.size(); ++i) {
      texts[i] = before[i / beams * beams + size_t(p[i])];
      texts[i].push_back(t[i]);
      all.insert(all.end(), texts[i].begin(), texts[i].end());
    }
    Tensor x =
        tokensOf(all, {{batch, samples}, {beam, beams}, {timeName, int64_t(texts[0].size())}});
    return net.logits(net.inner(x).at(timeName, -1));
  };
  auto wanted = nn::beamSearch(first, whole, word, beam, options);
  for (size_t s = 0; s < samples; ++s)
    for (size_t i = 0; i < wanted[s].size(); ++i) {
      EXPECT_EQ(got[s].at(i).tokens, wanted[s][i].tokens);
      EXPECT_NEAR(got[s][i].score, wanted[s][i].score, 1e-4);
    }
}
