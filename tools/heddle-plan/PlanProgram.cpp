//===- PlanProgram.cpp - predicts and finds plans of a program ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeshPlanning.h"

#include "lib/planner/PlanSpace.h"
#include "lib/support/PlanFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <set>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

static void print(const Prediction &found, const MeshPlanning &planning, StringRef what) {
  bool hasRates = !planning.topology.facts.empty();
  unsigned byRates = hasRates ? found.estimated : 0, byCosts = found.estimated - byRates;
  unsigned now = planning.times ? planning.times->measured : 0;
  if (planning.isJson())
    return void(llvm::outs() << llvm::formatv(
                    "{0:2}\n", llvm::json::Value(llvm::json::Object{
                                   {"plan", what},
                                   {"picoseconds", found.picoseconds},
                                   {"computing_picoseconds", found.computing},
                                   {"sent_bytes", found.sentBytes},
                                   {"memory_bytes", found.mostBytes},
                                   {"transfers", found.transfers},
                                   {"nest_times", llvm::json::Object{{"measured", found.measured},
                                                                     {"measured_now", now},
                                                                     {"by_rates", byRates},
                                                                     {"predicted", byCosts}}},
                                   {"scale", planning.scale}})));
  llvm::outs() << what << ": " << milliseconds(found.picoseconds) << " a step, of which a device "
               << "computes " << milliseconds(found.computing) << "; it sends "
               << llvm::formatv("{0:f0}", found.sentBytes) << " bytes in " << found.transfers
               << " transfers, and needs " << found.mostBytes << " bytes of memory\n";
  if (planning.times)
    llvm::outs() << "times of nests: " << found.measured << " measured, " << byRates
                 << " by rates of the topology, " << byCosts << " predicted; " << now
                 << " distinct nests were measured now\n";
}

int heddle::simulatePlan(const PlanOptions &options) {
  MeshPlanning planning(options);
  if (!planning.read())
    return 1;
  auto found = planning.predict({});
  if (failed(found))
    return 1;
  print(*found, planning, options.plan.empty() ? "data parallel" : StringRef(options.plan));
  return 0;
}

/// The rules that no plan has. Prints what is wrong with them.
static std::optional<std::vector<MeshRule>> bansOf(const PlanOptions &options,
                                                   ArrayRef<MeshRule> pins) {
  mesh::Plan bans;
  std::string problem = bans.parse("", options.bans);
  if (!problem.empty())
    problem = "--ban: " + problem;
  for (const MeshRule &ban : bans.rules)
    if (problem.empty() &&
        (!ban.isOfOperators || ban.recomputes || ban.isPlace() || ban.axes.empty()))
      problem = "--ban: expected op PATTERN/NAME:AXIS[+AXIS...], got '" + ban.text + "'";
  if (problem.empty())
    problem = contradiction(pins, bans.rules);
  if (problem.empty())
    return bans.rules;
  fail(problem);
  return std::nullopt;
}

/// The point from which a search goes on. Prints why there is none.
static std::optional<Point> firstPoint(const PlanOptions &options, const MeshPlanning &planning,
                                       const PlanSpace &space) {
  if (options.resume.empty() || !llvm::sys::fs::exists(options.resume))
    return space.start();
  auto rules = planning.rulesOf(options.resume);
  if (!rules)
    return std::nullopt;
  std::string wrong;
  std::optional<Point> point = space.pointOf(*rules, wrong);
  if (!point)
    fail("no plan of this search has the rule '" + wrong + "' of '" + options.resume + "'");
  return point;
}

