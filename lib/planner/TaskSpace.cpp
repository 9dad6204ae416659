//===- TaskSpace.cpp - spaces of configurations, and plans by rule --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/TaskSpace.h"

#include <algorithm>
#include <set>

using namespace heddle::planner;

const std::vector<SpaceKind> &heddle::planner::allSpaces() {
  static const std::vector<SpaceKind> all{
      SpaceKind::DataParallel, SpaceKind::Expert, SpaceKind::Placement, SpaceKind::OptCnn,
      SpaceKind::OneMap,       SpaceKind::Soap,   SpaceKind::All};
  return all;
}

std::string heddle::planner::spelling(SpaceKind kind) {
  static const char *const names[] = {"data-parallel", "expert", "placement", "optcnn",
                                      "one-map",       "soap",   "all"};
  return names[unsigned(kind)];
}

//===----------------------------------------------------------------------===//
// Plans by rule
//===----------------------------------------------------------------------===//

namespace {
class Expert {
public:
  Expert(const Graph &graph, const std::string &sample, unsigned devices, unsigned nodes)
      : graph(graph), sample(sample), devices(devices), nodes(nodes), parameters(parametersOf()) {
    for (const Graph::Choice &choice : graph.choices)
      levels = std::max(levels, choice.depth + 1);
  }

  Configuration operator()(unsigned choice) const {
    if (levels > 1) {
      unsigned inNode = devices / nodes, device = graph.choices[choice].depth * inNode / levels;
      return split(choice, sampleOf(choice), nodes, device, inNode);
    }
    if (auto name = largeNameOf(choice))
      return split(choice, name, devices, 0, 1);
    return split(choice, sampleOf(choice), devices, 0, 1);
  }

private:
  const Graph &graph;
  std::string sample;
  unsigned devices, nodes, levels = 1;
  std::vector<std::optional<unsigned>> parameters; ///< by choice: the value that is updated

  /// The next values that others than updates read.
  std::vector<std::optional<unsigned>> parametersOf() const {
    std::vector<std::optional<unsigned>> found(graph.choices.size());
    for (const Graph::Operator &op : graph.operators)
      for (const Graph::Read &read : op.reads) {
        std::optional<unsigned> &best =
            found[graph.operators[graph.values[read.value].maker].choice];
        if (read.ofNextStep && !op.isUpdate && (!best || bytesOf(*best) < bytesOf(read.value)))
          best = read.value;
      }
    return found;
  }
  double bytesOf(unsigned value) const {
    double bytes = double(graph.values[value].elementBytes);
    for (int64_t size : graph.values[value].sizes)
      bytes *= double(size);
    return bytes;
  }
  std::optional<unsigned> sampleOf(unsigned choice) const {
    const std::vector<Graph::Name> &names = graph.choices[choice].names;
    for (unsigned i = 0; i < names.size(); ++i)
      if (names[i].label == sample && !names[i].isSequence)
        return i;
    return std::nullopt;
  }
  /// The largest name of a parameter that has more bytes than what the first operator makes.
  std::optional<unsigned> largeNameOf(unsigned choice) const {
    std::optional<unsigned> best;
    if (!parameters[choice])
      return best;
    auto first =
        std::find_if(graph.values.begin(), graph.values.end(), [&](const Graph::Value &value) {
          return graph.operators[value.maker].choice == choice;
        });
    if (bytesOf(*parameters[choice]) <= bytesOf(unsigned(first - graph.values.begin())))
      return best;
    const std::vector<Graph::Name> &names = graph.choices[choice].names;
    for (std::optional<unsigned> name : graph.values[*parameters[choice]].names)
      if (name && !names[*name].isSummed && (!best || names[*best].size < names[*name].size))
        best = name;
    return best;
  }
  /// In as many parts as the name allows, on devices at a distance.
  Configuration split(unsigned choice, std::optional<unsigned> name, unsigned most, unsigned first,
                      unsigned distance) const {
    Configuration made = onDevice(graph.choices[choice], first);
    if (!name)
      return made;
    unsigned degree = most;
    int64_t size = graph.choices[choice].names[*name].size;
    while (most % degree != 0 || blockOf(size, degree, degree - 1).size() == 0)
      --degree;
    made.degrees[*name] = degree;
    for (unsigned part = 1; part < degree; ++part)
      made.devices.push_back(first + part * distance);
    return made;
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
      for (unsigned number = 0; number < costs.of(choice).size(); ++number)
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
  std::optional<Point> full(const Point &own) const override {
    Point full;
    for (size_t i = 0; i < own.size(); ++i)
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
  return std::make_unique<ListedSpace>(kind, costs, graph);
}
