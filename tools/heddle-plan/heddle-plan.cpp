//===- heddle-plan.cpp - plans for many devices ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanProgram.h"

#include "lib/compile/Version.h"
#include "lib/planner/TaskSpace.h"
#include "tools/CompileFlags.h"

#include "llvm/Support/InitLLVM.h"

using namespace heddle;

/// A command with a program on a topology.
static CLI::App *addCommand(CLI::App &app, PlanOptions &options, const char *name,
                            const char *what) {
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
  sub->add_option("--measured-seconds", options.measuredSeconds,
                  "Of a step on one device: scales predicted times so that they would be these")
      ->check(CLI::PositiveNumber.description(""));
  CLI::Option *tasks = sub->add_flag("--tasks", options.isTasks,
                                     "Simulate tasks: operators on devices of their own");
  CLI::Option *paper = sub->add_flag("--paper", options.isPaper,
                                     "Likewise, with the assumptions of FlexFlow's paper");
  sub->add_option("--times", options.times,
                  "Nests take the times that were measured on this machine and are in this file; "
                  "default: a file in the user's cache directory")
      ->type_name("FILE")
      ->excludes(tasks, paper);
  sub->add_flag("--measure", options.measures,
                "Measure on this machine what the file of --times (default) lacks, and add it")
      ->excludes(tasks, paper);
  return sub;
}

static void addTaskOptions(CLI::App *sub, PlanOptions &options) {
  sub->add_option("--devices", options.devices, "Of tasks: the first devices of the topology");
  sub->add_option("--cut", options.cut, "Cut recurrences of tasks into so many parts")
      ->check(CLI::Range(1u, 1000u).description(""))
      ->capture_default_str();
  for (auto [name, factor, what] : {std::tuple("--rates", &options.rates, "Of devices"),
                                    std::tuple("--links", &options.links, "Of links")})
    sub->add_option(name, *factor, std::string(what) + ": a factor of the topology's rates")
        ->check(CLI::PositiveNumber.description(""))
        ->capture_default_str();
}

static void addSearchOptions(CLI::App *sub, PlanOptions &options) {
  sub->add_option("--seed", options.seed, "Of the random numbers")->capture_default_str();
  sub->add_option("--proposals", options.proposals, "Plans to try after each start")
      ->capture_default_str();
  sub->add_option("--patience", options.patience,
                  "Stop after so many proposals without a better plan; 0: never");
  sub->add_option("--beta", options.beta,
                  "How strictly slower plans are declined, per time of the first plan")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  sub->add_flag("!--no-random-start", options.isDrawn, "Tasks are not searched from a random plan");
  addTaskOptions(sub, options);
}

static void addSpaceOption(CLI::App *sub, PlanOptions &options) {
  std::vector<std::string> spaces;
  for (planner::SpaceKind kind : planner::allSpaces())
    spaces.push_back(planner::spelling(kind));
  sub->add_option("--space", options.space, "Where tasks are searched")
      ->check(CLI::IsMember(spaces).description(""))
      ->capture_default_str();
}

static void addSearch(CLI::App *search, PlanOptions &options) {
  search->add_option("-o,--output", options.output, "Write the plan here; -: standard output")
      ->type_name("FILE");
  search
      ->add_option("--resume", options.resume,
                   "Go on from this plan, which an earlier search has found, if it exists")
      ->type_name("FILE");
  search->add_option("--ban", options.bans, "No plan splits an operator so; --plan pins operators")
      ->type_name("'op PATTERN/NAME:AXES'")
      ->type_size(1)
      ->allow_extra_args(false);
  search->add_option("--exact", options.exact, "Prove the best of tasks by so many plans at most");
  search->add_flag("--single-changes", options.improves,
                   "Then change single choices of tasks, until none makes the plan faster");
  search->add_flag("--full", options.isFull,
                   "Make all tasks anew for each plan, to measure what updates save");
  search->add_flag("--to-the-end", options.isToTheEnd,
                   "Simulate also the tasks of slow plans to the end, to measure what that costs");
  addSearchOptions(search, options);
  addSpaceOption(search, options);
}

