//===- heddle-plan.cpp - plans for many devices ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanProgram.h"

#include "lib/compile/Version.h"
#include "tools/CompileFlags.h"

#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  CLI::App app("Predicts and finds plans, by which a program is split over devices.",
               "heddle-plan");
  heddle::PlanOptions options;
  app.footer("Examples:\n  heddle-plan simulate step.mlir --topology cluster.json --plan my.plan\n"
             "  heddle-plan search step.mlir --topology cluster.json -o found.plan\n"
             "  heddlec step.mlir --plan found.plan -o step.heddle");
  app.set_version_flag("--version", heddle::compilerVersion());
  app.require_subcommand(1);
  heddle::sayPlainly(app);
  auto command = [&](const char *name, const char *what) {
    CLI::App *sub = app.add_subcommand(name, what);
    sub->add_option("file", options.input, "IR of a step; -: standard input")
        ->type_name("FILE")
        ->required();
    sub->add_option("--topology", options.topology, "The devices and their links")
        ->type_name("FILE.json")
        ->required();
    sub->add_option("--plan", options.plan, "A plan file (data parallelism)")->type_name("FILE");
    sub->add_option("--entry", options.entry, "The function of the step")->type_name("NAME");
    sub->add_flag("--json", options.json, "Print JSON");
    sub->add_flag("--tasks", options.isTasks, "Simulate tasks: operators on devices of their own");
    sub->add_flag("--paper", options.isPaper, "Likewise, with the assumptions of FlexFlow's paper");
    return sub;
  };
  command("simulate", "Predict the time, the transfers and the memory of a step");
  CLI::App *search = command("search", "Find a plan that takes less time; Ctrl-C ends the search");
  search->add_option("-o,--output", options.output, "Write the plan here; -: standard output")
      ->type_name("FILE");
  search->add_option("--seed", options.seed, "Of the random numbers")->capture_default_str();
  search->add_option("--proposals", options.proposals, "Plans to try")->capture_default_str();
  search->add_option("--patience", options.patience,
                     "Stop after so many proposals without a better plan; 0: never");
  search->add_option("--exact", options.exact, "Prove the best of tasks by so many plans at most");
  search
      ->add_option("--beta", options.beta,
                   "How strictly slower plans are declined, per time of the first plan")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return heddle::runTool("heddle-plan", [&] {
    return search->parsed() ? heddle::searchPlan(options) : heddle::simulatePlan(options);
  });
}
