//===- HiddenTest.cpp - masked elements affect nothing --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function of nn with a mask, lengths or weights of 0 runs with zeros, NaN, infinities and
// the largest numbers as masked elements: values, all gradients and tangents of forward mode are
// finite and the same.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Generate.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Network.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"

#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), timeName("time"), from("from"), past("past"), feature("feature"),
    hidden("hidden"), position("position"), classes("class"), head("head"), node("node"),
    slot("slot");
constexpr int64_t size = 5;

const double badNumbers[] = {NAN, INFINITY, -INFINITY, std::numeric_limits<float>::max(),
                             std::numeric_limits<float>::lowest()};

struct None {
  HEDDLE_FIELDS()
};
template <typename L>
struct Given {
  L layer;
  std::vector<Tensor> inputs;
  HEDDLE_FIELDS(layer, inputs)
};

/// `call(layer, inputs)` must ignore the elements of input 0 where `isHidden`; further masks are
/// for further inputs.
template <typename L, typename F>
void expectHidden(const std::string &what, const L &layer, const std::vector<Tensor> &inputs,
                  const std::vector<Tensor> &isHidden, F call) {
  auto forward = [&](Given<L> given) { return call(given.layer, given.inputs); };
  auto tangents = jit([&](Given<L> given, Given<L> along) { return jvp(forward, given, along); });
  auto run = jit([&](Given<L> given) {
    return valueAndGrad(
        [&](Given<L> given) {
          Tensor y = call(given.layer, given.inputs);
          std::vector<Extent> extents = extentsOf(y);
          return std::pair(sum(y * (randomUniform(key(99), extents) + 0.5), orderOf(y)), y);
        },
        given);
  });
  auto with = [&](double number) {
    Given<L> given{layer, inputs};
    for (size_t i = 0; i < isHidden.size(); ++i)
      given.inputs[i] = select(isHidden[i], number, given.inputs[i]);
    auto [result, gradient] = run(given);
    std::vector<std::pair<std::string, std::vector<float>>> all{{"value", valuesOf(result.second)}};
    forEachTensor(gradient, [&](const std::string &path, Tensor &slope) {
      if (!slope.empty())
        all.emplace_back("gradient of " + path, valuesOf(slope));
    });
    Given<L> along = given;
    uint64_t seed = 100;
    forEachTensor(along, [&](const std::string &, Tensor &x) {
      if (!x.empty())
        x = isFloat(x.elementType()) ? random(extentsOf(x), ++seed) : Tensor();
    });
    all.emplace_back("tangent", valuesOf(tangents(given, along)));
    return all;
  };
  auto wanted = with(0);
  for (const auto &[name, values] : wanted)
    for (float value : values)
      ASSERT_TRUE(std::isfinite(value)) << what << ": " << name << " with zeros";
  for (double number : badNumbers) {
    auto got = with(number);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i].second, wanted[i].second)
          << what << ": " << got[i].first << " with " << number << " hidden";
  }
}

Tensor lengthsOf(std::vector<int32_t> values, const Name &along = batch) {
  return Tensor::of<int32_t>(values, {{along, int64_t(values.size())}});
}
/// True from each length on.
Tensor beyond(const Tensor &lengths, const Name &along, int64_t count = size) {
  return iota({along, count}, ElementType::I32).broadcast(lengths.extents()) >= lengths;
}
const std::vector<int32_t> some{5, 2, 0};
Tensor sequence(const Name &along = timeName, uint64_t seed = 3) {
  return random({{batch, 3}, {along, size}, {feature, 4}}, seed);
}
} // namespace

TEST(Hidden, KeysBehindLengths) {
  Tensor lengths = lengthsOf(some), query = random({{batch, 3}, {timeName, 2}, {feature, 4}}, 1),
         behind = beyond(lengths, past);
  for (bool causal : {false, true})
    expectHidden(causal ? "causal" : "all", None(), {sequence(past), sequence(past, 4), query},
                 {behind, behind}, [&](None, const std::vector<Tensor> &in) {
                   return nn::attention(in[2], in[0], in[1], past, feature,
                                        {.causal = causal ? std::optional(timeName) : std::nullopt,
                                         .lengths = lengths});
                 });
}

TEST(Hidden, KeysBehindTheLastQuery) {
  // Only the first 2 of 5 keys are visible.
  Tensor query = random({{batch, 3}, {timeName, 2}, {feature, 4}}, 1),
         behind = beyond(lengthsOf({2, 2, 2}), past);
  expectHidden("causal", None(), {sequence(past), sequence(past, 4), query}, {behind, behind},
               [&](None, const std::vector<Tensor> &in) {
                 return nn::attention(in[2], in[0], in[1], past, feature, {.causal = timeName});
               });
}

