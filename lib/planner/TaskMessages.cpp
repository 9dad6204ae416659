//===- TaskMessages.cpp - what the devices of tasks send ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Tasks.h"

#include "lib/cost/TaskTimes.h"

#include <algorithm>
#include <limits>

using namespace heddle;
using namespace heddle::planner;

/// Picoseconds.
int64_t Tasks::latencyOf(unsigned link) const {
  return options.isPaper ? 0 : cost::picoseconds(cluster.links[link].latencySeconds);
}

void Tasks::send(const Message &message) {
  Slot &slot = slots[message.slot];
  if (message.fromDevice == message.toDevice) {
    for (Id reader : message.after == none ? std::vector<Id>() : message.before)
      times.addDependence({message.after, reader});
    return;
  }
  const Cluster::Route &route = cluster.routeOf(message.fromDevice, message.toDevice);
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
  count(slot, message.bytes);
}

void Tasks::count(Slot &slot, int64_t bytes) {
  for (Totals *each : {&slot.totals, &sums}) {
    each->bytes += bytes;
    ++each->transfers;
  }
}

/// Picoseconds until the last byte has arrived; or has left, if nobody waits. All links are idle.
/// In a group, the bytes may take any way that begins and ends with links of the devices.
int64_t Tasks::leastTime(unsigned fromDevice, unsigned toDevice, int64_t bytes,
                         bool isAwaited) const {
  if (fromDevice == toDevice)
    return 0;
  double rate = std::numeric_limits<double>::infinity(), out = 0, in = 0;
  int64_t latency = std::numeric_limits<int64_t>::max();
  if (options.isPaper)
    for (unsigned link : cluster.routeOf(fromDevice, toDevice))
      rate = std::min(rate, cluster.links[link].bytesPerSecond);
  for (unsigned i = 0; i < cluster.links.size(); ++i) {
    const Cluster::Link &link = cluster.links[i];
    if (link.from == fromDevice)
      out = std::max(out, link.bytesPerSecond);
    if (link.to == toDevice)
      in = std::max(in, link.bytesPerSecond);
    if (link.from == fromDevice || link.to == toDevice)
      latency = std::min(latency, latencyOf(i));
  }
  return timeOf(double(bytes) / std::min({rate, out, in})) + (isAwaited ? latency : 0);
}

std::vector<Tasks::Block> Tasks::blocksOf(unsigned value) const {
  const Blocks &made = blocks[value];
  unsigned op = graph.values[value].maker;
  const std::vector<unsigned> &devices = configurations[graph.operators[op].choice].devices;
  const std::vector<Id> &makers = slots[slotOfOperator(op)].parts;
  const std::vector<Id> &sums = slots[slotOfValue(value)].parts;
  std::vector<Block> all;
  for (unsigned block = 0; block < made.count; ++block) {
    auto [part, first, elements] = placeOf(value, block);
    Block &each = all.emplace_back(Block{part, makers[part] != none});
    if (!each.exists || sums.empty())
      continue;
    each.sum = times.duration(sums[block]);
    int64_t bytes = elements * graph.values[value].elementBytes;
    for (unsigned distance : made.parts)
      if (unsigned other = first + distance; other != part && makers[other] != none)
        each.others.emplace_back(other, leastTime(devices[other], devices[part], bytes));
  }
  return all;
}

std::vector<Tasks::Wait> Tasks::waitsOf(unsigned op, unsigned read) const {
  unsigned value = graph.operators[op].reads[read].value;
  const std::vector<Id> &parts = slots[slotOfOperator(op)].parts;
  Needs needs;
  forEachNeed(value, {op, read}, [&](const Need &need) { addBlocks(value, need, needs); });
  std::vector<Wait> waits;
  for (auto &[key, all] : needs) {
    auto [block, device] = key;
    for (const Need &need : all) {
      int64_t bytes = elementsOf(need.box) * graph.values[value].elementBytes;
      int64_t time = leastTime(deviceOf(value, block), device, bytes, !need.readers.empty());
      for (Id reader : need.readers)
        waits.push_back(
            {block, unsigned(std::find(parts.begin(), parts.end(), reader) - parts.begin()), time});
      if (need.readers.empty())
        waits.push_back({block, 0, time});
    }
  }
  return waits;
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
  Slot &slot = slots[slotOfMessages(i)];
  slot.sent = sentOf(i);
  unsigned number = 0;
  auto taskOf = [&](unsigned block) {
    return sum.parts.empty() ? makers.parts[placeOf(i, block).part] : sum.parts[block];
  };
  for (const auto &[key, all] : slot.sent.needs)
    for (const Need &need : all) {
      bool waits = options.isPaper && need.isForUpdates;
      bool isAfter =
          waits || (options.isPaper && !need.fetcher && graph.operators[value.maker].isUpdate);
      bool isBefore = options.isPaper && need.isForOthers;
      send({slotOfMessages(i), number / mostParts, number % mostParts, deviceOf(i, key.first),
            key.second, elementsOf(need.box) * value.elementBytes,
            need.fetcher ? none : taskOf(key.first), waits,
            isAfter    ? Phase::After
            : isBefore ? Phase::Before
                       : Phase::Any,
            need.readers,
            need.fetcher ? beforeFetch(*need.fetcher, key.second) : std::vector<Id>()});
      ++number;
    }
  number = 0;
  for (Group &group : slot.sent.groups) {
    std::optional<unsigned> fetcher = group.needs.front().fetcher;
    for (unsigned block : group.blocks)
      if (!fetcher)
        group.after.insert(taskOf(block));
    for (const Need &need : group.needs) {
      group.before.insert(group.before.end(), need.readers.begin(), need.readers.end());
      for (Id each : fetcher ? beforeFetch(*fetcher, need.device) : std::vector<Id>())
        group.begun.insert(each);
    }
    sendTogether(slotOfMessages(i), number++, group);
  }
}
