//===- main.cpp - list, train and compare the models ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Zoo.h"

#include <CLI/CLI.hpp>

using namespace heddle;

static void list() {
  for (const auto &[name, entry] : zoo::models())
    printf("%-24s %12lld\n", name.c_str(),
           (long long)entry.make(zoo::Size::Full).network.parameterCount());
}

int main(int argc, char **argv) {
  CLI::App app("Lists, trains, evaluates, compares and exports the models of the zoo.");
  app.require_subcommand(1);
  app.add_subcommand("list", "Print a model and its number of parameters a line")->callback(list);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError &error) {
    return app.exit(error);
  } catch (const std::exception &error) {
    fprintf(stderr, "heddle-models: %s\n", error.what());
    return 1;
  }
}
