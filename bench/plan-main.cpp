//===- plan-main.cpp - heddle-bench-plan ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The process in which `heddle-bench planner` runs plans, as one rank or alone:
//
//     heddle-bench-plan export NAME FOLDER                writes a training step (PlanModels.h)
//     heddle-bench-plan run FOLDER ENGINE-OPTIONS PROGRAM.heddle ...
//
// `run` loads all programs, with the state and the batch of the folder, and runs each once. Rank 0
// then prints a line, and reads lines with the number of a program, from 0, and a number of steps.
// It answers each with the seconds that these steps took until all ranks had finished them. A step
// that is not timed comes before.
//
//===----------------------------------------------------------------------===//

#include "bench/Bench.h"
#include "bench/PlanModels.h"

#include "heddle/Ranks.h"
#include "heddle/io/Safetensors.h"
#include "runtime/control/EngineTransport.h"
#include "runtime/program/CallShards.h"
#include "runtime/program/Program.h"

#include <iostream>
#include <sstream>

using namespace heddle;

namespace {
using Tensors = std::map<std::string, TensorRef>;

/// The arguments that a file holds, by name.
void readTensors(const std::string &path, Tensors &all) {
  io::SafetensorsFile file(path);
  for (const auto &[name, header] : file.header().arrays) {
    io::HostArray array = file.read(name);
    TensorSpec spec{array.element, {}};
    for (size_t i = 0; i < array.names.size(); ++i)
      spec.dims.emplace(array.names[i], Expr(array.shape[i]));
    std::vector<std::string> sorted;
    for (const auto &[each, size] : spec.dims)
      sorted.push_back(each);
    all[name] = std::make_shared<RuntimeTensor>(spec, Layout::rowMajor(sorted));
    all[name]->copyFrom(array.bytes.data(), array.names);
  }
}

/// A program with its state, which each step replaces.
class Stepper {
public:
  Stepper(const std::string &path, const Tensors &all, const std::shared_ptr<Job> &job)
      : program(Program::load(path)),
        entry(program->entry(program->manifest().entries.at(0).name, job->rank())) {
    how.team = job->team();
    std::vector<TensorRef> whole;
    std::vector<const TensorSpec *> types;
    for (int32_t index : entry.arguments) {
      const std::string &name = entry.values[size_t(index)].name;
      auto found = all.find(name);
      if (found == all.end())
        throw Error("'" + path + "': expected an array for the argument '" + name + "', got none");
      whole.push_back(found->second);
      types.push_back(&found->second->spec());
    }
    arguments = whole;
    if (job->ranks() > 1) {
      CallShards placed(program->manifest(), entry, types);
      for (size_t i = 0; i < whole.size(); ++i)
        arguments[i] = placed.arguments[i].cut(*whole[i], job->rank());
      how.job = job;
      how.supplied = placed.supplied;
    } else { // programs share the arrays
      for (size_t i = 0; i < whole.size(); ++i)
        arguments[i] = whole[i]->inLayout(whole[i]->layout());
    }
    donated.resize(arguments.size());
    for (auto [argument, result] : entry.donations)
      donated[size_t(argument)] = true;
  }

  void step() {
    std::vector<TensorRef> results = program->run(entry, arguments, how, donated);
    for (auto [argument, result] : entry.donations)
      arguments[size_t(argument)] = results[size_t(result)];
  }
  /// Frees what the program needs only while it runs, for others.
  void rest() { program->trim(); }

private:
  std::shared_ptr<Program> program;
  const EntrySpec &entry;
  CallOptions how;
  std::vector<TensorRef> arguments;
  std::vector<bool> donated;
};

/// Returns on all ranks the text passed on rank 0.
std::string fromFirst(Job &job, const std::string &text) {
  return job.ranks() == 1 ? text : job.exchange("the number of steps", text).front();
}

void run(const std::string &folder, const std::string &engineOptions,
         const std::vector<std::string> &programs) {
  std::shared_ptr<Job> job = Job::join();
  if (job->ranks() > 1)
    useEngine(*job, "", engineOptions);
  Tensors all;
  for (const char *file : {"/state.safetensors", "/example.safetensors"})
    readTensors(folder + file, all);
  std::vector<Stepper> steppers;
  for (const std::string &path : programs) {
    steppers.emplace_back(path, all, job);
    steppers.back().step();
    steppers.back().rest();
  }
  if (job->rank() == 0)
    std::cout << programs.size() << " programs" << std::endl;
  for (std::string text;;) {
    if (job->rank() == 0 && !std::getline(std::cin, text))
      text.clear();
    std::istringstream words(fromFirst(*job, text));
    size_t which = 0;
    int64_t count = 0;
    if (!(words >> which >> count))
      return;
    steppers.at(which).step(); // allocates
    fromFirst(*job, "");
    double begin = bench::detail::now();
    for (int64_t i = 0; i < count; ++i)
      steppers.at(which).step();
    fromFirst(*job, "");
    if (job->rank() == 0)
      std::cout << bench::detail::now() - begin << std::endl;
    steppers.at(which).rest();
  }
}
} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 3 && words[0] == "export")
      bench::exportStep(words[1], words[2]);
    else if (words.size() > 3 && words[0] == "run")
      run(words[1], words[2], {words.begin() + 3, words.end()});
    else
      throw Error("usage: heddle-bench-plan export NAME FOLDER, or run FOLDER ENGINE-OPTIONS "
                  "PROGRAM...");
  } catch (const std::exception &error) {
    std::cerr << "heddle-bench-plan: " << error.what() << "\n";
    return 1;
  }
}
