//===- PlanTasks.cpp - predicts and finds configurations of tasks ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskPlanning.h"

#include "lib/planner/ExactSearch.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <ctime>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

int heddle::simulateTasks(const PlanOptions &options) {
  TaskPlanning planning(options);
  if (!planning.read())
    return 1;
  planning.print("data parallel");
  return 0;
}

static double digitsOf(const std::vector<unsigned> &choices) {
  double digits = 0;
  for (unsigned number : choices)
    digits += std::log10(double(number));
  return digits;
}

int heddle::searchTasks(const PlanOptions &options) {
  TaskPlanning planning(options);
  if (!planning.read())
    return 1;
  planning.print("data parallel");
  llvm::outs().flush(); // the search takes long
  std::clock_t begin = std::clock();
  std::optional<Point> best = planning.find();
  if (!best)
    return 1;
  std::string proof;
  if (options.improves) {
    if (planning.search->improve(planning.space(), *best))
      proof = "no single change makes it faster\n";
    planning.search->show(*best);
  }
  if (options.exact) {
    ExactSearch exact(*planning.costs, *planning.tasks, planning.graph, planning.devices,
                      [&] { return planning.search->fits(); });
    bool isProved = exact.run(*best, options.exact, untilInterrupted());
    best = exact.best();
    proof += isProved ? llvm::formatv("no plan takes less time; {0} were computed to prove it\n",
                                      exact.points())
                            .str()
                      : llvm::formatv("not proved with {0} plans; none takes less than {1}\n",
                                      exact.plans(), milliseconds(exact.bound()))
                            .str();
    planning.search->show(*best);
  }
  double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC; // of the processor
  if (options.json) {
    llvm::json::Object result = planning.result("found");
    result["proposals"] = int64_t(planning.search->proposed());
    result["points"] = int64_t(planning.search->points());
    result["search_seconds"] = seconds;
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(result)));
  } else {
    planning.print("found");
    llvm::outs() << llvm::formatv("tried {0} of 10^{1:f1} plans in {2} proposals\n",
                                  planning.search->points(), digitsOf(planning.costs->choices()),
                                  planning.search->proposed())
                 << proof;
  }
  std::string text = "# " + milliseconds(planning.tasks->end()) +
                     " a step, predicted by heddle-plan for tasks\n" + planning.text(*best);
  return options.output.empty() || writeText(options.output, text) ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

int heddle::compareTasks(const PlanOptions &options) {
  TaskPlanning planning(options);
  if (!planning.read())
    return 1;
  auto first = double(planning.tasks->end());
  double ceiling = first * planning.devices / double(planning.tasks->totals().computing);
  llvm::json::Array results;
  std::string table =
      "| plan | time | faster | sent | tasks | memory |\n|---|---|---|---|---|---|\n";
  for (SpaceKind kind : allSpaces()) {
    // The plans by rule are shown even if they do not fit.
    std::optional<Point> best = planning.search->find(kind);
    if (!best)
      best = planning.search->byRule(kind);
    if (!best) {
      bool isByRule = kind == SpaceKind::Megatron || kind == SpaceKind::Zero3;
      table += "| " + spelling(kind) + (isByRule ? " | none by its rule" : " | none fits") +
               " | | | | |\n";
      continue;
    }
    planning.search->show(*best);
    results.push_back(planning.result(spelling(kind)));
    const Tasks::Totals &totals = planning.tasks->totals();
    table += llvm::formatv("| {0} | {1} | {2:f2} | {3:f2} GB | {4:f2} s | {5:f2} GB |\n",
                           spelling(kind), milliseconds(planning.tasks->end()),
                           first / double(planning.tasks->end()), double(totals.bytes) * 1e-9,
                           double(totals.computing) * 1e-12, double(planning.mostMemory()) * 1e-9)
                 .str();
  }
  if (options.json)
    llvm::outs() << llvm::formatv(
        "{0:2}\n",
        llvm::json::Value(llvm::json::Object{
            {"devices", planning.devices}, {"ceiling", ceiling}, {"plans", std::move(results)}}));
  else
    llvm::outs() << table
                 << llvm::formatv("No plan with the tasks of data parallelism is more than "
                                  "{0:f2} times faster than it.\n",
                                  ceiling);
  return 0;
}

