//===- AttentionTest.cpp - attention, transformers, recurrence ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ReferenceTest.cpp compares values with PyTorch's; here are the parts that PyTorch lacks, caches,
// random numbers of samples, and mistakes.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"
#include "test/unit/support/io/Files.h"

#include <algorithm>
#include <set>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), place("place"), past("past"), feature("feature"), from("from"),
    hidden("hidden"), word("word"), band("band");
} // namespace

TEST(Attention, AQueryThatSeesNoKeyGetsZeros) {
  Tensor q = random({{batch, 2}, {place, 3}, {feature, 4}}, 1);
  Tensor k = random({{batch, 2}, {past, 5}, {feature, 4}}, 2);
  Tensor length = Tensor::of<int32_t>({0, 5}, {{batch, 2}});
  auto run = [&](const Tensor &q, const Tensor &k) {
    return nn::attention(q, k, k, past, feature, {.lengths = length});
  };
  Tensor y = run(q, k);
  EXPECT_EQ(valuesOf(y.at(batch, 0)), std::vector<float>(12, 0));
  Tensor whole = nn::attention(q.at(batch, 1), k.at(batch, 1), k.at(batch, 1), past, feature);
  expectNear(valuesOf(y.at(batch, 1)), mapped(valuesOf(whole), [](double v) { return v; }));
  for (float slope :
       valuesOf(grad([&](Tensor q) { return sum(run(q, k), over(batch, place, feature)); }, q)))
    EXPECT_TRUE(std::isfinite(slope));
}

TEST(Attention, RelativePositionsByPlainLoops) {
  nn::Attention layer = nn::Attention::make({feature, 4}, 2, key(1), {.bias = false, .reach = 2});
  layer.relative = random({{Name("distance"), 5}, {Name("depth"), 2}}, 3);
  constexpr int64_t count = 5;
  Tensor x = random({{place, count}, {feature, 4}}, 4);
  nn::Mode mode;
  auto got = layer(x, place, feature, mode, {.causal = true}).to<float>({place, feature});
  Names projected{feature, Name("head"), Name("depth")};
  auto wq = layer.query.weight.to<float>(projected), wk = layer.key.weight.to<float>(projected),
       wv = layer.value.weight.to<float>(projected);
  auto wo = layer.out.weight.to<float>({Name("head"), Name("depth"), feature});
  auto table = layer.relative->to<float>({Name("distance"), Name("depth")});
  auto values = x.to<float>({place, feature});
  auto project = [&](const std::vector<float> &w, int64_t t, size_t i) { // i: head and depth
    double sum = 0;
    for (size_t f = 0; f < 4; ++f)
      sum += double(values[size_t(t) * 4 + f]) * w[f * 4 + i];
    return sum;
  };
  std::vector<double> wanted;
  for (int64_t t = 0; t < count; ++t) {
    double seen[4] = {};
    for (size_t h = 0; h < 2; ++h) {
      std::vector<double> power;
      double total = 0;
      for (int64_t p = 0; p <= t; ++p) {
        size_t far = size_t(std::clamp<int64_t>(p - t, -2, 2) + 2);
        double score = 0;
        for (size_t d = 0; d < 2; ++d)
          score += project(wq, t, 2 * h + d) * (project(wk, p, 2 * h + d) + table[far * 2 + d]) /
                   std::sqrt(2.0);
        power.push_back(std::exp(score));
        total += power.back();
      }
      for (int64_t p = 0; p <= t; ++p)
        for (size_t d = 0; d < 2; ++d)
          seen[2 * h + d] += power[size_t(p)] / total * project(wv, p, 2 * h + d);
    }
    for (size_t f = 0; f < 4; ++f) {
      double sum = 0;
      for (size_t i = 0; i < 4; ++i)
        sum += seen[i] * wo[i * 4 + f];
      wanted.push_back(sum);
    }
  }
  expectNear(got, wanted, 1e-4);
}

namespace {
struct CachedState {
  nn::KeyValueCache cache;
  HEDDLE_FIELDS(cache)
};
} // namespace

class Caches : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Positions, Caches, testing::Values(0, 1, 2));

