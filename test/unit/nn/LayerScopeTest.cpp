//===- LayerScopeTest.cpp - labels name layers ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/LayerScope.h"
#include "heddle/Timeline.h"
#include "heddle/nn/EmbeddingBag.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Optimizers.h"
#include "lib/profile/Profile.h"
#include "runtime/memory/MemoryManager.h"
#include "test/unit/nn/Compare.h"

#include <algorithm>
#include <set>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name place("place"), feature("feature");

struct Net {
  std::vector<nn::TransformerLayer> layers;
  nn::Linear last;
  HEDDLE_FIELDS(layers, last)
  Tensor operator()(Tensor x, nn::Mode &mode) const {
    for (const nn::TransformerLayer &layer : layers)
      x = layer(x, place, feature, mode);
    return last(x, feature);
  }
};
struct State {
  Net net;
  nn::Sgd sgd;
  HEDDLE_FIELDS(net, sgd)
};

Net makeNet() {
  return {nn::TransformerLayer::stack(2, {feature, 8}, key(1), {.heads = 2, .hidden = 8}),
          nn::Linear::make({{feature, 8}}, {{Name("out"), 3}}, key(2))};
}

/// The layers before the colons of labels.
std::set<std::string> layersOf(const std::set<std::string> &labels) {
  std::set<std::string> layers;
  for (const std::string &label : labels)
    if (size_t colon = label.find(": "); colon != std::string::npos)
      layers.insert(label.substr(0, colon));
  return layers;
}

std::set<std::string> stepsOf(const Timeline &timeline) {
  std::set<std::string> steps;
  for (const Profile::Step &step : timeline.profile()->steps())
    steps.insert(step.name);
  return steps;
}
} // namespace

TEST(LayerScope, StepsOfTrainingNameTheLayersOfTheTree) {
  Timeline timeline;
  auto train = jit(
      [](State &state, Tensor x) {
        nn::Mode mode;
        auto [loss, slope] = valueAndGrad(
            [&](const Net &net) {
              Tensor y = net(x, mode);
              return sum(y * y, over(place, Name("out")));
            },
            state.net);
        state.sgd.update(state.net, slope, 0.01);
        return loss;
      },
      {.timeline = timeline});
  Net net = makeNet();
  State state{net, nn::Sgd::make(net)};
  train(state, random({{place, 5}, {feature, 8}}, 3));
  std::set<std::string> layers = layersOf(stepsOf(timeline));
  auto has = [&](const std::string &path) {
    return std::ranges::any_of(layers, [&](const std::string &layer) {
      return layer == path || layer.starts_with(path + ".");
    });
  };
  for (const char *path : {"layers.0.attention", "layers.0.feed", "layers.0.norms",
                           "layers.1.attention", "layers.1.feed", "last"})
    EXPECT_TRUE(has(path)) << path;
}

TEST(LayerScope, TheMemoryOfTemporariesNamesThem) {
  auto manager = std::make_shared<CachingManager>();
  std::set<std::string> names;
  manager->setListener([&](const MemoryEvent &event) { names.insert(event.name); });
  setDefaultMemoryManager(manager);
  auto run = jit(
      [](Net net, Tensor x) {
        nn::Mode mode = nn::Mode().evaluation();
        return net(x, mode);
      },
      {.managedMemory = true});
  run(makeNet(), random({{place, 5}, {feature, 8}}, 3)).data();
  manager->setListener(nullptr);
  setDefaultMemoryManager(nullptr);
  std::set<std::string> layers = layersOf(names);
  EXPECT_TRUE(layers.contains("layers.1.attention.query") || layers.contains("layers.1.attention"))
      << testing::PrintToString(names);
  EXPECT_TRUE(layers.contains("layers.0.norms.0") || layers.contains("layers.0"))
      << testing::PrintToString(names);
}

namespace {
struct Words {
  nn::EmbeddingBag bag;
  nn::BatchNorm norm;
  HEDDLE_FIELDS(bag, norm)
};
} // namespace

TEST(LayerScope, EachFunctionOfALayerNamesIt) {
  const Name word("word"), item("item"), sentence("sentence");
  Words words{nn::EmbeddingBag::make({word, 6}, {feature, 4}, key(1)),
              nn::BatchNorm::make({feature, 4})};
  Tensor index = iota({item, 5});
  Tensor offsets = iota({sentence, 2}) * 3.0;
  Tensor given = random({{feature, 4}}, 2);
  auto layers = [&](auto function) {
    Timeline timeline;
    jit(function, {.timeline = timeline})(words, index, offsets, given).data();
    return layersOf(stepsOf(timeline));
  };
  EXPECT_EQ(layers([&](const Words &w, Tensor index, Tensor, Tensor) {
              return w.bag(index, word, item);
            }),
            std::set<std::string>{"bag"});
  EXPECT_EQ(layers([&](const Words &w, Tensor index, Tensor offsets, Tensor) {
              return w.bag.ofList(index, word, item, {sentence, offsets});
            }),
            std::set<std::string>{"bag"});
  EXPECT_EQ(layers([&](const Words &w, Tensor, Tensor, Tensor given) {
              return w.norm.with(given, given * given, given);
            }),
            std::set<std::string>{"norm"});
}

namespace {
/// A layer of a user's own.
struct Scale {
  Tensor by;
  HEDDLE_FIELDS(by)
  Tensor operator()(const Tensor &x) const {
    LayerScope layerScope(*this);
    return sum(exp(x) * by, feature);
  }
};
struct Pair {
  Scale left;
  std::optional<Scale> right;
  HEDDLE_FIELDS(left, right)
};
} // namespace

TEST(LayerScope, TheInnermostOfNestedOnesCountsAndTheNextReturns) {
  EXPECT_EQ(LayerScope::current(), "");
  {
    LayerScope outer("encoder");
    EXPECT_EQ(LayerScope::current(), "encoder");
    {
      LayerScope inner("encoder.mask");
      EXPECT_EQ(LayerScope::current(), "encoder.mask");
      LayerScope none("");
      EXPECT_EQ(LayerScope::current(), "encoder.mask");
    }
    EXPECT_EQ(LayerScope::current(), "encoder");
    // Tensors that no function is traced for have no path.
    LayerScope eager(Scale{random({{feature, 4}}, 1)});
    EXPECT_EQ(LayerScope::current(), "encoder");
  }
  EXPECT_EQ(LayerScope::current(), "");
}

TEST(LayerScope, APathIsFoundBehindACastAndARename) {
  std::vector<std::string> paths;
  auto f = jit([&](Pair pair, Tensor x) {
    for (Scale scale : {pair.left, *pair.right,
                        Scale{pair.right->by.cast(ElementType::BF16).cast(ElementType::F32)},
                        Scale{pair.right->by + pair.left.by}}) {
      LayerScope scope(scale);
      paths.push_back(LayerScope::current());
    }
    return pair.left(x) + (*pair.right)(x);
  });
  Tensor row = random({{feature, 4}}, 1);
  f({{row}, Scale{row}}, row).data();
  EXPECT_EQ(paths, (std::vector<std::string>{"left", "right", "right", ""}));
}

TEST(LayerScope, ErrorsKeepTheLineOfTheUser) {
  auto f = jit([](Pair pair, Tensor x) { return pair.left(x); });
  try {
    f({{random({{feature, 4}}, 1)}, {}}, random({{feature, 5}}, 2));
    FAIL() << "expected an error";
  } catch (const Error &error) {
    std::string text = error.what();
    EXPECT_NE(text.find("LayerScopeTest.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("'feature'"), std::string::npos) << text;
  }
}
