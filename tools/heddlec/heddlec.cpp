//===- heddlec.cpp - IR to a program file ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Version.h"
#include "tools/CompileFlags.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  CLI::App app("Compiles IR to a program file: every public function becomes an entry of it.",
               "heddlec");
  std::string input = "-", output, emit = "program";
  bool statistics = false;
  heddle::CompileOptions options;
  app.footer("Examples:\n  heddlec program.mlir -o program.heddle --target-cpu haswell\n"
             "  heddlec program.mlir --emit=nest");
  app.set_version_flag("--version", heddle::compilerVersion());
  app.add_option("file", input, "IR, text or bytecode; -: standard input")
      ->type_name("FILE")
      ->required();
  app.add_option("-o,--output", output,
                 "Output file (-: standard output); default: the input's name ending in .heddle, "
                 "text to standard output")
      ->type_name("FILE");
  app.add_option("--emit", emit,
                 "Stop at a stage and write it as text: nd, nest, kernels, loops, llvm or asm")
      ->check(CLI::IsMember({"program", "nd", "nest", "kernels", "loops", "llvm", "asm"})
                  .description(""))
      ->type_name("STAGE")
      ->capture_default_str();
  app.add_flag("--statistics", statistics, "Print statistics of the compilation");
  heddle::addCompileFlags(app, options);
  CLI11_PARSE(app, argc, argv);

  mlir::DialectRegistry registry;
  heddle::registerCompilerDialects(registry, options.extensions);
  llvm::SmallString<128> path(input == "-" ? "program" : input);
  llvm::sys::path::replace_extension(path, "heddle");
  return heddle::runTool("heddlec", [&] {
    heddle::InputModule module(registry);
    if (!module.read(input))
      return 1;
    if (auto form = heddle::parseProgramForm(emit))
      return int(failed(heddle::writeProgram(module.get(), options, *form, output)));
    heddle::CompileStatistics done;
    auto image = heddle::compileProgram(module.get(), options, &done);
    if (failed(image))
      return 1;
    image->write(output.empty() ? path.str().str() : output == "-" ? "/dev/stdout" : output);
    if (statistics)
      llvm::errs() << done.str() << "\n";
    return 0;
  });
}
