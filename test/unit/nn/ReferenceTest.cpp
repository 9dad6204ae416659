//===- ReferenceTest.cpp - layers compared with PyTorch -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Outputs, and gradients of sum(output * cotangent) with respect to parameters and inputs, are
// compared with the values that test/references/export.py wrote, to 1e-4 of the largest magnitude;
// and the same with products of bf16. Each layer has a case with ordinary sizes, one with sizes of
// 1, and one with primes.
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
    head("head"), depth("depth"), timeName("time"), node("node"), slot("slot");

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

/// The suffixes of a layer's cases: ordinary sizes, all 1, primes.
const std::vector<std::string> sizesOfCases{"", "-ones", "-primes"};

/// The size of an axis of a reference.
int64_t sizeIn(const std::string &name, const Name &axis) {
  return int64_t(reference().at(name).size(axis));
}

float largest(const Tensor &tensor) {
  float most = 0;
  for (float value : valuesOf(tensor))
    most = std::max(most, std::abs(value));
  return most;
}

void expectClose(const Tensor &got, const Tensor &wanted, const std::string &what) {
  ASSERT_EQ(got.type(), wanted.type()) << what;
  auto a = valuesOf(got), b = valuesOf(wanted);
  float most = largest(wanted);
  // Some gradients are zero except for rounding: those of a bias that a softmax or a norm cancels,
  // and of single normalised elements (6e-5 in PyTorch's own layer-norm-ones).
  float rest = what.find("-norm-ones") == std::string::npos ? 3e-5f : 1e-4f;
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-4f * most + rest) << what << " at " << i;
}

/// The largest difference, relative to the largest magnitude or to `atLeast`.
double difference(const Tensor &got, const Tensor &wanted, float atLeast) {
  auto a = valuesOf(got), b = valuesOf(wanted);
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    double d = std::abs(double(a[i]) - double(b[i]));
    if (!(d < INFINITY)) // NaN as well
      return INFINITY;
    most = std::max(most, d);
  }
  return most / std::max(largest(wanted), atLeast);
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

/// The value and the gradient of sum(call(layer, inputs, mode) * cotangent), and the mode after it.
template <typename L, typename F>
auto runCase(const std::string &name, const Case<L> &all, const nn::Mode &mode, F &&call,
             const JitOptions &options) {
  auto run = jit(
      [&](Case<L> c, nn::Mode m, Tensor cotangent) {
        auto result = nn::valueAndGrad(
            [&](Case<L> c, nn::Mode &inner) {
              Tensor y = call(c.layer, c.input, inner);
              return std::pair(sum(y * cotangent, orderOf(cotangent)), y);
            },
            c, m);
        return std::pair(result, m);
      },
      options);
  return run(all, mode, reference().at(name + ".cotangent"));
}

/// Compares a case whose factors of products are bf16 with PyTorch's values in f32. Outputs are
/// within 2e-2. Gradients may differ more, also in PyTorch: rounding flips a ReLU near 0, which
/// changes all values that depend on it, and accumulates over time steps. The error of PyTorch's
/// autocast to bf16 is 0.66 of the largest magnitude in tds-primes, 0.42 in encoder-primes, 0.25 in
/// rnn-relu-primes, 0.12 in decoder-primes, and 0.02 to 0.08 in ten more cases
/// (CASE.autocast.gradients has all of them). So the tolerance of gradients is 2e-2, or twice
/// PyTorch's error.
template <typename L>
void expectNarrow(const std::string &name, const Tensor &output, Case<L> &gradient) {
  EXPECT_LE(difference(output, reference().at(name + ".output"), 1e-3f), 2e-2)
      << name << " in bf16";
  float whole = 0;
  double worst = 0;
  for (const auto &[path, tensor] : reference())
    if (path.starts_with(name + ".gradient."))
      whole = std::max(whole, largest(tensor));
  std::string which;
  forEachTensor(gradient, [&](const std::string &path, Tensor &tensor) {
    if (tensor.empty())
      return;
    double d =
        difference(tensor, reference().at(name + ".gradient." + path), std::max(whole / 4, 1e-30f));
    if (!(d <= worst)) {
      worst = d;
      which = path;
    }
  });
  double theirs = reference().at(name + ".autocast.gradients").item();
  EXPECT_LE(worst, std::max(2e-2, 2 * theirs))
      << name << " in bf16: the gradient of '" << which << "'; PyTorch's are off by " << theirs;
}

