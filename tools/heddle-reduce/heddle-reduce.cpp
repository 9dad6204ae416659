//===- heddle-reduce.cpp - shrinks a program that shows a fault -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command says whether a candidate still shows the fault.
// lib/transforms/nd/ReduceProgram.cpp makes the candidates, and says which are tried first.
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "heddle/Error.h"
#include "heddle/io/AtomicFile.h"
#include "lib/compile/Version.h"
#include "lib/transforms/nd/ReduceProgram.h"
#include "tools/CompileFlags.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Program.h"

#include <iostream>
#include <unistd.h>

using namespace heddle;

static std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return text;
}

/// Writes the program to a file and runs `command` on it; true if that exits with 0.
static bool holds(const std::vector<std::string> &command, mlir::ModuleOp module) {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("heddle-reduce", "mlir", path))
    throw Error("can't make a temporary file: " + error.message());
  llvm::FileRemover remove(path);
  io::writeFileAtomically(path.str().str(), [&](io::FileSink &sink) { sink.write(textOf(module)); },
                          {});
  std::vector<llvm::StringRef> arguments(command.begin(), command.end());
  arguments.push_back(path);
  std::string error;
  std::optional<llvm::StringRef> quiet[] = {"", "", ""}; // no input, no output
  int code = llvm::sys::ExecuteAndWait(command[0], arguments, std::nullopt, quiet, 0, 0, &error);
  if (code == -1)
    throw Error("can't run '" + command[0] +
                "', or a program that it runs (exit code 127): " + error);
  return code == 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  CLI::App app("Shrinks a program as long as a command, run with its file as the last argument, "
               "exits with 0.",
               "heddle-reduce");
  app.footer("Example: heddle-reduce bad.mlir --test sh --test test.sh -o small.mlir\n"
             "where test.sh says:  ! heddle-run $1 --compare");
  std::string input = "-", output = "-";
  std::vector<std::string> command;
  app.add_option("file", input, "IR, text or bytecode; -: standard input")
      ->type_name("FILE")
      ->required();
  app.add_option("--test", command, "The command; give it again for each of its arguments")
      ->required()
      ->allow_extra_args(false)
      ->type_name("WORD")
      ->type_size(1);
  app.add_option("-o,--output", output, "File for the reduced program; -: standard output")
      ->type_name("FILE");
  app.set_version_flag("--version", compilerVersion());
  sayPlainly(app);
  CLI11_PARSE(app, argc, argv);

  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  registry.insert<check::CheckDialect>();
  return runTool("heddle-reduce", [&] {
    InputModule module(registry);
    if (!module.read(input))
      return 1;
    auto program = llvm::sys::findProgramByName(command[0]);
    if (!program)
      throw Error("there is no program '" + command[0] + "'");
    command[0] = *program;
    auto isWrong = [&](mlir::ModuleOp candidate) { return holds(command, candidate); };
    if (!isWrong(module.get()))
      throw Error("the test does not exit with 0 for '" + input + "' itself");
    // An interrupt keeps the smallest program found so far.
    auto keep = [&](mlir::ModuleOp best) {
      std::string text = textOf(best);
      if (output != "-")
        io::writeFileAtomically(output, [&](io::FileSink &sink) { sink.write(text); }, {});
      if (isatty(2))
        std::cerr << "\r" << llvm::count(text, '\n') << " lines \x1b[K" << std::flush;
    };
    keep(module.get());
    auto smallest = nd::reduceProgram(module.get(), isWrong, keep);
    if (isatty(2))
      std::cerr << "\n";
    if (output == "-" && !(std::cout << textOf(*smallest) << std::flush))
      throw Error("can't write to standard output");
    return 0;
  });
}
