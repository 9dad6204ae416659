//===- LengthsTest.cpp - lengths of 0, and lengths out of range -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four samples with the lengths 0, the size, more than the size and below 0: results and gradients
// of the first two are finite, those of the others NaN, and a call with checks throws.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Generate.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), timeName("time"), from("from"), feature("feature"), hidden("hidden"),
    position("position"), classes("class");
constexpr int64_t size = 5;

using Layer = std::function<Tensor(const Tensor &x, const Tensor &lengths)>;

Tensor lengthsOf(std::vector<int32_t> values) {
  return Tensor::of<int32_t>(values, {{batch, int64_t(values.size())}});
}

/// Whether each sample is free of NaN.
std::vector<bool> goodSamples(const Tensor &y) {
  std::vector<bool> good;
  for (int64_t s = 0; s < int64_t(y.size(batch)); ++s) {
    std::vector<float> values = valuesOf(y.at(batch, s));
    good.push_back(
        std::none_of(values.begin(), values.end(), [](float v) { return std::isnan(v); }));
  }
  return good;
}

/// `along`: the name that the lengths count.
void expectLengths(const std::string &what, const Layer &layer, const Name &along = timeName) {
  SCOPED_TRACE(what);
  auto both = [&](Tensor x, Tensor lengths) {
    auto loss = [&](Tensor x) {
      Tensor y = layer(x, lengths);
      return std::pair(sum(y, orderOf(y)), y);
    };
    auto [result, gradient] = valueAndGrad(loss, x);
    return std::pair(result.second, gradient);
  };
  Tensor x = random({{batch, 4}, {timeName, size}, {feature, 4}}, 3);
  auto [y, gradient] = jit(both)(x, lengthsOf({0, size, size + 1, -1}));
  EXPECT_EQ(goodSamples(y), (std::vector<bool>{true, true, false, false}));
  std::vector<bool> slopes = goodSamples(gradient);
  EXPECT_TRUE(slopes[0] && slopes[1]);
  auto checked = jit([&](Tensor x, Tensor lengths) { return both(x, lengths); }, {.check = true});
  checked(x, lengthsOf({0, size, 1, 2}));
  for (int32_t wrong : {int32_t(size) + 1, -1})
    refused([&] { checked(x, lengthsOf({0, size, wrong, 1})); },
            {"coordinates of '" + along.str() + "' from 0 to 5, got " + std::to_string(wrong)});
}
} // namespace

TEST(Lengths, OfAttention) {
  nn::Attention layer = nn::Attention::make({feature, 4}, 2, key(1));
  for (bool causal : {false, true})
    expectLengths(causal ? "causal" : "all", [&](const Tensor &x, const Tensor &lengths) {
      nn::Mode mode;
      return layer(x, timeName, feature, mode, {.causal = causal, .lengths = lengths});
    });
  Tensor query = random({{batch, 4}, {timeName, 3}, {feature, 4}}, 5);
  expectLengths(
      "cross",
      [&](const Tensor &x, const Tensor &lengths) {
        nn::Mode mode;
        return layer.cross(query, timeName, x.rename({{timeName, from}}), from, feature, mode,
                           {.lengths = lengths});
      },
      from);
  expectLengths("function", [&](const Tensor &x, const Tensor &lengths) {
    return nn::attention(query.rename({{timeName, from}}), x, x, timeName, feature,
                         {.lengths = lengths});
  });
}

