//===- ReferenceTest.cpp - layers have PyTorch's numbers ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Outputs and gradients of sum(output * cotangent) by parameters and inputs, each within 1e-4 of its
// largest magnitude of what test/references/export.py wrote.
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Safetensors.h"
#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Layers.h"
#include "test/unit/nn/Compare.h"

#include <filesystem>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), row("row"), column("column"), channel("channel"), out("out"),
    feature("feature"), hidden("hidden"), in("in"), word("word"), from("from"), band("band"),
    head("head"), depth("depth"), timeName("time");

const std::map<std::string, Tensor> &reference() {
  static const auto all = [] {
    std::filesystem::path here = std::filesystem::path(__FILE__).parent_path();
    std::map<std::string, Tensor> tensors;
    for (const auto &[name, array] :
         io::readSafetensors(here / ".." / ".." / "references" / "layers.safetensors").arrays)
      tensors[name] = nn::tensorOf(array);
    return tensors;
  }();
  return all;
}

void expectClose(const Tensor &got, const Tensor &wanted, const std::string &what) {
  ASSERT_EQ(got.type(), wanted.type()) << what;
  auto a = valuesOf(got), b = valuesOf(wanted);
  float most = 0;
  for (float value : b)
    most = std::max(most, std::abs(value));
  for (size_t i = 0; i < a.size(); ++i)
    // Some gradients are zero but for rounding: of a bias that a softmax or a norm takes away.
    ASSERT_NEAR(a[i], b[i], 1e-4f * most + 3e-5f) << what << " at " << i;
}

using Given = std::map<std::string, Tensor>;

template <typename L>
struct Case {
  L layer;
  Given input;
  HEDDLE_FIELDS(layer, input)
};

/// No parameters.
struct None {
  HEDDLE_FIELDS()
};

/// Fills the layer's tensors and compares call(layer, inputs, mode); gives the mode after it.
template <typename L, typename F>
nn::Mode expectReference(const std::string &name, L layer, F &&call,
                         std::optional<nn::Mode> mode = {}) {
  Case<L> all{layer, {}};
  std::string prefix = name + ".input.";
  for (const auto &[path, tensor] : reference())
    if (path.starts_with(prefix))
      all.input[path.substr(prefix.size())] = tensor;
  forEachTensor(all, [&](const std::string &path, Tensor &tensor) {
    auto found = reference().find(name + "." + path);
    ASSERT_NE(found, reference().end()) << name << "." << path;
    ASSERT_EQ(tensor.type(), found->second.type()) << path;
    tensor = found->second;
  });
  nn::Mode given = mode.value_or(nn::Mode());
  auto run = jit([&](Case<L> c, nn::Mode m, Tensor cotangent) {
    Names names;
    for (const std::string &each : cotangent.names())
      names.push_back(Name(each));
    auto result = nn::valueAndGrad(
        [&](Case<L> c, nn::Mode &inner) {
          Tensor y = call(c.layer, c.input, inner);
          return std::pair(sum(y * cotangent, names), y);
        },
        c, m);
    return std::pair(result, m);
  });
  auto [result, after] = run(all, given, reference().at(name + ".cotangent"));
  expectClose(result.first.second, reference().at(name + ".output"), name);
  int gradients = 0;
  forEachTensor(result.second, [&](const std::string &path, Tensor &tensor) {
    if (tensor.empty())
      return;
    ++gradients;
    expectClose(tensor, reference().at(name + ".gradient." + path), name + ": " + path);
  });
  for (const auto &[path, tensor] : reference())
    gradients -= path.starts_with(name + ".gradient.");
  EXPECT_EQ(gradients, 0) << "not all gradients of " << name << " were compared";
  return after;
}
} // namespace

TEST(Reference, Convolutions) {
  auto expectConv = [](const std::string &name, const nn::Windows &windows, int64_t ins,
                       int64_t outs, const nn::ConvOptions &options) {
    Names along;
    for (const auto &[each, window] : windows.along)
      along.push_back(Name(each));
    expectReference(name, nn::Conv::make(windows, {channel, ins}, {out, outs}, key(1), options),
                    [&](const nn::Conv &conv, const Given &input, nn::Mode &) {
                      return conv(input.at("x"), along, channel, out);
                    });
  };
  Name depth("depth");
  expectConv("conv1d", {over(row), {.size = 3, .stride = 2, .padding = nn::padded(1)}}, 3, 5, {});
  expectConv("conv2d",
             {{row, {.size = 3, .stride = 2, .padding = nn::padded(1)}},
              {column, {.size = 2, .dilation = 2}}},
             4, 6, {.groups = 2});
  expectConv("conv3d", {over(row, column, depth), {.size = 2, .padding = nn::padded(1)}}, 1, 2,
             {.bias = false});
  expectConv("conv-transpose1d", {over(row), {.size = 3, .stride = 2, .padding = nn::padded(1)}}, 3,
             2, {.transposed = true, .outputPadding = 1});
  expectConv("conv-transpose2d",
             {{row, {.size = 3, .stride = 2, .dilation = 2}}, {column, {.size = 2, .stride = 3}}},
             4, 6, {.groups = 2, .transposed = true});
}

