//===- TaskSpace.cpp - spaces of configurations, and plans by rule --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/TaskSpace.h"

#include <algorithm>
#include <map>
#include <set>

using namespace heddle::planner;

const std::vector<SpaceKind> &heddle::planner::allSpaces() {
  static const std::vector<SpaceKind> all{
      SpaceKind::DataParallel, SpaceKind::Expert, SpaceKind::Megatron, SpaceKind::Zero3,
      SpaceKind::Placement,    SpaceKind::OptCnn, SpaceKind::OneMap,   SpaceKind::Layers,
      SpaceKind::Soap,         SpaceKind::All};
  return all;
}

std::string heddle::planner::spelling(SpaceKind kind) {
  static const char *const names[] = {"data-parallel", "expert",  "megatron", "zero3", "placement",
                                      "optcnn",        "one-map", "layers",   "soap",  "all"};
  return names[unsigned(kind)];
}

//===----------------------------------------------------------------------===//
// Plans by rule
//===----------------------------------------------------------------------===//

static const std::string &layerOf(const Graph::Choice &choice) {
  return choice.layer.empty() ? choice.name : choice.layer;
}

namespace {
class Expert {
public:
  Expert(const Graph &graph, const std::string &sample, unsigned devices, unsigned nodes)
      : graph(graph), sample(sample), devices(devices), nodes(nodes) {
    for (const Graph::Choice &choice : graph.choices)
      levels = std::max(levels, choice.depth + 1);
    std::vector<std::set<unsigned>> summed(graph.operators.size());
    for (const Graph::Value &value : graph.values)
      summed[value.maker].insert(value.summed.begin(), value.summed.end());
    for (unsigned i = 0; i < graph.operators.size(); ++i)
      for (const Graph::Read &read : graph.operators[i].reads)
        if (auto label = labelOf(graph.operators[i], read, summed[i]))
          labels.emplace(layerOf(graph.choices[graph.operators[i].choice]), *label);
  }

  Configuration operator()(unsigned choice) const {
    if (levels > 1) {
      unsigned inNode = devices / nodes, device = graph.choices[choice].depth * inNode / levels;
      return splitOver(graph.choices[choice], sample, nodes, device, inNode);
    }
    auto label = labels.find(layerOf(graph.choices[choice]));
    return splitOver(graph.choices[choice], label == labels.end() ? sample : label->second,
                     devices);
  }

private:
  const Graph &graph;
  std::string sample;
  unsigned devices, nodes, levels = 1;
  std::map<std::string, std::string> labels; ///< of fully connected layers: what is split

  /// If an operator reads the parameter of a fully connected layer, its largest name that is not
  /// summed.
  std::optional<std::string> labelOf(const Graph::Operator &op, const Graph::Read &read,
                                     const std::set<unsigned> &summed) const {
    if (!read.ofNextStep || op.isUpdate)
      return std::nullopt;
    const std::vector<Graph::Name> &names = graph.choices[op.choice].names;
    std::set<unsigned> own;
    for (const Coordinate &coordinate : read.coordinates)
      for (const Coordinate::Term &term : coordinate.terms)
        own.insert(term.name);
    bool isSummed = false;
    const Graph::Name *best = nullptr;
    for (unsigned name : op.names) {
      if (!own.contains(name) && names[name].label != sample)
        return std::nullopt;
      if (!own.contains(name))
        continue;
      isSummed |= summed.contains(name);
      if (!summed.contains(name) && (!best || best->size < names[name].size))
        best = &names[name];
    }
    return isSummed && best ? std::optional(best->label) : std::nullopt;
  }
};
} // namespace

Point heddle::planner::expertPoint(const TaskCosts &costs, const Graph &graph,
                                   const std::string &sample, unsigned devices, unsigned nodes) {
  Expert expert(graph, sample, devices, nodes);
  Point point;
  for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
    auto number = costs.of(choice).find(expert(choice));
    point.push_back(number ? *number : *costs.of(choice).find(onDevice(graph.choices[choice], 0)));
  }
  return point;
}

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

namespace {
/// Some of the configurations of each choice.
class ListedSpace : public TaskSpace {
public:
  ListedSpace(SpaceKind kind, const TaskCosts &costs, const Graph &graph) {
    for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
      std::vector<unsigned> &own = numbers.emplace_back();
      const Configurations &all = costs.of(choice);
      for (unsigned number = 0; number < (kind == SpaceKind::All ? all.all() : all.size());
           ++number)
        if (isInside(kind, graph.choices[choice], costs.of(choice)[number]))
          own.push_back(number);
    }
  }

  std::vector<unsigned> choices() const override {
    std::vector<unsigned> counts;
    for (const auto &own : numbers)
      counts.push_back(unsigned(own.size()));
    return counts;
  }
  unsigned full(unsigned choice, unsigned own) const { return numbers[choice][own]; }
  std::optional<Point> full(const Point &own) const override {
    Point full;
    for (unsigned i = 0; i < own.size(); ++i)
      full.push_back(numbers[i][own[i]]);
    return full;
  }
  std::optional<Point> own(const Point &full) const override {
    Point own;
    for (size_t i = 0; i < full.size(); ++i) {
      auto at = std::lower_bound(numbers[i].begin(), numbers[i].end(), full[i]);
      if (at == numbers[i].end() || *at != full[i])
        return std::nullopt;
      own.push_back(unsigned(at - numbers[i].begin()));
    }
    return own;
  }

private:
  std::vector<std::vector<unsigned>> numbers; ///< by choice, sorted