/// Loads the layer's tensors, compares call(layer, inputs, mode) and returns the mode after it.
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
  auto [result, after] = runCase(name, all, given, call, {});
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
  auto narrow = runCase(name, all, given, call, {.products = ElementType::BF16}).first;
  expectNarrow(name, narrow.first.second, narrow.second);
  return after;
}
} // namespace

TEST(Reference, Convolutions) {
  auto expectConv = [](const std::string &name, const nn::Windows &windows,
                       const nn::ConvOptions &options) {
    Names along;
    for (const auto &[each, window] : windows.along)
      along.push_back(Name(each));
    Extent ins{channel, sizeIn(name + ".input.x", channel)},
        outs{out, sizeIn(name + ".output", channel)};
    expectReference(name, nn::Conv::make(windows, ins, outs, key(1), options),
                    [&](const nn::Conv &conv, const Given &input, nn::Mode &) {
                      return conv(input.at("x"), along, channel, out);
                    });
  };
  nn::Windows one{over(row), {.size = 3, .stride = 2, .padding = nn::padded(1)}},
      two{{row, {.size = 3, .stride = 2, .padding = nn::padded(1)}},
          {column, {.size = 2, .dilation = 2}}},
      three{over(row, column, depth), {.size = 2, .padding = nn::padded(1)}},
      apart{{row, {.size = 3, .stride = 2, .dilation = 2}}, {column, {.size = 2, .stride = 3}}},
      alone{over(row, column), {.size = 1}};
  for (const std::string &end : sizesOfCases) {
    bool isOne = end == "-ones";
    int64_t groups = isOne ? 1 : end.empty() ? 2 : sizeIn("conv2d-primes.input.x", channel);
    expectConv("conv1d" + end, one, {});
    expectConv("conv2d" + end, isOne ? alone : two, {.groups = groups});
    expectConv("conv3d" + end, three, {.bias = false});
    expectConv("conv-transpose1d" + end, one, {.transposed = true, .outputPadding = 1});
    groups = end == "-primes" ? sizeIn("conv-transpose2d-primes.input.x", channel) : groups;
    expectConv("conv-transpose2d" + end, isOne ? alone : apart,
               {.groups = groups, .transposed = true});
  }
}

TEST(Reference, Pools) {
  WindowOptions window{.size = 3, .stride = 2, .padding = nn::padded(1)};
  Names place = over(row, column);
  std::map<std::string, std::function<Tensor(const Tensor &)>> functions{
      {"max-pool", [&](const Tensor &x) { return nn::maxPool(x, place, window); }},
      {"average-pool", [&](const Tensor &x) { return nn::averagePool(x, place, window); }},
      {"average-pool-inside",
       [&](const Tensor &x) { return nn::averagePool(x, place, window, false); }},
      {"adaptive-pool", [&](const Tensor &x) { return nn::adaptiveAveragePool(x, place, 3); }},
      {"repeated", [&](const Tensor &x) { return nn::repeated(x, place, 2); }}};
  for (const std::string &end : sizesOfCases)
    for (const auto &[name, function] : functions)
      expectReference(name + end, None(), [&](None, const Given &input, nn::Mode &) {
        return function(input.at("x"));
      });
}

