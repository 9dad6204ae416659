//===- ApplyPlan.cpp - meshes and shardings by rules ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/propagate/ApplyPlan.h"

#include "dialects/mesh/MeshDialect.h"
#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdInference.h"
#include "lib/cost/Machine.h"
#include "lib/transforms/mesh/roles/RoleAxes.h"
#include "lib/transforms/names/GraphHash.h"

#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

namespace {
/// Applies the rules to the arguments of functions.
class Rules {
public:
  Rules(const Plan &plan, MeshAttr mesh) : plan(plan), mesh(mesh), used(plan.rules.size()) {}

  LogicalResult apply(func::FuncOp function) {
    SmallVector<Attribute> shardings;
    for (BlockArgument argument : function.getArguments()) {
      FailureOr<ShardingAttr> sharding = shardingOf(function, argument);
      if (failed(sharding))
        return failure();
      shardings.push_back(*sharding);
    }
    nd::setArgAttrs(function, shardingAttrName, [&](unsigned i) { return shardings[i]; });
    return success();
  }

  LogicalResult reportUnused(ModuleOp module) {
    for (auto [rule, isUsed] : llvm::zip_equal(plan.rules, used))
      if (!isUsed && !rule.isOfOperators) // propagation applies those
        return module.emitError() << rule.str() << " matches no argument"
                                  << (rule.pattern.empty() || rule.name.empty() ? ""
                                                                                : " of the pattern")
                                  << (rule.name.empty() ? ""
                                                        : " that has the name '" + rule.name + "'")
                                  << (rule.pattern.empty() && !rule.name.empty()
                                          ? "; names are " + llvm::join(names, ", ")
                                          : "; arguments are " + (seen.empty() ? "none" : seen));
    reportIdle(module);
    return success();
  }

private:
  const Plan &plan;
  MeshAttr mesh;
  std::vector<bool> used;
  std::string seen;            ///< all arguments, for messages
  std::set<std::string> names; ///< their names

  /// Warns about axes, and coordinates of the axis of roles, that no rule mentions. Arguments
  /// without a rule are at coordinate 0 if a place is needed.
  void reportIdle(ModuleOp module) {
    auto isAlong = [&](const MeshRule &rule, const Axis &axis) {
      return rule.isPlace() && overlap(mesh, axis, Axis(rule.axes[0]));
    };
    for (const MeshRule &rule : plan.rules)
      for (int64_t i = 1; rule.isPlace() && i < partsOf(mesh, Axis(rule.axes[0])); ++i)
        if (llvm::none_of(plan.rules, [&](const MeshRule &other) {
              return isAlong(other, rule.axes[0]) &&
                     (other.coordinate == i || other.axes != rule.axes);
            }))
          return void(module.emitWarning()
                      << "no rule has a place at " << rule.axes[0] << "=" << i
                      << plan.whereIs("mesh") << ": its devices compute nothing");
    for (const auto &[name, size] : mesh.getSpec().axes)
      if (size > 1 && llvm::none_of(plan.rules, [&, &name = name](const MeshRule &rule) {
            return llvm::any_of(rule.axes, [&](const Axis &axis) { return axis.name == name; });
          }))
        module.emitWarning() << "no rule uses the axis '" << name << "'" << plan.whereIs("mesh")
                             << ": its " << size << " devices compute the same values";
  }

  /// The sharding of an argument by all rules; null if none matches.
  FailureOr<ShardingAttr> shardingOf(func::FuncOp function, BlockArgument argument) {
    MLIRContext *context = function.getContext();
    auto type = dyn_cast<nd::NdTensorType>(argument.getType());
    auto named = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nd::nameAttrName);
    std::string name = named ? named.str() : "argument" + std::to_string(argument.getArgNumber());
    if (!type)
      return ShardingAttr();
    auto refuse = [&] { return emitError(argument.getLoc()) << "'" << name << "': "; };
    for (const nd::Dim &dim : type.getDims())
      for (const std::string &symbol : dim.size().getExpr().names())
        if (StringRef(symbol).starts_with(axisSymbol("")))
          return LogicalResult(
              refuse() << "expected a size without 'mesh.', as coordinates of devices begin, "
                       << "got '" << symbol << "'");
    seen += (seen.empty() ? "'" : ", '") + name + "' with " + nd::namesText(type.getDims());
    for (const nd::Dim &dim : type.getDims())
      names.insert("'" + dim.name.str() + "'");
    std::map<std::string, NamedAxes> entries;
    SmallVector<AxisCoordinate, 1> place;
    StringAttr memory;
    for (auto [i, rule] : llvm::enumerate(plan.rules)) {
      if (rule.isOfOperators || !(rule.name.empty() || type.has(rule.name)) || !rule.fits(name))
        continue;
      used[i] = true;
      if (!rule.memory.empty())
        memory = StringAttr::get(context, rule.memory);
      if (rule.isPlace())
        addPlace(place, {StringAttr::get(context, rule.axes[0]), rule.coordinate}, mesh);
      if (rule.name.empty())
        continue;
      entries[rule.name] = {StringAttr::get(context, rule.name),
                            AxesAttr::get(context, AxisList(rule.axes.begin(), rule.axes.end())),
                            /*open=*/false, int64_t(i) + 1};
    }
    if (entries.empty() && place.empty() && !memory)
      return ShardingAttr();
    SmallVector<NamedAxes> list;
    AxisList all;
    for (const auto &[word, entry] : entries) {
      for (const Axis &axis : entry.list())
        for (const NamedAxes &other : list)
          if (overlap(mesh, axis, other.list()))
            return LogicalResult(emitError(argument.getLoc())
                                 << "the axis '" << axis.str() << "' would shard both '"
                                 << other.name.getValue() << "' and '" << word << "' of '" << name
                                 << "'; expected it to shard one name of a value");
      list.push_back(entry);
      llvm::append_range(all, entry.list());
    }
    if (failed(verifyAxes(mesh, all, refuse)))
      return failure();
    return ShardingAttr::get(context, list, /*closed=*/false, AxesAttr::get(context, {}),
                             StringAttr(), place, memory);
  }
};
} // namespace

