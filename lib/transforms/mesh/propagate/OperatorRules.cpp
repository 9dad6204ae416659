//===- OperatorRules.cpp - shardings of operators by rules ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/propagate/OperatorRules.h"

#include "dialects/nd/NdGradient.h"
#include "lib/transforms/mesh/propagate/CloneForwardOps.h"
#include "lib/transforms/mesh/roles/RoleAxes.h"

#include <set>

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

/// The users' names of the operator, with those of the nests.
static std::map<std::string, std::string> namesOf(const Operator &each, const Labels &spelled) {
  std::map<std::string, std::string> names;
  for (Operation *op : each.splitNests())
    for (nd::DimsAttr dims : iterationNamesOf(op))
      for (const nd::Dim &dim : dims)
        names[labelOf(spelled, dim.name)] = dim.name.str();
  return names;
}

FailureOr<OperatorRules> OperatorRules::of(ModuleOp module) {
  OperatorRules result;
  auto texts = module->getAttrOfType<ArrayAttr>(rulesAttrName);
  if (!texts)
    return result;
  Plan plan;
  auto list = llvm::map_to_vector(
      texts, [](Attribute text) { return cast<StringAttr>(text).getValue().str(); });
  if (std::string problem = plan.parse("", list); !problem.empty())
    return LogicalResult(module.emitError() << "'" << rulesAttrName << "': " << problem);
  result.rules = std::move(plan.rules);
  result.used.resize(result.rules.size());
  return result;
}

LogicalResult OperatorRules::apply(const Operator &each, MeshAttr mesh, const Labels &spelled) {
  MLIRContext *context = mesh.getContext();
  place(each, mesh);
  std::map<std::string, std::string> names = namesOf(each, spelled);
  std::map<std::string, NamedAxes> entries; // by the name of the nests
  for (auto [i, rule] : llvm::enumerate(rules)) {
    auto name = names.find(rule.name);
    if (!rule.isOfOperators || name == names.end() || !rule.fits(each.name))
      continue;
    used[i] = true;
    entries[name->second] = {StringAttr::get(context, name->second),
                             AxesAttr::get(context, AxisList(rule.axes.begin(), rule.axes.end())),
                             /*open=*/false, int64_t(i) + 1};
  }
  Operation *first = each.splitNests().front();
  auto refuse = [&] {
    return emitError(first->getLoc()) << "the operator '" << each.name << "': ";
  };
  AxisList all;
  for (const auto &[name, entry] : entries) {
    for (const auto &[other, known] : entries)
      if (other < name && overlap(mesh, known.list(), entry.list()))
        return refuse() << "an axis would split both '" << labelOf(spelled, other) << "' by "
                        << rules[known.priority - 1].str() << " and '" << labelOf(spelled, name)
                        << "' by " << rules[entry.priority - 1].str();
    llvm::append_range(all, entry.list());
  }
  if (failed(verifyAxes(mesh, all, refuse)))
    return failure();
  for (const auto &[name, entry] : entries)
    for (Operation *op : each.splitNests()) {
      if (llvm::none_of(iterationNamesOf(op),
                        [&, &name = name](nd::DimsAttr dims) { return dims.contains(name); }))
        continue;
      auto stated = op->getAttrOfType<ShardingAttr>(shardingAttrName);
      SmallVector<NamedAxes> list{entry};
      if (!stated)
        stated = ShardingAttr::get(context, Sharding());
      llvm::copy_if(stated.getNames(), std::back_inserter(list),
                    [&](const NamedAxes &other) { return other.name != entry.name; });
      op->setAttr(shardingAttrName, stated.withNames(list));
    }
  return success();
}

void OperatorRules::place(const Operator &each, MeshAttr mesh) {
  Builder b(mesh.getContext());
  SmallVector<AxisCoordinate, 1> place;
  for (auto [i, rule] : llvm::enumerate(rules)) {
    if (!rule.isOfOperators || !rule.isPlace() || !rule.fits(each.name))
      continue;
    used[i] = true;
    addPlace(place, {b.getStringAttr(rule.axes[0]), rule.coordinate}, mesh);
  }
  auto entries = llvm::map_to_vector(place, [&](const AxisCoordinate &at) {
    return b.getNamedAttr(at.axis, b.getI64IntegerAttr(at.coordinate));
  });
  for (Operation *op : each.nests)
    if (!place.empty())
      op->setAttr(placeAttrName, b.getDictionaryAttr(entries));
}

bool OperatorRules::isRecomputed(const std::string &name) {
  bool is = false;
  for (auto [i, rule] : llvm::enumerate(rules))
    if (rule.recomputes && rule.fits(name))
      is = used[i] = true;
  return is;
}

LogicalResult OperatorRules::apply(func::FuncOp function, MeshAttr mesh) {
  if (llvm::none_of(rules, [](const MeshRule &rule) { return rule.isOfOperators; }))
    return success();
  Labels spelled = spellings(function);
  llvm::DenseSet<Operation *> recomputed;
  for (const Operator &each : operatorsOf(function)) {
    auto &names = known.emplace_back(each.name, std::vector<std::string>()).second;
    for (const auto &[name, neutral] : namesOf(each, spelled))
      names.push_back(name);
    if (mesh && failed(apply(each, mesh, spelled)))
      return failure();
    if (!isRecomputed(each.name))
      continue;
    for (Operation *op : each.nests)
      if (!nd::isGradient(op->getLoc()))
        recomputed.insert(op);
  }
  cloneForwardOps(function, recomputed);
  return success();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// The element of `texts` that differs from `text` in the fewest letters; the first one of equals.
template <typename Texts>
static std::string nearest(StringRef text, const Texts &texts) {
  unsigned least = ~0u;
  std::string found;
  for (const std::string &each : texts)
    if (unsigned distance = text.edit_distance(each); distance < least) {
      least = distance;
      found = each;
    }
  return found;
}

LogicalResult OperatorRules::reportUnused(ModuleOp module) const {
  for (auto [rule, isUsed] : llvm::zip_equal(rules, used)) {
    if (isUsed || !rule.isOfOperators || rule.mayMatchNothing)
      continue;
    std::set<std::string> operators, names;
    for (const auto &[name, own] : known) {
      operators.insert(name);
      if (rule.fits(name))
        names.insert(own.begin(), own.end());
    }
    auto error = module.emitError() << rule.str() << " matches no operator";
    if (operators.empty())
      return error << ", since the program has none";
    if (names.empty() || rule.name.empty())
      return error << "; the nearest one is '" << nearest(rule.pattern, operators) << "'";
    return error << " of the pattern that has the name '" << rule.name << "'; the nearest name is '"
                 << nearest(rule.name, names) << "'";
  }
  return success();
}

void mesh::listOperators(func::FuncOp function) {
  Labels spelled = spellings(function);
  for (const Operator &each : operatorsOf(function)) {
    Operation *first = each.splitNests().front();
    auto remark = mlir::emitRemark(first->getLoc()) << "operator '" << each.name << "':";
    for (auto [i, dims] : llvm::enumerate(iterationNamesOf(first))) {
      std::map<std::string, std::string> sizes; // sorted by the users' names
      for (const nd::Dim &dim : dims)
        sizes[labelOf(spelled, dim.name)] = dim.size().getExpr().str();
      if (i > 0 && sizes.empty())
        continue;
      std::string text;
      for (const auto &[name, size] : sizes)
        text += (text.empty() ? "" : ", ") + name + ": " + size;
      remark << (i == 0 ? " (" : " reduce (") << text << ")";
    }
    remark << ", " << each.nests.size() << (each.nests.size() == 1 ? " nest" : " nests");
  }
}
