//===- PlanProgram.cpp - predicts and finds plans of a program ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanProgram.h"

#include "dialects/mesh/MeshDialect.h"
#include "lib/pipelines/Pipelines.h"
#include "lib/planner/Simulate.h"
#include "lib/planner/Space.h"
#include "lib/support/PlanFile.h"
#include "tools/Tool.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <atomic>
#include <csignal>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

static bool fail(const Twine &what) {
  llvm::WithColor::error(llvm::errs(), "heddle-plan") << what << "\n";
  return false;
}

static std::string milliseconds(int64_t picoseconds) {
  return llvm::formatv("{0:f3} ms", double(picoseconds) * 1e-9).str();
}

namespace {
/// A program as whole nests, on a topology, with the rules for arguments of a plan.
class Planning {
public:
  explicit Planning(const PlanOptions &options) : options(options), module(registry()) {}

  bool read() {
    auto file = llvm::MemoryBuffer::getFile(options.topology);
    if (!file)
      return fail("can't read the topology '" + options.topology +
                  "': " + file.getError().message());
    std::string problem;
    auto read = parseTopology((*file)->getBuffer().str(), options.topology, problem);
    if (!read)
      return fail(problem);
    topology = *read;
    return module.read(options.input) && findEntry() && lowerToNests();
  }

  func::FuncOp function() { return module.get().lookupSymbol<func::FuncOp>(entry); }

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
    std::string text = "mesh " + topology.mesh() + "\n";
    for (const std::string &rule : first)
      text += rule + "\n";
    for (const std::string &rule : rules)
      text += rule + "\n";
    return text;
  }

  Topology topology;

private:
  const PlanOptions &options;
  InputModule module;
  std::string entry;
  std::vector<std::string> first; ///< the rules that all plans have

  static const DialectRegistry &registry() {
    static DialectRegistry dialects;
    registerCompilerDialects(dialects);
    return dialects;
  }

  bool findEntry() {
    std::vector<std::string> names;
    for (auto function : module.get().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        names.push_back(function.getName().str());
    if (options.entry.empty() && names.size() == 1)
      entry = names[0];
    else if (llvm::is_contained(names, options.entry))
      entry = options.entry;
    else
      return fail("expected --entry with one of the functions " + llvm::join(names, ", ") +
                  (options.entry.empty() ? "" : ", got '" + options.entry + "'"));
    for (auto function : llvm::make_early_inc_range(module.get().getOps<func::FuncOp>()))
      if (function.isPublic() && function.getName() != entry)
        function.setPrivate();
    return true;
  }

  bool lowerToNests() {
    PipelineOptions pipeline;
    pipeline.mesh = topology.mesh();
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
    return succeeded(passes.run(module.get()));
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
  Planning planning(options);
  if (!planning.read())
    return 1;
  auto found = planning.predict({});
  if (failed(found))
    return 1;
  print(*found, options, options.plan.empty() ? "data parallel" : StringRef(options.plan));
  return 0;
}

/// Writes another file first, and renames it, so that a full disk loses nothing.
static bool write(const std::string &path, const std::string &text) {
  if (path == "-") {
    llvm::outs() << text;
    return true;
  }
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &out) {
    out << text;
    return llvm::Error::success();
  });
  return !error || fail("can't write '" + path + "': " + llvm::toString(std::move(error)));
}

static std::atomic<bool> isStopped = false;

int heddle::searchPlan(const PlanOptions &options) {
  Planning planning(options);
  if (!planning.read())
    return 1;
  Space space(planning.function(), planning.topology);
  auto start = planning.predict({});
  if (failed(start))
    return 1;
  print(*start, options, options.plan.empty() ? "data parallel" : StringRef(options.plan));
  int64_t leastMemory = start->mostBytes;
  std::signal(SIGINT, [](int) { isStopped = true; });
  SearchOptions how{options.seed,
                    options.proposals,
                    options.beta,
                    options.patience,
                    [] { return isStopped.load(); },
                    {}};
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
  return options.output.empty() || write(options.output, text) ? 0 : 1;
}
