//===- CompileFlags.h - compile options on command lines --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The flags of `CompileOptions`, so that they have the same names in every tool. (LLVM's command
// line library cannot be used: the shared LLVM library registers flags such as --threads itself.
// Tools that call MLIR's main functions use it nevertheless, and hide the libraries' options by
// `hideLibraryOptions`.)
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
#include "lib/compile/Compile.h"
#include "lib/pipelines/Extension.h"
#include "lib/target/Target.h"
#include "tools/Tool.h"

#include <CLI/CLI.hpp>

namespace heddle {

/// Prints errors in the command line in the same form as all other messages.
inline void sayPlainly(CLI::App &app) {
  app.failure_message([](const CLI::App *app, const CLI::Error &error) {
    std::string what = error.what();
    if (error.get_name() == "ConversionError")
      what = "expected a number" + what.substr(std::min(what.find(':'), what.size()));
    return "error: " + what + "; " + app->get_name() + " --help lists the options\n";
  });
}

/// The headings under which `--help` lists the flags.
namespace topics {
inline constexpr const char *compiling = "Compiling", *devices = "Many devices",
                            *inside = "Looking inside the compiler";
}

/// Declares the flags that split a program over devices.
inline void addMeshFlags(CLI::App &app, CompileOptions &options) {
  const char *topic = topics::devices;
  app.add_option("--mesh", options.mesh, "The axes of the mesh with their sizes: data=2,model=2")
      ->type_name("AXIS=N,...")
      ->group(topic);
  app.add_option("--shard", options.shard,
                 "A rule: the arguments that match PATTERN are split along NAME over the axes; "
                 "PATTERN@AXIS=COORDINATE places them, PATTERN@file puts them into files; "
                 "`op PATTERN/NAME:AXIS` splits operators")
      ->allow_extra_args(false)
      ->type_name("[PATTERN/]NAME:AXIS[+AXIS...]")
      ->type_size(1)
      ->group(topic);
  app.add_option("--plan", options.plan, "A file with a line `mesh data=2,model=2` and rules")
      ->type_name("FILE")
      ->group(topic);
}

/// The given flags that change how a program is compiled, and so have no effect on a compiled
/// program. `--mesh` is not among them, since a compiled program has a mesh to compare it with.
inline std::vector<std::string> flagsOfCompilation(const CLI::App &app) {
  std::vector<std::string> given;
  for (const CLI::Option *option : app.get_options()) {
    std::string name = option->get_name(), topic = option->get_group();
    bool changes =
        topic == topics::compiling || topic == topics::devices || topic == topics::inside;
    for (const char *harmless :
         {"--threads", "--compile-threads", "--cache-dir", "--no-cache", "--plugin", "--mesh"})
      changes &= name != harmless;
    if (changes && option->count() > 0)
      given.push_back(name);
  }
  return given;
}

/// Declares the flags, under the headings of `topics`.
inline void addCompileFlags(CLI::App &app, CompileOptions &options) {
  sayPlainly(app);
  const char *topic = topics::compiling;
  auto number = CLI::Range(0, 1024).description("");
  app.add_option("--target-cpu,--target", options.targetCpu,
                 "What to make code for: the name of a CPU or GPU, such as " + exampleTargets() +
                     "; null: the interpreter runs the program")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(topic)
      ->check(CLI::Validator(
          [](const std::string &name) {
            auto target = findTarget(name);
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
  app.add_option(
         "--cache-dir", options.cacheDirectory,
         "Directory of the cache of kernels and programs (heddle in the user's cache directory)")
      ->type_name("FOLDER")
      ->group(topic);
  app.add_flag_callback(
         "--no-cache", [&] { options.useCache = false; },
         "Do not use the cache of kernels and programs")
      ->group(topic);
  app.add_flag_callback(
         "--row-major", [&] { options.assignLayouts = false; },
         "Give every value a row-major layout over its sorted names")
      ->group(topic);
  app.add_option("--fast-math", options.fastMath,
                 "Fast-math flags, separated by commas: " + fastMathList())
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
  app.add_option_function<std::string>(
         "--products",
         [&](const std::string &word) {
           options.products = parseElementType(word);
           if (!options.products || !isNarrowFloat(*options.products))
             throw CLI::ValidationError("--products: expected a float type narrower than f32, such "
                                        "as bf16, got '" +
                                        word + "'");
         },
         "Mixed precision: the type that factors of sums of products are rounded to")
      ->type_name("TYPE")
      ->group(topic);
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [&](const std::vector<std::string> &paths) {
           if (llvm::Error error = loadExtensions(paths, options.extensions))
             throw CLI::ValidationError(llvm::toString(std::move(error)));
         },
         "Load this plugin into the compiler; may be given several times")
      ->allow_extra_args(false)
      ->type_name("FILE.so")
      ->type_size(1)
      ->group(topic);
  addMeshFlags(app, options);
  topic = topics::inside;
  app.add_option("--dump-dir", options.dumpDirectory, "Write the program after each stage here")
      ->type_name("FOLDER")
      ->group(topic);
  app.add_flag("--explain", options.explainLayouts,
               "Print the reason for the sharding and the layout of each value, what it costs, "
               "the costs of the next best layouts, and the plugin that makes each kernel")
      ->group(topic);
  app.add_option("--explain-json", options.explainJson,
                 "Write the program's values and steps, what was chosen for each, the alternatives "
                 "and what they would cost to this file")
      ->type_name("FILE.json")
      ->group(topic);
  app.add_option("--explain-html", options.explainHtml,
                 "The same as a page that shows the program as a graph")
      ->type_name("FILE.html")
      ->group(topic);
  app.add_flag("--print-after-change", options.printAfterChange,
               "Print the IR after each pass that changed it to standard error")
      ->group(topic);
  app.add_option("--reproducer", options.reproducer,
                 "If a pass fails, write a reproducer for heddle-opt --run-reproducer to this file")
      ->type_name("FILE.mlir")
      ->group(topic);
}

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILEFLAGS_H