  static bool isInside(SpaceKind kind, const Graph::Choice &choice, const Configuration &each) {
    if (kind == SpaceKind::Placement)
      return each.devices.size() == 1;
    for (size_t i = 0; i < each.degrees.size() && kind != SpaceKind::All; ++i)
      if (each.degrees[i] > 1 && choice.names[i].isSummed)
        return false;
    for (unsigned i = 0; i < each.devices.size() && kind == SpaceKind::OptCnn; ++i)
      if (each.devices[i] != i)
        return false;
    return true;
  }
};

/// Configurations of groups of choices, which are those of the first choice of each group.
class LayeredSpace : public TaskSpace {
public:
  LayeredSpace(const TaskCosts &costs, const Graph &graph)
      : costs(costs), ofFirsts(SpaceKind::Soap, costs, graph) {
    std::map<std::vector<std::string>, unsigned> known;
    for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
      std::vector<std::string> key{layerOf(graph.choices[choice])};
      for (const Graph::Name &name : graph.choices[choice].names)
        key.push_back(name.label + (name.isSummed ? " summed" : ""));
      auto [group, isNew] = known.try_emplace(key, unsigned(firsts.size()));
      if (isNew)
        firsts.push_back(choice);
      groups.push_back(group->second);
    }
  }

  std::vector<unsigned> choices() const override {
    std::vector<unsigned> all = ofFirsts.choices(), counts;
    for (unsigned first : firsts)
      counts.push_back(all[first]);
    return counts;
  }
  std::optional<Point> full(const Point &own) const override {
    Point full;
    for (unsigned choice = 0; choice < groups.size(); ++choice) {
      unsigned first = firsts[groups[choice]];
      std::optional<unsigned> number = ofFirsts.full(first, own[groups[choice]]);
      if (!(costs.of(choice) == costs.of(first)))
        number = costs.of(choice).find(costs.of(first)[*number]);
      if (!number)
        return std::nullopt;
      full.push_back(*number);
    }
    return full;
  }
  std::optional<Point> own(const Point &point) const override {
    std::optional<Point> all = ofFirsts.own(point);
    if (!all)
      return all;
    Point own;
    for (unsigned first : firsts)
      own.push_back((*all)[first]);
    return full(own) == point ? std::optional(own) : std::nullopt;
  }

private:
  const TaskCosts &costs;
  ListedSpace ofFirsts;
  std::vector<unsigned> firsts, groups; ///< by group: a choice; by choice: a group
};

/// A mesh of two axes, and the axis over which each name is split: 0 for none, 1 for the outer one.
class OneMapSpace : public TaskSpace {
public:
  OneMapSpace(const TaskCosts &costs, const Graph &graph, unsigned devices)
      : costs(costs), graph(graph) {
    for (unsigned outer = devices; outer > 0; --outer)
      if (devices % outer == 0)
        meshes.push_back({outer, devices / outer});
    std::set<std::string> seen;
    for (const Graph::Choice &choice : graph.choices)
      for (const Graph::Name &name : choice.names)
        if (!name.isSequence && seen.insert(name.label).second)
          labels.push_back(name.label);
  }

  std::vector<unsigned> choices() const override {
    std::vector<unsigned> counts(1 + labels.size(), 3);
    counts[0] = unsigned(meshes.size());
    return counts;
  }

  std::optional<Point> full(const Point &own) const override {
    Point full;
    for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
      auto number = numberOf(choice, own);
      if (!number)
        return std::nullopt;
      full.push_back(*number);
    }
    return full;
  }

  /// Of points with one axis, such as data parallelism.
  std::optional<Point> own(const Point &point) const override {
    for (unsigned label = 0; label < labels.size(); ++label) {
      Point each(1 + labels.size());
      each[1 + label] = 1;
      if (full(each) == point)
        return each;
    }
    return std::nullopt;
  }

private:
  const TaskCosts &costs;
  const Graph &graph;
  std::vector<std::pair<unsigned, unsigned>> meshes;
  std::vector<std::string> labels;

  std::optional<unsigned> numberOf(unsigned choice, const Point &own) const {
    auto [outer, inner] = meshes[own[0]];
    const std::vector<Graph::Name> &names = graph.choices[choice].names;
    Configuration made{{}, {0}};
    unsigned usedAxes = 0;
    for (const Graph::Name &name : names) {
      auto label = size_t(std::find(labels.begin(), labels.end(), name.label) - labels.begin());
      unsigned axis = name.isSequence ? 0 : own[1 + label];
      unsigned degree = axis == 0 ? 1 : axis == 1 ? outer : inner;
      // Smaller names are split over a part of the axis.
      while (axis && (blockOf(name.size, degree, degree - 1).size() == 0 ||
                      (axis == 1 ? outer : inner) % degree))
        --degree;
      made.degrees.push_back(degree);
      if (degree == 1)
        continue;
      if (usedAxes & (1u << axis))
        return std::nullopt;
      usedAxes |= 1u << axis;
      std::vector<unsigned> devices;
      for (unsigned device : made.devices)
        for (unsigned i = 0; i < degree; ++i)
          devices.push_back(device + i * (axis == 1 ? inner : 1));
      made.devices = std::move(devices);
    }
    return costs.of(choice).find(made);
  }
};
} // namespace

std::unique_ptr<TaskSpace> TaskSpace::make(SpaceKind kind, const TaskCosts &costs,
                                           const Graph &graph, unsigned devices) {
  if (kind == SpaceKind::OneMap)
    return std::make_unique<OneMapSpace>(costs, graph, devices);
  if (kind == SpaceKind::Layers)
    return std::make_unique<LayeredSpace>(costs, graph);
  return std::make_unique<ListedSpace>(kind, costs, graph);
}