TEST(Reference, Norms) {
  for (const std::string &end : sizesOfCases) {
    std::string x = "layer-norm" + end + ".input.x";
    Extent times{timeName, sizeIn(x, timeName)}, features{feature, sizeIn(x, feature)};
    expectReference("layer-norm" + end, nn::LayerNorm::make({times, features}),
                    [](const nn::LayerNorm &norm, const Given &input, nn::Mode &) {
                      return norm(input.at("x"), over(timeName, feature));
                    });
    expectReference("rms-norm" + end, nn::RmsNorm::make({features}),
                    [](const nn::RmsNorm &norm, const Given &input, nn::Mode &) {
                      return norm(input.at("x"), feature);
                    });
    int64_t channels = sizeIn("group-norm" + end + ".input.x", channel);
    expectReference("group-norm" + end,
                    nn::GroupNorm::make({channel, channels}, end.empty() ? 3 : channels),
                    [](const nn::GroupNorm &norm, const Given &input, nn::Mode &) {
                      return norm(input.at("x"), channel, over(row, column));
                    });
  }
}

TEST(Reference, BatchNormInBothModes) {
  for (const std::string &end : sizesOfCases) {
    std::string name = "batch-norm" + end;
    nn::BatchNorm layer = nn::BatchNorm::make({channel, sizeIn(name + ".input.x", channel)});
    auto call = [](const nn::BatchNorm &norm, const Given &input, nn::Mode &mode) {
      return norm(input.at("x"), over(batch, row, column), mode);
    };
    nn::Mode after = expectReference(
        name, layer, call, nn::Mode::training(Case<nn::BatchNorm>{layer, {}}, key(1), batch));
    ASSERT_EQ(after.moments.size(), 1u);
    const nn::RunningMoments &moments = after.moments.begin()->second;
    expectClose(moments.mean, reference().at(name + ".mean"), "mean");
    expectClose(moments.variance, reference().at(name + ".variance"), "variance");
    expectReference("batch-norm-evaluation" + end, layer, call, after.evaluation());
  }
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
  for (const std::string &end : sizesOfCases) {
    for (const auto &[name, function] : functions)
      expectReference(name + end, None(), [&](None, const Given &input, nn::Mode &) {
        return function(input.at("x") * 3.0);
      });
    expectReference("prelu" + end,
                    nn::PRelu::make({{feature, sizeIn("prelu" + end + ".input.x", feature)}}),
                    [](const nn::PRelu &prelu, const Given &input, nn::Mode &) {
                      return prelu(input.at("x"));
                    });
  }
}

TEST(Reference, LinearMaps) {
  for (const std::string &end : sizesOfCases) {
    auto extent = [&](const std::string &name, const Name &axis) {
      return Extent{axis, sizeIn(name, axis)};
    };
    std::string x = "linear" + end + ".input.x", y = "linear" + end + ".output";
    expectReference("linear" + end,
                    nn::Linear::make({extent(x, in), extent(x, feature)},
                                     {extent(y, head), extent(y, depth)}, key(1)),
                    [](const nn::Linear &layer, const Given &input, nn::Mode &) {
                      return layer(input.at("x"), over(in, feature));
                    });
    Extent features = extent(x, feature);
    expectReference("perceptron" + end,
                    nn::Perceptron::make(features, {sizeIn(y, head), sizeIn(y, depth)}, key(1)),
                    [](const nn::Perceptron &layer, const Given &input, nn::Mode &) {
                      return layer(input.at("x"), feature);
                    });
    Extent outs{out, sizeIn(y, head)};
    expectReference("weight-norm" + end,
                    nn::WeightNorm{zeros({outs, {in, features.size}}), zeros({outs})},
                    [](const nn::WeightNorm &norm, const Given &input, nn::Mode &) {
                      return nn::Linear{norm(in), input.at("bias")}(input.at("x"), in);
                    });
    bool isOne = end == "-ones";
    std::vector<int64_t> ends = isOne         ? std::vector<int64_t>{1}
                                : end.empty() ? std::vector<int64_t>{3, 7}
                                              : std::vector<int64_t>{5, 7};
    expectReference("adaptive-softmax" + end,
                    nn::AdaptiveSoftmax::make(features,
                                              extent("adaptive-softmax" + end + ".output", word),
                                              ends, key(1), isOne ? 1 : 2),
                    [](const nn::AdaptiveSoftmax &layer, const Given &input, nn::Mode &) {
                      return layer(input.at("x"), feature, word);
                    });
  }
}

