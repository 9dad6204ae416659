//===- Made.cpp - synthetic data ------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/data/Made.h"

#include "models/zoo/data/Random.h"

using namespace heddle;
using namespace heddle::zoo;

namespace {
/// Samples that a function makes, each from its own random stream.
struct Made : nn::Dataset {
  std::vector<nn::Field> parts;
  std::function<nn::Sample(Random &)> make;
  int64_t begin, samples; ///< the range of streams

  Made(std::vector<nn::Field> parts, std::function<nn::Sample(Random &)> make, int64_t begin,
       int64_t samples)
      : parts(std::move(parts)), make(std::move(make)), begin(begin), samples(samples) {}
  int64_t count() const override { return samples; }
  std::vector<nn::Field> fields() const override { return parts; }
  nn::Sample read(int64_t index) const override {
    Random random(17, uint64_t(begin + index));
    return make(random);
  }
};
} // namespace

static Data made(const std::vector<nn::Field> &fields,
                 const std::function<nn::Sample(Random &)> &make, int64_t count,
                 std::function<nn::Fields(int64_t)> example) {
  return {[=] { return std::make_shared<Made>(fields, make, 0, count); },
          [=] { return std::make_shared<Made>(fields, make, count, (count + 9) / 10); },
          std::move(example)};
}

/// Element `index` of random vectors that all samples share.
static double fixedNormal(uint64_t seed, int64_t index) {
  return Random(seed, uint64_t(index)).normal();
}

template <typename T>
static io::HostArray arrayOf(const std::vector<T> &values, std::vector<int64_t> shape) {
  return io::HostArray::of(std::span<const T>(values), std::move(shape));
}

//===----------------------------------------------------------------------===//
// Speech
//===----------------------------------------------------------------------===//

