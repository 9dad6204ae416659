//===- model-main.cpp - heddle-bench-model --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The process in which the benchmarks of models run Heddle:
//
//     heddle-bench-model train|infer jit|program NAME SIZE THREADS DTYPE BATCH
//     heddle-bench-model generate jit NAME SIZE THREADS DTYPE PROMPT LENGTH CAPACITY
//
// Compiles a training step with Adam, or the evaluation of a batch, and prints a line of JSON:
// "flops" of a run, "compile_ms" with an empty cache, "warm_ms" of the same program with the cache
// that the first compilation filled, and "edited_ms" of a program with another name, for which all
// passes run and all kernels are found in the cache. Then it answers as described in
// bench/peers/Process.h. `program` runs a program file by the runtime alone. A run of `generate`
// feeds PROMPT tokens and then generates LENGTH tokens greedily, one by one, with a cache of
// CAPACITY tokens.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Zoo.h"

#include "heddle/nn/TrainingStep.h"
#include "lib/profile/Profile.h"
#include "runtime/device/ThreadTeam.h"
#include "runtime/program/Program.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

using namespace heddle;

namespace {
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A directory that is removed at the end.
struct TemporaryDirectory {
  std::filesystem::path path;
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-bench-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Error("can't make the directory '" + name + "'");
    path = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// Runs an entry repeatedly; a result that replaces a donated argument is the next call's argument.
std::function<void()> runner(std::shared_ptr<Program> program, std::vector<TensorRef> arguments,
                             int threads, Timeline timeline) {
  CallOptions options;
  options.team = sharedThreadTeam(threads);
  const EntrySpec &entry = program->manifest().entries.front();
  std::vector<bool> donate(arguments.size());
  for (auto [argument, result] : entry.donations)
    donate[size_t(argument)] = true;
  return [=, &entry, state = std::move(arguments)]() mutable {
    options.profile = timeline.profile();
    std::vector<TensorRef> results = program->run(entry, state, options, donate);
    for (auto [argument, result] : entry.donations)
      state[size_t(argument)] = results[size_t(result)];
  };
}

/// Compiles `function`, for jit again with a full cache and once more under another name, prints
/// the compile times, and returns a function that runs it.
template <typename F, typename Net>
std::function<void()> prepare(F function, Net net, const nn::Fields &fields, bool asProgram,
                              JitOptions how) {
  TemporaryDirectory folder;
  setenv("HEDDLE_CACHE_DIR", folder.path.c_str(), 1);
  std::string path = folder.path / "step.heddle";
  nlohmann::json line;
  auto arguments = std::tie(net, fields);
  auto timed = [&](const JitOptions &options, const std::string &to) {
    auto compiled = jit(function, options);
    double begin = now();
    std::apply([&](auto &...all) { compiled.save(to, all...); }, arguments);
    return (now() - begin) * 1e3;
  };
  line["compile_ms"] = timed(how, path);
  if (!asProgram) {
    line["warm_ms"] = timed(how, path);
    JitOptions edited = how;
    edited.name += "_edited";
    line["edited_ms"] = timed(edited, folder.path / "edited.heddle");
  }
  std::shared_ptr<Program> program = Program::load(path);
  std::function<void()> run;
  Timeline timeline;
  if (asProgram) {
    std::vector<TensorRef> leaves;
    auto take = [&](const std::string &, Tensor &tensor) { leaves.push_back(tensor.data()); };
    forEachTensor(net, take);
    nn::Fields batch = fields;
    forEachTensor(batch, take);
    net = {};
    run = runner(program, std::move(leaves), how.threads, timeline);
  } else {
    how.timeline = timeline;
    auto compiled = jit(function, how);
    run = [compiled, net = std::move(net), fields]() mutable { compiled(net, fields); };
  }
  run();
  double flops = 0; // a step in a loop counts once for each iteration
  for (const Profile::Step &step : timeline.profile()->steps())
    flops += step.flops;
  line["flops"] = flops;
  timeline.record(false);
  std::cout << line.dump() << std::endl;
  return run;
}

std::function<void()> prepare(bool trains, bool asProgram, const zoo::Model &model, int64_t batch,
                              const JitOptions &how) {
  nn::OptimizerChoice adam = nn::optimizer<nn::Adam>();
  nn::TrainingState state = nn::TrainingState::make(model.network, adam);
  nn::Fields fields = model.example(batch);
  forEachTensor(fields, [](const std::string &, Tensor &tensor) {
    tensor = Tensor::fromData(tensor.data());
  });
  if (trains)
    return prepare([step = nn::trainingStep(model.network, {.optimizer = adam})](
                       nn::TrainingState &state,
                       const nn::Fields &fields) { return step(state, fields, zeros({}) + 1e-4); },
                   std::move(state), fields, asProgram, how);
  return prepare(nn::evaluation(model.network),
                 nn::TrainedState{state.net, state.mode.evaluation()}, fields, asProgram, how);
}

std::function<void()> prepareWriter(const zoo::Model &model, int64_t prompt, int64_t length,
                                    int64_t capacity, int threads) {
  if (!model.writer)
    throw Error("the model does not generate");
  zoo::Generation how{.prompt = std::string(size_t(prompt), 'a'),
                      .length = length,
                      .temperature = 0,
                      .capacity = capacity};
  auto run = [write = model.writer(model.network.parameters, threads), how] {
    write(how, [](std::string_view) {});
  };
  run();
  std::cout << nlohmann::json({{"flops", 0}}).dump() << std::endl;
  return run;
}

std::function<void()> prepare(const std::vector<std::string> &words) {
  const std::string &task = words[0], &dtype = words[5];
  zoo::Model model = zoo::modelCalled(words[2]).make(zoo::sizeCalled(words[3]));
  JitOptions how{.name = "step", .threads = std::stoi(words[4])};
  if (dtype != "f32")
    how.products = parseElementType(dtype);
  if (task == "generate")
    return prepareWriter(model, std::stoll(words[6]), std::stoll(words.at(7)),
                         std::stoll(words.at(8)), how.threads);
  return prepare(task == "train", words[1] == "program", model, std::stoll(words[6]), how);
}
} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 7) {
    std::cerr << "usage: heddle-bench-model train|infer|generate jit|program NAME SIZE THREADS "
                 "DTYPE BATCH|PROMPT LENGTH CAPACITY\n";
    return 2;
  }
  try {
    std::function<void()> run = prepare(words);
    for (int64_t count; std::cin >> count;) {
      double begin = now();
      for (int64_t i = 0; i < count; ++i)
        run();
      std::cout << now() - begin << std::endl;
    }
  } catch (const std::exception &error) {
    std::cerr << "heddle-bench-model: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