TEST(Hidden, PairsOfAMaskOrABias) {
  // Query 0 sees all keys except 1, which no query sees; query 1 sees none.
  Tensor seen = Tensor::of<bool>({true, false, true, true, true, false, false, false, false, false},
                                 {{timeName, 2}, {past, size}});
  Tensor query = random({{batch, 3}, {timeName, 2}, {feature, 4}}, 1);
  Tensor key1 = equal(iota({past, size}), 1.0), query1 = equal(iota({timeName, 2}), 1.0);
  for (bool isBias : {false, true}) {
    nn::AttentionOptions options;
    (isBias ? options.bias : options.mask) =
        isBias ? select(seen, zeros({{timeName, 2}, {past, size}}), -INFINITY) : seen;
    expectHidden(isBias ? "bias" : "mask", None(), {sequence(past), sequence(past, 4), query},
                 {key1, key1, query1}, [&](None, const std::vector<Tensor> &in) {
                   return nn::attention(in[2], in[0], in[1], past, feature, options);
                 });
    // A query that sees no key gets zeros, and its gradients are zero.
    Tensor y = nn::attention(query, sequence(past), sequence(past, 4), past, feature, options);
    EXPECT_EQ(valuesOf(y.at(timeName, 1)), std::vector<float>(12, 0));
    Tensor slope = grad(
        [&](Tensor q) {
          return sum(nn::attention(q, sequence(past), sequence(past, 4), past, feature, options),
                     over(batch, timeName, feature));
        },
        query);
    EXPECT_EQ(valuesOf(slope.at(timeName, 1)), std::vector<float>(12, 0));
  }
}

TEST(Hidden, OneQueryDoesNotSeeWhatOthersSee) {
  // Key 4 is NaN: the last query sees it, by its position; the others have the values without it.
  Tensor x = sequence(timeName), keys = x.rename({{timeName, past}});
  Tensor last = equal(iota({past, size}), double(size - 1));
  auto run = [&](double number) {
    Tensor bad = select(last, number, keys);
    return nn::attention(x, bad, bad, past, feature, {.causal = timeName});
  };
  Tensor wanted = run(0);
  for (double number : badNumbers) {
    Tensor got = run(number);
    EXPECT_EQ(valuesOf(got.slice(timeName, 0, size - 1)),
              valuesOf(wanted.slice(timeName, 0, size - 1)));
  }
  // A query that sees a value that is infinite or NaN gets NaN.
  for (double number : {NAN, INFINITY, -INFINITY})
    for (float each : valuesOf(run(number).at(timeName, -1)))
      EXPECT_TRUE(std::isnan(each)) << number;
}

TEST(Hidden, ASingleQuerySeesSomeKeys) {
  // Its place is the third, or keys 1 and 4 are hidden by a mask; keys may lack names of the
  // queries.
  Tensor query = random({{batch, 3}, {timeName, 1}, {feature, 4}}, 1);
  Tensor odd = equal(iota({past, size}) % 3.0, 1.0);
  nn::AttentionOptions third{.causal = timeName, .first = constant(2, ElementType::I64)},
      masked{.mask = logicalNot(odd)};
  for (bool isShared : {false, true})
    for (const nn::AttentionOptions &options : {third, masked}) {
      Tensor keys = sequence(past), values = sequence(past, 4),
             isHidden = options.causal ? iota({past, size}) > 2.0 : odd;
      if (isShared)
        keys = keys.at(batch, 0), values = values.at(batch, 0);
      expectHidden("single", None(), {keys, values, query}, {isHidden, isHidden},
                   [&](None, const std::vector<Tensor> &in) {
                     return nn::attention(in[2], in[0], in[1], past, feature, options);
                   });
    }
}

