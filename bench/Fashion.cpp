//===- Fashion.cpp - training and compiling a convolutional network -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/FashionStep.h"
#include "bench/peers/Peers.h"

#include "runtime/memory/RuntimeTensor.h"

#include <filesystem>

using namespace heddle;
using namespace heddle::bench;

void bench::fashionTraining(const Request &request, Report &report) {
  int64_t batch = request.size("batch", 64);
  auto in = std::make_shared<FashionStep>(batch);
  auto step = jit(in->step, JitOptions{.threads = request.threads, .cache = false});
  step(in->state, in->fields, in->rate);
  Case work{.bench = "fashion/train-b" + std::to_string(batch),
            .threads = request.threads,
            .work = double(batch),
            .unit = Unit::ExamplesPerSecond};
  System heddle{.name = "heddle", .once = [=] { step(in->state, in->fields, in->rate); }};
  JitStatistics statistics = step.statistics();
  heddle.compileMilliseconds = statistics.compileSeconds * 1e3;
  // Parameters and momentum are not in the arena.
  heddle.peakMemoryBytes = statistics.arenaBytes;
  forEachTensor(in->state, [&](const std::string &, Tensor &tensor) {
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
  fashion::Image image{FashionStep(batch).fields.at("image")};
  fashion::Net net = fashion::initialNet(1);
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
  FashionStep in(batch);
  Case work{.bench = "fashion/compile-b" + std::to_string(batch),
            .threads = request.threads,
            .unit = Unit::Milliseconds};
  for (bool cache : {false, true})
    work.systems.push_back({.name = cache ? "heddle-warm" : "heddle-cold", .once = [=]() mutable {
                              auto step = jit(
                                  in.step, JitOptions{.threads = request.threads, .cache = cache});
                              std::string path = detail::temporaryFile();
                              step.save(path, in.state, in.fields, in.rate);
                              std::filesystem::remove(path);
                            }});
  report.measure(work);
}
