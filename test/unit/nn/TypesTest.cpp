//===- TypesTest.cpp - layers of any float type ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer whose parameters and input have another float type returns values of that type, equal to
// those of f32 up to rounding.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Generate.h"
#include "heddle/nn/Layers.h"
#include "test/unit/nn/Compare.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), timeName("time"), feature("feature"), hidden("hidden");

class Types : public testing::TestWithParam<ElementType> {
protected:
  template <typename L>
  L cast(L layer) const {
    forEachTensor(layer, [&](const std::string &, Tensor &x) { x = x.cast(GetParam()); });
    return layer;
  }
  /// `call(layer, x, mode)` in this type and in f32, for training and for evaluation.
  template <typename L, typename F>
  void expectAlike(const L &layer, F call) const {
    Tensor x = random({{batch, 3}, {timeName, 5}, {feature, 4}}, 7);
    for (bool trains : {true, false}) {
      auto run = [&](L own, const Tensor &input) {
        nn::Mode mode = nn::Mode::training(own, key(1), batch);
        return jit([&](L own, nn::Mode mode, Tensor input) { return call(own, input, mode); })(
            own, trains ? mode : mode.evaluation(), input);
      };
      Tensor wanted = run(layer, x), got = run(cast(layer), x.cast(GetParam()));
      ASSERT_EQ(got.elementType(), GetParam());
      auto a = got.cast(ElementType::F32).to<float>(orderOf(wanted)),
           b = wanted.to<float>(orderOf(wanted));
      double bound = GetParam() == ElementType::F64 ? 1e-5 : 0.06;
      for (size_t i = 0; i < a.size(); ++i)
        EXPECT_NEAR(a[i], b[i], bound * (1 + std::abs(b[i]))) << trains << " at " << i;
    }
  }
};
} // namespace
INSTANTIATE_TEST_SUITE_P(All, Types,
                         testing::Values(ElementType::F64, ElementType::BF16, ElementType::F16),
                         [](const auto &info) { return std::string(spelling(info.param)); });

TEST_P(Types, OfRecurrentLayers) {
  for (nn::Cell cell : {nn::Cell::Lstm, nn::Cell::Gru})
    expectAlike(nn::Recurrent::make({feature, 4}, {hidden, 3}, key(2),
                                    {.cell = cell, .layers = 2, .bidirectional = true}),
                [](const nn::Recurrent &layer, const Tensor &x, nn::Mode &mode) {
                  Tensor lengths = Tensor::of<int32_t>({5, 0, 2}, {{batch, 3}});
                  return layer(x, timeName, feature, hidden, mode, {.lengths = lengths}).all;
                });
}

TEST_P(Types, OfNorms) {
  expectAlike(nn::BatchNorm::make({feature, 4}),
              [](const nn::BatchNorm &layer, const Tensor &x, nn::Mode &mode) {
                return layer(x, over(batch, timeName), mode);
              });
}

TEST_P(Types, OfAttention) {
  expectAlike(nn::Attention::make({feature, 4}, 2, key(2), {.rotary = 10000.0, .reach = 2}),
              [](const nn::Attention &layer, const Tensor &x, nn::Mode &mode) {
                return layer(x, timeName, feature, mode, {.causal = true});
              });
}

TEST_P(Types, OfCaches) {
  nn::Attention layer = nn::Attention::make({feature, 4}, 2, key(2));
  auto run = [&](const nn::Attention &own, Tensor x) {
    nn::KeyValueCache cache = own.cache({{batch, 3}}, 8);
    EXPECT_EQ(cache.keys.elementType(), x.elementType());
    nn::Mode mode;
    return jit([&](nn::Attention own, nn::KeyValueCache cache, Tensor x) {
      nn::Mode mode;
      return own(x, timeName, feature, mode, {.causal = true, .cache = &cache});
    })(own, cache, x);
  };
  Tensor x = random({{batch, 3}, {timeName, 5}, {feature, 4}}, 7);
  Tensor wanted = run(layer, x), got = run(cast(layer), x.cast(GetParam()));
  auto a = got.cast(ElementType::F32).to<float>(orderOf(wanted)),
       b = wanted.to<float>(orderOf(wanted));
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 0.06 * (1 + std::abs(b[i])));
}

TEST_P(Types, OfConformers) {
  expectAlike(nn::Conformer::make(timeName, {feature, 4}, key(2), {.heads = 2, .dropout = 0}),
              [](const nn::Conformer &layer, const Tensor &x, nn::Mode &mode) {
                return layer(x, timeName, feature, mode);
              });
}
