//===- PlanLawTest.cpp - any sharding on any mesh gives the same values ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random programs on random meshes of 1 to 12 devices, with shardings that are drawn for arguments
// and for nests, and rules of a plan that are drawn for operators, which they split, place or
// compute again. Some plans are written as files, with a graph, links and a schedule. Axes, or
// parts of axes, may be those of roles: some arguments have places on them. The oracle evaluates
// the program of all devices (`mesh-simulate`), in which lanes beyond the sizes of arguments are
// NaN, and its values are compared with those of the whole program. Some programs are compiled, and
// run on the threads of a process as ranks.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"
#include "test/unit/laws/Plans.h"

#include "dialects/mesh/MeshDialect.h"
#include "dialects/nd/FunctionAttrs.h"
#include "lib/analysis/CanonicalNames.h"
#include "lib/analysis/Operators.h"
#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/transforms/mesh/Passes.h"
#include "lib/transforms/mesh/propagate/ApplyPlan.h"
#include "lib/transforms/mesh/roles/Roles.h"
#include "lib/transforms/mesh/transfers/FormTransfers.h"
#include "lib/transforms/names/GraphHash.h"
#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nest/Passes.h"
#include "lib/transforms/nest/Rewrite.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

/// Up to three axes of 1 to 8 devices in all; sometimes 12, which has parts such as data(2)3.
static mesh::MeshAttr drawMesh(MLIRContext *context, Dice &dice) {
  MeshSpec mesh;
  int64_t left = dice.chance(8) ? 12 : 8, axes = left > 8 ? 1 : dice.between(1, 3);
  for (int64_t i = 0; i < axes; ++i) {
    std::string name = dice.pick({"x", "y", "z"}) + std::to_string(i);
    mesh.axes.emplace_back(name, left > 8 ? left : dice.between(1, left));
    left /= mesh.axes.back().second;
  }
  return mesh::MeshAttr::get(context, mesh);
}

/// Parts of an axis that do not overlap.
static void drawParts(mesh::MeshAttr mesh, const std::string &name, int64_t size,
                      SmallVectorImpl<mesh::Axis> &axes, Dice &dice) {
  SmallVector<mesh::Axis> parts;
  for (int64_t before = 1; before < size; ++before)
    for (int64_t count = 2; before * count <= size; ++count)
      if (size % (before * count) == 0)
        parts.push_back({name, before, count});
  dice.shuffle(parts);
  for (const mesh::Axis &part : parts)
    if (!mesh::overlap(mesh, axes, part))
      axes.push_back(part);
}

namespace {
/// A mesh, and axes, or parts of axes, whose coordinates are roles.
struct DrawnMesh {
  mesh::MeshAttr mesh;
  SmallVector<mesh::Axis> roles;

  DrawnMesh(MLIRContext *context, Dice &dice) : mesh(drawMesh(context, dice)) {
    if (!dice.chance(35))
      return;
    SmallVector<mesh::Axis> several;
    for (const auto &[name, size] : mesh.getSpec().axes)
      if (size > 3 && dice.chance(60))
        drawParts(mesh, name, size, several, dice);
      else if (size > 1)
        several.push_back(name);
    dice.shuffle(several);
    for (const mesh::Axis &axis : several)
      if (roles.empty() || dice.chance(30))
        roles.push_back(axis);
  }
};
} // namespace

/// Shards some of the names; no axis, or part of one, twice, and none of `roles`.
static mesh::Sharding drawSharding(mesh::MeshAttr mesh, ArrayRef<mesh::Axis> roles,
                                   ArrayRef<std::string> names, Dice &dice) {
  SmallVector<mesh::Axis> axes(roles);
  for (const auto &[name, size] : mesh.getSpec().axes)
    if (mesh::overlap(mesh, roles, mesh::Axis(name)) ||
        (size > 3 && dice.chance(size == 12 ? 60 : 15)))
      drawParts(mesh, name, size, axes, dice);
    else
      axes.push_back(name);
  axes = SmallVector<mesh::Axis>(ArrayRef(axes).drop_front(roles.size()));
  dice.shuffle(axes);
  mesh::Sharding sharding;
  for (const mesh::Axis &axis : axes)
    if (!names.empty() && dice.chance(75))
      sharding[dice.pick(names)].push_back(axis);
  return sharding;
}

