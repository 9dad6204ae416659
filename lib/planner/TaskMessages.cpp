//===- TaskMessages.cpp - what the devices of tasks send ------------------===//
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

void Tasks::send(const Message &message) {
  Slot &slot = slots[message.slot];
  if (message.fromDevice == message.toDevice) {
    for (Id reader : message.after == none ? std::vector<Id>() : message.before)
      times.addDependence({message.after, reader});
    return;
  }
  const Cluster::Route &route = cluster.routeOf(message.fromDevice, message.toDevice);
  auto latencyOf = [&](unsigned link) {
    return options.isPaper ? 0 : cost::picoseconds(cluster.links[link].latencySeconds);
  };
  int64_t left = 0; // latencies of the links from here on
  for (unsigned link : route)
    left += latencyOf(link);
  Id previous = none;
  int64_t lag = 0;
  for (unsigned hop = 0; hop < route.size(); ++hop) {
    const Cluster::Link &link = cluster.links[route[hop]];
    Id task = times.addTask(keyOf(message.slot, message.to, message.from, hop),
                            unsigned(cluster.devices.size()) + link.lane,
                            timeOf(double(message.bytes) / link.bytesPerSecond), message.phase);
    slot.all.push_back(task);
    for (Id begun : previous == none ? message.begun : std::vector<Id>())
      times.addDependence({begun, task, 1, true});
    if (previous == none && message.after != none)
      times.addDependence({message.after, task});
    if (previous != none)
      times.addDependence({previous, task, std::max<int64_t>(lag, 1), true});
    if (message.waits && previous == none)
      times.addDependence({barrier, task});
    for (Id reader : message.before)
      times.addDependence({task, reader, left});
    lag = latencyOf(route[hop]);
    left -= lag;
    previous = task;
  }
  slot.totals.bytes += message.bytes;
  ++slot.totals.transfers;
  sums.bytes += message.bytes;
  ++sums.transfers;
}

/// Picoseconds until the last byte has arrived; or has left, if nobody waits. All links are idle.
int64_t Tasks::leastTime(unsigned fromDevice, unsigned toDevice, int64_t bytes,
                         bool isAwaited) const {
  int64_t latency = 0, most = 0;
  if (fromDevice == toDevice)
    return 0;
  for (unsigned number : cluster.routeOf(fromDevice, toDevice)) {
    const Cluster::Link &link = cluster.links[number];
    if (isAwaited && !options.isPaper)
      latency += cost::picoseconds(link.latencySeconds);
    most = std::max(most, timeOf(double(bytes) / link.bytesPerSecond));
  }
  return latency + most;
}

std::vector<Tasks::Block> Tasks::blocksOf(unsigned value) const {
  const Blocks &made = blocks[value];
  unsigned op = graph.values[value].maker;
  const std::vector<unsigned> &devices = configurations[graph.operators[op].choice].devices;
  const std::vector<Id> &makers = slots[slotOfOperator(op)].parts;
  const std::vector<Id> &sums = slots[slotOfValue(value)].parts;
  std::vector<Block> all;
  std::vector<unsigned> at;
  for (unsigned block = 0; block < made.count; ++block) {
    auto [part, first] = placeOf(made, block, at);
    Block &each = all.emplace_back(Block{part, makers[part] != none});
    if (!each.exists || sums.empty())
      continue;
    each.sum = times.duration(sums[block]);
    int64_t bytes = graph.values[value].elementBytes;
    for (size_t k = 0; k < at.size(); ++k)
      bytes *= blockOf(graph.values[value].sizes[k], made.degrees[k], at[k]).size();
    for (unsigned distance : made.parts)
      if (unsigned other = first + distance; other != part && makers[other] != none)
        each.others.emplace_back(other, leastTime(devices[other], devices[part], bytes));
  }
  return all;
}

std::vector<Tasks::Wait> Tasks::waitsOf(unsigned op, unsigned read) const {
  unsigned value = graph.operators[op].reads[read].value;
  const std::vector<unsigned> &from =
      configurations[graph.operators[graph.values[value].maker].choice].devices;
  const std::vector<Id> &parts = slots[slotOfOperator(op)].parts;
  Needs needs;
  addNeeds(value, {op, read}, needs);
  std::vector<Wait> waits;
  std::vector<unsigned> at;
  for (auto &[key, all] : needs) {
    auto [block, device] = key;
    unsigned maker = placeOf(blocks[value], block, at).part;
    for (const Need &need : all) {
      int64_t bytes = graph.values[value].elementBytes;
      for (const Interval &each : need.box)
        bytes *= each.size();
      int64_t time = leastTime(from[maker], device, bytes, !need.readers.empty());
      for (Id reader : need.readers)
        waits.push_back(
            {block, unsigned(std::find(parts.begin(), parts.end(), reader) - parts.begin()), time});
      if (need.readers.empty())
        waits.push_back({block, 0, time});
    }
  }
  return waits;
}

static bool contains(const std::vector<Interval> &box, const std::vector<Interval> &other) {
  for (size_t k = 0; k < box.size(); ++k)
    if (other[k].low < box[k].low || other[k].high > box[k].high)
      return false;
  return true;
}