TEST(Hidden, ValuesAreNaNInTheFeaturesThatAreSeen) {
  // Value 3 is NaN in feature 1, and infinite in feature 2. The queries that see it get what they
  // get of PyTorch's scaled_dot_product_attention, but NaN instead of infinities.
  Tensor x = sequence(timeName), keys = x.rename({{timeName, past}}), values = sequence(past, 4);
  Tensor third = equal(iota({past, size}), 3.0), where = iota({feature, 4});
  Tensor bad = select(logicalAnd(third.broadcast({{feature, 4}}), equal(where, 1.0)), NAN, values);
  bad = select(logicalAnd(third.broadcast({{feature, 4}}), equal(where, 2.0)), INFINITY, bad);
  auto run = [&](Tensor values) {
    return nn::attention(x, keys, values, past, feature, {.causal = timeName});
  };
  auto got = run(bad).to<float>({timeName, feature, batch}),
       wanted = run(values).to<float>({timeName, feature, batch});
  for (size_t i = 0; i < got.size(); ++i) {
    size_t time = i / 12, f = i / 3 % 4;
    if (time >= 3 && (f == 1 || f == 2))
      EXPECT_FALSE(std::isfinite(got[i])) << time << " " << f;
    else
      EXPECT_EQ(got[i], wanted[i]) << time << " " << f;
  }
  // The slopes of what sees it are NaN, even where they are asked for in another feature.
  Tensor slope = grad(
      [&](Tensor q) {
        Tensor y = nn::attention(q, keys, bad, past, feature, {.causal = timeName});
        return sum(y.at(feature, 0), over(batch, timeName));
      },
      x);
  auto slopes = slope.to<float>({timeName, feature, batch});
  for (size_t i = 0; i < slopes.size(); ++i)
    EXPECT_EQ(std::isfinite(slopes[i]), i / 12 < 3) << i;
}

TEST(Hidden, AMaskLetsInfiniteValuesBeSeen) {
  Tensor x = sequence(timeName), keys = x.rename({{timeName, past}}), values = sequence(past, 4);
  Tensor seen = iota({past, size}).broadcast({{timeName, size}}) <= iota({timeName, size});
  auto run = [&](const Tensor &values) {
    return nn::attention(x, keys, values, past, feature, {.mask = seen});
  };
  Tensor wanted = run(values);
  for (double number : {double(NAN), double(INFINITY)}) {
    Tensor got = run(select(equal(iota({past, size}), 3.0), number, values));
    EXPECT_EQ(valuesOf(got.slice(timeName, 0, 3)), valuesOf(wanted.slice(timeName, 0, 3)));
    for (float each : valuesOf(got.slice(timeName, 3, 2)))
      EXPECT_TRUE(std::isnan(each)) << number;
  }
}

TEST(Hidden, CachedKeysThatAChunkDoesNotSee) {
  // Position 2 is NaN or infinite: the queries before it have the values without it.
  nn::Attention layer = nn::Attention::make({feature, 4}, 2, key(1));
  Tensor x = sequence();
  auto run = [&](double number) {
    nn::KeyValueCache cache = layer.cache({{batch, 3}}, 8);
    nn::Mode mode;
    Tensor bad = select(equal(iota({timeName, size}), 2.0), number, x);
    return layer(bad, timeName, feature, mode, {.causal = true, .cache = &cache})
        .slice(timeName, 0, 2);
  };
  auto wanted = valuesOf(run(0));
  for (double number : badNumbers)
    EXPECT_EQ(valuesOf(run(number)), wanted) << number;
  // A query does not see the rows of a cache beyond the positions so far.
  auto step = [&](double number) {
    nn::KeyValueCache cache = layer.cache({{batch, 3}}, 8);
    for (Tensor *part : {&cache.keys, &cache.values})
      *part = *part + number;
    nn::Mode mode;
    return layer(x.slice(timeName, 0, 1), timeName, feature, mode,
                 {.causal = true, .cache = &cache});
  };
  wanted = valuesOf(step(0));
  for (double number : badNumbers)
    EXPECT_EQ(valuesOf(step(number)), wanted) << number;
}