static std::vector<std::string> namesOf(ArrayRef<nd::DimsAttr> spaces) {
  std::vector<std::string> names;
  for (nd::DimsAttr dims : spaces)
    for (const nd::Dim &dim : dims)
      names.push_back(dim.name.str());
  return names;
}

/// Lets results of an argument's type be its next value.
static void drawStates(func::FuncOp function, Dice &dice) {
  std::set<unsigned> taken;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    for (unsigned r = 0; r < function.getNumResults(); ++r)
      if (function.getResultTypes()[r] == type && dice.chance(70) && taken.insert(r).second) {
        function.setArgAttr(unsigned(i), "heddle.donate",
                            Builder(function.getContext()).getI64IntegerAttr(r));
        break;
      }
}

/// Shards some arguments and results; where there are roles, places some arguments.
static void drawShardings(func::FuncOp function, const DrawnMesh &drawn, Dice &dice) {
  MLIRContext *context = function.getContext();
  auto draw = [&](Type type) {
    auto names = namesOf({cast<nd::NdTensorType>(type).getDims()});
    return mesh::ShardingAttr::get(context, drawSharding(drawn.mesh, drawn.roles, names, dice));
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (dice.chance(70))
      function.setArgAttr(i, mesh::shardingAttrName, draw(function.getArgumentTypes()[i]));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (dice.chance(20))
      function.setResultAttr(i, mesh::shardingAttrName, draw(function.getResultTypes()[i]));
  if (drawn.roles.empty())
    return;
  drawStates(function, dice);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!dice.chance(60))
      continue;
    auto own = function.getArgAttrOfType<mesh::ShardingAttr>(i, mesh::shardingAttrName);
    if (!own)
      own = mesh::ShardingAttr::get(context, mesh::Sharding());
    SmallVector<mesh::AxisCoordinate> place;
    for (const mesh::Axis &axis : drawn.roles)
      if (place.empty() || dice.chance(50))
        place.push_back(
            {StringAttr::get(context, axis.str()), dice.below(mesh::partsOf(drawn.mesh, axis))});
    function.setArgAttr(i, mesh::shardingAttrName, own.at(place));
  }
}

/// States links that are so slow that each gathered value is kept, or so fast that it is gathered
/// again for every use, or as they are.
static void drawLinks(ModuleOp module, Dice &dice) {
  Builder b(module.getContext());
  double rate = dice.pick({1.0, 5e9, 1e30});
  module->setAttr("heddle.machine",
                  nest::MachineAttr::get(
                      b.getContext(),
                      b.getDictionaryAttr(
                          {b.getNamedAttr("link_bytes_per_second", b.getF64FloatAttr(rate)),
                           b.getNamedAttr("link_start_seconds", b.getF64FloatAttr(1 / rate))})));
}

void laws::drawPlan(ModuleOp module, Dice &dice, int64_t least, int64_t most) {
  std::optional<DrawnMesh> drawn;
  int64_t devices = 0;
  do {
    drawn.emplace(module.getContext(), dice);
    devices = drawn->mesh.devices();
  } while (devices < least || devices > most);
  module->setAttr(mesh::meshAttrName, drawn->mesh);
  drawShardings(mainOf(module), *drawn, dice);
}

/// The axes along which arguments have places.
static SmallVector<mesh::Axis> rolesOf(func::FuncOp main) {
  SmallVector<mesh::Axis> roles;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto own = main.getArgAttrOfType<mesh::ShardingAttr>(i, mesh::shardingAttrName))
      for (const mesh::AxisCoordinate &place : own.getPlace())
        if (mesh::Axis axis = place.axis.getValue(); !llvm::is_contained(roles, axis))
          roles.push_back(axis);
  return roles;
}

