//===- Dlrm.cpp - a model that predicts clicks ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The deep learning recommendation model (Naumov et al., 2019): a perceptron maps dense features to
// a vector, categories select rows of tables, and another perceptron takes the dot products of all
// pairs of these vectors. At full size there are 26 tables of 100,000 rows of 64 features, and
// networks of 512, 256, 64 and of 512, 256, 1 units.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"
#include "models/zoo/data/Made.h"

namespace heddle::zoo::dlrm {
const Name number("number"), table("table"), row("row"), feature("feature"), other("other"),
    unit("unit");

struct Dlrm {
  nn::Perceptron bottom, top;
  Tensor tables;
  HEDDLE_FIELDS(bottom, top, tables)
  /// The logit of a click.
  Tensor operator()(const Tensor &dense, const Tensor &category, nn::Mode &mode) const {
    Tensor x = mode.seen("bottom", relu(bottom(dense, number)).rename({{number, unit}}));
    Tensor first = x.rename({{unit, feature}}).broadcast({{table, 1}});
    Tensor all = concat({first, tables.gather(row, category)}, table);
    Tensor products = sum(all * all.rename({{table, other}}), feature);
    std::vector<Tensor> below{x}; // products of tables i and j < i
    for (int64_t i = 1; i < all.size(table); ++i)
      below.push_back(products.at(table, i).slice(other, 0, i).rename({{other, unit}}));
    x = concat(below, unit);
    return mode.seen("top", top(x, unit)).at(unit, 0);
  }
};

static nn::Outcome lossOf(const Dlrm &net, const nn::Fields &fields, nn::Mode &mode) {
  const Tensor &click = fields.at("click");
  Tensor logit = net(fields.at("dense"), fields.at("category"), mode);
  Tensor isRight = equal(logit > 0.0, click > 0.5).cast(ElementType::F32);
  return {nn::sampleMean(nn::binaryCrossEntropyOfLogits(logit, click), fields),
          {{"accuracy", nn::sampleMean(isRight, fields)}}};
}

static Registered dlrm("dlrm", "Naumov et al., 2019", [](Size size) {
  using Sizes = std::vector<int64_t>;
  ClickOptions data = pick<ClickOptions>(size, {5, 3, 7}, {}, {.rows = 100000});
  Sizes bottom = pick<Sizes>(size, {7, 3}, {64, 32, 16}, {512, 256, 64});
  Sizes top = pick<Sizes>(size, {5, 1}, {64, 32, 1}, {512, 256, 1});
  Extent tables{table, data.tables}, rows{row, data.rows}, features{feature, bottom.back()};
  int64_t inputs = bottom.back() + data.tables * (data.tables + 1) / 2;
  Dlrm net{nn::Perceptron::make({number, data.dense}, bottom, key(1)),
           nn::Perceptron::make({unit, inputs}, top, key(2)),
           nn::normal(key(3), {tables, rows, features}, 0, 0.1)};
  return Setting<Dlrm>{net, lossOf, clicks(data), trainedFor(1, 128, 3e-3)};
});
} // namespace heddle::zoo::dlrm
