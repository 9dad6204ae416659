//===- step-main.cpp - heddle-bench-step ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The process in which `heddle-bench ranks` runs Heddle, as one rank or alone:
//
//     heddle-bench-step THREADS BATCH [MESH [ENGINE [ENGINE-OPTIONS [RULE...]]]]
//
// Compiles the training step of models/fashion, for the mesh if there is one; rank 0 prints a line
// of JSON: "compile_ms", "parameters" (their bytes), "state" (the bytes of parameters and momentum
// that rank 0 stores after a step). Then rank 0 answers as described in bench/peers/Process.h. A
// measurement begins and ends when all ranks have finished a step.
//
//===----------------------------------------------------------------------===//

#include "bench/FashionStep.h"

#include "runtime/control/EngineTransport.h"
#include "runtime/memory/RuntimeTensor.h"
#include "runtime/program/Gather.h"

#include <nlohmann/json.hpp>

#include <iostream>

using namespace heddle;
using namespace heddle::bench;

namespace {
/// Returns on all ranks the text passed on rank 0.
std::string fromFirst(const Ranks &ranks, const std::string &text) {
  return ranks.size() == 1 ? text : ranks.job()->exchange("the number of steps", text).front();
}

void answer(const Ranks &ranks, const std::function<void()> &run) {
  for (std::string text;;) {
    if (ranks.isFirst() && !std::getline(std::cin, text))
      text.clear();
    std::string count = fromFirst(ranks, text);
    if (count.empty())
      return;
    double begin = bench::detail::now();
    for (int64_t i = std::stoll(count); i > 0; --i)
      run();
    fromFirst(ranks, "");
    if (ranks.isFirst())
      std::cout << bench::detail::now() - begin << std::endl;
  }
}

void work(const std::vector<std::string> &words) {
  auto word = [&](size_t i) { return i < words.size() ? words[i] : std::string(); };
  JitOptions how{.threads = std::stoi(words.at(0)), .cache = false};
  Ranks ranks;
  if (!word(2).empty()) {
    std::shared_ptr<Job> job = Job::join();
    useEngine(*job, word(3), word(4));
    ranks = Ranks(job);
    how.mesh = {{word(2), ranks.size()}};
    how.rules = {"batch:" + word(2)};
    how.ranks = ranks;
  }
  FashionStep in(std::stoll(words.at(1)));
  nlohmann::json line;
  int64_t parameters = 0, state = 0;
  forEachTensor(in.state, [&](const std::string &path, Tensor &tensor) {
    if (path.starts_with("net."))
      parameters += tensor.data()->bytes();
  });
  // Between steps each rank stores only its part of a batch.
  if (ranks.size() > 1)
    in.fields = jit(
        [](const nn::Fields &fields) {
          nn::Fields result = fields;
          for (auto &[name, tensor] : result)
            tensor = tensor + 0;
          return result;
        },
        how)(in.fields);
  for (size_t i = 5; i < words.size(); ++i)
    how.rules.push_back(words[i]);
  auto step = jit(in.step, how);
  auto run = [&] { step(in.state, in.fields, in.rate); };
  run();
  run(); // now with the results of the first run
  line["compile_ms"] = step.statistics().compileSeconds * 1e3;
  line["parameters"] = parameters;
  forEachTensor(in.state, [&](const std::string &, Tensor &tensor) {
    auto split = tensor.split();
    state += split ? split->block->bytes() : tensor.data()->bytes();
  });
  line["state"] = state;
  if (ranks.isFirst())
    std::cout << line.dump() << std::endl;
  answer(ranks, run);
}
} // namespace

int main(int argc, char **argv) {
  try {
    work({argv + 1, argv + argc});
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
