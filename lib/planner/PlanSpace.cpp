//===- PlanSpace.cpp - the plans of a program -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/PlanSpace.h"

#include "lib/analysis/CanonicalNames.h"
#include "lib/analysis/Operators.h"

#include <cmath>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

/// True for a rule that splits a name of operators.
static bool splits(const MeshRule &rule) {
  return rule.isOfOperators && !rule.recomputes && !rule.isPlace();
}

PlanSpace::PlanSpace(func::FuncOp function, const Topology &topology, ArrayRef<MeshRule> pins,
                     ArrayRef<MeshRule> bans)
    : axes(topology.axes) {
  Labels spelled = spellings(function);
  for (const Operator &each : operatorsOf(function)) {
    if (llvm::any_of(pins, [&](const MeshRule &pin) { return splits(pin) && pin.fits(each.name); }))
      continue;
    std::map<std::string, int64_t> sizes; // sorted by the users' names
    for (Operation *op : each.splitNests())
      for (nd::DimsAttr dims : iterationNamesOf(op))
        for (const nd::Dim &dim : dims)
          if (int64_t size = dim.size().typical(); size > 1)
            sizes.try_emplace(labelOf(spelled, dim.name), size);
    if (sizes.empty())
      continue;
    Each &made = operators.emplace_back(Each{each.name, {sizes.begin(), sizes.end()}});
    for (const MeshRule &ban : bans)
      if (ban.fits(each.name) && sizes.contains(ban.name))
        for (const std::string &axis : ban.axes)
          made.bans.emplace(ban.name, axis);
  }
}

std::vector<unsigned> PlanSpace::choices() const {
  std::vector<unsigned> numbers;
  for (const Each &each : operators) {
    double number =
        withoutRules(each) + std::pow(double(each.names.size()) + 1, double(axes.size()));
    numbers.push_back(unsigned(std::min(number, double(1u << 31))));
  }
  return numbers;
}

double PlanSpace::digits() const {
  double digits = 0;
  for (unsigned number : choices())
    digits += std::log10(double(number));
  return digits;
}

std::vector<unsigned> PlanSpace::namesOf(const Each &each, unsigned choice) const {
  std::vector<unsigned> names;
  unsigned left = choice - withoutRules(each), base = unsigned(each.names.size()) + 1;
  for (size_t i = 0; i < axes.size(); ++i, left /= base)
    names.push_back(left % base);
  return names;
}

Point PlanSpace::draw(std::mt19937_64 &engine) const {
  // Not a distribution of the standard library, which differs from host to host.
  auto below = [&](size_t bound) { return size_t(engine() % bound); };
  double share = double(engine() >> 11) * 0x1p-53;
  auto count = size_t(std::pow(double(operators.size()) + 1, share));
  std::vector<unsigned> all = choices();
  Point point = start();
  for (size_t i = 0; i < count; ++i) {
    size_t at = below(point.size());
    point[at] = unsigned(below(all[at]));
  }
  return point;
}

bool PlanSpace::isAllowed(const Point &point) const {
  for (auto [each, choice] : llvm::zip_equal(operators, point)) {
    std::vector<int64_t> parts(each.names.size(), 1);
    if (choice < withoutRules(each))
      continue;
    for (auto [axis, name] : llvm::zip_equal(axes, namesOf(each, choice)))
      if (name && ((parts[name - 1] *= axis.devices) > each.names[name - 1].second ||
                   each.bans.contains({each.names[name - 1].first, axis.name})))
        return false;
  }
  return true;
}

std::vector<std::string> PlanSpace::rulesOf(const Each &each, unsigned choice) const {
  std::vector<std::string> rules, lists(each.names.size());
  if (choice < withoutRules(each))
    return rules;
  for (auto [axis, name] : llvm::zip_equal(axes, namesOf(each, choice)))
    if (name)
      lists[name - 1] += (lists[name - 1].empty() ? "" : "+") + axis.name;
  for (auto [name, list] : llvm::zip_equal(each.names, lists))
    rules.push_back("op ." + each.name + "./" + name.first + ":" + list);
  return rules;
}

std::vector<std::string> PlanSpace::rules(const Point &point) const {
  std::vector<std::string> rules;
  for (auto [each, choice] : llvm::zip_equal(operators, point))
    llvm::append_range(rules, rulesOf(each, choice));
  llvm::sort(rules);
  return rules;
}

std::optional<Point> PlanSpace::pointOf(const std::vector<std::string> &rules,
                                        std::string &wrong) const {
  Point point = start();
  std::vector<unsigned> numbers = choices();
  std::set<std::string> left(rules.begin(), rules.end());
  for (auto [at, each] : llvm::enumerate(operators))
    for (unsigned choice = 0; choice < numbers[at]; ++choice) {
      std::vector<std::string> own = rulesOf(each, choice);
      if (own.empty() || !llvm::all_of(own, [&](auto &rule) { return left.contains(rule); }))
        continue;
      point[at] = choice;
      for (const std::string &rule : own)
        left.erase(rule);
      break;
    }
  if (left.empty())
    return point;
  wrong = *left.begin();
  return std::nullopt;
}

std::string planner::contradiction(ArrayRef<MeshRule> pins, ArrayRef<MeshRule> bans) {
  for (auto [i, pin] : llvm::enumerate(pins)) {
    if (!splits(pin))
      continue;
    for (const MeshRule &other : pins.take_front(i))
      if (splits(other) && other.pattern == pin.pattern && other.name == pin.name &&
          other.axes != pin.axes)
        return pin.str() + " contradicts " + other.str();
    for (const MeshRule &ban : bans)
      if (ban.pattern == pin.pattern && ban.name == pin.name &&
          llvm::any_of(pin.axes, [&](auto &axis) { return llvm::is_contained(ban.axes, axis); }))
        return pin.str() + " is banned by '" + ban.text + "'";
  }
  return "";
}

std::string planner::sampleName(func::FuncOp function) {
  std::set<unsigned> states;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto state = stateOf(function, i))
      states.insert(*state);
  std::map<std::string, unsigned> counts;
  std::set<std::string> ofParameters;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (auto tensor = dyn_cast<nd::NdTensorType>(type))
      for (const nd::Dim &dim : tensor.getDims())
        states.contains(unsigned(i)) ? void(ofParameters.insert(dim.name.str()))
                                     : void(++counts[dim.name.str()]);
  std::string best;
  for (const auto &[name, count] : counts)
    if (!ofParameters.contains(name) && (best.empty() || count > counts[best]))
      best = name;
  return best;
}
