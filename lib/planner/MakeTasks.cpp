//===- MakeTasks.cpp - the tasks of one configuration ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Tasks.h"

#include "lib/cost/TaskTimes.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::planner;

int64_t Tasks::timeOf(double seconds) { return std::max<int64_t>(1, cost::picoseconds(seconds)); }

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The block of each name that a part has.
std::vector<unsigned> Tasks::indicesOf(unsigned choice, unsigned part) const {
  const std::vector<unsigned> &degrees = configurations[choice].degrees;
  std::vector<unsigned> indices(degrees.size());
  for (size_t i = degrees.size(); i-- > 0; part /= degrees[i])
    indices[i] = part % degrees[i];
  return indices;
}

Tasks::Blocks Tasks::madeBlocks(const Graph::Value &value) const {
  unsigned choice = graph.operators[value.maker].choice;
  const Configuration &configuration = configurations[choice];
  const std::vector<unsigned> &degrees = configuration.degrees;
  const std::vector<Graph::Name> &names = graph.choices[choice].names;
  std::vector<unsigned> strides(degrees.size(), 1);
  for (size_t i = degrees.size(); i-- > 1;)
    strides[i - 1] = strides[i] * degrees[i];
  Blocks made;
  for (std::optional<unsigned> name : value.names) {
    made.degrees.push_back(name ? degrees[*name] : 1);
    made.strides.push_back(name ? strides[*name] : 0);
    made.count *= made.degrees.back();
  }
  made.parts = {0};
  bool isWhole = true;
  for (unsigned name : value.summed) {
    for (size_t i = 0, count = made.parts.size(); i < count; ++i)
      for (unsigned k = 1; k < degrees[name]; ++k)
        made.parts.push_back(made.parts[i] + k * strides[name]);
    isWhole &= blockOf(names[name].size, degrees[name], degrees[name] - 1).size() > 0;
  }
  auto count = unsigned(made.parts.size());
  for (unsigned i = 0; i < value.sizes.size() && configuration.scattered; ++i)
    if (value.names[i] == configuration.scattered && count > 1 && isWhole &&
        value.sizes[i] % (int64_t(made.degrees[i]) * count) == 0) {
      made.scattered = i;
      made.degrees[i] *= count;
      made.count *= count;
    }
  return made;
}

Tasks::Place Tasks::placeOf(unsigned value, unsigned block) const {
  const Blocks &made = blocks[value];
  const std::vector<int64_t> &sizes = graph.values[value].sizes;
  Place place{0, 0, 1};
  for (unsigned i = unsigned(sizes.size()); i-- > 0; block /= made.degrees[i]) {
    unsigned at = block % made.degrees[i];
    place.elements *= blockOf(sizes[i], made.degrees[i], at).size();
    if (made.scattered != i) {
      place.first += at * made.strides[i];
      continue;
    }
    auto count = unsigned(made.parts.size());
    place.first += at / count * made.strides[i];
    place.part = made.parts[at % count];
  }
  place.part += place.first;
  return place;
}

/// The box of a value that a part reads.
Box Tasks::boxOf(const Graph::Operator &op, const Graph::Read &read,
                 const std::vector<unsigned> &indices) const {
  const std::vector<unsigned> &degrees = configurations[op.choice].degrees;
  const std::vector<Graph::Name> &names = graph.choices[op.choice].names;
  Box box;
  for (size_t i = 0; i < read.coordinates.size(); ++i) {
    const Coordinate &coordinate = read.coordinates[i];
    int64_t low = coordinate.low, high = coordinate.high;
    for (auto [name, factor] : coordinate.terms) {
      Interval block = blockOf(names[name].size, degrees[name], indices[name]);
      low += factor * (factor > 0 ? block.low : block.high - 1);
      high += factor * (factor > 0 ? block.high - 1 : block.low);
    }
    auto divided = [&](int64_t at) {
      return at >= 0 ? at / coordinate.divisor
                     : -((-at + coordinate.divisor - 1) / coordinate.divisor);
    };
    int64_t size = graph.values[read.value].sizes[i];
    box.push_back({std::clamp<int64_t>(divided(low), 0, size),
                   std::clamp<int64_t>(divided(high) + 1, 0, size)});
  }
  return box;
}

