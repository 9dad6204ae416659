//===- heddle-run.cpp - run IR and compiled programs ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "lib/pipelines/Extension.h"
#include "tools/ToolOptions.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace heddle;
using namespace llvm;

static const char overview[] =
    R"(Heddle: runs the functions of an IR file, or of a compiled program

Arguments and results bind by name: by nd.name in IR, where there is none by argument0, result0, ...
The axes of an array in a file are matched to the names of a dimension in this order:
  --input image=x.safetensors            by the names that the file has; a file without names holds
                                         its axes in the sorted order of the names
  --input image=x.npy                    in the sorted order of the names, the last varying fastest
  --input image=x.npy:batch,row,column   in the order that is written
A safetensors file gives the array with the argument's name, or the only one that it holds.
Arguments without a file are made from --seed. Results are printed and written with sorted names.
Functions with check ops are tests: the exit status is 1 if one fails.
)";

int main(int argc, char **argv) {
  InitLLVM initialised(argc, argv);
  removeLibraryOptions();
  run::Options options;
  cl::OptionCategory category("Options of heddle-run");
  auto text = [&](StringRef name, const char *what, const char *value, std::string &place) {
    return cl::opt<std::string, true>(name, cl::desc(what), cl::value_desc(value),
                                      cl::location(place), cl::init(place), cl::cat(category));
  };
  auto flag = [&](StringRef name, const char *what, bool &place) {
    return cl::opt<bool, true>(name, cl::desc(what), cl::location(place), cl::cat(category));
  };
  cl::opt<std::string, true> input(cl::Positional, cl::Required,
                                   cl::desc("<file.mlir or file.heddle>"),
                                   cl::location(options.input), cl::cat(category));
  cl::list<std::string> inputs("input", cl::desc("Where an argument's elements are"),
                               cl::value_desc("name=file[:axis,...]"), cl::cat(category));
  cl::list<std::string> plugins("plugin", cl::desc("Add what this shared object holds to the compiler"),
                                cl::value_desc("file.so"), cl::cat(category));
  cl::list<std::string> sizes("size", cl::desc("The value of a size symbol; of several "
                                                     "the program runs with one after another"),
                              cl::value_desc("symbol=number[,number...]"), cl::cat(category));
  auto output = text("output", "Write the results here", "file.safetensors", options.output);
  auto entry = text("entry", "Run this function (default: all public ones)", "name", options.entry);
  auto cpu = text("target-cpu", "What to compile for: native (default), haswell, ...", "name",
                  options.compile.targetCpu);
  auto cache =
      text("cache-dir", "Keep compiled kernels here", "directory", options.compile.cacheDirectory);
  cl::opt<uint64_t, true> seed("seed", cl::desc("Arguments without a file follow from this number"),
                               cl::location(options.seed), cl::cat(category));
  cl::opt<int, true> threads("threads", cl::desc("Threads that run the program (0: all cores)"),
                             cl::location(options.threads), cl::cat(category));
  cl::opt<int64_t, true> limit("print-limit",
                               cl::desc("Results with more elements are summed up (default 64)"),
                               cl::location(options.printLimit), cl::init(64), cl::cat(category));
  auto interpret = flag("interpret", "Use the interpreter, not the compiler", options.interpret);
  auto compare = flag("compare",
                      "Use both and hold the compiled values against the interpreter's "
                      "within its error bound",
                      options.compare);
  bool rowMajor = false, noCache = false;
  auto layouts = flag("row-major", "Compile with every value row-major", rowMajor);
  auto cached = flag("no-cache", "Compile everything anew", noCache);
  auto memory = flag("managed", "Temporaries come buffer by buffer, not from a planned arena",
                     options.managed);
  auto specialised =
      flag("specialise", "Compile for the sizes of the arguments alone", options.specialise);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  options.inputs.assign(inputs.begin(), inputs.end());
  options.sizes.assign(sizes.begin(), sizes.end());
  options.compile.assignLayouts = !rowMajor;
  options.compile.useCache = !noCache;
  options.compile.programThreads = options.threads;
  options.compile.progress = false;
  try {
    std::vector<std::string> paths(plugins.begin(), plugins.end());
    if (llvm::Error error = loadExtensions(paths, options.compile.extensions))
      throw heddle::Error(toString(std::move(error)));
    bool isProgram = sys::path::extension(options.input) == ".heddle";
    return (isProgram ? run::runProgram(options) : run::runIr(options)) ? 0 : 1;
  } catch (const heddle::Error &error) {
    WithColor::error(errs(), "heddle-run") << error.what() << "\n";
    return 1;
  }
}