TEST_P(Caches, StepsGiveWhatTheWholeGives) {
  nn::Attention::Options options;
  if (GetParam() == 1)
    options.rotary = 10000;
  if (GetParam() == 2)
    options.reach = 2;
  nn::Attention layer = nn::Attention::make({feature, 6}, 3, key(1), options);
  Tensor x = random({{batch, 2}, {place, 7}, {feature, 6}}, 2);
  nn::Mode evaluation;
  auto wanted = layer(x, place, feature, evaluation, {.causal = true});
  auto step = jit([&](CachedState &s, Tensor x) {
    nn::Mode mode;
    return layer(x, place, feature, mode, {.causal = true, .cache = &s.cache});
  });
  CachedState state{layer.cache({{batch, 2}}, 11)};
  std::vector<int64_t> sizes{4, 1, 1, 1}; // several positions first, then one by one
  int64_t begin = 0;
  for (int64_t size : sizes) {
    auto got = step(state, x.slice(place, begin, size));
    expectNear(valuesOf(got),
               mapped(valuesOf(wanted.slice(place, begin, size)), [](double v) { return v; }));
    begin += size;
  }
  EXPECT_EQ(state.cache.filled.to<int64_t>({batch}), (std::vector<int64_t>{7, 7}));
}

TEST(Attention, AChunkLargerThanTheRoomOverwritesNothing) {
  // Chunks of 4 positions have padding: the last chunk begins with room for only 2.
  nn::Attention layer = nn::Attention::make({feature, 6}, 3, key(1));
  Tensor x = random({{batch, 2}, {place, 7}, {feature, 6}}, 2);
  nn::Mode evaluation;
  Tensor wanted = layer(x, place, feature, evaluation, {.causal = true});
  auto step = jit([&](CachedState &s, Tensor x, Tensor lengths) {
    nn::Mode mode;
    return layer(x, place, feature, mode, {.causal = true, .lengths = lengths, .cache = &s.cache});
  });
  CachedState state{layer.cache({{batch, 2}}, 7)};
  auto chunk = [&](int64_t begin, int64_t count, double padding) {
    Tensor part = x.slice(place, begin, count).pad(place, 0, 4 - count, padding);
    Tensor lengths = Tensor::of<int64_t>({count, count}, {{batch, 2}});
    return step(state, part, lengths).slice(place, 0, count);
  };
  int64_t begin = 0;
  for (int64_t count : {3, 2, 1, 1}) {
    Tensor got = chunk(begin, count, count == 2 ? INFINITY : NAN);
    expectNear(valuesOf(got),
               mapped(valuesOf(wanted.slice(place, begin, count)), [](double v) { return v; }));
    begin += count;
  }
  EXPECT_EQ(state.cache.filled.to<int64_t>({batch}), (std::vector<int64_t>{7, 7}));
  // A full cache stays as it is, and the sample's values are NaN.
  auto keys = valuesOf(state.cache.keys);
  for (float value : valuesOf(chunk(0, 1, 0)))
    EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(valuesOf(state.cache.keys), keys);
  EXPECT_EQ(state.cache.filled.to<int64_t>({batch}), (std::vector<int64_t>{7, 7}));
}

TEST_P(Caches, MasksAndBiasesOfPositions) {
  nn::Attention layer =
      nn::Attention::make({feature, 6}, 3, key(1), {.keyHeads = GetParam() == 1 ? 1 : 3});
  Name head("h");
  Tensor x = random({{batch, 2}, {place, 4}, {feature, 6}}, 2);
  Tensor bias = random({{head, 3}, {past, 9}}, 3),
         mask = notEqual(iota({past, 9}), 1.0).broadcast({{batch, 2}});
  auto how = [&](int64_t keys, nn::KeyValueCache *cache) {
    return nn::Attend{.causal = true,
                      .cache = cache,
                      .mask = mask.slice(past, 0, keys),
                      .bias = bias.slice(past, 0, keys),
                      .keys = past,
                      .heads = head};
  };
  nn::Mode mode;
  Tensor wanted = layer(x, place, feature, mode, how(4, nullptr));
  CachedState state{layer.cache({{batch, 2}}, 9)};
  auto step = jit([&](CachedState &s, Tensor x) {
    nn::Mode mode;
    return layer(x, place, feature, mode, how(9, &s.cache));
  });
  for (int64_t i : {0, 2}) {
    Tensor got = step(state, x.slice(place, i, 2));
    expectNear(valuesOf(got),
               mapped(valuesOf(wanted.slice(place, i, 2)), [](double v) { return v; }));
  }
  refused([&] { layer(x, place, feature, mode, how(4, &state.cache)); },
          {"all 9 positions of the cache along 'past', got 4"});
}

