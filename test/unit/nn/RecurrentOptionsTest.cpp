//===- RecurrentOptionsTest.cpp - without bias, with projection -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Recurrent.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Recorded.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), moment("time"), feature("feature"), hidden("hidden"), unit("unit"),
    cell("cell");

const Recorded &recorded() {
  static const Recorded all("recurrent-options");
  return all;
}

void expectLayer(const std::string &name, nn::RecurrentOptions options) {
  Given inputs = recorded().inputs(name);
  const Tensor &weight = inputs.at("cells.0.input");
  if (inputs.contains("cells.0.projection"))
    options.projection = inputs.at("cells.0.projection").size(hidden);
  nn::Recurrent layer = nn::Recurrent::make({feature, weight.size(feature)},
                                            {hidden, weight.size(hidden)}, key(1), options);
  auto run = [&](const Given &x) {
    nn::Recurrent own = layer;
    forEachTensor(own, [&](const std::string &path, Tensor &tensor) {
      std::string type = tensor.cast(ElementType::F64).type();
      ASSERT_EQ(type, x.at(path).type()) << path;
      tensor = x.at(path);
    });
    nn::Mode mode;
    nn::RecurrentRun how;
    if (x.contains("lengths"))
      how.lengths = x.at("lengths");
    return own(x.at("x"), moment, feature, hidden, mode, how);
  };
  recorded().expect(name, [&](const Given &x) { return run(x).all; });
  std::vector<nn::RecurrentState> last = jit([&](Given x) { return run(x).last; })(inputs);
  const Tensor &h = recorded().at(name + ".result.h");
  ASSERT_EQ(int64_t(last.size()), int64_t(h.size(cell)));
  for (size_t i = 0; i < last.size(); ++i) {
    expectSame(last[i].h, h.at(cell, int64_t(i)), name + ": h");
    if (last[i].c)
      expectSame(*last[i].c, recorded().at(name + ".result.c").at(cell, int64_t(i)), name + ": c");
  }
}
} // namespace

TEST(RecurrentOptions, WithoutBiasAndWithProjection) {
  for (std::string end : {"", "-ones"}) {
    expectLayer("rnn" + end, {.cell = nn::Cell::Tanh, .bias = false});
    expectLayer("gru" + end,
                {.cell = nn::Cell::Gru, .layers = 2, .bidirectional = true, .bias = false});
    expectLayer("lstm" + end, {.bias = false});
    expectLayer("lstm-projection" + end, {.layers = 2, .bidirectional = true});
    expectLayer("lstm-projection-alone" + end, {.bias = false});
  }
}

/// A state given and given back, samples along names of the weights, and one program for all sizes.
TEST(RecurrentOptions, ProjectedStates) {
  nn::Recurrent layer = nn::Recurrent::make({feature, 3}, {hidden, 5}, key(1), {.projection = 2});
  Tensor x = random({{batch, 4}, {moment, 6}, {feature, 3}}, 2);
  auto run = [&](const Tensor &x, const std::vector<nn::RecurrentState> &initial) {
    nn::Mode mode;
    return layer(x, moment, feature, hidden, mode, {.initial = initial});
  };
  auto [all, last] = run(x, {});
  EXPECT_EQ(all.type(), "!nd.tensor<f32, batch: 4, hidden: 2, time: 6>");
  EXPECT_EQ(last[0].c->type(), "!nd.tensor<f32, batch: 4, hidden: 5>");
  auto [begin, between] = run(x.slice(moment, 0, 2), {});
  auto [rest, end] = run(x.slice(moment, 2, 4), between);
  auto same = [](const Tensor &got, const Tensor &wanted) {
    expectNear(valuesOf(got), mapped(valuesOf(wanted), [](double y) { return y; }));
  };
  same(concat({begin, rest}, moment), all);
  same(*end[0].c, *last[0].c);
  Tensor other = run(x.rename({{batch, unit}}), {}).all;
  same(other.rename({{unit, batch}}), all);
  auto any = jit([&](Tensor x) { return run(x, {}).all; }, withSymbolic({batch, moment}));
  same(any(x), all);
  same(any(x.slice(batch, 0, 1).slice(moment, 0, 2)), begin.slice(batch, 0, 1));
}

TEST(Misuse, RecurrentOptions) {
  auto make = [](const nn::RecurrentOptions &options) {
    return nn::Recurrent::make({feature, 3}, {hidden, 5}, key(1), options);
  };
  refused([&] { make({.cell = nn::Cell::Gru, .projection = 2}); },
          {"a projection of an LSTM only"});
  for (int64_t wrong : {5, 6, -1})
    refused([&] { make({.projection = wrong}); },
            {"a projection to fewer units than 'hidden' has, 5, got " + std::to_string(wrong)});
}
