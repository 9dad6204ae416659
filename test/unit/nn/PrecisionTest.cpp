//===- PrecisionTest.cpp - narrow factors and loss scaling ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program with JitOptions::products is compared with one that has explicit roundings.
//
//===----------------------------------------------------------------------===//

#include "heddle/Kernel.h"
#include "heddle/nn/Gradients.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Optimizers.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), row("row"), column("column"), channel("channel"), out("out"),
    feature("feature"), hidden("hidden"), n("n");

/// Compares function(inputs) under JitOptions::products with `rounded`, whose factors are rounded
/// as written, and with the function in f32. `isNarrowed`: whether there is anything to round.
void expectProducts(ElementType type, const std::vector<Tensor> &inputs,
                    const std::function<std::vector<Tensor>(const Inputs &)> &function,
                    const std::function<std::vector<Tensor>(const Inputs &)> &rounded,
                    bool isNarrowed = true) {
  auto run = [&](const auto &what, JitOptions options) {
    return jit([&](Inputs x) { return what(x); }, options)(Inputs{inputs});
  };
  auto got = run(function, {.products = type}), wanted = run(rounded, {}), full = run(function, {});
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].type(), full[i].type());
    auto a = valuesOf(got[i]), b = valuesOf(wanted[i]), c = valuesOf(full[i]);
    double most = 0, far = 0;
    for (float value : c)
      most = std::max(most, double(std::abs(value)));
    for (size_t j = 0; j < a.size(); ++j) {
      EXPECT_NEAR(a[j], b[j], 2e-5 * most) << "result " << i << " at " << j;
      EXPECT_NEAR(a[j], c[j], 2e-2 * most) << "result " << i << " at " << j;
      far = std::max(far, std::abs(double(a[j]) - double(c[j])));
    }
    if (isNarrowed)
      EXPECT_GT(far, 1e-5 * most) << "result " << i << " is not narrowed";
    else
      EXPECT_LE(far, 1e-6 * most) << "result " << i << " is narrowed";
  }
}

Tensor rounded(const Tensor &x, ElementType type) { return x.round(type); }

class Products : public testing::TestWithParam<ElementType> {};
INSTANTIATE_TEST_SUITE_P(Types, Products, testing::Values(ElementType::BF16, ElementType::F16));
} // namespace

TEST_P(Products, OfMatricesAndTheirGradients) {
  ElementType type = GetParam();
  Tensor x = random({{batch, 7}, {feature, 13}}, 1), w = random({{feature, 13}, {out, 5}}, 2),
         slope = random({{batch, 7}, {out, 5}}, 3);
  auto both = [&](const Inputs &in) {
    auto product = [](const Inputs &in) { return sum(in.all[0] * in.all[1], feature); };
    auto gradient = grad([&](Inputs in) { return sum(product(in) * slope, over(batch, out)); }, in);
    return std::vector<Tensor>{product(in), gradient.all[0], gradient.all[1]};
  };
  auto written = [&](const Inputs &in) {
    Tensor x = rounded(in.all[0], type), w = rounded(in.all[1], type), g = rounded(slope, type);
    return std::vector<Tensor>{sum(x * w, feature), sum(g * w, out), sum(g * x, batch)};
  };
  expectProducts(type, {x, w}, both, written);
}