TEST(Reference, Pools) {
  WindowOptions window{.size = 3, .stride = 2, .padding = nn::padded(1)};
  Names place = over(row, column);
  expectReference("max-pool", None(), [&](None, const Given &input, nn::Mode &) {
    return nn::maxPool(input.at("x"), place, window);
  });
  expectReference("average-pool", None(), [&](None, const Given &input, nn::Mode &) {
    return nn::averagePool(input.at("x"), place, window);
  });
  expectReference("average-pool-inside", None(), [&](None, const Given &input, nn::Mode &) {
    return nn::averagePool(input.at("x"), place, window, false);
  });
}

TEST(Reference, Norms) {
  expectReference("layer-norm", nn::LayerNorm::make({{timeName, 4}, {feature, 5}}),
                  [](const nn::LayerNorm &norm, const Given &input, nn::Mode &) {
                    return norm(input.at("x"), over(timeName, feature));
                  });
  expectReference("rms-norm", nn::RmsNorm::make({{feature, 5}}),
                  [](const nn::RmsNorm &norm, const Given &input, nn::Mode &) {
                    return norm(input.at("x"), feature);
                  });
  expectReference("group-norm", nn::GroupNorm::make({channel, 6}, 3),
                  [](const nn::GroupNorm &norm, const Given &input, nn::Mode &) {
                    return norm(input.at("x"), channel, over(row, column));
                  });
  expectReference("weight-norm", nn::WeightNorm{zeros({{out, 3}, {in, 5}}), zeros({{out, 3}})},
                  [](const nn::WeightNorm &norm, const Given &input, nn::Mode &) {
                    return nn::Linear{norm(in), input.at("bias")}(input.at("x"), in);
                  });
}

TEST(Reference, BatchNormInBothModes) {
  nn::BatchNorm layer = nn::BatchNorm::make({channel, 6});
  auto call = [](const nn::BatchNorm &norm, const Given &input, nn::Mode &mode) {
    return norm(input.at("x"), over(batch, row, column), mode);
  };
  nn::Mode after = expectReference(
      "batch-norm", layer, call, nn::Mode::training(Case<nn::BatchNorm>{layer, {}}, key(1), batch));
  ASSERT_EQ(after.moments.size(), 1u);
  expectClose(after.moments.begin()->second.mean, reference().at("batch-norm.mean"), "mean");
  expectClose(after.moments.begin()->second.variance, reference().at("batch-norm.variance"),
              "variance");
  expectReference("batch-norm-evaluation", layer, call, after.evaluation());
}

TEST(Reference, Activations) {
  std::map<std::string, std::function<Tensor(const Tensor &)>> functions{
      {"gelu", [](const Tensor &x) { return nn::gelu(x); }},
      {"gelu-tanh", [](const Tensor &x) { return nn::geluTanh(x); }},
      {"silu", [](const Tensor &x) { return nn::silu(x); }},
      {"elu", [](const Tensor &x) { return nn::elu(x, 0.7); }},
      {"hard-tanh", [](const Tensor &x) { return nn::hardTanh(x); }},
      {"relu6", [](const Tensor &x) { return nn::relu6(x); }},
      {"threshold", [](const Tensor &x) { return nn::thresholdRelu(x, 0.3, -2); }},
      {"softplus", [](const Tensor &x) { return nn::softplus(x); }},
      {"glu", [](const Tensor &x) { return nn::gatedLinear(x, feature); }},
      {"softmax", [](const Tensor &x) { return nn::softmax(x, feature); }},
      {"log-softmax", [](const Tensor &x) { return nn::logSoftmax(x, feature); }}};
  for (const auto &[name, function] : functions)
    expectReference(name, None(), [&](None, const Given &input, nn::Mode &) {
      return function(input.at("x") * 3.0);
    });
  expectReference(
      "prelu", nn::PRelu::make({{feature, 6}}),
      [](const nn::PRelu &prelu, const Given &input, nn::Mode &) { return prelu(input.at("x")); });
}

TEST(Reference, Embeddings) {
  expectReference("embedding", nn::Embedding::make({word, 7}, {feature, 4}, key(1), 2),
                  [](const nn::Embedding &words, const Given &input, nn::Mode &) {
                    return words(input.at("tokens"), word);
                  });
}