int heddle::countTasks(const PlanOptions &options) {
  TaskPlanning planning(options);
  if (!planning.read())
    return 1;
  const Graph &graph = planning.graph;
  double digits = digitsOf(planning.costs->choices());
  if (options.json) {
    llvm::json::Array choices;
    for (auto [i, choice] : llvm::enumerate(graph.choices)) {
      llvm::json::Object names;
      for (const Graph::Name &name : choice.names)
        names[name.label] = name.size;
      choices.push_back(
          llvm::json::Object{{"choice", choice.name},
                             {"names", std::move(names)},
                             {"configurations", planning.costs->of(unsigned(i)).size()}});
    }
    llvm::outs() << llvm::formatv(
        "{0:2}\n",
        llvm::json::Value(llvm::json::Object{{"choices", std::move(choices)}, {"digits", digits}}));
    return 0;
  }
  for (auto [i, choice] : llvm::enumerate(graph.choices)) {
    llvm::outs() << choice.name << ":";
    for (const Graph::Name &name : choice.names)
      llvm::outs() << " " << name.label << "=" << name.size
                   << (name.isSequence ? " in order"
                       : name.isSummed ? " summed"
                                       : "");
    llvm::outs() << "; " << planning.costs->of(unsigned(i)).size() << " configurations\n";
  }
  llvm::outs() << llvm::formatv("{0} operators in {1} choices: 10^{2:f1} plans\n",
                                graph.operators.size(), graph.choices.size(), digits);
  return 0;
}

//===----------------------------------------------------------------------===//
// Explanations
//===----------------------------------------------------------------------===//

int heddle::explainTasks(const PlanOptions &options) {
  TaskPlanning planning(options);
  if (!planning.read())
    return 1;
  std::optional<Point> best = planning.find();
  if (!best)
    return 1;
  int64_t end = planning.tasks->end();
  std::vector<int64_t> busy = planning.tasks->busy();
  auto most = size_t(std::max_element(busy.begin(), busy.end()) - busy.begin());
  auto nameOf = [&](size_t resource) {
    size_t devices = planning.cluster.devices.size();
    return resource < devices ? "device " + planning.cluster.devices[resource].name
                              : "link " + std::to_string(resource - devices);
  };
  llvm::json::Array choices;
  std::string text;
  for (unsigned choice = 0; choice < best->size(); ++choice) {
    std::vector<std::pair<int64_t, unsigned>> others;
    for (unsigned number = 0; number < planning.costs->of(choice).size(); ++number) {
      if (number == (*best)[choice])
        continue;
      Point other = *best;
      other[choice] = number;
      others.emplace_back(planning.costs->propose(other), number);
      planning.costs->decide(false);
    }
    size_t shown = std::min<size_t>(others.size(), 2);
    std::partial_sort(others.begin(), others.begin() + ptrdiff_t(shown), others.end());
    std::string own = planning.text(choice, planning.costs->of(choice)[(*best)[choice]]);
    text += own + "\n";
    llvm::json::Array alternatives;
    for (size_t i = 0; i < shown; ++i) {
      std::string other = planning.text(choice, planning.costs->of(choice)[others[i].second]);
      text += "  else " + milliseconds(others[i].first) + ": " + other + "\n";
      alternatives.push_back(
          llvm::json::Object{{"picoseconds", others[i].first}, {"configuration", other}});
    }
    choices.push_back(
        llvm::json::Object{{"configuration", own}, {"alternatives", std::move(alternatives)}});
  }
  std::vector<std::string> idle;
  for (unsigned i = 0; i < planning.devices; ++i)
    if (busy[i] == 0)
      idle.push_back(planning.cluster.devices[i].name);
  if (options.json) {
    llvm::json::Object all = planning.result(options.space);
    all["choices"] = std::move(choices);
    all["busiest"] = nameOf(most);
    all["busiest_picoseconds"] = busy[most];
    all["idle"] = llvm::json::Array(idle);
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(all)));
    return 0;
  }
  planning.print(options.space);
  llvm::outs() << text << nameOf(most) << " is busiest, for " << milliseconds(busy[most]) << " of "
               << milliseconds(end)
               << "; idle devices: " << (idle.empty() ? "none" : llvm::join(idle, ", ")) << "\n";
  return 0;
}

int heddle::showTasks(const PlanOptions &options) {
  TaskPlanning planning(options);
  if (!planning.read() || !planning.find())
    return 1;
  planning.print(options.space);
  if (!options.picture.empty() && !writeText(options.picture, pictureOf(planning)))
    return 1;
  return options.trace.empty() || writeText(options.trace, traceOf(planning)) ? 0 : 1;
}
