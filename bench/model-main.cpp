//===- model-main.cpp - heddle-bench-model --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heddle's part in the benchmarks of models, in a process of its own:
//
//     heddle-bench-model train|infer jit|program NAME SIZE BATCH THREADS
//
// It compiles a training step with Adam, or the evaluation of a batch, and prints a line of JSON:
// "flops" of a run, "compile_ms" with an empty cache, "warm_ms" with the cache that this filled. Then
// it answers as bench/peers/Process.h says. `program` runs a program file by the runtime alone.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Zoo.h"

#include "heddle/nn/TrainingStep.h"
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

/// Runs an entry again and again; what it returns for a donated argument is the next argument.
std::function<void()> runner(std::shared_ptr<Program> program, std::vector<TensorRef> arguments,
                             int threads) {
  CallOptions options;
  options.team = sharedThreadTeam(threads);
  const EntrySpec &entry = program->manifest().entries.front();
  std::vector<bool> donate(arguments.size());
  for (auto [argument, result] : entry.donations)
    donate[size_t(argument)] = true;
  return [=, &entry, state = std::move(arguments)]() mutable {
    std::vector<TensorRef> results = program->run(entry, state, options, donate);
    for (auto [argument, result] : entry.donations)
      state[size_t(argument)] = results[size_t(result)];
  };
}

/// Compiles `function` twice, prints what that took, and gives a function that runs it.
template <typename F, typename Net>
std::function<void()> prepare(F function, Net net, const nn::Fields &fields, bool asProgram,
                              int threads) {
  TemporaryDirectory folder;
  setenv("HEDDLE_CACHE_DIR", folder.path.c_str(), 1);
  std::string path = folder.path / "step.heddle";
  double times[2];
  auto arguments = std::tie(net, fields);
  for (double &time : times) {
    auto compiled = jit(function, {.name = "step", .threads = threads});
    double begin = now();
    std::apply([&](auto &...all) { compiled.save(path, all...); }, arguments);
    time = (now() - begin) * 1e3;
  }
  std::shared_ptr<Program> program = Program::load(path);
  double flops = 0;
  for (const StepSpec &step : program->manifest().entries.front().steps)
    flops += step.flops;
  std::function<void()> run;
  if (asProgram) {
    std::vector<TensorRef> leaves;
    auto take = [&](const std::string &, Tensor &tensor) { leaves.push_back(tensor.data()); };
    forEachTensor(net, take);
    nn::Fields batch = fields;
    forEachTensor(batch, take);
    net = {};
    run = runner(program, std::move(leaves), threads);
  } else {
    auto compiled = jit(function, {.name = "step", .threads = threads});
    run = [compiled, net = std::move(net), fields]() mutable { compiled(net, fields); };
  }
  run();
  std::cout
      << nlohmann::json({{"flops", flops}, {"compile_ms", times[0]}, {"warm_ms", times[1]}}).dump()
      << std::endl;
  return run;
}

std::function<void()> prepare(bool trains, bool asProgram, const zoo::Model &model, int64_t batch,
                              int threads) {
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
                   std::move(state), fields, asProgram, threads);
  return prepare(nn::evaluation(model.network),
                 nn::TrainedState{state.net, state.mode.evaluation()}, fields, asProgram, threads);
}
} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 6) {
    std::cerr << "usage: heddle-bench-model train|infer jit|program NAME SIZE BATCH THREADS\n";
    return 2;
  }
  try {
    auto run = prepare(words[0] == "train", words[1] == "program",
                       zoo::modelCalled(words[2]).make(zoo::sizeCalled(words[3])),
                       std::stoll(words[4]), std::stoi(words[5]));
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