/// The time of a part: its arithmetic, or the bytes that it reads and makes, whatever takes longer.
int64_t Tasks::durationOf(const Graph::Operator &op, const std::vector<unsigned> &indices,
                          unsigned device) const {
  const Configuration &configuration = configurations[op.choice];
  const std::vector<Graph::Name> &names = graph.choices[op.choice].names;
  double share = 1;
  for (unsigned name : op.names)
    share *= double(blockOf(names[name].size, configuration.degrees[name], indices[name]).size()) /
             double(names[name].size);
  const Cluster::Kind &kind = cluster.kinds[cluster.devices[device].kind];
  if (kind.operationsPerSecond == 0)
    return timeOf(op.seconds * share);
  double bytes = 0;
  auto addBox = [&](const Graph::Value &value, const Box &box) {
    bytes += double(elementsOf(box) * value.elementBytes);
  };
  for (const Graph::Read &read : op.reads)
    addBox(graph.values[read.value], boxOf(op, read, indices));
  for (unsigned made : valuesOf[size_t(&op - graph.operators.data())]) {
    const Graph::Value &value = graph.values[made];
    Box box;
    for (size_t i = 0; i < value.sizes.size(); ++i)
      box.push_back(value.names[i] ? blockOf(value.sizes[i], configuration.degrees[*value.names[i]],
                                             indices[*value.names[i]])
                                   : Interval{0, value.sizes[i]});
    addBox(value, box);
  }
  return timeOf(kind.startSeconds + std::max(op.operations * share / kind.operationsPerSecond,
                                             bytes / kind.bytesPerSecond));
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// The parts of an operator that exist.
std::vector<Tasks::Part> Tasks::partsOf(unsigned i) const {
  const Graph::Operator &op = graph.operators[i];
  const Configuration &configuration = configurations[op.choice];
  const std::vector<Graph::Name> &names = graph.choices[op.choice].names;
  std::vector<Part> parts;
  for (unsigned part = 0; part < configuration.devices.size(); ++part) {
    std::vector<unsigned> indices = indicesOf(op.choice, part);
    bool exists = true;
    for (unsigned name = 0; name < names.size(); ++name)
      exists &=
          std::find(op.names.begin(), op.names.end(), name) == op.names.end()
              ? indices[name] == 0
              : blockOf(names[name].size, configuration.degrees[name], indices[name]).size() > 0;
    unsigned device = configuration.devices[part];
    if (exists)
      parts.push_back({part, device, durationOf(op, indices, device)});
  }
  return parts;
}

void Tasks::makeOperator(unsigned i, const std::vector<Part> &parts) {
  const Graph::Operator &op = graph.operators[i];
  Slot &slot = slots[slotOfOperator(i)];
  slot.parts.assign(planner::partsOf(configurations[op.choice]), none);
  for (const Part &part : parts) {
    Id task = times.addTask(keyOf(slotOfOperator(i), part.number, 0, 0), part.device, part.duration,
                            phaseOf(op));
    slot.parts[part.number] = task;
    slot.all.push_back(task);
    slot.totals.computing += part.duration;
    if (options.isPaper && op.isUpdate)
      times.addDependence({barrier, task});
  }
  sums.computing += slot.totals.computing;
  if (collectors[i] == none)
    return;
  // One task for all parts, so that the barrier has few dependences.
  Id collector = times.addTask(keyOf(slotOfOperator(i), mostParts, 0, 0), collectors[i], 1);
  for (Id task : slot.all)
    times.addDependence({task, collector});
  slot.all.push_back(collector);
  times.addDependence({collector, barrier});
}

void Tasks::makeSums(unsigned i) {
  const Graph::Value &value = graph.values[i];
  const Blocks &made = blocks[i];
  if (made.parts.size() == 1)
    return;
  const Configuration &configuration = configurations[graph.operators[value.maker].choice];
  const Slot &makers = slots[slotOfOperator(value.maker)];
  Slot &slot = slots[slotOfValue(i)];
  slot.parts.assign(made.count, none);
  /// Parts with partial sums of the same blocks, by the first one; and the bytes of sums by device.
  std::map<unsigned, std::pair<Group, std::map<unsigned, int64_t>>> rings;
  for (unsigned block = 0; block < made.count; ++block) {
    auto [part, first, elements] = placeOf(i, block);
    if (makers.parts[part] == none)
      continue;
    unsigned device = configuration.devices[part];
    std::vector<unsigned> others; // with partial sums
    for (unsigned distance : made.parts)
      if (first + distance != part && makers.parts[first + distance] != none)
        others.push_back(first + distance);
    const Cluster::Kind &kind = cluster.kinds[cluster.devices[device].kind];
    auto isAway = [&](unsigned other) { return configuration.devices[other] != device; };
    auto sent = std::count_if(others.begin(), others.end(), isAway);
    // The devices of a ring add partial sums as they pass.
    bool isAdded = !options.isPaper && !made.scattered && sent > 0;
    double count = double(isAdded ? others.size() - size_t(sent) + 1 : made.parts.size() - 1),
           bytes = double(elements * value.elementBytes);
    double seconds = kind.operationsPerSecond == 0
                         ? 0
                         : std::max(count * double(elements) / kind.operationsPerSecond,
                                    (count + 2) * bytes / kind.bytesPerSecond);
    int64_t duration = timeOf(seconds);
    // The sum of a gradient waits with the messages for it, if there are any.
    bool waits = options.isPaper && isGradient[i];
    Id sum = times.addTask(keyOf(slotOfValue(i), block, mostParts, 0), device, duration,
                           waits && sent > 0 ? Phase::After : Phase::Any);
    slot.parts[block] = sum;
    slot.all.push_back(sum);
    slot.totals.computing += duration;
    sums.computing += duration;
    if (!options.isPaper) {
      rings[first].first.before.push_back(sum);
      rings[first].second[device] += elements * value.elementBytes;
      continue;
    }
    times.addDependence({makers.parts[part], sum});
    for (unsigned other : others)
      send({slotOfValue(i), block, other, configuration.devices[other], device,
            elements * value.elementBytes, makers.parts[other], waits,
            waits ? Phase::After : Phase::Any, std::vector<Id>(1, sum)});
  }
  unsigned number = 0;
  for (auto &[first, ring] : rings) {
    auto &[group, own] = ring;
    for (unsigned distance : made.parts)
      if (Id maker = makers.parts[first + distance]; maker != none) {
        group.after.insert(maker);
        own[configuration.devices[first + distance]];
      }
    passAround(group, own, true);
    sendTogether(slotOfValue(i), number++, group);
  }
}