/// What is part of another need is sent with it.
void Tasks::addNeed(std::vector<Need> &all, Need need) {
  auto join = [](Need &to, const Need &from) {
    to.readers.insert(to.readers.end(), from.readers.begin(), from.readers.end());
    to.isForUpdates &= from.isForUpdates;
    to.isForOthers |= from.isForOthers;
  };
  for (Need &each : all)
    if (each.fetcher == need.fetcher && contains(each.box, need.box))
      return join(each, need);
  std::erase_if(all, [&](const Need &each) {
    bool isPart = each.fetcher == need.fetcher && contains(need.box, each.box);
    if (isPart)
      join(need, each);
    return isPart;
  });
  all.push_back(std::move(need));
}

/// Adds what the parts of a reader need, by blocks of the value.
void Tasks::addNeeds(unsigned i, const Edge &edge, Needs &needs) const {
  const Graph::Value &value = graph.values[i];
  const Blocks &made = blocks[i];
  const Graph::Operator &reader = graph.operators[edge.reader];
  const Graph::Read &read = reader.reads[edge.read];
  const std::vector<unsigned> &devices = configurations[reader.choice].devices;
  const std::vector<Id> &readers = slots[slotOfOperator(edge.reader)].parts;
  auto fetcher = read.ofNextStep && isFetched(i) ? std::optional(edge.reader) : std::nullopt;
  bool isNow = !read.ofNextStep || fetcher; // the readers wait for it
  size_t rank = value.sizes.size();
  std::vector<unsigned> first(rank), last(rank), at;
  for (unsigned part = 0; part < readers.size(); ++part) {
    if (readers[part] == none)
      continue;
    std::vector<Interval> box = boxOf(reader, read, indicesOf(reader.choice, part));
    bool isEmpty = false;
    for (size_t k = 0; k < rank; ++k) {
      int64_t block = (value.sizes[k] + made.degrees[k] - 1) / made.degrees[k];
      isEmpty |= box[k].size() == 0;
      first[k] = unsigned(box[k].low / block);
      last[k] = unsigned((box[k].high - 1) / block);
    }
    if (isEmpty)
      continue;
    at = first;
    while (true) {
      Need need{{}, {}, reader.isUpdate && isNow, !reader.isUpdate && isNow, fetcher};
      if (isNow)
        need.readers.push_back(readers[part]);
      unsigned block = 0;
      for (size_t k = 0; k < rank; ++k) {
        Interval own = blockOf(value.sizes[k], made.degrees[k], at[k]);
        need.box.push_back({std::max(own.low, box[k].low), std::min(own.high, box[k].high)});
        block = block * made.degrees[k] + at[k];
      }
      addNeed(needs[{block, devices[part]}], std::move(need));
      size_t k = rank;
      while (k-- > 0 && at[k] == last[k])
        at[k] = first[k];
      if (k == size_t(-1))
        break;
      ++at[k];
    }
  }
}

/// The tasks that make operands of an operator: on the device, or else elsewhere.
std::vector<Tasks::Id> Tasks::beforeFetch(unsigned op, unsigned device) const {
  std::vector<Id> begun;
  for (const Graph::Read &read : graph.operators[op].reads) {
    if (read.ofNextStep)
      continue;
    unsigned maker = graph.values[read.value].maker;
    const std::vector<Id> &parts = slots[slotOfOperator(maker)].parts;
    const std::vector<unsigned> &devices = configurations[graph.operators[maker].choice].devices;
    size_t before = begun.size();
    for (size_t part = 0; part < parts.size(); ++part)
      if (parts[part] != none && devices[part] == device)
        begun.push_back(parts[part]);
    if (begun.size() == before)
      begun.push_back(parts[0]);
  }
  return begun;
}

void Tasks::makeMessages(unsigned i) {
  const Graph::Value &value = graph.values[i];
  const Slot &sum = slots[slotOfValue(i)];
  const Slot &makers = slots[slotOfOperator(value.maker)];
  const std::vector<unsigned> &from = configurations[graph.operators[value.maker].choice].devices;
  Needs needs;
  for (const Edge &edge : edges[i])
    addNeeds(i, edge, needs);
  unsigned number = 0;
  std::vector<unsigned> at;
  for (auto &[key, all] : needs) {
    unsigned maker = placeOf(blocks[i], key.first, at).part;
    for (Need &need : all) {
      int64_t elements = 1;
      for (const Interval &each : need.box)
        elements *= each.size();
      bool waits = options.isPaper && need.isForUpdates;
      bool isAfter =
          waits || (options.isPaper && !need.fetcher && graph.operators[value.maker].isUpdate);
      bool isBefore = options.isPaper && need.isForOthers;
      send({slotOfMessages(i), number / mostParts, number % mostParts, from[maker], key.second,
            elements * value.elementBytes,
            need.fetcher        ? none
            : sum.parts.empty() ? makers.parts[maker]
                                : sum.parts[key.first],
            need.fetcher ? beforeFetch(*need.fetcher, key.second) : std::vector<Id>(),
            std::move(need.readers), waits,
            isAfter    ? Phase::After
            : isBefore ? Phase::Before
                       : Phase::Any});
      ++number;
    }
  }
}