TEST(Reference, Embeddings) {
  for (const std::string &end : sizesOfCases) {
    std::string name = "embedding" + end, table = name + ".layer.table";
    std::optional<int64_t> padding;
    if (end != "-ones")
      padding = 2;
    expectReference(name,
                    nn::Embedding::make({word, sizeIn(table, word)},
                                        {feature, sizeIn(table, feature)}, key(1), padding),
                    [](const nn::Embedding &words, const Given &input, nn::Mode &) {
                      return words(input.at("tokens"), word);
                    });
  }
}

static void expectRecurrent(const std::string &name, const nn::RecurrentOptions &options) {
  auto lengthsOf = [](const Given &input) {
    return input.count("lengths") ? input.at("lengths") : Tensor();
  };
  std::string weight = name + ".layer.cells.0.input";
  nn::Recurrent net = nn::Recurrent::make({feature, sizeIn(weight, feature)},
                                          {hidden, sizeIn(weight, hidden)}, key(1), options);
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
  for (const std::string &end : sizesOfCases) {
    expectRecurrent("rnn-tanh" + end, {.cell = nn::Cell::Tanh});
    expectRecurrent("rnn-relu" + end, {.cell = nn::Cell::Relu, .layers = 2});
    expectRecurrent("gru" + end, {.cell = nn::Cell::Gru, .layers = 2, .bidirectional = true});
    expectRecurrent("lstm" + end, {.layers = 2, .bidirectional = true});
  }
}

/// The heads of an attention among the references.
static int64_t headsOf(const std::string &path) { return sizeIn(path + ".query.weight", head); }

TEST(Reference, Attention) {
  auto self = [](const nn::Attend &attend) {
    return [attend](const nn::Attention &layer, const Given &input, nn::Mode &mode) {
      nn::Attend how = attend;
      if (input.count("lengths"))
        how.lengths = input.at("lengths");
      return layer(input.at("x"), timeName, feature, mode, how);
    };
  };
  for (const std::string &end : sizesOfCases) {
    nn::Attention layer =
        nn::Attention::make({feature, sizeIn("attention" + end + ".input.x", feature)},
                            headsOf("attention" + end + ".layer"), key(1));
    expectReference("attention" + end, layer, self({}));
    expectReference("attention-causal" + end, layer, self({.causal = true}));
    expectReference("attention-lengths" + end, layer, self({}));
    expectReference("attention-cross" + end, layer,
                    [](const nn::Attention &layer, const Given &input, nn::Mode &mode) {
                      return layer.cross(input.at("x"), timeName, input.at("memory"), from, feature,
                                         mode);
                    });
    expectReference("rotary" + end, None(), [](None, const Given &input, nn::Mode &) {
      return nn::rotary(input.at("x"), timeName, depth);
    });
  }
}

/// Masks of heads, weights, and biases with fewer heads of keys than of queries.
TEST(Reference, AttentionWithMasks) {
  for (const std::string &end : sizesOfCases) {
    std::string masked = "attention-mask" + end, grouped = "attention-grouped" + end;
    Extent features{feature, sizeIn(masked + ".input.x", feature)};
    auto hides = [](const Given &input) {
      return nn::Attend{.mask = input.at("mask").cast(ElementType::I1), .heads = head};
    };
    nn::Attention layer = nn::Attention::make(features, headsOf(masked + ".layer"), key(1));
    expectReference(masked, layer,
                    [&](const nn::Attention &layer, const Given &input, nn::Mode &mode) {
                      return layer.cross(input.at("x"), timeName, input.at("memory"), from, feature,
                                         mode, hides(input));
                    });
    expectReference(grouped,
                    nn::Attention::make(features, headsOf(grouped + ".layer"), key(1),
                                        {.keyHeads = sizeIn(grouped + ".layer.key.weight", head)}),
                    [&](const nn::Attention &layer, const Given &input, nn::Mode &mode) {
                      return layer.cross(input.at("x"), timeName, input.at("memory"), from, feature,
                                         mode, {.bias = input.at("bias"), .heads = head});
                    });
    forEachTensor(layer, [&](const std::string &path, Tensor &tensor) {
      tensor = reference().at(masked + ".layer." + path);
    });
    Given input;
    for (const char *name : {"x", "memory", "mask"})
      input[name] = reference().at(masked + ".input." + name);
    nn::Mode mode;
    nn::Attend how = hides(input);
    Tensor weights, means;
    how.weights = &weights;
    layer.cross(input.at("x"), timeName, input.at("memory"), from, feature, mode, how);
    expectClose(weights, reference().at(masked + ".weights"), masked + ".weights");
    // Without a name for heads, weights are means over heads.
    auto read = [&](Tensor &into, std::optional<Name> heads) {
      layer.cross(input.at("x"), timeName, input.at("memory"), from, feature, mode,
                  {.heads = heads, .weights = &into});
    };
    read(weights, head), read(means, {});
    expectClose(means, mean(weights, head), masked + ": means");
  }
}