/// Places must be coordinates of axes, or of parts of axes, which split no name.
static LogicalResult checkPlaces(ModuleOp module, const Plan &plan, MeshAttr mesh) {
  SmallVector<Axis> places;
  for (const MeshRule &rule : plan.rules) {
    if (!rule.isPlace())
      continue;
    Axis axis = rule.axes[0];
    if (failed(verifyAxes(mesh, axis, [&] { return module.emitError() << rule.str() << ": "; })))
      return failure();
    if (int64_t parts = partsOf(mesh, axis); rule.coordinate >= parts)
      return module.emitError() << rule.str() << " has the coordinate " << rule.coordinate
                                << ", expected one of '" << axis.str() << "' below " << parts;
    places.push_back(axis);
    if (failed(RoleAxes::of(mesh, places, [&] { return module.emitError() << rule.str() << " "; })))
      return failure();
    for (const MeshRule &other : plan.rules)
      for (const Axis split : other.axes)
        if (!other.isPlace() && overlap(mesh, split, axis))
          return module.emitError() << other.str() << " splits a name over '" << split.str()
                                    << "', whose coordinates are places for " << rule.str();
  }
  return success();
}

/// A schedule orders the work of places.
static LogicalResult stateSchedule(ModuleOp module, const Plan &plan) {
  auto stated = plan.settings.find("schedule");
  if (stated == plan.settings.end())
    return success();
  const std::string &text = stated->second.text;
  if (llvm::none_of(plan.rules, [](const MeshRule &rule) { return rule.isPlace(); }))
    return module.emitError() << "'schedule " << text << "'" << plan.whereIs("schedule")
                              << " orders what places compute; expected a rule with a place, such "
                              << "as PATTERN@AXIS=COORDINATE";
  module->setAttr(scheduleAttrName, StringAttr::get(module.getContext(), text));
  return success();
}

/// A plan that states a graph must be for one of the module's functions.
static LogicalResult checkGraph(ModuleOp module, const Plan &plan) {
  auto stated = plan.settings.find("graph");
  if (stated == plan.settings.end())
    return success();
  std::string got;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    std::string hash = graphHash(function);
    if (hash == StringRef(stated->second.text).lower())
      return success();
    got += (got.empty() ? "" : ", ") + hash + " of '" + function.getName().str() + "'";
  }
  return module.emitError() << "the plan is for another program" << plan.whereIs("graph")
                            << ": expected the graph " << stated->second.text << ", got "
                            << (got.empty() ? "none" : got);
}

/// States the links in `heddle.machine`, where passes find their rates.
static LogicalResult stateLinks(ModuleOp module, const Plan &plan, MeshAttr mesh) {
  if (plan.links.empty())
    return success();
  std::map<std::string, cost::Link> links;
  for (const Plan::Links &each : plan.links) {
    if (!mesh.size(each.axis))
      return module.emitError() << "'" << each.str() << "'"
                                << (each.where.empty() ? "" : " (" + each.where + ")")
                                << " uses the axis '" << each.axis << "', expected one of "
                                << mesh.str();
    links[each.axis] = {each.bytesPerSecond, each.startSeconds};
  }
  cost::stateFacts(module, cost::factsOfLinks(module.getContext(), links));
  return success();
}

LogicalResult mesh::applyPlan(ModuleOp module, const Plan &plan) {
  if (failed(checkGraph(module, plan)))
    return failure();
  if (plan.empty() && plan.links.empty() && !plan.settings.contains("schedule"))
    return success();
  auto mesh =
      MeshAttr::getChecked([&] { return module.emitError(); }, module.getContext(), plan.mesh);
  if (!mesh)
    return failure();
  for (const MeshRule &rule : plan.rules)
    for (const Axis axis : rule.axes)
      if (!mesh.size(axis.name))
        return module.emitError() << rule.str() << " uses the axis '" << axis.name
                                  << "', expected one of " << mesh.str();
  if (failed(checkPlaces(module, plan, mesh)) || failed(stateSchedule(module, plan)) ||
      failed(stateLinks(module, plan, mesh)))
    return failure();
  if (!plan.mesh.axes.empty()) // without a mesh there are memories, and what is recomputed
    module->setAttr(meshAttrName, mesh);
  if (!plan.mesh.axes.empty() ||
      llvm::any_of(plan.rules, [](const MeshRule &rule) { return rule.isOfOperators; })) {
    Builder b(module);
    auto texts = llvm::map_to_vector(plan.rules, [&](const MeshRule &rule) -> Attribute {
      return b.getStringAttr(rule.isOfOperators ? rule.commented() : rule.text);
    });
    module->setAttr(rulesAttrName, b.getArrayAttr(texts));
  }
  Rules rules(plan, mesh);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() && failed(rules.apply(function)))
      return failure();
  return rules.reportUnused(module);
}