TEST(Attention, AFullCacheIsFoundByCheck) {
  nn::Attention layer = nn::Attention::make({feature, 2}, 1, key(1));
  auto step = jit(
      [&](CachedState &s, Tensor x) {
        nn::Mode mode;
        return layer(x, place, feature, mode, {.causal = true, .cache = &s.cache});
      },
      {.check = true});
  CachedState state{layer.cache({}, 2)};
  Tensor x = random({{place, 1}, {feature, 2}}, 2);
  step(state, x), step(state, x);
  expectHas(messageOf([&] { step(state, x); }), {"'position'", "AttentionTest.cpp"});
}

TEST(Attention, DropoutDiffersBySampleAndLeavesEvaluationAlone) {
  nn::TransformerLayer layer =
      nn::TransformerLayer::make({feature, 4}, key(1), {.heads = 2, .hidden = 8, .dropout = 0.5});
  Tensor x = random({{place, 3}, {feature, 4}}, 2).broadcast({{batch, 2}});
  nn::Mode training = nn::Mode::training(key(3), batch), evaluation;
  Tensor dropped = layer(x, place, feature, training), whole = layer(x, place, feature, evaluation);
  EXPECT_NE(valuesOf(dropped.at(batch, 0)), valuesOf(dropped.at(batch, 1)));
  EXPECT_EQ(valuesOf(whole.at(batch, 0)), valuesOf(whole.at(batch, 1)));
  EXPECT_EQ(training.random->drawn.item(), 4); // weights, their sum, inside and behind the feed
}

TEST(Attention, NamesAreTheCallers) {
  // Names that are equal to inner names.
  Name head("head"), depth("depth");
  nn::TransformerLayer layer =
      nn::TransformerLayer::make({feature, 4}, key(1), {.heads = 2, .hidden = 8});
  nn::Mode mode;
  Tensor x = random({{batch, 2}, {place, 3}, {feature, 4}}, 2);
  auto wanted = layer(x, place, feature, mode).to<float>({batch, place, feature});
  Tensor renamed = x.rename({{batch, head}, {place, Name("hidden")}});
  auto got = layer(renamed, Name("hidden"), feature, mode);
  // Arguments lie in the order of their names, which may change the order of sums.
  expectNear(got.to<float>({head, Name("hidden"), feature}),
             mapped(wanted, [](double v) { return v; }));
}