/// Writes what was drawn as a plan file, with a graph, links and a schedule, and applies this.
static LogicalResult applyAsPlan(ModuleOp module, Dice &dice, std::map<std::string, int> &counts) {
  func::FuncOp main = mainOf(module);
  std::string text = "graph " + graphHash(main) + "\n";
  std::string axes;
  for (const auto &[name, size] :
       module->getAttrOfType<mesh::MeshAttr>(mesh::meshAttrName).getSpec().axes) {
    axes += (axes.empty() ? "" : ",") + name + "=" + std::to_string(size);
    if (dice.chance(50))
      text += "links " + name + " " + dice.pick({"1", "5e9", "1e30"}) + " bytes/s 1e-06 s\n";
  }
  text += "mesh " + axes + "\n";
  if (!rolesOf(main).empty() && dice.chance(70)) { // the only one that any places allow
    text += "schedule gpipe\n";
    ++counts["schedule"];
  }
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto own = main.getArgAttrOfType<mesh::ShardingAttr>(i, mesh::shardingAttrName);
    if (!own)
      continue;
    auto named = main.getArgAttrOfType<StringAttr>(i, nd::nameAttrName);
    std::string pattern = "." + (named ? named.str() : "argument" + std::to_string(i)) + ".";
    for (const auto &[name, list] : own.getSharding()) {
      std::string parts;
      for (const mesh::Axis &axis : list)
        parts += (parts.empty() ? "" : "+") + axis.str();
      if (isValidName(name))
        text += pattern + "/" + name + ":" + parts + "\n";
    }
    for (const mesh::AxisCoordinate &place : own.getPlace())
      text += pattern + "@" + place.axis.str() + "=" + std::to_string(place.coordinate) + "\n";
    main.removeArgAttr(i, mesh::shardingAttrName);
  }
  mesh::Plan plan;
  if (std::string problem = plan.parseFile(text, "drawn"); !problem.empty())
    return module.emitError() << problem << " of\n" << text;
  ++counts["plan file"];
  ScopedDiagnosticHandler noWarnings(module.getContext(), [](Diagnostic &each) {
    return success(each.getSeverity() == DiagnosticSeverity::Warning);
  });
  return mesh::applyPlan(module, plan);
}

namespace {
/// States rules for some of the operators, as a plan does. Each has to match its operator.
struct DrawRules : PassWrapper<DrawRules, OperationPass<ModuleOp>> {
  uint64_t seed;
  std::map<std::string, int> *counts;
  DrawRules(uint64_t seed, std::map<std::string, int> *counts) : seed(seed), counts(counts) {}
  void runOnOperation() override {
    Dice dice(seed + 3);
    auto mesh = getOperation()->getAttrOfType<mesh::MeshAttr>(mesh::meshAttrName);
    func::FuncOp main = mainOf(getOperation());
    Labels spelled = spellings(main);
    std::vector<std::string> rules;
    if (auto stated = getOperation()->getAttrOfType<ArrayAttr>(mesh::rulesAttrName))
      for (auto text : stated.getAsRange<StringAttr>())
        rules.push_back(text.str());
    for (const Operator &each : operatorsOf(main)) {
      std::vector<std::string> names;
      for (Operation *op : each.splitNests())
        for (const std::string &name : namesOf(iterationNamesOf(op)))
          names.push_back(spelled.contains(name) ? spelled[name] : name);
      if (names.empty() || !dice.chance(60))
        continue;
      for (const auto &[name, axes] : drawSharding(mesh, rolesOf(main), names, dice)) {
        std::string rule = "op ." + each.name + "./" + name + ":";
        for (const mesh::Axis &axis : axes)
          rule += (rule.back() == ':' ? "" : "+") + axis.str();
        rules.push_back(rule);
        ++(*counts)["rule of an operator"];
      }
    }
    for (const Operator &each : operatorsOf(main))
      if (dice.chance(70))
        rules.push_back("recompute ." + each.name + ".");
    for (const mesh::Axis &axis : rolesOf(main))
      for (const Operator &each : operatorsOf(main))
        if (dice.chance(30)) {
          rules.push_back("op ." + each.name + ".@" + axis.str() + "=" +
                          std::to_string(dice.below(mesh::partsOf(mesh, axis))));
          ++(*counts)["place of an operator"];
        }
    SmallVector<StringRef> texts(rules.begin(), rules.end());
    getOperation()->setAttr(mesh::rulesAttrName, Builder(&getContext()).getStrArrayAttr(texts));
  }
};

/// Shards the iteration names of some nests at random, whatever was propagated to them.
struct DrawShardings : PassWrapper<DrawShardings, OperationPass<ModuleOp>> {
  uint64_t seed;
  explicit DrawShardings(uint64_t seed) : seed(seed) {}
  void runOnOperation() override {
    Dice dice(seed + 1);
    auto mesh = getOperation()->getAttrOfType<mesh::MeshAttr>(mesh::meshAttrName);
    func::FuncOp main = mainOf(getOperation());
    SmallVector<mesh::Axis> roles = rolesOf(main);
    main.walk([&](Operation *op) {
      std::vector<std::string> names = namesOf(iterationNamesOf(op));
      if (!names.empty() && dice.chance(60))
        op->setAttr(mesh::shardingAttrName,
                    mesh::ShardingAttr::get(&getContext(), drawSharding(mesh, roles, names, dice)));
    });
  }
};
} // namespace

