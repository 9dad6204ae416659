//===- heddlec.cpp - IR to a program file ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Error.h"
#include "lib/pipelines/Compile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace heddle;
using namespace llvm;

static int fail(const Twine &message) {
  return WithColor::error(errs(), "heddlec") << message << "\n", 1;
}

static int run(mlir::ModuleOp module, const CompileOptions &options, StringRef emit, std::string path,
               bool statistics) {
  if (emit != "program") {
    auto stage = parseStage(emit);
    if (!stage)
      return fail("expected --emit=program, nd, nest, kernels, loops, llvm or asm, got '" + emit + "'");
    auto text = printStage(module, options, *stage);
    std::error_code error;
    ToolOutputFile file(path.empty() ? StringRef("-") : StringRef(path), error, sys::fs::OF_Text);
    if (failed(text) || error)
      return error ? fail("can't write '" + path + "': " + error.message()) : 1;
    return file.os() << *text, file.keep(), 0;
  }
  CompileStatistics done;
  auto image = compileProgram(module, options, &done);
  if (failed(image))
    return 1;
  try {
    image->write(path.c_str());
  } catch (const heddle::Error &error) {
    return fail(error.what());
  }
  if (statistics)
    errs() << done.str() << "\n";
  return 0;
}

int main(int argc, char **argv) {
  InitLLVM initialised(argc, argv);
  CompileOptions options;
  using Text = cl::opt<std::string>;
  using Flag = cl::opt<bool>;
  Text input(cl::Positional, cl::desc("<file.mlir>"), cl::init("-"));
  Text output("o", cl::desc("What to write; a program goes to the input's name with the ending .heddle by "
                            "default, text to standard output"), cl::value_desc("file"));
  Text emit("emit", cl::desc("program (default), nd, nest, kernels, loops, llvm or asm"), cl::init("program"));
  cl::opt<std::string, true> cpu("target-cpu", cl::desc("native (default), x86-64, haswell, skylake-avx512, ..."),
                                 cl::location(options.targetCpu), cl::init("native"));
  cl::opt<std::string, true> dump("dump-dir", cl::desc("Write the program after each stage here"),
                                  cl::location(options.dumpDirectory), cl::value_desc("directory"));
  cl::opt<std::string, true> cache("cache-dir", cl::desc("Keep compiled kernels here"),
                                   cl::location(options.cacheDirectory), cl::value_desc("directory"));
  cl::opt<int, true> threads("threads", cl::desc("Threads that will run the program (0: all cores)"),
                             cl::location(options.programThreads), cl::init(0));
  cl::opt<int, true> workers("compile-threads", cl::desc("Threads that compile (0: all cores)"),
                             cl::location(options.compileThreads), cl::init(0));
  Flag noCache("no-cache", cl::desc("Compile everything anew"));
  Flag rowMajor("row-major", cl::desc("Let every value lie row-major over its sorted names"));
  Flag statistics("statistics", cl::desc("Say what compiling did"));
  cl::ParseCommandLineOptions(argc, argv, "Heddle: compiles IR to a program file\n");
  options.useCache = !noCache;
  options.assignLayouts = !rowMajor;

  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto file = MemoryBuffer::getFileOrSTDIN(input);
  if (!file)
    return fail("can't read '" + input + "': " + file.getError().message());
  sources.AddNewSourceBuffer(std::move(*file), SMLoc());
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return 1;
  SmallString<128> path(output.getValue());
  if (path.empty() && emit == "program") {
    path = input == "-" ? StringRef("program.mlir") : StringRef(input);
    sys::path::replace_extension(path, "heddle");
  }
  return run(*module, options, emit, path.str().str(), statistics);
}