TEST(Attention, Mistakes) {
  refused([] { nn::Attention::make({feature, 6}, 4, key(1)); },
          {"heads that divide 'feature' of size 6, got 4"});
  nn::Attention layer = nn::Attention::make({feature, 6}, 2, key(1));
  Tensor x = random({{place, 3}, {feature, 6}}, 1), odd = random({{place, 3}, {feature, 5}}, 1);
  nn::Mode mode;
  refused([&] { layer(odd, place, feature, mode); }, {"'feature'", "size 5", "size 6"});
  refused([&] { layer(x, batch, feature, mode); },
          {"an x with the name 'batch'", "feature: 6, place: 3"});
  refused([&] { layer.cross(x, place, x, place, feature, mode); },
          {"another name for the positions of the memory", "'place'"});
  refused([&] { nn::attention(x, x, x, place, feature); }, {"queries without 'place'"});
  Tensor all = random({{place, 3}}, 1), weights;
  refused([&] { layer(x, place, feature, mode, {.mask = all, .keys = past}); },
          {"a mask of truth values (i1)", "place: 3"});
  refused([&] { layer(x, place, feature, mode, {.bias = all}); }, {"the name of the keys"});
  refused([&] { layer(x, place, feature, mode, {.weights = &weights}); }, {"the name of the keys"});
  refused([] { nn::Attention::make({feature, 6}, 3, key(1), {.keyHeads = 2}); },
          {"heads of keys that divide the 3 of queries, got 2"});
  refused([&] { nn::rotary(odd, place, feature); }, {"feature"});
  refused([&] { nn::rotary(odd, place, feature); }, {"an even size of 'feature'"});
  refused([&] { nn::rotary(x, place, feature, {}, 0); }, {"a base of rotary positions above 0"});
  refused([&] { nn::gatedLinear(odd, feature); }, {"an even size of 'feature'"});
  refused([] { nn::Attention::make({feature, 6}, 2, key(1), {.rotary = 1e4}); },
          {"heads with an even number of features", "2 heads of 'feature' of size 6"});
  nn::TransformerLayer encoder = nn::TransformerLayer::make({feature, 6}, key(1), {.heads = 2}),
                       decoder = nn::TransformerLayer::make({feature, 6}, key(1),
                                                            {.heads = 2, .decoder = true});
  refused([&] { decoder(x, place, feature, mode); }, {"a memory for the cross attention"});
  Tensor memory = random({{from, 2}, {feature, 6}}, 1);
  refused([&] { encoder(x, place, feature, mode, {}, nn::Memory{memory, from}); },
          {"no memory", "from: 2"});
}

TEST(Sinusoids, ByPlainLoops) {
  for (int64_t first : {0, 5}) {
    auto got =
        nn::sinusoids({place, 3}, {feature, 5}, first ? constant(5, ElementType::I64) : Tensor())
            .to<float>({place, feature});
    for (int64_t t = 0; t < 3; ++t)
      for (int64_t f = 0; f < 5; ++f) {
        double angle = double(t + first) * std::pow(10000.0, -2.0 * double(f / 2) / 5);
        EXPECT_NEAR(got[size_t(t * 5 + f)], f % 2 ? std::cos(angle) : std::sin(angle), 1e-5);
      }
  }
}

TEST(Positions, RowsFromAnyOn) {
  nn::PositionEmbedding positions = nn::PositionEmbedding::make({place, 4}, {feature, 2}, key(1));
  auto all = positions.table.to<float>({place, feature});
  EXPECT_EQ(positions(place, 2).to<float>({place, feature}),
            std::vector<float>(all.begin(), all.begin() + 4));
  EXPECT_EQ(positions(place, 1, constant(3, ElementType::I64)).to<float>({place, feature}),
            std::vector<float>(all.begin() + 6, all.end()));
  // Positions beyond the table are NaN; the others are not.
  auto some = positions(place, 2, constant(3, ElementType::I64)).to<float>({place, feature});
  EXPECT_EQ(std::vector<float>(some.begin(), some.begin() + 2),
            std::vector<float>(all.begin() + 6, all.end()));
  EXPECT_TRUE(std::isnan(some[2]) && std::isnan(some[3]));
  refused([&] { positions(place, 5); }, {"'place'", "less than the size 4"});
}

TEST(AdaptiveSoftmax, SumsToOneAndRefusesCutoffs) {
  nn::AdaptiveSoftmax layer = nn::AdaptiveSoftmax::make({feature, 7}, {word, 11}, {2, 5}, key(1));
  Tensor logs = layer(random({{batch, 3}, {feature, 7}}, 1), feature, word);
  for (float total : valuesOf(sum(exp(logs), word)))
    EXPECT_NEAR(total, 1, 1e-5);
  for (const std::vector<int64_t> &cutoffs :
       {std::vector<int64_t>{0}, {3, 3}, {5, 2}, {11}, {4, 12}})
    refused([&] { nn::AdaptiveSoftmax::make({feature, 7}, {word, 11}, cutoffs, key(1)); },
            {"rise from 1 to below 11", "'word'"});
}

