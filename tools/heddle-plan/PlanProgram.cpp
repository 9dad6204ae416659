//===- PlanProgram.cpp - predicts and finds plans of a program ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanInput.h"

#include "dialects/mesh/MeshDialect.h"
#include "lib/pipelines/Pipelines.h"
#include "lib/planner/Simulate.h"
#include "lib/planner/Space.h"
#include "lib/support/PlanFile.h"
#include "lib/transforms/names/GraphHash.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

namespace {
/// A program as whole nests, on a topology, with the rules for arguments of a plan.
class Planning : public PlanInput {
public:
  explicit Planning(const PlanOptions &options) : PlanInput(options) {}

  bool read() {
    if (!PlanInput::read())
      return false;
    if (topology.axes.empty())
      return fail("expected --tasks or --paper with '" + options.topology +
                  "': the devices of a mesh are in groups that are alike");
    return lowerToNests();
  }

  FailureOr<Prediction> predict(const std::vector<std::string> &rules) {
    std::vector<std::string> all;
    if (auto stated = module.get()->getAttrOfType<ArrayAttr>(mesh::rulesAttrName))
      for (Attribute text : stated)
        all.push_back(cast<StringAttr>(text).str());
    all.insert(all.end(), rules.begin(), rules.end());
    Simulator simulator(module.get(), entry, [](ModuleOp copy) {
      PassManager passes(copy.getContext());
      buildFusion(passes, {});
      return passes.run(copy);
    });
    return simulator.predict(all);
  }

  /// The lines of a plan with these rules for operators.
  std::string text(const std::vector<std::string> &rules) const {
    std::string text = "mesh " + topology.mesh().str() + "\ngraph " + graph + "\n";
    for (const Topology::Axis &axis : topology.axes)
      text +=
          mesh::Plan::Links{axis.name, axis.bytesPerSecond, axis.latencySeconds, ""}.str() + "\n";
    for (const std::string &rule : first)
      text += rule + "\n";
    for (const std::string &rule : rules)
      text += rule + "\n";
    return text;
  }

private:
  std::string graph;              ///< the hash of its graph
  std::vector<std::string> first; ///< the rules that all plans have

  bool lowerToNests() {
    graph = graphHash(function());
    PipelineOptions pipeline;
    pipeline.mesh = topology.mesh().str();
    pipeline.plan = options.plan;
    mesh::Plan given;
    if (!options.plan.empty()) {
      if (std::string problem = given.readFile(options.plan); !problem.empty())
        return fail(problem);
      for (const MeshRule &rule : given.rules)
        first.push_back(rule.text);
    } else if (std::string name = sampleName(function()); !name.empty()) {
      std::string axes;
      for (const Topology::Axis &axis : topology.axes)
        axes += (axes.empty() ? "" : "+") + axis.name;
      first.push_back(name + ":" + axes);
      pipeline.shard = first;
    }
    stateTopology(module.get(), topology);
    PassManager passes(module.get().getContext());
    buildNdPipeline(passes, pipeline);
    buildNests(passes);
    if (failed(passes.run(module.get())))
      return false;
    stateTopology(module.get(), topology); // instead of links of the plan
    return true;
  }
};
} // namespace

static void print(const Prediction &found, const PlanOptions &options, StringRef what) {
  if (options.json)
    return void(llvm::outs() << llvm::formatv(
                    "{0:2}\n",
                    llvm::json::Value(llvm::json::Object{{"plan", what},
                                                         {"picoseconds", found.picoseconds},
                                                         {"computing_picoseconds", found.computing},
                                                         {"sent_bytes", found.sentBytes},
                                                         {"memory_bytes", found.mostBytes},
                                                         {"transfers", found.transfers}})));
  llvm::outs() << what << ": " << milliseconds(found.picoseconds) << " a step, of which a device "
               << "computes " << milliseconds(found.computing) << "; it sends "
               << llvm::formatv("{0:f0}", found.sentBytes) << " bytes in " << found.transfers
               << " transfers, and needs " << found.mostBytes << " bytes of memory\n";
}

int heddle::simulatePlan(const PlanOptions &options) {
  if (options.isTasks || options.isPaper)
    return simulateTasks(options);
  Planning planning(options);
  if (!planning.read())
    return 1;
  auto found = planning.predict({});
  if (failed(found))
    return 1;
  print(*found, options, options.plan.empty() ? "data parallel" : StringRef(options.plan));
  return 0;
}

int heddle::searchPlan(const PlanOptions &options) {
  if (options.isTasks || options.isPaper)
    return searchTasks(options);
  Planning planning(options);
  if (!planning.read())
    return 1;
  Space space(planning.function(), planning.topology);
  auto start = planning.predict({});
  if (failed(start))
    return 1;
  print(*start, options, options.plan.empty() ? "data parallel" : StringRef(options.plan));
  int64_t leastMemory = start->mostBytes;
  SearchOptions how{options.seed,     options.proposals,  options.beta,
                    options.patience, untilInterrupted(), {}};
  double unit = double(std::max<int64_t>(start->picoseconds, 1));
  std::optional<Prediction> best;
  Search search(space.choices(), how, [&](const Point &point) -> std::optional<double> {
    if (!space.isAllowed(point))
      return std::nullopt;
    std::vector<std::string> rules = space.rules(point);
    FailureOr<Prediction> found = rules.empty() ? start : planning.predict(rules);
    if (failed(found))
      return std::nullopt;
    leastMemory = std::min(leastMemory, found->mostBytes);
    if (found->mostBytes > planning.topology.memoryBytes)
      return std::nullopt;
    if (!best || found->picoseconds < best->picoseconds)
      best = *found;
    return double(found->picoseconds) / unit;
  });
  search.run(space.start());
  if (!search.bestCost())
    return !fail("no plan fits into " + std::to_string(planning.topology.memoryBytes) +
                 " bytes; of those tried, one needs " + std::to_string(leastMemory));
  print(*best, options, "found");
  std::string text = "# " + milliseconds(best->picoseconds) +
                     " a step, predicted by heddle-plan; " + milliseconds(start->picoseconds) +
                     " where the search began\n" + planning.text(space.rules(search.best()));
  if (!options.json)
    llvm::outs() << llvm::formatv("tried {0} of 10^{1:f1} plans in {2} proposals\n",
                                  search.points(), space.digits(), search.proposed());
  return options.output.empty() || writeText(options.output, text) ? 0 : 1;
}
