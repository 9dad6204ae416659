//===- heddle-launch.cpp - starts the ranks of a job ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/runtime_c.h"
#include "tools/heddle-launch/Launcher.h"

#include <CLI/CLI.hpp>

#include <iostream>

/// Prints a usage line that shows that arguments behind the program belong to the program.
struct Help : CLI::Formatter {
  std::string make_usage(const CLI::App *, std::string) const override {
    return "Usage: heddle-launch [OPTIONS] program [arguments...]\n";
  }
};

int main(int argc, char **argv) {
  CLI::App app("Runs a program as several ranks on this host: starts, pins, watches and ends them.",
               "heddle-launch");
  heddle::LaunchOptions options;
  bool noPin = false, noPrefix = false;
  app.formatter(std::make_shared<Help>());
  app.footer(
      "A rank that fails ends the job: the other ranks are notified, have some seconds to report, "
      "and are\n"
      "ended. The exit status is that of the rank that failed first, 128 + N for the signal N;\n"
      "127 if there is no such program, 126 if it can't be run.\n\n"
      "Examples:\n  heddle-launch -n 2 fashion --mesh data=2\n"
      "  heddle-launch -n 4 --engine shm --timeout 10 heddle-run train.heddle");
  app.add_option("-n,--ranks", options.ranks, "Number of ranks")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N")
      ->required();
  app.add_option("--engine", options.engine,
                 "The engine that transfers tensors between ranks; default: the program's choice")
      ->type_name("ENGINE");
  app.add_option(
         "--timeout", options.timeout,
         "Seconds after which a rank that sends nothing, or that others wait for, counts as failed")
      ->check(CLI::Range(1, 1000000).description(""))
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--grace", options.grace,
                 "Seconds that the other ranks have to report a failure before they are ended")
      ->check(CLI::Range(0, 1000000).description(""))
      ->type_name("S")
      ->capture_default_str();
  app.add_flag("--no-pin", noPin, "Let every rank use all CPUs, not only its share");
  app.add_flag("--no-prefix", noPrefix, "Do not prefix each line of output with its rank");
  app.set_version_flag("--version", heddle_runtime_version());
  app.prefix_command();
  CLI11_PARSE(app, argc, argv);
  options.pin = !noPin;
  options.prefix = !noPrefix;
  options.command = app.remaining();
  if (options.command.empty() || options.command[0].starts_with("-")) {
    std::cerr << "heddle-launch: expected a program to run"
              << (options.command.empty() ? "" : ", got '" + options.command[0] + "'")
              << "; see heddle-launch --help\n";
    return 2;
  }
  try {
    return heddle::launch(options);
  } catch (const std::exception &error) {
    std::cerr << "heddle-launch: " << error.what() << "\n";
    return 1;
  }
}
