//===- Fashion.cpp - training and compiling a convolutional network -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Peers.h"

#include "models/fashion/Network.h"
#include "runtime/program/RuntimeTensor.h"

#include <filesystem>

using namespace heddle;
using namespace heddle::bench;

namespace {
struct Inputs {
  fashion::Sample sample;
  Tensor rate;
};

Inputs inputsOf(int64_t batch) {
  const auto &n = fashion::names();
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < batch; ++i)
    labels.push_back(int32_t(i % 10));
  std::vector<float> ones(size_t(batch), 1.0f);
  return {{randomTensor({{n.batch, batch}, {n.row, 28}, {n.column, 28}, {n.channel, 1}}),
           Tensor::of<int32_t>(std::span<const int32_t>(labels), {{n.batch, batch}}),
           Tensor::of<float>(std::span<const float>(ones), {{n.batch, batch}})},
          Tensor::of<float>({0.02f}, {})};
}
} // namespace

void bench::fashionTraining(const Request &request, Report &report) {
  int64_t batch = request.size("batch", 64);
  Inputs in = inputsOf(batch);
  auto state = std::make_shared<fashion::State>(fashion::initialState(1));
  auto step = jit(fashion::trainStep, JitOptions{.threads = request.threads, .cache = false});
  step(*state, in.sample, in.rate);
  Case work{.bench = "fashion/train-b" + std::to_string(batch),
            .threads = request.threads,
            .work = double(batch),
            .unit = Unit::ExamplesPerSecond};
  System heddle{.name = "heddle", .once = [=] { step(*state, in.sample, in.rate); }};
  JitStatistics statistics = step.statistics();
  heddle.compileMilliseconds = statistics.compileSeconds * 1e3;
  // Parameters and momentum are not in the arena.
  heddle.peakMemoryBytes = statistics.arenaBytes;
  forEachTensor(*state, [&](const std::string &, Tensor &tensor) {
    heddle.peakMemoryBytes += tensor.data()->bytes();
  });
  work.systems.push_back(std::move(heddle));
  if (request.peers)
    for (bool tuned : {true, false})
      for (System &peer :
           torchPeer("fashion", {{"batch", std::to_string(batch)}}, request.threads, tuned))
        work.systems.push_back(std::move(peer));
  report.measure(work);
  printf("  planned arena %.1f MiB, live-set lower bound %.1f MiB\n",
         double(statistics.arenaBytes) / (1 << 20), double(statistics.liveBytes) / (1 << 20));
}

void bench::fashionClassifying(const Request &request, Report &report) {
  int64_t batch = request.size("batch", 64);
  fashion::Image image{inputsOf(batch).sample.image};
  fashion::Net net = fashion::initialState(1).net;
  Case work{.bench = "fashion/classify-b" + std::to_string(batch),
            .threads = request.threads,
            .work = double(batch),
            .unit = Unit::ExamplesPerSecond};
  for (bool anyBatch : {false, true}) {
    auto classifier =
        jit(fashion::classify,
            JitOptions{.threads = request.threads,
                       .cache = false,
                       .symbolic = anyBatch ? Names{fashion::names().batch} : Names{}});
    classifier(net, image);
    work.systems.push_back({.name = anyBatch ? "heddle-any-batch" : "heddle",
                            .once = [=] { classifier(net, image); },
                            .compileMilliseconds = classifier.statistics().compileSeconds * 1e3});
  }
  report.measure(work);
}

void bench::compilation(const Request &request, Report &report) {
  int64_t batch = request.size("batch", 64);
  Inputs in = inputsOf(batch);
  fashion::State state = fashion::initialState(1);
  Case work{.bench = "fashion/compile-b" + std::to_string(batch),
            .threads = request.threads,
            .unit = Unit::Milliseconds};
  for (bool cache : {false, true})
    work.systems.push_back({.name = cache ? "heddle-warm" : "heddle-cold", .once = [=]() mutable {
                              auto step =
                                  jit(fashion::trainStep,
                                      JitOptions{.threads = request.threads, .cache = cache});
                              std::string path = detail::temporaryFile();
                              step.save(path, state, in.sample, in.rate);
                              std::filesystem::remove(path);
                            }});
  report.measure(work);
}
