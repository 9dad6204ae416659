//===- heddle-run.cpp - run IR and compiled programs ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "lib/compile/Version.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/device/ThreadCount.h"
#include "tools/CompileFlags.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

using namespace heddle;

static const char footer[] = R"(
Arguments and results bind by name: by nd.name in IR, where there is none by argument0, result0, ...
How the axes of a file get their names:
  --input image=x.safetensors            by the names that the file has; a file without names holds
                                         its axes in the sorted order of the names
  --input image=x.npy                    in the sorted order of the names, the last varying fastest
  --input image=x.npy:batch,row,column   in the order that is written
A safetensors file gives the array with the argument's name, or the only one that it holds.
Arguments without a file are made from --seed. Results are printed and written with sorted names.
Functions with check ops are tests: the exit status is 1 if one fails.

Examples:
  heddle-run program.mlir --compare --seed 3
  heddle-run classifier.heddle --input image=x.npy --output label.safetensors
  heddle-run classifier.heddle --repeat 100 --profile
  heddle-run train.heddle --input state.safetensors --input batch.safetensors --repeat 20 --carry)";

namespace {
/// What is printed and written beside the results.
struct Reports {
  bool table = false;
  std::string timeline;
};
} // namespace

static void addInputs(CLI::App &app, run::Options &options) {
  app.add_option("file", options.input, "IR, or a program file that ends in .heddle")
      ->type_name("FILE")
      ->required();
  auto list = [&](const char *name, std::vector<std::string> &values, const char *value,
                  const char *what) {
    app.add_option(name, values, what)->allow_extra_args(false)->type_name(value)->type_size(1);
  };
  list("--input", options.inputs, "[NAME=]FILE[:AXIS,...]",
       "File with the elements of an argument; without NAME, of all arguments that it names");
  list("--size", options.sizes, "NAME=NUMBER[,NUMBER...]",
       "Size of a dimension, or value of a size symbol; with several, the program runs once for "
       "each");
  app.add_option("--output", options.output, "Write the results here")
      ->type_name("FILE.safetensors");
  app.add_option("--entry", options.entry, "Run this function (all public ones)")
      ->type_name("NAME");
  app.add_option("--seed", options.seed,
                 "Seed of the random elements of arguments without a file (0)")
      ->type_name("N");
  app.add_option("--print-limit", options.printLimit,
                 "Print only a summary of results with more elements (64)")
      ->type_name("N");
}

static void addWaysToRun(CLI::App &app, run::Options &options) {
  app.add_flag("--interpret", options.interpret, "Use the interpreter, not the compiler");
  app.add_flag(
      "--compare", options.compare,
      "Use both, and check that the values agree within the interpreter's error bound; with "
      "--simulate, check the values of the split program");
  app.add_flag("--simulate", options.simulate,
               "Use the interpreter on the program that --mesh and --shard split over devices");
  app.add_option(
         "--engine", options.engine,
         "The engine that transfers data between ranks, if there are several: shm, mpi or net")
      ->type_name("NAME");
  app.add_flag("--managed", options.managed,
               "Allocate each temporary by itself, not in a planned arena");
  app.add_flag("--specialise", options.specialise, "Compile for the sizes of the arguments");
  app.add_option("--repeat", options.repeat, "Call each function this many times (1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000000).description(""));
  app.add_flag("--carry", options.carry,
               "Pass results that replace a donated argument as arguments of the next call");
}

static void addReports(CLI::App &app, Reports &reports) {
  app.add_flag("--profile", reports.table, "Print the total time of each step to standard error");
  app.add_option(
         "--timeline", reports.timeline,
         "Write a timeline of the steps: a picture (.svg), of rank 0 alone, or JSON for Perfetto "
         "(ui.perfetto.dev), with rows of all ranks and of their transfers")
      ->type_name("FILE.svg|FILE.json");
}

/// Throws Error for options that contradict each other.
static void requireSense(const run::Options &options, bool isProgram,
                         std::vector<std::string> compiling) {
  if (options.specialise)
    compiling.push_back("--specialise");
  if (isProgram && !compiling.empty())
    throw Error(compiling[0] + ": '" + options.input + "' is compiled already; expected IR");
  if (llvm::StringRef output = options.output; !output.empty() && !output.ends_with(".safetensors"))
    throw Error("--output: expected a file that ends in .safetensors, got '" + options.output +
                "'");
  if (options.interpret && (options.profiles || options.repeat > 1))
    throw Error("the interpreter has no steps to --repeat, and none for --profile or --timeline");
  if (options.carry && (options.interpret || options.compare))
    throw Error("--carry: the interpreter does not carry results to a next call");
}

/// All ranks of a job must call it, of which the first one reports.
static void report(const run::Options &options, const Reports &reports) {
  auto job = options.profiles ? run::jobOf(options) : nullptr;
  bool isFirst = !job || job->rank() == 0;
  if (reports.table && isFirst)
    llvm::errs() << options.profileOf(0)->summary();
  if (reports.timeline.empty())
    return;
  bool isPicture = llvm::sys::path::extension(reports.timeline) == ".svg";
  std::string text = isPicture ? options.profileOf(0)->picture() : run::timelineOf(options);
  std::string reason = isFirst ? writeAtomically(reports.timeline, text) : "";
  if (!reason.empty())
    throw Error(reason);
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  run::Options options;
  Reports reports;
  std::string device;
  CLI::App app("Runs the functions of an IR file, or of a compiled program.", "heddle-run");
  app.footer(footer);
  app.set_version_flag("--version", heddle::compilerVersion());
  addInputs(app, options);
  addWaysToRun(app, options);
  addReports(app, reports);
  addCompileFlags(app, options.compile);
  app.add_option("--device", device,
                 "Run it there: cpu, another device, of several the one with this number, or auto: "
                 "a device if there is one that is faster than the CPU")
      ->type_name("NAME[:NUMBER]")
      ->excludes("--target-cpu");
  CLI11_PARSE(app, argc, argv);
  options.threads = options.compile.programThreads;
  options.compile.progress = false;
  return runTool("heddle-run", [&] {
    if (Device *chosen = selectDevice(device))
      options.compile.targetCpu = chosen->target();
    if (options.threads == 0)
      options.compile.programThreads = usualThreads();
    std::map<int, Profile> profiles;
    if (reports.table || !reports.timeline.empty())
      options.profiles = &profiles;
    options.interpret |= options.simulate;
    bool isProgram = llvm::sys::path::extension(options.input) == ".heddle";
    requireSense(options, isProgram, flagsOfCompilation(app));
    bool good = isProgram ? run::runProgram(options) : run::runIr(options);
    report(options, reports);
    return good ? 0 : 1;
  });
}
