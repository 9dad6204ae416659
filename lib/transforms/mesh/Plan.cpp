//===- Plan.cpp - meshes and shardings by rules ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Plan.h"

#include "dialects/mesh/Mesh.h"
#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdInference.h"

#include "llvm/Support/GlobPattern.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string Plan::parseMesh(StringRef text) {
  SmallVector<StringRef> axes;
  text.split(axes, ',');
  for (StringRef each : axes) {
    auto [name, number] = each.trim().split('=');
    int64_t size;
    if (!isValidName(std::string_view(name)) || name.contains('.') ||
        number.getAsInteger(10, size) || size < 1)
      return "expected axes with sizes, such as data=2,model=4, got '" + text.str() + "'";
    mesh.emplace_back(name.str(), size);
  }
  return "";
}

/// More than any axis has; products of two such numbers don't overflow.
static constexpr int64_t mostParts = int64_t(1) << 20;

/// `data`, or `data(2)4`
static bool parseAxis(StringRef text, PlanAxis &axis) {
  auto [name, part] = text.trim().split('(');
  axis.name = name.str();
  if (!isValidName(axis.name))
    return false;
  if (name.size() == text.trim().size())
    return true;
  auto [before, count] = part.split(')');
  auto isNumber = [](StringRef text, int64_t &number) {
    return !text.getAsInteger(10, number) && number >= 1 && number <= mostParts;
  };
  return isNumber(before, axis.before) && isNumber(count, axis.count);
}

/// `net.last@stage=1`
static bool parsePlace(PlanRule &rule) {
  auto [pattern, place] = StringRef(rule.text).rsplit('@');
  auto [axis, coordinate] = place.split('=');
  rule.pattern = pattern.trim().str();
  return !rule.pattern.empty() && parseAxis(axis, rule.axes.emplace_back()) &&
         rule.axes[0].count == 0 && !coordinate.trim().getAsInteger(10, rule.coordinate) &&
         rule.coordinate >= 0;
}

std::string Plan::parseRule(StringRef text) {
  PlanRule rule{text.trim().str(), "", "", {}};
  StringRef rest = rule.text;
  if (rest.contains('@')) {
    if (!parsePlace(rule))
      return "expected a rule PATTERN@AXIS=COORDINATE, got '" + rule.text + "'";
    rules.push_back(std::move(rule));
    return "";
  }
  if (rest.contains('/')) {
    auto [pattern, name] = rest.rsplit('/');
    rule.pattern = pattern.str();
    rest = name;
  }
  auto [name, axes] = rest.split(':');
  rule.name = name.trim().str();
  SmallVector<StringRef> words;
  bool good = isValidName(rule.name) && rest.contains(':');
  if (!axes.trim().empty())
    axes.split(words, '+');
  for (StringRef word : words)
    good &= parseAxis(word, rule.axes.emplace_back());
  if (!good)
    return "expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]] or PATTERN@AXIS=COORDINATE, got '" +
           rule.text + "'";
  rules.push_back(std::move(rule));
  return "";
}

std::string Plan::parse(StringRef axes, ArrayRef<std::string> shard) {
  std::string problem = axes.empty() ? "" : parseMesh(axes);
  for (const std::string &rule : shard)
    if (problem.empty())
      problem = parseRule(rule);
  return problem;
}