TEST(Lengths, OfAttentionWithACache) {
  nn::Attention layer = nn::Attention::make({feature, 4}, 2, key(1));
  Tensor x = random({{batch, 4}, {timeName, size}, {feature, 4}}, 3);
  auto step = [&](nn::KeyValueCache &cache, Tensor x, Tensor lengths) {
    nn::Mode mode;
    return layer(x, timeName, feature, mode, {.causal = true, .lengths = lengths, .cache = &cache});
  };
  nn::KeyValueCache cache = layer.cache({{batch, 4}}, 7);
  EXPECT_EQ(goodSamples(jit(step)(cache, x, lengthsOf({0, size, size + 1, -1}))),
            (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(cache.filled.to<int64_t>({batch}), (std::vector<int64_t>{0, size, 0, 0}));
  nn::KeyValueCache other = layer.cache({{batch, 4}}, 7);
  refused([&] { jit(step, {.check = true})(other, x, lengthsOf({0, 1, 2, size + 1})); },
          {"coordinates of 'time' from 0 to 5, got 6"});
}

TEST(Lengths, OfRecurrentNetworks) {
  for (nn::Cell cell : {nn::Cell::Tanh, nn::Cell::Relu, nn::Cell::Gru, nn::Cell::Lstm}) {
    nn::Recurrent net = nn::Recurrent::make({feature, 4}, {hidden, 3}, key(1),
                                            {.cell = cell, .layers = 2, .bidirectional = true});
    auto run = [&](const Tensor &x, const Tensor &lengths) {
      nn::Mode mode;
      return net(x, timeName, feature, hidden, mode, {.lengths = lengths});
    };
    std::string what = "cell " + std::to_string(int(cell));
    expectLengths(what, [&](auto &x, auto &lengths) { return run(x, lengths).all; });
    expectLengths(what, [&](auto &x, auto &lengths) { return run(x, lengths).last.back().h; });
    Tensor x = random({{batch, 1}, {timeName, size}, {feature, 4}}, 3);
    nn::Recurrent::Result none = run(x, lengthsOf({0}));
    EXPECT_EQ(valuesOf(none.all), std::vector<float>(size_t(6 * size), 0));
    EXPECT_EQ(valuesOf(none.last.back().h), std::vector<float>(3, 0));
  }
}

TEST(Lengths, OfSpeech) {
  nn::Conformer layer =
      nn::Conformer::make(timeName, {feature, 4}, key(1), {.heads = 2, .hidden = 3, .window = 3});
  expectLengths("conformer", [&](const Tensor &x, const Tensor &lengths) {
    nn::Mode mode = nn::Mode::training(layer, key(2), batch).evaluation();
    return layer(x, timeName, feature, mode, {.lengths = lengths});
  });
  nn::CtcNames names{timeName, classes, position};
  auto labelOf = [](const std::vector<int32_t> &values) {
    return Tensor::of<int32_t>(values, {{position, int64_t(values.size())}})
        .broadcast({{batch, 4}});
  };
  Tensor label = labelOf({1, 2}), none = lengthsOf({0, 0, 0, 0});
  auto logs = [](const Tensor &x) {
    return nn::logSoftmax(x.rename({{feature, classes}}), classes);
  };
  expectLengths("times", [&](const Tensor &x, const Tensor &lengths) {
    return nn::ctc(logs(x), lengths, label, none, names);
  });
  expectLengths("times of errors", [&](const Tensor &x, const Tensor &lengths) {
    return nn::ctcErrors(logs(x), lengths, label, none, names) +
           sum(x, over(timeName, feature)) * 0.0;
  });
  Tensor longer = labelOf({1, 2, 1, 2, 1}), all = lengthsOf({size, size, size, size});
  expectLengths(
      "positions",
      [&](const Tensor &x, const Tensor &lengths) {
        return nn::ctc(logs(x), all, longer, lengths, names);
      },
      position);
  expectLengths(
      "positions of errors",
      [&](const Tensor &x, const Tensor &lengths) {
        return nn::ctcErrors(logs(x), all, longer, lengths, names) +
               sum(x, over(timeName, feature)) * 0.0;
      },
      position);
}

TEST(Lengths, OfNeighbours) {
  Name head("head");
  nn::GraphAttention layer =
      nn::GraphAttention::make({{feature, 4}}, {{head, 2}, {hidden, 3}}, key(1));
  std::vector<int32_t> all(size_t(4 * size * size));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = int32_t(i % size);
  Tensor number = Tensor::of<int32_t>(all, {{batch, 4}, {timeName, size}, {position, size}});
  expectLengths(
      "neighbours",
      [&](const Tensor &x, const Tensor &lengths) {
        return layer(x, timeName, feature, hidden,
                     {number, lengths.broadcast({{timeName, size}}), position});
      },
      position);
}

TEST(Lengths, OfTheLastPosition) {
  expectLengths("last", [&](const Tensor &x, const Tensor &lengths) {
    return nn::lastOf(x, timeName, lengths);
  });
  Tensor x = random({{batch, 2}, {timeName, size}, {feature, 4}}, 3);
  Tensor last = nn::lastOf(x, timeName, lengthsOf({0, 2}));
  EXPECT_EQ(valuesOf(last.at(batch, 0)), std::vector<float>(4, 0));
  EXPECT_EQ(valuesOf(last.at(batch, 1)), valuesOf(x.at(batch, 1).at(timeName, 1)));
  // Unsigned lengths of 0, also where indices are checked.
  auto checked = jit([](Tensor x, Tensor lengths) { return nn::lastOf(x, timeName, lengths); },
                     {.check = true});
  EXPECT_EQ(valuesOf(checked(x, Tensor::of<uint8_t>({0, 2}, {{batch, 2}}))), valuesOf(last));
}

TEST(Lengths, AreIntegers) {
  Tensor x = random({{batch, 2}, {timeName, size}, {feature, 4}}, 3), floats = zeros({{batch, 2}});
  refused(
      [&] {
        nn::attention(x.rename({{timeName, from}}), x, x, timeName, feature, {.lengths = floats});
      },
      {"lengths of integers, got !nd.tensor<f32, batch: 2>"});
  refused([&] { nn::lastOf(x, timeName, floats); }, {"lengths of integers"});
}