TEST(Hidden, PositionsOfLayersOfAttention) {
  Tensor lengths = lengthsOf(some), behind = beyond(lengths, timeName);
  nn::Attention layer =
      nn::Attention::make({feature, 4}, 2, key(1), {.rotary = 10000.0, .reach = 2});
  for (bool causal : {false, true})
    expectHidden("self", layer, {sequence()}, {behind},
                 [&](const nn::Attention &layer, const std::vector<Tensor> &in) {
                   nn::Mode mode;
                   return layer(in[0], timeName, feature, mode,
                                {.causal = causal, .lengths = lengths});
                 });
  Tensor query = random({{batch, 3}, {timeName, 2}, {feature, 4}}, 1);
  expectHidden("cross", layer, {sequence(from), query}, {beyond(lengths, from)},
               [&](const nn::Attention &layer, const std::vector<Tensor> &in) {
                 nn::Mode mode;
                 return layer.cross(in[1], timeName, in[0], from, feature, mode,
                                    {.lengths = lengths});
               });
  // By position, 2 queries see the first 2 of 5.
  expectHidden("causal cross", layer, {sequence(from), query}, {iota({from, size}) > 1.0},
               [&](const nn::Attention &layer, const std::vector<Tensor> &in) {
                 nn::Mode mode;
                 return layer.cross(in[1], timeName, in[0], from, feature, mode, {.causal = true});
               });
  // A mask of pairs, which hides key 1 from all and all from query 1 of one head and of the other.
  Tensor seen = logicalAnd(notEqual(iota({from, size}), 1.0).broadcast({{timeName, 2}, {head, 2}}),
                           notEqual(iota({timeName, 2}), 1.0).broadcast({{from, size}, {head, 2}}));
  expectHidden("mask", layer, {sequence(from), query},
               {equal(iota({from, size}), 1.0), equal(iota({timeName, 2}), 1.0)},
               [&](const nn::Attention &layer, const std::vector<Tensor> &in) {
                 nn::Mode mode;
                 return layer.cross(in[1], timeName, in[0], from, feature, mode,
                                    {.mask = seen, .heads = head});
               });
}

TEST(Hidden, PositionsOfTransformers) {
  Tensor lengths = lengthsOf(some), behind = beyond(lengths, timeName);
  nn::TransformerOptions options{.heads = 2, .hidden = 3, .dropout = 0};
  expectHidden("encoder", nn::TransformerLayer::make({feature, 4}, key(1), options), {sequence()},
               {behind}, [&](const nn::TransformerLayer &layer, const std::vector<Tensor> &in) {
                 nn::Mode mode;
                 return layer(in[0], timeName, feature, mode, {.lengths = lengths});
               });
  options.decoder = true;
  expectHidden("decoder", nn::TransformerLayer::make({feature, 4}, key(1), options),
               {sequence(from), sequence()}, {beyond(lengths, from)},
               [&](const nn::TransformerLayer &layer, const std::vector<Tensor> &in) {
                 nn::Mode mode;
                 return layer(in[1], timeName, feature, mode, {.causal = true},
                              nn::Memory{in[0], from, {.lengths = lengths}});
               });
  nn::Conformer conformer = nn::Conformer::make(
      timeName, {feature, 4}, key(1), {.heads = 2, .hidden = 3, .window = 3, .dropout = 0});
  expectHidden("conformer", conformer, {sequence()}, {behind},
               [&](const nn::Conformer &layer, const std::vector<Tensor> &in) {
                 nn::Mode mode = nn::Mode::training(conformer, key(2), batch).evaluation();
                 return layer(in[0], timeName, feature, mode, {.lengths = lengths});
               });
}

TEST(Hidden, StepsOfRecurrentNetworks) {
  Tensor lengths = lengthsOf(some);
  for (nn::Cell cell : {nn::Cell::Tanh, nn::Cell::Relu, nn::Cell::Gru, nn::Cell::Lstm})
    for (bool last : {false, true})
      expectHidden("cell " + std::to_string(int(cell)),
                   nn::Recurrent::make({feature, 4}, {hidden, 3}, key(1),
                                       {.cell = cell, .layers = 2, .bidirectional = true}),
                   {sequence()}, {beyond(lengths, timeName)},
                   [&](const nn::Recurrent &net, const std::vector<Tensor> &in) {
                     nn::Mode mode;
                     auto result =
                         net(in[0], timeName, feature, hidden, mode, {.lengths = lengths});
                     return last ? result.last.back().h : result.all;
                   });
}

