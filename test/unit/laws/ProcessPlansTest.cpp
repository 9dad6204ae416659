//===- ProcessPlansTest.cpp - plans on processes --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random programs with random plans for 2 to 4 devices, as program files. heddle-run runs each as
// the ranks that heddle-launch starts, over shared memory, and as those that mpirun starts, over
// MPI. What rank 0 writes is held against the oracle's values.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"
#include "test/unit/laws/Plans.h"
#include "test/unit/support/io/Files.h"

#include "dialects/mesh/MeshDialect.h"
#include "heddle/io/Safetensors.h"
#include "lib/interp/HostTensor.h"
#include "lib/transforms/mesh/transfers/FormTransfers.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::test;
using namespace mlir;

/// The command lines that start `ranks` processes, without the program.
static std::vector<std::string> launchers(int64_t ranks) {
  std::string count = " -n " + std::to_string(ranks) + " ";
  std::vector<std::string> all{HEDDLE_LAUNCH " --no-prefix --engine shm" + count};
#ifdef HEDDLE_HAVE_MPI
  all.push_back("env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HEDDLE_ENGINE=mpi "
                "mpirun --oversubscribe" +
                count);
#endif
  return all;
}

namespace {
struct Files {
  TemporaryDirectory directory;
  const EntrySpec entry;

  Files(const ProgramImage &image, ArrayRef<TensorValue> arguments)
      : entry(image.manifest.entries[0]) {
    image.write(directory / "p.heddle");
    io::Safetensors file;
    for (auto [index, value] : llvm::zip_equal(entry.arguments, arguments))
      file.arrays.emplace(entry.values[size_t(index)].name, interp::toHost(value));
    io::writeSafetensors(directory / "in.safetensors", file);
  }

  /// The results, or what went wrong.
  std::string run(const std::string &launcher, MLIRContext *context, Values &results) const {
    std::string output = directory / "out.safetensors";
    std::string command = "timeout -s KILL 120 " + launcher + HEDDLE_RUN " '" +
                          (directory / "p.heddle") + "' --threads 1 --print-limit 0 --output '" +
                          output + "'";
    if (!entry.arguments.empty())
      command += " --input '" + (directory / "in.safetensors") + "'";
    if (std::system((command + " > '" + (directory / "said") + "' 2>&1").c_str()) != 0)
      return command + ": " + contentsOf(directory / "said");
    io::Safetensors file = io::readSafetensors(output);
    for (int32_t index : entry.results)
      results.push_back(interp::fromHost(context, file.at(entry.values[size_t(index)].name)));
    std::filesystem::remove(output);
    return "";
  }
};
} // namespace

static Violation checkOnProcesses(ModuleOp module, uint64_t seed, Tally &tally) {
  Values arguments = drawArguments(mainOf(module), seed);
  auto expected = evaluated(module, "main", arguments);
  if (failed(expected))
    return {"the interpreter refuses it", ""};
  OwningOpRef<ModuleOp> copy(module.clone());
  keepPrivate(*copy, {"main"});
  Dice dice(seed);
  drawPlan(*copy, dice, 2, 4);
  std::string planned = printed(*copy);
  int64_t ranks = (*copy)->getAttrOfType<mesh::MeshAttr>(mesh::meshAttrName).devices();
  CompileOptions options;
  options.useCache = options.progress = false;
  options.compileThreads = 1;
  FailureOr<ProgramImage> image = compileProgram(*copy, options);
  if (failed(image))
    return {"the compiler refuses it", planned};
  try {
    Files files(*image, arguments);
    for (const std::string &launcher : launchers(ranks)) {
      Values got;
      std::string wrong = files.run(launcher, module.getContext(), got);
      if (wrong.empty())
        wrong = tally.compare(*expected, got);
      if (!wrong.empty())
        return {"values of " + std::to_string(ranks) + " processes differ: " + wrong, planned};
    }
  } catch (const std::exception &error) {
    return {error.what(), planned};
  }
  return {};
}

class ProcessPlans : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, ProcessPlans, ::testing::Range(0, 2));

TEST_P(ProcessPlans, GiveTheOraclesValues) {
  auto options = [](uint64_t seed) {
    GeneratorOptions options;
    options.steps = 3 + int(seed % 6);
    options.requests = seed % 3 == 0;
    options.control = seed % 6 == 1;
    options.scale = 1;
    return options;
  };
  holdEach({"the plan law on processes", options, checkOnProcesses}, {0.015, GetParam()});
}