TEST_P(Products, OfConvolutionsAndTheirGradients) {
  ElementType type = GetParam();
  nn::Windows windows(over(row, column), {.size = 3, .stride = 2, .padding = nn::padded(1)});
  nn::Conv conv = nn::Conv::make(windows, {channel, 3}, {out, 5}, key(1), {.bias = false});
  Tensor x = random({{batch, 2}, {row, 7}, {column, 6}, {channel, 3}}, 2);
  auto convolve = [&](const Tensor &x, const Tensor &w) {
    nn::Conv layer = conv;
    layer.weight = w;
    return layer(x, over(row, column), channel, out);
  };
  Tensor slope = random(extentsOf(convolve(x, conv.weight)), 3);
  auto all = [&](const Inputs &in, const auto &round) {
    auto gradientOf = [&](size_t i, const Tensor &slope) {
      // The product is linear in each factor; each factor is rounded separately.
      return grad(
          [&](Tensor moved) {
            Tensor x = i == 0 ? moved : round(in.all[0]), w = i == 1 ? moved : round(in.all[1]);
            return sum(convolve(x, w) * slope, over(batch, row, column, channel));
          },
          in.all[i]);
    };
    return std::vector<Tensor>{convolve(round(in.all[0]), round(in.all[1])),
                               gradientOf(0, round(slope)), gradientOf(1, round(slope))};
  };
  expectProducts(
      type, {x, conv.weight},
      [&](const Inputs &in) { return all(in, [](const Tensor &t) { return t; }); },
      [&](const Inputs &in) { return all(in, [&](const Tensor &t) { return rounded(t, type); }); });
}

TEST_P(Products, InScansAndAttention) {
  ElementType type = GetParam();
  Tensor x = random({{batch, 3}, {n, 4}, {feature, 6}}, 1),
         w = random({{feature, 6}, {hidden, 6}}, 2);
  auto recur = [&](const Inputs &in, const auto &round) {
    auto [last, all] =
        scan(n, zeros({{batch, 3}, {feature, 6}}), in.all[0], [&](Tensor h, Tensor now) {
          Tensor next =
              tanh(sum(round(h + now) * round(in.all[1]), feature)).rename({{hidden, feature}});
          return std::pair(next, next);
        });
    return std::vector<Tensor>{all};
  };
  expectProducts(
      type, {x, w}, [&](const Inputs &in) { return recur(in, [](const Tensor &t) { return t; }); },
      [&](const Inputs &in) {
        return recur(in, [&](const Tensor &t) { return rounded(t, type); });
      });
  Name past("past");
  Tensor k = random({{batch, 3}, {past, 5}, {feature, 6}}, 4);
  auto attend = [&](const Inputs &in, const auto &round) {
    Tensor q = in.all[0] * 0.4, score = sum(round(q) * round(in.all[1]), feature);
    return std::vector<Tensor>{sum(round(nn::softmax(score, past)) * round(in.all[1]), past)};
  };
  expectProducts(
      type, {x, k}, [&](const Inputs &in) { return attend(in, [](const Tensor &t) { return t; }); },
      [&](const Inputs &in) {
        return attend(in, [&](const Tensor &t) { return rounded(t, type); });
      });
}

TEST_P(Products, OfAllElsewhereStay) {
  Tensor x = random({{batch, 7}, {feature, 13}}, 1), y = random({{batch, 7}, {feature, 13}}, 2),
         scale = random({{feature, 13}}, 3);
  auto function = [&](const Inputs &in) {
    const Tensor &x = in.all[0], &y = in.all[1], &scale = in.all[2];
    return std::vector<Tensor>{x * scale,
                               sum(x * x, over(batch, feature)),
                               sum(x * y, feature),
                               sum(x * scale, feature),
                               nn::softmax(x * scale, feature),
                               nn::LayerNorm::make({{feature, 13}})(x, feature)};
  };
  expectProducts(GetParam(), {x, y, scale}, function, function, /*isNarrowed=*/false);
}

TEST_P(Products, OfKernels) {
  // A factor that the kernel computes is rounded too; one without names is not.
  ElementType type = GetParam();
  Tensor x = random({{batch, 7}, {feature, 13}}, 1), w = random({{feature, 13}, {out, 5}}, 2),
         scale = Tensor::of<float>({1.001953125f}, {});
  expectProducts(
      type, {x, w, scale},
      [&](const Inputs &in) {
        return std::vector<Tensor>{
            kernel(batch, out).sum(feature).of(exp(at(in.all[0])) * at(in.all[1]) * at(in.all[2]))};
      },
      [&](const Inputs &in) {
        return std::vector<Tensor>{
            sum(rounded(exp(in.all[0]), type) * rounded(in.all[1], type), feature) * in.all[2]};
      });
}