TEST(Hidden, NeighboursBeyondTheCount) {
  // The slots beyond the count are those of node 0, whose score is far above all others: the
  // weights of the neighbours are as if it were any other node.
  nn::GraphAttention layer = nn::GraphAttention::make({{feature, 2}}, {{hidden, 1}}, key(1));
  layer.project.weight = tensor({1, 0}, {{feature, 2}, {hidden, 1}});
  layer.own = tensor({0}, {{hidden, 1}}), layer.other = tensor({1}, {{hidden, 1}});
  auto run = [&](float far) {
    Tensor x = tensor({far, 0, 1, 0, 2, 0}, {{node, 3}, {feature, 2}});
    nn::Neighbours near{Tensor::of<int32_t>({1, 2, 1, -1, 2, 0}, {{node, 3}, {slot, 2}}),
                        Tensor::of<int32_t>({2, 1, 1}, {{node, 3}}), slot};
    return jit([&](nn::GraphAttention layer) {
      return valueAndGrad(
          [&](nn::GraphAttention layer) {
            Tensor y = layer(x, node, feature, hidden, near);
            return sum(square(y), over(node, hidden));
          },
          layer);
    })(layer);
  };
  // Node 0 has the weights of softmax(1, 2), the others have one neighbour each.
  double share = 1 / (1 + std::exp(1.0)), y = share + (1 - share) * 2;
  for (float far : {0.0f, 120.0f, std::numeric_limits<float>::max()}) {
    auto [value, gradient] = run(far);
    EXPECT_NEAR(value.item(), y * y + 1 + 4, 1e-5) << far;
    // d y / d other = share * (1 - share) * (2 - 1)^2
    EXPECT_NEAR(valuesOf(gradient.other)[0], 2 * y * share * (1 - share), 1e-5) << far;
  }
}

TEST(Hidden, ElementsOfOtherPartsOfAPool) {
  const Name row("row");
  Tensor x = tensor({1, 2, 3, INFINITY, 5}, {{row, 5}});
  EXPECT_EQ(valuesOf(nn::adaptiveAveragePool(x, row, 2)), (std::vector<float>{2, INFINITY}));
  x = tensor({1, 2, 3, NAN, 5}, {{row, 5}});
  EXPECT_EQ(valuesOf(nn::adaptiveAveragePool(x, row, 2))[0], 2);
  expectHidden("pool", None(), {random({{row, 5}}, 1)}, {iota({row, 5}) >= 3.0},
               [&](None, const std::vector<Tensor> &in) {
                 return nn::adaptiveAveragePool(in[0], row, 2).at(row, 0);
               });
}

TEST(Hidden, SamplesThatLossesIgnore) {
  Tensor label = Tensor::of<int32_t>({1, -1, 2}, {{batch, 3}}), ignored = equal(label, -1.0);
  Tensor logits = random({{batch, 3}, {classes, 4}}, 1), weight = random({{classes, 4}}, 2, 0.5);
  for (double smoothing : {0.0, 0.1})
    for (bool isWeighted : {false, true}) {
      nn::CrossEntropyOptions options{
          .weight = isWeighted ? weight : Tensor(), .ignored = -1, .smoothing = smoothing};
      expectHidden("cross entropy", None(), {logits}, {ignored},
                   [&](None, const std::vector<Tensor> &in) {
                     return nn::crossEntropy(in[0], label, classes, options);
                   });
      expectHidden("its mean", None(), {logits}, {ignored},
                   [&](None, const std::vector<Tensor> &in) {
                     return nn::crossEntropyMean(in[0], label, classes, batch, options);
                   });
    }
  for (const Tensor &own : {Tensor(), weight}) {
    nn::NllOptions options{.weight = own, .ignored = -1};
    expectHidden("nll", None(), {logits}, {ignored}, [&](None, const std::vector<Tensor> &in) {
      return nn::nll(in[0], label, classes, options);
    });
    expectHidden("its mean", None(), {logits}, {ignored}, [&](None, const std::vector<Tensor> &in) {
      return nn::nllMean(in[0], label, classes, batch, options);
    });
  }
  expectHidden("counted cross entropy", None(), {logits}, {ignored},
               [&](None, const std::vector<Tensor> &in) {
                 return nn::countedCrossEntropy(in[0], label, classes, {.ignored = -1}).mean;
               });
  Tensor count = tensor({1, 0, 2}, {{batch, 3}});
  expectHidden(
      "counted mean", None(), {random({{batch, 3}, {classes, 4}}, 1)}, {equal(count, 0.0)},
      [&](None, const std::vector<Tensor> &in) { return nn::countedMean(in[0], count).mean; });
  expectHidden("mean over samples", None(), {random({{batch, 3}, {classes, 4}}, 1)},
               {equal(count, 0.0)}, [&](None, const std::vector<Tensor> &in) {
                 return nn::sampleMean(in[0], {{"weight", count}});
               });
}

