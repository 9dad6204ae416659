//===- TaskSearch.cpp - the best plans of spaces --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/TaskSearch.h"

#include "lib/planner/RulePlans.h"

#include <algorithm>
#include <random>

using namespace heddle::planner;

unsigned heddle::planner::nodesOf(const Cluster &cluster, unsigned devices) {
  std::map<std::string, unsigned> sizes;
  for (unsigned i = 0; i < devices; ++i) {
    const std::string &name = cluster.devices[i].name;
    ++sizes[name.substr(0, name.find_last_of('.'))];
  }
  auto count = unsigned(sizes.size());
  bool isEven = std::all_of(sizes.begin(), sizes.end(),
                            [&](auto &each) { return each.second * count == devices; });
  return isEven ? count : 1;
}

TaskSearch::TaskSearch(Tasks &tasks, TaskCosts &costs, const Graph &graph, const Cluster &cluster,
                       TaskSearchOptions given)
    : tasks(tasks), costs(costs), graph(graph), cluster(cluster), options(std::move(given)) {
  options.isLimited &= std::any_of(cluster.kinds.begin(), cluster.kinds.end(), [](auto &kind) {
    return kind.memoryBytes < std::numeric_limits<int64_t>::max();
  });
  show(dataParallel());
  unit = double(tasks.end());
}

void TaskSearch::show(const Point &point) {
  costs.propose(point);
  costs.decide(true);
}

std::optional<Point> TaskSearch::byRule(SpaceKind kind) {
  switch (kind) {
  case SpaceKind::DataParallel:
    return dataParallel();
  case SpaceKind::Expert:
    return expertPoint(costs, graph, options.sample, options.devices, options.nodes);
  case SpaceKind::Megatron:
    return megatronPoint(costs, graph, options.sample, options.devices, options.nodes);
  case SpaceKind::Zero3:
    return zeroPoint(costs, graph, options.sample, options.devices);
  default:
    return std::nullopt;
  }
}

/// None for a point that does not fit into memory.
std::optional<double> TaskSearch::costOf(const Point &point, int64_t limit) {
  std::optional<int64_t> time = costs.propose(point, limit);
  if (!time)
    return std::numeric_limits<double>::infinity();
  return fits() ? std::optional(double(*time) / unit) : std::nullopt;
}

bool TaskSearch::fits() {
  if (!options.isLimited)
    return true;
  Excess most{0, 0, 0};
  std::vector<int64_t> memory = tasks.memory();
  for (unsigned i = 0; i < options.devices; ++i) {
    int64_t limit = cluster.kinds[cluster.devices[i].kind].memoryBytes;
    if (memory[i] > limit && memory[i] - limit > most.excess)
      most = {memory[i] - limit, memory[i], i};
  }
  if (most.excess == 0)
    return true;
  if (most.excess < least.excess)
    least = most;
  return false;
}

bool TaskSearch::isTooLarge() const {
  double bytes = 0; // in doubles, as devices without a limit have the largest integer
  for (unsigned i = 0; i < options.devices; ++i)
    bytes += double(cluster.kinds[cluster.devices[i].kind].memoryBytes);
  return double(tasks.stateBytes()) > bytes;
}

bool TaskSearch::improve(SpaceKind kind, Point &point) {
  std::unique_ptr<TaskSpace> space = TaskSpace::make(kind, costs, graph, options.devices);
  std::optional<Point> best = space->own(point);
  std::vector<unsigned> numbers = space->choices();
  show(point);
  int64_t time = tasks.end();
  // All changes of as many choices in a row as there are have made nothing faster.
  for (size_t unchanged = 0, choice = 0; best && unchanged < numbers.size();
       choice = (choice + 1) % numbers.size()) {
    ++unchanged;
    for (unsigned number = 0; number < numbers[choice]; ++number) {
      if (options.search.isInterrupted && options.search.isInterrupted())
        return false;
      Point other = *best;
      other[choice] = number;
      std::optional<Point> full = number == (*best)[choice] ? std::nullopt : space->full(other);
      if (!full)
        continue;
      ++asked;
      bool isFaster = costs.propose(*full, time - 1) && fits();
      costs.decide(isFaster);
      if (!isFaster)
        continue;
      time = tasks.end();
      best = other;
      point = *full;
      unchanged = 0;
    }
  }
  return true;
}

std::optional<Point> TaskSearch::search(SpaceKind kind, const std::vector<Point> &starts) {
  std::unique_ptr<TaskSpace> space = TaskSpace::make(kind, costs, graph, options.devices);
  bool isProposed = false; // the last point that was asked for
  SearchOptions own = options.search;
  own.remembers = false;
  own.onDecision = [&](bool isAccepted) {
    if (isProposed)
      costs.decide(isAccepted);
  };
  Search search(space->choices(), own,
                [&](const Point &point, double most) -> std::optional<double> {
                  std::optional<Point> full = space->full(point);
                  isProposed = full.has_value();
                  return full ? costOf(*full, TaskCosts::limitOf(most, unit)) : std::nullopt;
                });
  for (const Point &start : starts)
    if (auto inside = space->own(start))
      search.run(*inside);
  if (options.isDrawn || !search.bestCost()) {
    std::mt19937_64 random(own.seed);
    Point drawn;
    for (unsigned number : space->choices())
      drawn.push_back(unsigned(random() % number));
    search.run(drawn);
  }
  proposals += search.proposed();
  asked += search.points();
  return search.bestCost() ? space->full(search.best()) : std::nullopt;
}

std::optional<Point> TaskSearch::find(SpaceKind kind) {
  if (auto known = found.find(kind); known != found.end())
    return known->second;
  std::vector<SpaceKind> inside;
  switch (kind) {
  case SpaceKind::DataParallel:
  case SpaceKind::Expert:
  case SpaceKind::Megatron:
  case SpaceKind::Zero3: {
    std::optional<Point> point = byRule(kind);
    if (!point)
      return found[kind] = point;
    bool fits = costOf(*point, Tasks::noLimit).has_value();
    costs.decide(true);
    return found[kind] = fits ? point : std::nullopt;
  }
  case SpaceKind::Placement:
    break;
  case SpaceKind::OptCnn:
  case SpaceKind::OneMap:
    inside = {SpaceKind::DataParallel};
    break;
  case SpaceKind::Layers:
    inside = {SpaceKind::DataParallel, SpaceKind::Expert};
    break;
  case SpaceKind::Soap:
    inside = {SpaceKind::DataParallel, SpaceKind::Expert, SpaceKind::Placement, SpaceKind::OptCnn,
              SpaceKind::Layers};
    break;
  case SpaceKind::All:
    inside = {SpaceKind::Soap, SpaceKind::OneMap, SpaceKind::Expert, SpaceKind::Megatron,
              SpaceKind::Zero3};
    break;
  }
  std::vector<Point> starts;
  for (SpaceKind each : inside)
    if (auto best = find(each);
        best && std::find(starts.begin(), starts.end(), *best) == starts.end())
      starts.push_back(*best);
  // A plan that does not fit is left for one that does.
  if (starts.empty())
    starts = {dataParallel()};
  return found[kind] = search(kind, starts);
}
