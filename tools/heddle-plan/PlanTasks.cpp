//===- PlanTasks.cpp - predicts and finds configurations of tasks ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanInput.h"

#include "lib/pipelines/Pipelines.h"
#include "lib/planner/Exact.h"
#include "lib/planner/ReadGraph.h"
#include "lib/planner/Simulate.h"
#include "lib/planner/Space.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <random>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

namespace {
/// The tasks of a program on a topology; they begin with data parallelism.
class TaskPlanning : public PlanInput {
public:
  explicit TaskPlanning(const PlanOptions &options) : PlanInput(options) {}

  bool read() {
    if (!options.plan.empty())
      return fail("expected --plan without --tasks and --paper: plans are of a mesh");
    if (!PlanInput::read())
      return false;
    if (topology.devices() > Cluster::mostDevices)
      return fail("expected at most " + Twine(Cluster::mostDevices) + " devices, got " +
                  Twine(topology.devices()));
    cluster = clusterOf(topology);
    std::string sample = sampleName(function());
    if (!topology.axes.empty())
      stateTopology(module.get(), topology);
    PassManager passes(module.get().getContext());
    buildNdPipeline(passes, {});
    buildNests(passes);
    if (failed(passes.run(module.get())))
      return false;
    graph = readGraph(function(), cost::Machine::around(module.get()), options.isPaper);
    if (graph.operators.empty())
      return fail("expected a function with operators, got none in '" + entry + "'");
    tasks.emplace(graph, cluster, TaskOptions{.isPaper = options.isPaper});
    costs.emplace(*tasks, graph, unsigned(cluster.devices.size()));
    start = costs->dataParallel(sample);
    costs->propose(start);
    costs->decide(true);
    return true;
  }

  void print(StringRef what) const {
    const Tasks::Totals &totals = tasks->totals();
    if (options.json)
      return void(
          llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{
                                                       {"plan", what},
                                                       {"picoseconds", tasks->end()},
                                                       {"computing_picoseconds", totals.computing},
                                                       {"sent_bytes", totals.bytes},
                                                       {"messages", totals.transfers}})));
    llvm::outs() << what << ": " << milliseconds(tasks->end()) << " a step; all tasks together "
                 << "compute " << milliseconds(totals.computing) << ", and send " << totals.bytes
                 << " bytes in " << totals.transfers << " messages\n";
  }

  /// A line for each choice: its degrees above 1, and the devices of its parts.
  std::string text(const Point &point) const {
    std::string text;
    for (unsigned i = 0; i < point.size(); ++i) {
      Configuration each = costs->of(i)[point[i]];
      text += graph.choices[i].name;
      for (size_t k = 0; k < each.degrees.size(); ++k)
        if (each.degrees[k] > 1)
          text += " " + graph.choices[i].names[k].label + "=" + std::to_string(each.degrees[k]);
      text += " on";
      for (unsigned device : each.devices)
        text += " " + cluster.devices[device].name;
      text += "\n";
    }
    return text;
  }

  Cluster cluster;
  Graph graph;
  std::optional<Tasks> tasks;
  std::optional<TaskCosts> costs;
  Point start;
};
} // namespace

int heddle::simulateTasks(const PlanOptions &options) {
  TaskPlanning planning(options);
  if (!planning.read())
    return 1;
  planning.print("data parallel");
  return 0;
}

int heddle::searchTasks(const PlanOptions &options) {
  TaskPlanning planning(options);
  if (!planning.read())
    return 1;
  planning.print("data parallel");
  TaskCosts &costs = *planning.costs;
  int64_t first = planning.tasks->end();
  SearchOptions how{.seed = options.seed,
                    .proposals = options.proposals,
                    .beta = options.beta,
                    .patience = options.patience,
                    .isInterrupted = untilInterrupted()};
  Search search(costs.choices(), costs.options(how), costs.function(double(first)));
  search.run(planning.start);
  // Another start, which is drawn.
  std::mt19937_64 random(options.seed);
  Point drawn;
  double digits = 0;
  for (unsigned number : costs.choices()) {
    drawn.push_back(unsigned(random() % number));
    digits += std::log10(double(number));
  }
  search.run(drawn);
  Point best = search.best();
  std::string proof;
  if (options.exact) {
    ExactSearch exact(costs, *planning.tasks, planning.graph,
                      unsigned(planning.cluster.devices.size()));
    bool isProved = exact.run(best, options.exact);
    best = exact.best();
    proof = isProved ? llvm::formatv("no plan takes less time; {0} were computed to prove it\n",
                                     exact.points())
                           .str()
                     : llvm::formatv("not proved with {0} plans; none takes less than {1}\n",
                                     exact.points(), milliseconds(exact.bound({})))
                           .str();
  }
  costs.propose(best);
  costs.decide(true);
  planning.print("found");
  if (!options.json)
    llvm::outs() << llvm::formatv("tried {0} of 10^{1:f1} plans in {2} proposals\n",
                                  search.points(), digits, search.proposed())
                 << proof;
  std::string text = "# " + milliseconds(planning.tasks->end()) +
                     " a step, predicted by heddle-plan for tasks\n" + planning.text(best);
  return options.output.empty() || writeText(options.output, text) ? 0 : 1;
}