int heddle::searchPlan(const PlanOptions &options) {
  MeshPlanning planning(options);
  if (!planning.read())
    return 1;
  auto bans = bansOf(options, planning.given());
  if (!bans)
    return 1;
  PlanSpace space(planning.function(), planning.topology, planning.given(), *bans);
  std::optional<Point> first = firstPoint(options, planning, space);
  if (!first)
    return 1;
  auto start = planning.predict(space.rules(space.start()));
  if (failed(start))
    return 1;
  print(*start, planning, options.plan.empty() ? "data parallel" : StringRef(options.plan));
  int64_t leastMemory = start->mostBytes;
  SearchOptions how{options.seed,     options.proposals,  options.beta,
                    options.patience, untilInterrupted(), {}};
  llvm::outs().flush(); // the search takes long
  double unit = double(std::max<int64_t>(start->picoseconds, 1));
  std::optional<Prediction> best;
  Search search(space.choices(), how, [&](const Point &point, double) -> std::optional<double> {
    if (!space.isAllowed(point))
      return std::nullopt;
    std::vector<std::string> rules = space.rules(point);
    FailureOr<Prediction> found = point == space.start() ? start : planning.predict(rules);
    if (failed(found))
      return std::nullopt;
    leastMemory = std::min(leastMemory, found->mostBytes);
    if (found->mostBytes > planning.topology.memoryBytes)
      return std::nullopt;
    if (!best || found->picoseconds < best->picoseconds)
      best = *found;
    return double(found->picoseconds) / unit;
  });
  search.run(*first);
  if (!search.bestCost())
    return !fail("no plan fits into " + std::to_string(planning.topology.memoryBytes) +
                 " bytes; of those tried, one needs " + std::to_string(leastMemory));
  print(*best, planning, "found");
  std::string text = "# " + milliseconds(best->picoseconds) +
                     " a step, predicted by heddle-plan; " + milliseconds(start->picoseconds) +
                     " where the search began\n" + planning.text(space.rules(search.best()));
  if (!options.json)
    llvm::outs() << llvm::formatv("tried {0} of 10^{1:f1} plans in {2} proposals\n",
                                  search.points(), space.digits(), search.proposed());
  if (options.output.empty() || writeText(options.output, text))
    return 0;
  llvm::outs() << text; // what took long to find is not lost
  return 1;
}

int heddle::countPlans(const PlanOptions &options) {
  MeshPlanning planning(options);
  if (!planning.read())
    return 1;
  if (options.draw)
    if (auto error = llvm::sys::fs::create_directories(options.output))
      return !fail("can't make the folder '" + options.output + "': " + error.message());
  PlanSpace space(planning.function(), planning.topology, planning.given());
  std::mt19937_64 engine(options.seed);
  std::set<Point> drawn{space.start()};
  // Of a small space there may be fewer.
  for (unsigned tries = 0, made = 0; made < options.draw && tries < 100 * options.draw; ++tries) {
    Point point = space.draw(engine);
    if (!space.isAllowed(point) || !drawn.insert(point).second)
      continue;
    std::vector<std::string> rules = space.rules(point);
    auto found = planning.predict(rules);
    if (failed(found))
      continue;
    std::string path = options.output + "/" + std::to_string(made++) + ".plan";
    if (!writeText(path, "# " + milliseconds(found->picoseconds) +
                             " a step, predicted by heddle-plan\n" + planning.text(rules)))
      return 1;
  }
  auto operators = int64_t(space.choices().size());
  if (options.json)
    llvm::outs() << llvm::formatv(
        "{0:2}\n", llvm::json::Value(
                       llvm::json::Object{{"operators", operators}, {"digits", space.digits()}}));
  else
    llvm::outs() << llvm::formatv("{0} operators: 10^{1:f1} plans\n", operators, space.digits());
  return 0;
}

int heddle::showPlan(const PlanOptions &options) {
  MeshPlanning planning(options);
  if (!planning.read())
    return 1;
  auto found = planning.predict({});
  auto splits = planning.splits();
  if (failed(found) || failed(splits))
    return 1;
  std::vector<TimedStep> measured;
  if (!options.measured.empty()) {
    auto steps = readTimeline(options.measured);
    if (!steps)
      return 1;
    measured = std::move(*steps);
  }
  std::string what = options.plan.empty() ? "data parallel" : options.plan;
  print(*found, planning, what);
  int64_t last = 0;
  for (const TimedStep &each : measured)
    last = std::max(last, each.end);
  if (last && !options.json)
    llvm::outs() << "measured: " << milliseconds(last) << "\n";
  return options.picture.empty() ||
                 writeText(options.picture, pictureOf(*splits, planning.topology, *found,
                                                      what + " on " + options.topology, measured))
             ? 0
             : 1;
}
