//===- Zoo.h - models by their names ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model's file has its network, its loss and a registration, which makes the network in each size
// and states its training:
//
//     using namespace heddle;
//     static zoo::Registered lenet("lenet", "LeCun et al., 1998", [](zoo::Size size) {
//       int64_t units = zoo::pick(size, 7, 64, 500);
//       Net net{nn::Linear::make({{row, 28}, {column, 28}}, {unit, units}, key(1)), ...};
//       zoo::Data data{readTrain, readTest, exampleOf(size)};
//       return zoo::Setting<Net>{net, lossOf, data, {.epochs = 4, .batch = 64, .rate = 1e-3}};
//     });
//
// Tiny: at most 5,000 parameters, no dropout; for tests and references. Small: trains on two cores
// within minutes. Full: as published. FlexFlow: as in FlexFlow's publication (Jia et al., Beyond
// data and model parallelism, 2018), for plans of many devices; where that states nothing, as full.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_ZOO_ZOO_H
#define HEDDLE_MODELS_ZOO_ZOO_H

#include "heddle/nn/Trainer.h"

namespace heddle::zoo {

enum class Size { Tiny, Small, Full, FlexFlow };
/// "tiny", "small", "full", "flexflow".
std::string toText(Size size);
/// The value for a size.
template <typename T>
T pick(Size size, T tiny, T small, T full, T flexFlow) {
  return size == Size::Tiny    ? tiny
         : size == Size::Small ? small
         : size == Size::Full  ? full
                               : flexFlow;
}
/// The same, where FlexFlow's size is as the full one.
template <typename T>
T pick(Size size, T tiny, T small, T full) {
  return pick(size, tiny, small, full, full);
}

/// The data that a model is trained on; the functions read the data sets.
struct Data {
  std::function<nn::DatasetPtr()> train, test;
  /// A batch of random values, which needs no files. Model::example adds weight and progress.
  std::function<nn::Fields(int64_t batch)> example;
  std::string batch = "batch"; ///< the name of the samples
};

/// Options of the text that a model generates.
struct Generation {
  std::string prompt = "";
  int64_t length = 200;   ///< of the generated text, in tokens
  double temperature = 1; ///< 0: choose the most probable token
  int64_t topK = 0;       ///< draw from the k most probable tokens only; 0: all
  double topP = 1;        ///< draw from the most probable tokens with this total probability
  uint64_t seed = 1;
  int64_t capacity = INT64_MAX; ///< largest size of the cache, in tokens; the model limits it too
};
using Print = std::function<void(std::string_view)>;
/// Generates a text and prints it piece by piece. Later calls reuse its compiled functions.
using Writer = std::function<void(const Generation &, const Print &)>;

template <typename Net>
struct Setting {
  Net net;
  std::function<nn::Outcome(const Net &, const nn::Fields &, nn::Mode &)> loss;
  Data data;
  nn::Training training;
  /// Makes a writer, if the model generates text, that runs on `threads` threads.
  std::function<Writer(const Net &, int threads)> writer = {};
  /// Makes HTML for the report of a run, such as samples.
  std::function<std::string(const Net &, int threads)> section = {};
  int64_t deviceBatch = 64; ///< samples of a device in FlexFlow's size
};

/// A setting of any type of network.
struct Model {
  nn::Network network;
  Data data;
  nn::Training training;
  std::function<Writer(const nn::ByPath &, int threads)> writer = {};
  std::function<std::string(const nn::ByPath &, int threads)> section = {};
  /// SGD with momentum and this batch, without clipping, whose norm depends on all gradients.
  void trainAsFlexFlow(int64_t batch);
  /// Data::example with weights of 1 and progress 1.
  nn::Fields example(int64_t batch) const;
};

/// A registered model.
struct Entry {
  std::string name, source; ///< the publication
  std::string file;         ///< path of the model's source file
  std::function<Model(Size)> make;
  /// The same with so many layers; empty for models whose layers are not counted.
  std::function<Model(Size, int64_t layers)> makeOf = {};
  /// The file of the PyTorch twin.
  std::string twin() const;
};
/// All models, sorted by name.
const std::map<std::string, Entry> &models();
/// Throws Error that lists all names for an unknown one.
const Entry &modelCalled(const std::string &name, Here here = Here::current());
/// Throws Error that lists all sizes for an unknown one.
Size sizeCalled(const std::string &text, Here here = Here::current());

/// Registers a model; a static object in a model's file.
class Registered {
public:
  template <typename F>
  Registered(const std::string &name, const std::string &source, F settingFor,
             Here here = Here::current()) {
    auto modelOf = [](auto setting, Size size) {
      Model model{nn::networkOf(setting.net, setting.loss, key(setting.training.seed),
                                Name(setting.data.batch)),
                  setting.data, setting.training};
      if (size == Size::FlexFlow)
        model.trainAsFlexFlow(setting.deviceBatch);
      auto withNet = [net = setting.net](auto given) {
        return [net, given](const nn::ByPath &parameters, int threads) {
          return given(nn::netFrom(net, parameters), threads);
        };
      };
      if (setting.writer)
        model.writer = withNet(setting.writer);
      if (setting.section)
        model.section = withNet(setting.section);
      return model;
    };
    if constexpr (std::is_invocable_v<F, Size, std::optional<int64_t>>)
      add({name, source, here.file_name(),
           [=](Size size) { return modelOf(settingFor(size, std::nullopt), size); },
           [=](Size size, int64_t layers) { return modelOf(settingFor(size, layers), size); }});
    else
      add({name, source, here.file_name(),
           [=](Size size) { return modelOf(settingFor(size), size); }});
  }

private:
  static void add(Entry entry);
};

} // namespace heddle::zoo

#endif // HEDDLE_MODELS_ZOO_ZOO_H