/// An encoder or a decoder, with norms before its parts or after its sums.
static void expectTransformer(const std::string &name, bool decoder, bool first) {
  nn::TransformerOptions options{.heads = headsOf(name + ".layer.attention"),
                                 .hidden = sizeIn(name + ".layer.feed.up.weight", hidden),
                                 .dropout = 0,
                                 .preNorm = first,
                                 .decoder = decoder};
  if (first && !decoder)
    options.activation = [](const Tensor &x) { return nn::gelu(x); };
  expectReference(
      name,
      nn::TransformerLayer::make({feature, sizeIn(name + ".input.x", feature)}, key(1), options),
      [&](const nn::TransformerLayer &layer, const Given &input, nn::Mode &mode) {
        std::optional<nn::Memory> memory;
        if (decoder)
          memory.emplace(input.at("memory"), from, nn::Attend{.lengths = input.at("lengths")});
        return layer(input.at("x"), timeName, feature, mode, {.causal = true}, memory);
      });
}

TEST(Reference, Transformers) {
  for (const std::string &end : sizesOfCases)
    for (bool first : {false, true}) {
      expectTransformer((first ? "encoder-pre" : "encoder") + end, false, first);
      expectTransformer((first ? "decoder-pre" : "decoder") + end, true, first);
    }
}

TEST(Reference, Speech) {
  for (const std::string &end : sizesOfCases) {
    std::string name = "conformer" + end;
    nn::ConformerOptions options{.heads = headsOf(name + ".layer.attention"),
                                 .hidden = sizeIn(name + ".layer.first.up.weight", hidden),
                                 .window = sizeIn(name + ".layer.conv.weight", Name("time_k")),
                                 .dropout = 0};
    nn::Conformer conformer = nn::Conformer::make(
        timeName, {feature, sizeIn(name + ".input.x", feature)}, key(1), options);
    expectReference(
        name, conformer,
        [](const nn::Conformer &layer, const Given &input, nn::Mode &mode) {
          return layer(input.at("x"), timeName, feature, mode);
        },
        nn::Mode::training(Case<nn::Conformer>{conformer, {}}, key(1), batch));
    name = "tds" + end;
    auto extent = [&](const Name &axis) { return Extent{axis, sizeIn(name + ".input.x", axis)}; };
    expectReference(name,
                    nn::TimeDepthSeparable::make(timeName, extent(band), extent(channel),
                                                 end == "-ones" ? 1 : 5, key(1)),
                    [](const nn::TimeDepthSeparable &block, const Given &input, nn::Mode &mode) {
                      return block(input.at("x"), timeName, band, channel, mode);
                    });
  }
}

TEST(Reference, GraphAttention) {
  for (const std::string &end : sizesOfCases) {
    std::string weight = "graph" + end + ".layer.project.weight";
    auto extent = [&](const Name &axis) { return Extent{axis, sizeIn(weight, axis)}; };
    expectReference(
        "graph" + end,
        nn::GraphAttention::make({extent(word)}, {extent(head), extent(feature)}, key(1)),
        [](const nn::GraphAttention &layer, const Given &input, nn::Mode &) {
          return layer(input.at("x"), node, word, feature,
                       {input.at("number"), input.at("count"), slot});
        });
  }
}