TEST(Hidden, ClassesOfProbabilityZero) {
  // Classes with logits of -inf add no loss if their target is 0.
  auto expectFinite = [](const std::string &what, auto loss, Tensor x, Tensor wanted,
                         std::vector<double> values) {
    auto [value, gradient] = valueAndGrad(
        [&](std::pair<Tensor, Tensor> both) {
          Tensor y = loss(both.first, both.second);
          return sum(y, orderOf(y));
        },
        std::pair(x, wanted));
    double total = 0;
    for (double each : values)
      total += each;
    EXPECT_NEAR(value.item(), total, 1e-5) << what;
    for (const Tensor &slope : {gradient.first, gradient.second})
      for (float each : valuesOf(slope))
        EXPECT_TRUE(std::isfinite(each)) << what;
  };
  Tensor logs = tensor({std::log(0.25f), std::log(0.75f), -INFINITY}, {{classes, 3}});
  Tensor wanted = tensor({0.5, 0.5, 0}, {{classes, 3}});
  double half = std::log(0.5);
  expectFinite("divergence", [](Tensor x, Tensor y) { return nn::klDivergence(x, y); }, logs,
               wanted, {0.5 * (half - std::log(0.25)), 0.5 * (half - std::log(0.75))});
  expectFinite("cross entropy", [](Tensor x, Tensor y) { return nn::crossEntropy(x, y, classes); },
               logs, wanted, {-0.5 * std::log(0.25), -0.5 * std::log(0.75)});
  nn::CrossEntropyOptions options{.weight = tensor({1, 1, 0}, {{classes, 3}}), .smoothing = 0.5};
  expectFinite("smoothed",
               [&](Tensor x, Tensor y) { return nn::crossEntropy(x, y, classes, options); }, logs,
               wanted,
               {-0.25 * std::log(0.25) - 0.25 * std::log(0.75),
                -0.5 / 3 * (std::log(0.25) + std::log(0.75))});
}

TEST(Hidden, FramesAndElementsOfCtc) {
  Tensor times = lengthsOf({5, 2, 3}), count = lengthsOf({2, 1, 0});
  Tensor label = Tensor::of<int32_t>({1, 2, 2, 99, -7, 1}, {{batch, 3}, {position, 2}});
  nn::CtcNames names{timeName, classes, position};
  Tensor logs = nn::logSoftmax(random({{batch, 3}, {timeName, size}, {classes, 4}}, 1), classes);
  expectHidden("ctc", None(), {logs}, {beyond(times, timeName)},
               [&](None, const std::vector<Tensor> &in) {
                 return nn::ctc(in[0], times, label, count, names);
               });
  expectHidden("errors", None(), {logs, random({{batch, 3}}, 1)}, {beyond(times, timeName)},
               [&](None, const std::vector<Tensor> &in) {
                 return nn::ctcErrors(in[0], times, label, count, names) * in[1];
               });
}

TEST(Hidden, ItemsOfNoBag) {
  // Elements beyond the lengths have weights, and indices of a masked entry.
  Tensor lengths = lengthsOf(some), behind = beyond(lengths, position);
  Tensor index = select(behind, constant(2, ElementType::I32), constant(1, ElementType::I32));
  nn::EmbeddingBag none = nn::EmbeddingBag::make({classes, 3}, {feature, 4}, key(1));
  for (nn::BagMode mode : {nn::BagMode::Sum, nn::BagMode::Mean, nn::BagMode::Max})
    expectHidden("bag", None(), {none.table, random({{batch, 3}, {position, size}}, 2)},
                 {equal(iota({classes, 3}), 2.0), behind},
                 [&](None, const std::vector<Tensor> &in) {
                   nn::EmbeddingBag bags = none;
                   bags.table = in[0];
                   bags.mode = mode;
                   nn::BagOptions options{.lengths = lengths};
                   if (mode == nn::BagMode::Sum)
                     options.weight = in[1];
                   return bags(index, classes, position, options);
                 });
}

TEST(Hidden, PositionsBehindTheLast) {
  Tensor lengths = lengthsOf({5, 2, 1});
  expectHidden(
      "last", None(), {sequence()}, {beyond(lengths, timeName)},
      [&](None, const std::vector<Tensor> &in) { return nn::lastOf(in[0], timeName, lengths); });
}

TEST(Hidden, DroppedElements) {
  Tensor x = random({{batch, 3}, {feature, 40}}, 1);
  auto drop = [](const Tensor &x) {
    nn::Mode mode = nn::Mode::training(key(5), batch);
    return nn::dropout(x, 0.5, feature, mode);
  };
  Tensor dropped = equal(drop(zeros({{batch, 3}, {feature, 40}}) + 1.0), 0.0);
  expectHidden("dropout", None(), {x}, {dropped},
               [&](None, const std::vector<Tensor> &in) { return drop(in[0]); });
}