TEST(Products, RefusesOtherTypes) {
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::I8})
    refused([&] { jit([](Tensor x) { return x; }, {.products = type}); },
            {"narrower than f32", std::string(spelling(type))});
}

//===----------------------------------------------------------------------===//
// The scale of a loss
//===----------------------------------------------------------------------===//

namespace {
struct ScaledState {
  Tensor p;
  nn::Adam adam;
  nn::LossScale scale;
  HEDDLE_FIELDS(p, adam, scale)
};
} // namespace

TEST(LossScale, GrowsShrinksAndSkips) {
  ScaledState s{random({{n, 3}}, 1), {}, nn::LossScale::make({.first = 8, .every = 2})};
  s.adam = nn::Adam::make(s.p);
  auto step = jit([&](ScaledState &s, Tensor slope) {
    auto [loss, gradient] =
        valueAndGrad([&](Tensor p) { return s.scale.scaled(sum(p * slope, n)); }, s.p);
    auto change = [&] { s.adam.update(s.p, gradient, 0.1); };
    Tensor good = s.scale.update(gradient, change, s.p, s.adam);
    return std::pair(good, gradient);
  });
  // Without a scale.
  std::pair<Tensor, nn::Adam> plain{random({{n, 3}}, 1), nn::Adam::make(s.p)};
  auto plainStep = jit([&](std::pair<Tensor, nn::Adam> &s, Tensor slope) {
    Tensor gradient = slope * 1.0;
    s.second.update(s.first, gradient, 0.1);
  });
  Tensor slope = random({{n, 3}}, 2), huge = Tensor::of<float>({1, 2e38f, 1}, {{n, 3}});
  auto expectState = [&](float scale, float good, bool wasGood) {
    auto [isGood, gradient] = step(s, wasGood ? slope : huge);
    EXPECT_EQ(isGood.item(), wasGood);
    EXPECT_EQ(s.scale.scale.item(), scale);
    EXPECT_EQ(s.scale.good.item(), good);
    if (wasGood) {
      plainStep(plain, slope);
      EXPECT_EQ(valuesOf(gradient), valuesOf(slope)); // powers of two are exact
    }
    auto got = valuesOf(s.p), wanted = valuesOf(plain.first);
    for (size_t i = 0; i < wanted.size(); ++i) // two programs may round otherwise (FMA)
      EXPECT_NEAR(got[i], wanted[i], 1e-6);
    EXPECT_EQ(valuesOf(s.adam.square.at("")), valuesOf(plain.second.square.at("")));
    EXPECT_EQ(s.adam.steps.item(), plain.second.steps.item());
  };
  expectState(8, 1, true);
  expectState(16, 0, true); // after two good steps
  expectState(16, 1, true);
  expectState(8, 0, false); // 16 * 2e38 overflows
  expectState(8, 1, true);
  expectState(4, 0, false);
  expectState(2, 0, false);
}

TEST(LossScale, SavesGradientsThatF16WouldLose) {
  // Of f16 the smallest number is 6e-8.
  Tensor x = random({{batch, 5}, {feature, 3}}, 1), slope = random({{batch, 5}, {out, 2}}, 2);
  Tensor w = random({{feature, 3}, {out, 2}}, 3);
  auto gradientFor = [&](float first, JitOptions options) {
    auto run = jit(
        [&](nn::LossScale &scale, Tensor w) {
          auto [loss, gradient] = valueAndGrad(
              [&](Tensor w) {
                return scale.scaled(sum(sum(x * w, feature) * (slope * 1e-8), over(batch, out)));
              },
              w);
          scale.update(gradient, [] {});
          return gradient;
        },
        options);
    nn::LossScale scale = nn::LossScale::make({.first = first});
    return valuesOf(run(scale, w));
  };
  auto wanted = gradientFor(1, {}), lost = gradientFor(1, {.products = ElementType::F16}),
       saved = gradientFor(65536, {.products = ElementType::F16});
  EXPECT_EQ(lost, std::vector<float>(6, 0));
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(saved[i], wanted[i], 2e-3 * std::abs(wanted[i]) + 1e-11);
}