Data zoo::speech(const SpeechOptions &options) {
  auto make = [=](Random &random) -> nn::Sample {
    int64_t count = options.shortest + random.below(options.longest - options.shortest + 1);
    std::vector<int32_t> text;
    std::vector<float> frames;
    for (int64_t i = 0; i < count; ++i) {
      int64_t token = 1 + random.below(options.tokens - 1), length = 4 + random.below(4);
      if (int64_t(frames.size()) / options.bands + length > options.frames)
        break;
      text.push_back(int32_t(token));
      for (int64_t t = 0; t < length; ++t)
        for (int64_t band = 0; band < options.bands; ++band) {
          double part = double(t) / double(length - 1);
          double sound = fixedNormal(23, token * options.bands + band) * (1 - part) +
                         fixedNormal(29, token * options.bands + band) * part;
          frames.push_back(float(sound + options.noise * random.normal()));
        }
    }
    int64_t time = int64_t(frames.size()) / options.bands, positions = int64_t(text.size());
    return {arrayOf(frames, {time, options.bands}), arrayOf(text, {positions})};
  };
  auto example = [=](int64_t batch) -> nn::Fields {
    Extent samples{Name("batch"), batch};
    Tensor frames = randomNormal(
        key(1), {samples, {Name("time"), options.frames}, {Name("band"), options.bands}});
    int64_t longest = std::max<int64_t>(std::min(options.longest, options.frames / 8), 1);
    Tensor text = randomTokens(2, options.tokens - 1, batch, {{Name("position"), longest}});
    Tensor lengths = randomTokens(3, options.frames / 2 + 1, batch, {});
    return {{"frames", frames},
            {"frames_length", lengths + double(options.frames - options.frames / 2)},
            {"text", text + 1.0},
            {"text_length", randomLengths(4, longest, batch)}};
  };
  return made({{"frames", ElementType::F32, {nn::anySize, options.bands}, {"time", "band"}},
               {"text", ElementType::I32, {nn::anySize}, {"position"}}},
              make, options.count, example);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Data zoo::citations(const CitationOptions &options) {
  auto make = [=](Random &random) -> nn::Sample {
    const auto &[nodes, words, classes, slots, count] = options;
    std::vector<int32_t> label, neighbour, degree;
    std::vector<std::vector<int32_t>> ofClass{size_t(classes)};
    for (int64_t node = 0; node < nodes; ++node) {
      label.push_back(int32_t(random.below(classes)));
      ofClass[size_t(label.back())].push_back(int32_t(node));
    }
    std::vector<float> bits;
    for (int32_t own : label)
      for (int64_t word = 0; word < words; ++word)
        bits.push_back(random.uniform() < (word % classes == own ? 0.3 : 0.15));
    for (int64_t node = 0; node < nodes; ++node) {
      degree.push_back(int32_t(1 + random.below(slots)));
      const std::vector<int32_t> &alike = ofClass[size_t(label[size_t(node)])];
      for (int64_t slot = 0; slot < slots; ++slot) {
        bool isAlike = random.uniform() < 0.7;
        int32_t other = isAlike ? alike[size_t(random.below(int64_t(alike.size())))]
                                : int32_t(random.below(nodes));
        neighbour.push_back(slot == 0 ? int32_t(node) : slot < degree.back() ? other : 0);
      }
    }
    return {arrayOf(bits, {nodes, words}), arrayOf(neighbour, {nodes, slots}),
            arrayOf(degree, {nodes}), arrayOf(label, {nodes})};
  };
  Extent node{Name("node"), options.nodes};
  auto example = [=](int64_t batch) -> nn::Fields {
    Tensor words =
        randomUniform(key(1), {{Name("batch"), batch}, node, {Name("word"), options.words}});
    return {
        {"words", words},
        {"neighbour", randomTokens(2, options.nodes, batch, {node, {Name("slot"), options.slots}})},
        {"degree", randomTokens(3, options.slots, batch, {node}) + 1.0},
        {"label", randomTokens(4, options.classes, batch, {node})}};
  };
  return made({{"words", ElementType::F32, {options.nodes, options.words}, {"node", "word"}},
               {"neighbour", ElementType::I32, {options.nodes, options.slots}, {"node", "slot"}},
               {"degree", ElementType::I32, {options.nodes}, {"node"}},
               {"label", ElementType::I32, {options.nodes}, {"node"}}},
              make, options.count, example);
}

//===----------------------------------------------------------------------===//
// Clicks
//===----------------------------------------------------------------------===//

Data zoo::clicks(const ClickOptions &options) {
  auto make = [=](Random &random) -> nn::Sample {
    constexpr int64_t hidden = 4;
    std::vector<float> dense;
    std::vector<int32_t> category;
    double score = -1;
    for (int64_t i = 0; i < options.dense; ++i) {
      dense.push_back(float(random.normal()));
      score += 0.2 * fixedNormal(31, i) * dense.back();
    }
    double before[hidden] = {};
    for (int64_t table = 0; table < options.tables; ++table) {
      double place = random.uniform();
      category.push_back(int32_t(place * place * double(options.rows)));
      for (int64_t i = 0; i < hidden; ++i) {
        double now = fixedNormal(37, (table * options.rows + category.back()) * hidden + i);
        score += 0.15 * before[i] * now;
        before[i] = now;
      }
    }
    float click = random.uniform() < 1 / (1 + std::exp(-score));
    return {arrayOf(dense, {options.dense}), arrayOf(category, {options.tables}),
            io::HostArray::of<float>({click}, {})};
  };
  auto example = [=](int64_t batch) -> nn::Fields {
    Extent samples{Name("batch"), batch}, number{Name("number"), options.dense};
    return {{"dense", randomNormal(key(1), {samples, number})},
            {"category", randomTokens(2, options.rows, batch, {{Name("table"), options.tables}})},
            {"click", randomTokens(3, 2, batch, {}).cast(ElementType::F32)}};
  };
  return made({{"dense", ElementType::F32, {options.dense}, {"number"}},
               {"category", ElementType::I32, {options.tables}, {"table"}},
               {"click", ElementType::F32, {}, {}}},
              make, options.count, example);
}
