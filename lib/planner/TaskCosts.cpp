//===- TaskCosts.cpp - configurations as points of a search ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/TaskCosts.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::planner;

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

static std::vector<unsigned> divisorsOf(unsigned number) {
  std::vector<unsigned> divisors;
  for (unsigned each = 1; each <= number; ++each)
    if (number % each == 0)
      divisors.push_back(each);
  return divisors;
}

/// The lists of `parts` devices: for each distance, as many as parts fit into all devices. With one
/// part, distances make no difference.
static unsigned listsOf(unsigned parts, unsigned devices) {
  unsigned distances = parts == 1 ? 1 : unsigned(divisorsOf(devices / parts).size());
  return distances * (devices / parts);
}

Configurations::Configurations(const Graph::Choice &choice, unsigned devices) : devices(devices) {
  degrees.push_back({});
  for (const Graph::Name &name : choice.names) {
    std::vector<std::vector<unsigned>> longer;
    for (const std::vector<unsigned> &each : degrees) {
      unsigned parts = partsOf({each, {}});
      for (unsigned degree : divisorsOf(devices / parts)) {
        if (blockOf(name.size, degree, degree - 1).size() == 0 || (name.isSequence && degree > 1))
          continue;
        longer.push_back(each);
        longer.back().push_back(degree);
      }
    }
    degrees = std::move(longer);
  }
  firsts.push_back(0);
  for (const std::vector<unsigned> &each : degrees)
    firsts.push_back(firsts.back() + listsOf(partsOf({each, {}}), devices));
}

unsigned Configurations::add(const Configuration &configuration) {
  if (auto known = find(configuration))
    return *known;
  added.push_back(configuration);
  return all() - 1;
}

Configuration Configurations::operator[](unsigned number) const {
  if (number >= size())
    return added[number - size()];
  auto after = std::upper_bound(firsts.begin(), firsts.end(), number);
  size_t at = size_t(after - firsts.begin()) - 1;
  Configuration made{degrees[at], {}};
  unsigned parts = partsOf(made), lists = devices / parts, list = number - firsts[at];
  unsigned distance = divisorsOf(lists)[list / lists], place = list % lists;
  unsigned first = place / distance * distance * parts + place % distance;
  for (unsigned part = 0; part < parts; ++part)
    made.devices.push_back(first + part * distance);
  return made;
}

std::optional<unsigned> Configurations::find(const Configuration &configuration) const {
  if (auto known = std::find(added.begin(), added.end(), configuration); known != added.end())
    return size() + unsigned(known - added.begin());
  auto same = std::lower_bound(degrees.begin(), degrees.end(), configuration.degrees);
  if (same == degrees.end() || *same != configuration.degrees)
    return std::nullopt;
  size_t at = size_t(same - degrees.begin());
  for (unsigned number = firsts[at]; number < firsts[at + 1]; ++number)
    if ((*this)[number] == configuration)
      return number;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

TaskCosts::TaskCosts(Tasks &tasks, const Graph &graph, unsigned devices, TaskCostOptions options)
    : tasks(tasks), graph(graph), devices(devices), how(options), current(graph.choices.size()) {
  for (const Graph::Choice &choice : graph.choices)
    configurations.emplace_back(choice, devices);
  for (unsigned i = 0; i < graph.choices.size(); ++i)
    current[i] = configurations[i].find(tasks.configuration(i));
  proposed = current;
}

std::vector<unsigned> TaskCosts::choices() const {
  std::vector<unsigned> sizes;
  for (const Configurations &each : configurations)
    sizes.push_back(each.size());
  return sizes;
}

Point TaskCosts::dataParallel(const std::string &label) const {
  Point point;
  for (unsigned i = 0; i < graph.choices.size(); ++i)
    point.push_back(*configurations[i].find(splitOver(graph.choices[i], label, devices)));
  return point;
}

std::optional<int64_t> TaskCosts::propose(const Point &point, int64_t limit) {
  if (how.simulatesToTheEnd)
    limit = Tasks::noLimit;
  std::vector<Tasks::Change> changes;
  for (unsigned i = 0; i < point.size(); ++i)
    if (how.remakesAll || proposed[i] != point[i])
      changes.emplace_back(i, configurations[i][point[i]]);
  proposed.assign(point.begin(), point.end());
  if (!how.remakesAll)
    return tasks.configure(std::move(changes), limit) ? tasks.update(limit) : std::nullopt;
  std::vector<Configuration> all;
  for (auto &[choice, configuration] : changes)
    all.push_back(std::move(configuration));
  return tasks.rebuild(std::move(all), limit);
}

void TaskCosts::decide(bool isAccepted) {
  if (isAccepted) {
    tasks.commit();
    current = proposed;
  } else {
    if (!how.remakesAll) // else the next proposal makes them anew
      tasks.undo();
    proposed = current;
  }
}

SearchOptions TaskCosts::options(SearchOptions options) {
  options.remembers = false;
  options.onDecision = [this](bool isAccepted) { decide(isAccepted); };
  return options;
}

int64_t TaskCosts::limitOf(double cost, double unit) {
  double limit = cost * unit;
  return limit < 0x1p62 ? int64_t(std::ceil(limit)) : Tasks::noLimit;
}

Search::Cost TaskCosts::function(double unit) {
  return [this, unit](const Point &point, double most) {
    auto time = propose(point, limitOf(most, unit));
    return time ? double(*time) / unit : std::numeric_limits<double>::infinity();
  };
}