namespace {
/// Counts the collectives and messages of programs by their names, their pipelines and rings, and
/// the programs with roles.
struct CountCollectives : PassWrapper<CountCollectives, OperationPass<ModuleOp>> {
  std::map<std::string, int> *counts;
  explicit CountCollectives(std::map<std::string, int> *counts) : counts(counts) {}
  void runOnOperation() override {
    getOperation()->walk([&](mesh::CollectiveInterface op) {
      ++(*counts)[op->getName().stripDialect().str()];
      if (op->hasAttr("mesh.bucket"))
        ++(*counts)["bucket"];
    });
    getOperation()->walk([&](nest::ScanOp op) {
      auto inner = op.getBody().front().getOps<nest::ScanOp>();
      if (op.getAlong().contains("mesh$turn"))
        ++(*counts)[inner.empty()                   ? "ring"
                    : (*inner.begin()).getReverse() ? "reverse pipeline"
                                                    : "pipeline"];
    });
    getOperation()->walk([&](mesh::SendOp) { ++(*counts)["send"]; });
    if (auto rules = getOperation()->getAttrOfType<ArrayAttr>(mesh::rulesAttrName))
      if (llvm::any_of(rules.getAsRange<StringAttr>(),
                       [](StringAttr rule) { return rule.getValue().starts_with("recompute"); }))
        getOperation()->walk([&](nd::AfterOp) { ++(*counts)["read again"]; });
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto role = mesh::Role::of(function); role && role->number == 0) {
        ++(*counts)["roles"];
        if (role->axes.axes.size() > 1)
          ++(*counts)["roles of several axes"];
        for (const mesh::Axis &axis : role->axes.axes)
          if (axis.count)
            ++(*counts)["roles of a part"];
      }
    markAllAnalysesPreserved();
  }
};
} // namespace

namespace {
/// Requests some gathers again for each use, whatever it costs.
struct DrawRepeats : PassWrapper<DrawRepeats, OperationPass<ModuleOp>> {
  uint64_t seed;
  explicit DrawRepeats(uint64_t seed) : seed(seed) {}
  void runOnOperation() override {
    Dice dice(seed + 2);
    getOperation()->walk([&](mesh::AllGatherOp op) {
      if (dice.chance(70))
        op->setAttr(nest::recomputeAttr, UnitAttr::get(&getContext()));
    });
  }
};
} // namespace

static void split(OpPassManager &passes, uint64_t seed, std::map<std::string, int> *counts) {
  buildNdPipeline(passes, CompileOptions());
  passes.addPass(nd::createNdNeutralNamesPass());
  passes.addPass(nd::createNdOutlineControlPass());
  passes.addNestedPass<func::FuncOp>(createConvertNdToNestPass());
  if (seed % 4 == 0) // seeds of odd numbers shard nests below
    passes.addPass(std::make_unique<DrawRules>(seed, counts));
  mesh::MeshPropagatePassOptions recorded;
  recorded.record = seed % 3 == 0; // explaining a sharding terminates
  passes.addPass(mesh::createMeshPropagatePass(recorded));
  if (seed % 2)
    passes.addPass(std::make_unique<DrawShardings>(seed));
  mesh::MeshPartitionPassOptions rings;
  rings.ring = seed % 8 > 3 ? 1 : 1 << 20;
  passes.addPass(mesh::createMeshPartitionPass(rings));
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  passes.addPass(mesh::createMeshRolesPass());
  if (seed % 4 > 1)
    passes.addNestedPass<func::FuncOp>(mesh::createMeshFormTransfersPass());
  mesh::MeshBucketPassOptions buckets;
  buckets.bytes = int64_t(100) << seed % 8;
  passes.addNestedPass<func::FuncOp>(mesh::createMeshBucketPass(buckets));
  if (seed % 8 > 3) {
    passes.addPass(std::make_unique<DrawRepeats>(seed));
    passes.addNestedPass<func::FuncOp>(nest::createNestGatherAgainPass());
  }
  passes.addPass(std::make_unique<CountCollectives>(counts));
  passes.addPass(mesh::createMeshSimulatePass());
  passes.addPass(nd::createNdRestoreNamesPass());
}

class PlanLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, PlanLaw, ::testing::Range(0, 2));

static void holdPlans(Share share, bool symbols) {
  std::map<std::string, int> counts;
  auto options = [=](uint64_t seed) {
    GeneratorOptions options;
    options.steps = 3 + int(seed % (symbols ? 4 : 7));
    options.requests = seed % 3 == 0;
    options.control = seed % 6 == 1;
    options.symbols = symbols;
    options.scale = 1;
    return options;
  };
  auto check = [=, &counts](ModuleOp module, uint64_t seed, Tally &tally) {
    OwningOpRef<ModuleOp> copy(module.clone());
    Dice dice(seed);
    drawPlan(*copy, dice);
    if (seed % 5 > 2)
      drawLinks(*copy, dice);
    else if (failed(applyAsPlan(*copy, dice, counts)))
      return Violation{"the plan is refused", ""};
    return checkPasses(
        *copy, seed, [&](OpPassManager &passes) { split(passes, seed, &counts); }, tally);
  };
  holdEach({"the plan law", options, check}, share);
  for (const auto &[name, count] : counts)
    std::printf("  %d: %s\n", count, name.c_str());
  for (const char *name : {"roles", "send"})
    EXPECT_TRUE(counts.contains(name) || programsInAll() < 1000) << "no " << name;
  // All that partition makes.
  for (const char *name :
       {"all_gather", "all_reduce", "all_to_all", "broadcast", "permute", "reduce_scatter",
        "pipeline", "reverse pipeline", "ring", "rule of an operator", "place of an operator",
        "read again", "plan file", "schedule", "roles of a part"})
    EXPECT_TRUE(counts.contains(name) || symbols || programsInAll() < 1000) << "no " << name;
}

TEST_P(PlanLaw, AnyShardingGivesTheSameValues) { holdPlans({0.3, GetParam()}, false); }
TEST_P(PlanLaw, SizesOverSymbols) { holdPlans({0.03, GetParam()}, true); }

//===----------------------------------------------------------------------===//
// Compiled, on ranks
//===----------------------------------------------------------------------===//

class CompiledPlans : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, CompiledPlans, ::testing::Range(0, 2));

static void holdCompiledPlans(Share share, bool symbols) {
  auto options = [=](uint64_t seed) {
    GeneratorOptions options;
    options.steps = 3 + int(seed % 6);
    options.requests = seed % 3 == 0;
    options.control = seed % 6 == 1;
    options.symbols = symbols;
    options.scale = 1;
    return options;
  };
  auto prepare = [](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t> seeds) {
    keepPrivate(module, names);
    Dice dice(seeds[0]);
    DrawnMesh drawn(module.getContext(), dice);
    module->setAttr(mesh::meshAttrName, drawn.mesh);
    drawLinks(module, dice);
    for (auto [name, seed] : llvm::zip_equal(names, seeds)) {
      Dice own(seed);
      drawShardings(module.lookupSymbol<func::FuncOp>(name), drawn, own);
    }
    return success();
  };
  holdCompiled({"the compiled plan law", 5, options, prepare}, share);
}

TEST_P(CompiledPlans, GiveTheOraclesValues) { holdCompiledPlans({0.1, GetParam()}, false); }
TEST_P(CompiledPlans, OverSymbols) { holdCompiledPlans({0.02, GetParam()}, true); }
