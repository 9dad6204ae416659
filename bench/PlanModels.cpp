//===- PlanModels.cpp - training steps that plans split -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/PlanModels.h"

#include "bench/FashionStep.h"
#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Recurrent.h"
#include "heddle/nn/Transformer.h"

#include <filesystem>
#include <fstream>

using namespace heddle;
using namespace heddle::bench;

namespace {
const Name batch("batch"), time("time"), word("word"), feature("feature"), hidden("hidden");

struct Sizes {
  int64_t batch, length, words, features;
};

struct Recurrent {
  static constexpr Sizes sizes{32, 20, 1000, 128};
  nn::Embedding words;
  nn::Recurrent lstm;
  nn::Linear output;
  HEDDLE_FIELDS(words, lstm, output)

  static Recurrent make() {
    Extent in{feature, sizes.features}, units{hidden, 256}, all{word, sizes.words};
    return {nn::Embedding::make(all, in, key(1)), nn::Recurrent::make(in, units, key(2)),
            nn::Linear::make({units}, all, key(3))};
  }
  Tensor operator()(const Tensor &token, nn::Mode &mode) const {
    return output(lstm(words(token, word), time, feature, hidden, mode).all, hidden);
  }
};

struct Block {
  static constexpr Sizes sizes{16, 64, 256, 128};
  nn::Embedding words;
  nn::TransformerLayer layer;
  nn::Linear output;
  HEDDLE_FIELDS(words, layer, output)

  static Block make() {
    Extent in{feature, sizes.features}, all{word, sizes.words};
    nn::TransformerOptions options{.heads = 4, .hidden = 512, .dropout = 0};
    return {nn::Embedding::make(all, in, key(1)), nn::TransformerLayer::make(in, key(2), options),
            nn::Linear::make({in}, all, key(3))};
  }
  Tensor operator()(const Tensor &token, nn::Mode &mode) const {
    return output(layer(words(token, word), time, feature, mode, {.causal = true}), feature);
  }
};

struct Step {
  nn::TrainingState state;
  nn::Fields fields;
  nn::StepFunction step;
  Tensor rate;
};

/// The step of a network that predicts the next word at each position.
template <typename Net>
Step stepOf() {
  auto loss = [](const Net &net, const nn::Fields &fields, nn::Mode &mode) -> nn::Outcome {
    const Tensor &next = fields.at("next");
    return {nn::sampleMean(nn::crossEntropy(net(fields.at("token"), mode), next, word), fields),
            {}};
  };
  nn::OptimizerChoice sgd = nn::optimizer<nn::Sgd>();
  nn::Network network = nn::networkOf(Net::make(), loss, key(5), batch);
  const Sizes &sizes = Net::sizes;
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < sizes.batch * sizes.length; ++i)
    tokens.push_back(int32_t(i * 7919 % sizes.words));
  Tensor token = Tensor::of<int32_t>(std::span<const int32_t>(tokens),
                                     {{batch, sizes.batch}, {time, sizes.length}});
  std::vector<float> ones(size_t(sizes.batch), 1.0f);
  return {nn::TrainingState::make(network, sgd),
          {{"token", token},
           {"next", token},
           {"weight", Tensor::of<float>(std::span<const float>(ones), {{batch, sizes.batch}})}},
          nn::trainingStep(network, {.optimizer = sgd}),
          Tensor::of<float>({0.02f}, {})};
}

Step stepCalled(const std::string &name) {
  if (name == "lstm")
    return stepOf<Recurrent>();
  if (name == "block")
    return stepOf<Block>();
  if (name != "fashion")
    throw Error("expected fashion, lstm or block, got '" + name + "'");
  FashionStep step(64);
  return {step.state, step.fields, step.step, step.rate};
}
} // namespace

void bench::exportStep(const std::string &name, const std::string &folder) {
  Step made = stepCalled(name);
  std::filesystem::create_directories(folder);
  std::ofstream out(folder + "/step.mlir");
  out << jit(made.step, {.name = "train"}).ir(made.state, made.fields, made.rate);
  nn::saveTree(folder + "/state.safetensors", made.state);
  made.fields["argument2"] = made.rate;
  nn::saveTree(folder + "/example.safetensors", made.fields);
  if (!out.flush())
    throw Error("can't write '" + folder + "/step.mlir'");
}