static void addSpace(CLI::App *space, PlanOptions &options) {
  addTaskOptions(space, options);
  space->add_option("--draw", options.draw, "Draw so many plans that the compiler takes")
      ->needs(space
                  ->add_option("-o,--output", options.output,
                               "Write them here: a folder with 0.plan, 1.plan, ...")
                  ->type_name("FOLDER"));
  space->add_option("--seed", options.seed, "Of the random numbers")->capture_default_str();
}

static void addShow(CLI::App *show, PlanOptions &options) {
  show->add_option("--measured", options.measured,
                   "A timeline of heddle-run, to draw beside the plan's")
      ->type_name("FILE.json");
  addSearchOptions(show, options);
  addSpaceOption(show, options);
  show->add_option("--svg", options.picture, "Write a picture here; -: standard output")
      ->type_name("FILE");
  show->add_option("--trace", options.trace, "Write a trace for chrome://tracing here")
      ->type_name("FILE");
}

static CLI::App *addProbe(CLI::App &app, PlanOptions &options) {
  CLI::App *probe =
      app.add_subcommand("probe", "Measure the links between the ranks that heddle-launch starts");
  probe->add_option("-o,--output", options.output, "Write the topology here; -: standard output")
      ->type_name("FILE.json");
  probe->add_option("--axis", options.axis, "The name of the axis of the mesh")
      ->capture_default_str();
  probe->add_option("--engine-options", options.engineOptions, "Of the engine, NAME=VALUE,...");
  probe->add_flag("--json", options.json, "Print each measured transfer to standard error");
  return probe;
}

namespace {
struct Command {
  CLI::App *sub;
  int (*ofMesh)(const PlanOptions &); ///< operators are split over the axes of a mesh
  int (*ofTasks)(const PlanOptions &);
};
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  CLI::App app("Predicts and finds plans, by which a program is split over devices.",
               "heddle-plan");
  PlanOptions options;
  app.footer("Examples:\n  heddle-plan simulate step.mlir --topology cluster.json --plan my.plan\n"
             "  heddle-plan search step.mlir --topology cluster.json -o found.plan\n"
             "  heddlec step.mlir --plan found.plan -o step.heddle\n"
             "  heddle-launch -n 2 --no-prefix heddle-plan probe -o cluster.json");
  app.set_version_flag("--version", compilerVersion());
  app.require_subcommand(1);
  sayPlainly(app);
  auto command = [&](const char *name, const char *what) {
    return addCommand(app, options, name, what);
  };
  CLI::App *simulate =
      command("simulate", "Predict the time, the transfers and the memory of a step");
  addTaskOptions(simulate, options);
  CLI::App *search = command("search", "Find a plan that takes less time; Ctrl-C ends the search");
  addSearch(search, options);
  CLI::App *space = command("space", "Count the plans, and draw some of them");
  addSpace(space, options);
  CLI::App *compare = command("compare", "Find the best tasks of each space");
  addSearchOptions(compare, options);
  CLI::App *explain = command("explain", "Say what else each choice of the found tasks could be");
  addSearchOptions(explain, options);
  addSpaceOption(explain, options);
  CLI::App *show = command("show", "Draw a plan, or the found tasks");
  addShow(show, options);
  CLI::App *probe = addProbe(app, options);
  CLI11_PARSE(app, argc, argv);
  const Command commands[] = {
      {simulate, simulatePlan, simulateTasks}, {search, searchPlan, searchTasks},
      {space, countPlans, countTasks},         {compare, compareTasks, compareTasks},
      {explain, explainTasks, explainTasks},   {show, showPlan, showTasks},
      {probe, probeRanks, probeRanks}};
  return runTool("heddle-plan", [&] {
    for (const Command &each : commands)
      if (each.sub->parsed())
        return (options.isTasks || options.isPaper ? each.ofTasks : each.ofMesh)(options);
    return 1;
  });
}