std::string Plan::parseFile(StringRef text) {
  for (unsigned number = 1; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    text = rest;
    line = line.split('#').first.trim();
    if (line.empty())
      continue;
    std::string problem = line.consume_front("mesh ") ? parseMesh(line.trim()) : parseRule(line);
    if (!problem.empty())
      return "line " + std::to_string(number) + ": " + problem;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// True if the pattern's words match as many words in a row of `name`.
static bool matches(StringRef pattern, StringRef name) {
  if (pattern.empty())
    return true;
  SmallVector<StringRef> wanted, words;
  pattern.split(wanted, '.');
  name.split(words, '.');
  SmallVector<llvm::GlobPattern> globs;
  for (StringRef word : wanted) {
    auto glob = llvm::GlobPattern::create(word);
    if (!glob) {
      llvm::consumeError(glob.takeError());
      return false;
    }
    globs.push_back(std::move(*glob));
  }
  for (size_t first = 0; first + globs.size() <= words.size(); ++first)
    if (llvm::all_of(llvm::enumerate(globs),
                     [&](auto glob) { return glob.value().match(words[first + glob.index()]); }))
      return true;
  return false;
}

bool PlanRule::fits(StringRef argument) const { return matches(pattern, argument); }

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
      if (!isUsed)
        return module.emitError() << "the rule '" << rule.text << "' matches no argument"
                                  << (rule.pattern.empty() || rule.isPlace() ? ""
                                                                             : " of the pattern")
                                  << (rule.isPlace() ? ""
                                                     : " that has the name '" + rule.name + "'")
                                  << "; arguments are " << (seen.empty() ? "none" : seen);
    reportIdle(module);
    return success();
  }

private:
  const Plan &plan;
  MeshAttr mesh;
  std::vector<bool> used;
  std::string seen; ///< the arguments, for messages

  /// Warns of axes, and of coordinates of an axis with places, that no rule mentions. Arguments
  /// without a rule are at the coordinate 0 where it matters.
  void reportIdle(ModuleOp module) {
    for (const PlanRule &rule : plan.rules)
      for (int64_t i = 1; rule.isPlace() && i < *mesh.size(rule.axes[0].name); ++i)
        if (llvm::none_of(plan.rules, [&](const PlanRule &other) { return other.coordinate == i; }))
          return void(module.emitWarning() << "no rule has a place at " << rule.axes[0].name << "="
                                           << i << ": its devices compute nothing");
    for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
      if (size > 1 && llvm::none_of(plan.rules, [&, &name = name](const PlanRule &rule) {
            return llvm::any_of(rule.axes, [&](const PlanAxis &axis) { return axis.name == name; });
          }))
        module.emitWarning() << "no rule uses the axis '" << name.getValue() << "': its " << size
                             << " devices compute the same values";
  }

  /// The sharding of an argument by all rules; null if none matches.
  FailureOr<ShardingAttr> shardingOf(func::FuncOp function, BlockArgument argument) {
    MLIRContext *context = function.getContext();
    auto type = dyn_cast<nd::NdTensorType>(argument.getType());
    auto named = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nd::nameAttrName);
    std::string name = named ? named.str() : "argument" + std::to_string(argument.getArgNumber());
    if (!type)
      return ShardingAttr();
    seen += (seen.empty() ? "'" : ", '") + name + "' with " + nd::namesText(type.getDims());
    std::map<std::string, NamedAxes> entries;
    SmallVector<AxisCoordinate, 1> place;
    for (auto [i, rule] : llvm::enumerate(plan.rules)) {
      if (!(rule.isPlace() || type.has(rule.name)) || !matches(rule.pattern, name))
        continue;
      used[i] = true;
      if (rule.isPlace()) {
        place = {{StringAttr::get(context, rule.axes[0].name), rule.coordinate}};
        continue;
      }
      AxisList axes;
      for (const PlanAxis &axis : rule.axes)
        axes.push_back({StringAttr::get(context, axis.name), axis.before, axis.count});
      entries[rule.name] = {StringAttr::get(context, rule.name), AxesAttr::get(context, axes),
                            /*open=*/false, int64_t(i)};
    }
    if (entries.empty() && place.empty())
      return ShardingAttr();
    SmallVector<NamedAxes> list;
    AxisList all;
    for (const auto &[word, entry] : entries) {
      for (const Axis &axis : entry.list())
        for (const NamedAxes &other : list)
          for (const Axis &taken : other.list())
            if (mesh.size(axis.name) && overlap(mesh, axis, taken))
              return emitError(argument.getLoc())
                         << "the axis '" << mesh::str(axis) << "' would shard both '"
                         << other.name.getValue() << "' and '" << word << "' of '" << name
                         << "'; expected it to shard one name of a value",
                     failure();
      list.push_back(entry);
      llvm::append_range(all, entry.list());
    }
    auto refuse = [&] { return emitError(argument.getLoc()) << "'" << name << "': "; };
    if (failed(verifyAxes(mesh, all, refuse)))
      return failure();
    return ShardingAttr::get(context, list, /*closed=*/false, AxesAttr::get(context, {}),
                             StringAttr(), place, StringAttr());
  }
};
} // namespace

/// Places are coordinates of one axis, which splits no name.
static LogicalResult checkPlaces(ModuleOp module, const Plan &plan, MeshAttr mesh) {
  const PlanRule *first = nullptr;
  for (const PlanRule &rule : plan.rules) {
    if (!rule.isPlace())
      continue;
    const std::string &axis = rule.axes[0].name;
    if (int64_t size = *mesh.size(axis); rule.coordinate >= size)
      return module.emitError() << "the rule '" << rule.text << "' has the coordinate "
                                << rule.coordinate << ", expected one of '" << axis << "' below "
                                << size;
    if (!first)
      first = &rule;
    if (first->axes[0].name != axis)
      return module.emitError() << "the rules '" << first->text << "' and '" << rule.text
                                << "' place arguments along '" << first->axes[0].name << "' and '"
                                << axis << "', expected one axis of roles";
  }
  for (const PlanRule &rule : plan.rules)
    for (const PlanAxis &axis : rule.axes)
      if (first && !rule.isPlace() && axis.name == first->axes[0].name)
        return module.emitError() << "the rule '" << rule.text << "' splits a name over '"
                                  << axis.name << "', whose coordinates are places for the rule '"
                                  << first->text << "'";
  return success();
}

LogicalResult mesh::applyPlan(ModuleOp module, const Plan &plan) {
  if (plan.empty())
    return success();
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const auto &[name, size] : plan.mesh) {
    names.push_back(StringAttr::get(module.getContext(), name));
    sizes.push_back(size);
  }
  auto mesh = MeshAttr::getChecked([&] { return module.emitError(); }, module.getContext(),
                                   ArrayRef(names), ArrayRef(sizes));
  if (!mesh)
    return failure();
  for (const PlanRule &rule : plan.rules)
    for (const PlanAxis &axis : rule.axes)
      if (!mesh.size(axis.name))
        return module.emitError() << "the rule '" << rule.text << "' uses the axis '" << axis.name
                                  << "', expected one of " << mesh.str();
  if (failed(checkPlaces(module, plan, mesh)))
    return failure();
  module->setAttr(meshAttrName, mesh);
  Rules rules(plan, mesh);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() && failed(rules.apply(function)))
      return failure();
  return rules.reportUnused(module);
}