TEST(Recurrent, StatesGoOnAndMistakesAreRefused) {
  nn::Recurrent net = nn::Recurrent::make({feature, 3}, {hidden, 4}, key(1), {.layers = 2});
  Tensor x = random({{batch, 2}, {place, 6}, {feature, 3}}, 2);
  nn::Mode mode;
  auto whole = net(x, place, feature, hidden, mode);
  auto first = net(x.slice(place, 0, 4), place, feature, hidden, mode);
  auto rest = net(x.slice(place, 4, 2), place, feature, hidden, mode, {.initial = first.last});
  expectNear(valuesOf(rest.all),
             mapped(valuesOf(whole.all.slice(place, 4, 2)), [](double v) { return v; }));
  expectNear(valuesOf(*rest.last[1].c),
             mapped(valuesOf(*whole.last[1].c), [](double v) { return v; }));
  // Lengths 0 and of all steps.
  Tensor length = Tensor::of<int64_t>({0, 6}, {{batch, 2}});
  auto cut = net(x, place, feature, hidden, mode, {.lengths = length});
  EXPECT_EQ(valuesOf(cut.all.at(batch, 0)), std::vector<float>(24, 0));
  EXPECT_EQ(valuesOf(cut.last[0].h.at(batch, 0)), std::vector<float>(4, 0));
  expectNear(valuesOf(cut.all.at(batch, 1)),
             mapped(valuesOf(whole.all.at(batch, 1)), [](double v) { return v; }));
  refused([&] { net(x, place, feature, hidden, mode, {.initial = {first.last[0]}}); },
          {"expected 2 initial states", "got 1"});
  auto states = first.last;
  states[1].c.reset();
  refused([&] { net(x, place, feature, hidden, mode, {.initial = states}); },
          {"initial states with h and c"});
  nn::Recurrent gru =
      nn::Recurrent::make({feature, 3}, {hidden, 4}, key(1), {.cell = nn::Cell::Gru, .layers = 2});
  refused([&] { gru(x, place, feature, hidden, mode, {.initial = first.last}); },
          {"initial states with h and without c"});
  refused([&] { net(x, place, feature, hidden, mode, {.lengths = random({{batch, 2}}, 1)}); },
          {"lengths of integers"});
  refused([&] { nn::Recurrent::make({feature, 3}, {hidden, 4}, key(1), {.layers = 0}); },
          {"at least one layer, got 0"});
}

TEST(SpecAugment, MasksBandsAndSpansOfEachSample) {
  Tensor ones = zeros({{batch, 4}, {place, 40}, {band, 20}}) + 1.0;
  nn::SpecAugmentOptions options{
      .bands = 1, .widestBand = 6, .spans = 1, .longestSpan = 30, .longestPart = 0.25};
  nn::Mode training = nn::Mode::training(key(1), batch), evaluation;
  EXPECT_EQ(valuesOf(nn::specAugment(ones, place, band, options, evaluation)), valuesOf(ones));
  std::set<std::pair<int, int>> found;
  for (int draw = 0; draw < 4; ++draw) {
    auto y = nn::specAugment(ones, place, band, options, training).to<float>({batch, place, band});
    for (size_t b = 0; b < 4; ++b) {
      // A masked row or column is zero; masked ones are adjacent.
      int bands = 0, spans = 0, bandRuns = 0, spanRuns = 0;
      auto isMasked = [&](bool row, size_t at) {
        for (size_t i = 0; i < (row ? 20u : 40u); ++i)
          if (y[b * 800 + (row ? at * 20 + i : i * 20 + at)] != 0)
            return false;
        return true;
      };
      for (size_t i = 0; i < 20; ++i) {
        bands += isMasked(false, i);
        bandRuns += isMasked(false, i) && (i == 0 || !isMasked(false, i - 1));
      }
      for (size_t i = 0; i < 40; ++i) {
        spans += isMasked(true, i);
        spanRuns += isMasked(true, i) && (i == 0 || !isMasked(true, i - 1));
      }
      EXPECT_LE(bands, 6);
      EXPECT_LE(spans, 10);
      EXPECT_LE(bandRuns, 1);
      EXPECT_LE(spanRuns, 1);
      double left = 0;
      for (size_t i = 0; i < 800; ++i)
        left += y[b * 800 + i];
      EXPECT_EQ(left, double((20 - bands) * (40 - spans)));
      found.emplace(bands, spans);
    }
  }
  EXPECT_GE(found.size(), 8u);
}