static void expectRecurrent(const std::string &name, int64_t ins, int64_t units,
                            const nn::RecurrentOptions &options) {
  auto lengthsOf = [](const Given &input) {
    return input.count("lengths") ? input.at("lengths") : Tensor();
  };
  nn::Recurrent net = nn::Recurrent::make({feature, ins}, {hidden, units}, key(1), options);
  expectReference(name, net, [&](const nn::Recurrent &net, const Given &input, nn::Mode &mode) {
    return net(input.at("x"), timeName, feature, hidden, mode, {.lengths = lengthsOf(input)}).all;
  });
  // The last states.
  Case<nn::Recurrent> all{net, {}};
  forEachTensor(all.layer, [&](const std::string &path, Tensor &tensor) {
    tensor = reference().at(name + ".layer." + path);
  });
  for (const char *input : {"x", "lengths"})
    if (auto found = reference().find(name + ".input." + input); found != reference().end())
      all.input[input] = found->second;
  auto run = jit([&](Case<nn::Recurrent> c) {
    nn::Mode mode;
    return c
        .layer(c.input.at("x"), timeName, feature, hidden, mode, {.lengths = lengthsOf(c.input)})
        .last;
  });
  std::vector<nn::RecurrentState> last = run(all);
  for (size_t i = 0; i < last.size(); ++i) {
    expectClose(last[i].h, reference().at(name + ".last.h").at(Name("cell"), int64_t(i)), name);
    if (last[i].c)
      expectClose(*last[i].c, reference().at(name + ".last.c").at(Name("cell"), int64_t(i)), name);
  }
}

TEST(Reference, RecurrentNetworks) {
  expectRecurrent("rnn-tanh", 4, 3, {.cell = nn::Cell::Tanh});
  expectRecurrent("rnn-relu", 4, 3, {.cell = nn::Cell::Relu, .layers = 2});
  expectRecurrent("gru", 4, 3, {.cell = nn::Cell::Gru, .layers = 2, .bidirectional = true});
  expectRecurrent("lstm", 4, 3, {.layers = 2, .bidirectional = true});
  expectRecurrent("lstm-one", 1, 1, {});
}

TEST(Reference, Attention) {
  nn::Attention layer = nn::Attention::make({feature, 6}, 2, key(1));
  auto self = [](const nn::Attend &attend) {
    return [attend](const nn::Attention &layer, const Given &input, nn::Mode &mode) {
      nn::Attend how = attend;
      if (input.count("lengths"))
        how.lengths = input.at("lengths");
      return layer(input.at("x"), timeName, feature, mode, how);
    };
  };
  expectReference("attention", layer, self({}));
  expectReference("attention-causal", layer, self({.causal = true}));
  expectReference("attention-lengths", layer, self({}));
  expectReference(
      "attention-cross", layer, [](const nn::Attention &layer, const Given &input, nn::Mode &mode) {
        return layer.cross(input.at("x"), timeName, input.at("memory"), from, feature, mode);
      });
  expectReference("rotary", None(), [](None, const Given &input, nn::Mode &) {
    return nn::rotary(input.at("x"), timeName, depth);
  });
}

TEST(Reference, Transformers) {
  for (bool first : {false, true}) {
    nn::TransformerOptions options{.heads = 2, .hidden = 11, .dropout = 0, .preNorm = first};
    if (first)
      options.activation = [](const Tensor &x) { return nn::gelu(x); };
    expectReference(first ? "encoder-pre" : "encoder",
                    nn::TransformerLayer::make({feature, 6}, key(1), options),
                    [](const nn::TransformerLayer &layer, const Given &input, nn::Mode &mode) {
                      return layer(input.at("x"), timeName, feature, mode, {.causal = true});
                    });
    nn::TransformerOptions decoder{
        .heads = 3, .hidden = 7, .dropout = 0, .preNorm = first, .decoder = true};
    expectReference(first ? "decoder-pre" : "decoder",
                    nn::TransformerLayer::make({feature, 6}, key(1), decoder),
                    [](const nn::TransformerLayer &layer, const Given &input, nn::Mode &mode) {
                      return layer(
                          input.at("x"), timeName, feature, mode, {.causal = true},
                          nn::Memory{input.at("memory"), from, {.lengths = input.at("lengths")}});
                    });
  }
}

TEST(Reference, AdaptiveSoftmax) {
  expectReference("adaptive-softmax",
                  nn::AdaptiveSoftmax::make({feature, 8}, {word, 13}, {3, 7}, key(1), 2),
                  [](const nn::AdaptiveSoftmax &layer, const Given &input, nn::Mode &) {
                    return layer(input.at("x"), feature, word);
                  });
}

TEST(Reference, Speech) {
  nn::Conformer conformer = nn::Conformer::make(
      timeName, {feature, 6}, key(1), {.heads = 2, .hidden = 5, .window = 3, .dropout = 0});
  expectReference(
      "conformer", conformer,
      [](const nn::Conformer &layer, const Given &input, nn::Mode &mode) {
        return layer(input.at("x"), timeName, feature, mode);
      },
      nn::Mode::training(Case<nn::Conformer>{conformer, {}}, key(1), batch));
  expectReference("tds", nn::TimeDepthSeparable::make(timeName, {band, 4}, {channel, 3}, 5, key(1)),
                  [](const nn::TimeDepthSeparable &block, const Given &input, nn::Mode &mode) {
                    return block(input.at("x"), timeName, band, channel, mode);
                  });
}
