//===- CompileFlags.h - compile options on command lines --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The flags of `CompileOptions`, so that every tool calls one thing by one name, and reading IR.
// (LLVM's own command line is no choice here: the shared LLVM library owns flags such as
// --threads. Tools of MLIR's that use it hide what is not theirs by `hideLibraryOptions`.)
//
//     CompileOptions options;
//     CLI::App app("Compiles IR to a program file.");
//     addCompileFlags(app, options);
//     CLI11_PARSE(app, argc, argv);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_COMPILEFLAGS_H
#define HEDDLE_TOOLS_COMPILEFLAGS_H

#include "heddle/FastMath.h"
#include "lib/pipelines/Compile.h"
#include "lib/pipelines/Extension.h"
#include "lib/target/cpu/CpuTarget.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <new>

namespace heddle {

/// Takes the hundreds of options of LLVM's code generators out of `--help`; `--help-hidden` lists
/// them. To be called before a tool registers its own.
inline void hideLibraryOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "version" && name != "help-hidden")
      option->setHiddenFlag(llvm::cl::Hidden);
}

/// Mistakes in a command line, in the form of all other messages.
inline void sayPlainly(CLI::App &app) {
  app.failure_message([](const CLI::App *app, const CLI::Error &error) {
    std::string what = error.what();
    if (error.get_name() == "ConversionError")
      what = "expected a number" + what.substr(std::min(what.find(':'), what.size()));
    return "error: " + what + "; " + app->get_name() + " --help lists the options\n";
  });
}

/// Declares them as a topic of `--help`.
inline void addCompileFlags(CLI::App &app, CompileOptions &options) {
  sayPlainly(app);
  const char *topic = "Compiling";
  auto number = CLI::Range(0, 1024).description("");
  app.add_option("--target-cpu", options.targetCpu,
                 "CPU to make code for: native, x86-64, haswell, skylake-avx512, ...")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(topic)
      ->check(CLI::Validator(
          [](const std::string &name) {
            auto target = cpu::targetFor(name);
            return target ? "" : llvm::toString(target.takeError());
          },
          ""));
  app.add_option("--threads", options.programThreads, "Threads that run the program; 0: all cores")
      ->type_name("N")
      ->group(topic)
      ->check(number);
  app.add_option("--compile-threads", options.compileThreads, "Threads that compile; 0: all cores")
      ->type_name("N")
      ->group(topic)
      ->check(number);
  app.add_option("--cache-dir", options.cacheDirectory,
                 "Where compiled kernels are kept (heddle in the user's cache directory)")
      ->type_name("FOLDER")
      ->group(topic);
  app.add_flag_callback(
         "--no-cache", [&] { options.useCache = false; }, "Compile every kernel anew")
      ->group(topic);
  app.add_flag_callback(
         "--row-major", [&] { options.assignLayouts = false; },
         "Let every value lie row-major over its sorted names")
      ->group(topic);
  app.add_option("--fast-math", options.fastMath,
                 "What may be done to floats, separated by commas: " + fastMathList())
      ->type_name("WORD,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(topic)
      ->check(CLI::Validator(
          [](const std::string &word) -> std::string {
            unsigned granted = Strict;
            if (permit(granted, word))
              return "";
            return "expected one of " + fastMathList() + ", got '" + word + "'";
          },
          ""));
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [&](const std::vector<std::string> &paths) {
           if (llvm::Error error = loadExtensions(paths, options.extensions))
             throw CLI::ValidationError(llvm::toString(std::move(error)));
         },
         "Add what this shared object holds to the compiler; may be given several times")
      ->allow_extra_args(false)
      ->type_name("FILE.so")
      ->type_size(1)
      ->group(topic);
  topic = "Looking inside the compiler";
  app.add_option("--dump-dir", options.dumpDirectory, "Write the program after each stage here")
      ->type_name("FOLDER")
      ->group(topic);
  app.add_flag("--print-after-change", options.printAfterChange,
               "Print the IR after each pass that changed it to standard error")
      ->group(topic);
  app.add_option("--reproducer", options.reproducer,
                 "If a pass fails, write what heddle-opt --run-reproducer needs to show it again")
      ->type_name("FILE.mlir")
      ->group(topic);
}

/// Does a tool's work, which returns the exit status; what it throws is told, lack of memory too.
template <typename Work>
int runTool(const char *name, Work &&work) {
  // LLVM's handlers end the process with a stack trace.
  std::set_new_handler(nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return work();
  } catch (const std::bad_alloc &) {
    llvm::WithColor::error(llvm::errs(), name) << "out of memory\n";
  } catch (const std::exception &error) {
    llvm::WithColor::error(llvm::errs(), name) << error.what() << "\n";
  }
  return 1;
}

/// IR from a file ("-": standard input), with a context of its own. Diagnostics go to standard
/// error and show the line.
class InputModule {
public:
  explicit InputModule(const mlir::DialectRegistry &registry)
      : context(registry, mlir::MLIRContext::Threading::DISABLED), handler(sources, &context) {
    context.printOpOnDiagnostic(false);
  }

  /// False if it can't be read or is not valid; why has been said.
  bool read(const std::string &path) {
    auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
    if (!file) {
      llvm::WithColor::error() << "can't read '" << path << "': " << file.getError().message()
                               << "\n";
      return false;
    }
    if ((*file)->getBuffer().starts_with("HEDDLE\r\n")) {
      llvm::WithColor::error() << "expected IR, '" << path << "' is a compiled program; heddle-run "
                               << "runs it, heddle-translate shows it\n";
      return false;
    }
    sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
    module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
    return bool(module);
  }
  mlir::ModuleOp get() { return *module; }

private:
  llvm::SourceMgr sources;
  mlir::MLIRContext context;
  mlir::SourceMgrDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILEFLAGS_H
