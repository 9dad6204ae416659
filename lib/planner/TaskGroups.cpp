//===- TaskGroups.cpp - what devices lack, and exchange at once -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message for each pair of n devices would be too many: a parameter that 256 devices have in
// blocks, and all read, has 65,280. As a group, it has 448 tasks in 64 nodes.
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Tasks.h"

#include "llvm/ADT/IntEqClasses.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::planner;

//===----------------------------------------------------------------------===//
// Boxes that devices need
//===----------------------------------------------------------------------===//

static bool contains(const Box &box, const Box &other) {
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

/// Calls `act` with what each part of a reader needs.
void Tasks::forEachNeed(unsigned i, const Edge &edge,
                        llvm::function_ref<void(const Need &)> act) const {
  const Graph::Operator &reader = graph.operators[edge.reader];
  const Graph::Read &read = reader.reads[edge.read];
  const std::vector<Id> &readers = slots[slotOfOperator(edge.reader)].parts;
  auto fetcher = read.ofNextStep && isFetched(i) ? std::optional(edge.reader) : std::nullopt;
  bool isNow = !read.ofNextStep || fetcher; // the readers wait for it
  for (unsigned part = 0; part < readers.size(); ++part) {
    if (readers[part] == none)
      continue;
    Need need{configurations[reader.choice].devices[part],
              boxOf(reader, read, indicesOf(reader.choice, part)),
              isNow ? std::vector<Id>{readers[part]} : std::vector<Id>(),
              reader.isUpdate && isNow,
              !reader.isUpdate && isNow,
              fetcher};
    if (elementsOf(need.box) > 0)
      act(need);
  }
}

/// Calls `act` with each block that has something of a box, and what it has, until that is false.
void Tasks::forEachBlock(unsigned i, const Box &box, OnBlock act) const {
  const Graph::Value &value = graph.values[i];
  const Blocks &made = blocks[i];
  size_t rank = value.sizes.size();
  std::vector<unsigned> first(rank), last(rank), at;
  Box common(rank);
  for (size_t k = 0; k < rank; ++k) {
    int64_t block = (value.sizes[k] + made.degrees[k] - 1) / made.degrees[k];
    first[k] = unsigned(box[k].low / block);
    last[k] = unsigned((box[k].high - 1) / block);
  }
  at = first;
  while (true) {
    unsigned block = 0;
    for (size_t k = 0; k < rank; ++k) {
      Interval own = blockOf(value.sizes[k], made.degrees[k], at[k]);
      common[k] = {std::max(own.low, box[k].low), std::min(own.high, box[k].high)};
      block = block * made.degrees[k] + at[k];
    }
    if (!act(block, common))
      return;
    size_t k = rank;
    while (k-- > 0 && at[k] == last[k])
      at[k] = first[k];
    if (k == size_t(-1))
      return;
    ++at[k];
  }
}

/// Adds what a device needs, by blocks of the value.
void Tasks::addBlocks(unsigned i, const Need &need, Needs &needs) const {
  forEachBlock(i, need.box, [&](unsigned block, const Box &common) {
    Need own = need;
    own.box = common;
    addNeed(needs[{block, need.device}], std::move(own));
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void Tasks::pass(Group &group, unsigned from, unsigned to, int64_t bytes) const {
  int64_t latency = 0;
  for (unsigned link : cluster.routeOf(from, to)) {
    group.links[link] += bytes;
    latency += latencyOf(link);
  }
  group.latency = std::max(group.latency, latency);
  group.bytes += bytes;
}

/// Passes all around the ring of the devices, in rounds: each has, or adds, its own bytes.
void Tasks::passAround(Group &group, const std::map<unsigned, int64_t> &own, bool areAdded) const {
  int64_t all = 0;
  for (auto [device, bytes] : own)
    all += bytes;
  auto from = std::prev(own.end());
  for (auto to = own.begin(); to != own.end(); from = to++)
    pass(group, from->first, to->first, all - (areAdded ? from : to)->second);
  group.latency *= int64_t(own.size()) - 1;
}

Tasks::Sent Tasks::sentOf(unsigned i) const {
  std::vector<unsigned> holders; // devices, by block
  for (unsigned block = 0; block < blocks[i].count; ++block)
    holders.push_back(deviceOf(i, block));
  Sent sent;
  /// By the operator that fetches, if there is one, and by device.
  std::map<std::optional<unsigned>, std::map<unsigned, std::vector<Need>>> missing;
  for (const Edge &edge : edges[i])
    forEachNeed(i, edge, [&](const Need &need) {
      bool isHere = true;
      forEachBlock(i, need.box, [&](unsigned block, const Box &) {
        return isHere &= holders[block] == need.device;
      });
      if (options.isPaper || isHere)
        addBlocks(i, need, sent.needs);
      else
        addNeed(missing[need.fetcher][need.device], need);
    });
  for (auto &[fetcher, ofDevices] : missing) {
    std::vector<Need> all;
    for (const auto &[device, needs] : ofDevices)
      all.insert(all.end(), needs.begin(), needs.end());
    // Devices that have to do with each other.
    llvm::IntEqClasses classes(unsigned(cluster.devices.size()));
    for (size_t k = 0; k < all.size(); ++k)
      if (k > 0 && all[k].box == all[k - 1].box)
        classes.join(all[k].device, all[k - 1].device);
      else
        forEachBlock(i, all[k].box, [&](unsigned block, const Box &) {
          return classes.join(all[k].device, holders[block]), true;
        });
    std::map<unsigned, std::vector<Need>> ofClasses;
    for (Need &need : all)
      ofClasses[classes.findLeader(need.device)].push_back(std::move(need));
    for (auto &[leader, needs] : ofClasses)
      addGroup(i, holders, std::move(needs), sent);
  }
  return sent;
}

/// Adds what devices need that have to do with each other. If all need the same, it passes around a
/// ring; if a device needs something of more than four others, all at once; else point to point.
void Tasks::addGroup(unsigned i, const std::vector<unsigned> &holders, std::vector<Need> needs,
                     Sent &sent) const {
  bool isRing = needs.size() > 1;
  for (const Need &need : needs)
    isRing &= need.box == needs.front().box;
  Group group;
  std::map<unsigned, int64_t> own; // bytes, by device
  size_t messages = 0;
  for (Need &need : needs) {
    own[need.device];
    need.bytes = elementsOf(need.box) * graph.values[i].elementBytes;
    if (isRing && !group.blocks.empty())
      continue;
    forEachBlock(i, need.box, [&](unsigned block, const Box &common) {
      int64_t bytes = elementsOf(common) * graph.values[i].elementBytes;
      group.blocks.insert(block);
      own[holders[block]] += bytes;
      if (isRing)
        return true;
      if (holders[block] == need.device)
        need.bytes -= bytes;
      else
        pass(group, holders[block], need.device, bytes);
      return ++messages > 0;
    });
  }
  if (!isRing && messages <= 4 * own.size()) {
    for (const Need &need : needs)
      addBlocks(i, need, sent.needs);
    return;
  }
  if (isRing) {
    passAround(group, own, false);
    for (Need &need : needs)
      need.bytes -= own[need.device];
  }
  group.needs = std::move(needs);
  sent.groups.push_back(std::move(group));
}

/// Makes the tasks of a group: one on each link. They are ready when all tasks before are, and
/// those after them when the last byte has arrived. A device alone sends nothing.
void Tasks::sendTogether(unsigned slotNumber, unsigned number, Group &group) {
  if (group.links.empty()) {
    for (Id each : group.after)
      for (Id reader : group.before)
        times.addDependence({each, reader});
    return;
  }
  Slot &slot = slots[slotNumber];
  auto [own, isNew] = joins.try_emplace({slotNumber, number}, 0);
  if (isNew)
    own->second = times.addResource();
  unsigned index = 0;
  auto add = [&](unsigned resource, int64_t duration) {
    unsigned to = number + index / mostParts * Cluster::mostDevices; // there are fewer groups
    uint64_t key = keyOf(slotNumber, to, index++ % mostParts, lastHop);
    return slot.all.emplace_back(times.addTask(key, resource, duration));
  };
  // With these two, there are not as many dependences as pairs of tasks.
  group.first = add(own->second, 1);
  group.last = add(own->second, 1);
  for (Id each : group.after)
    times.addDependence({each, group.first});
  for (Id each : group.begun)
    times.addDependence({each, group.first, 1, true});
  for (auto [link, bytes] : group.links) {
    if (bytes == 0)
      continue;
    Id task = add(unsigned(cluster.devices.size()) + cluster.links[link].lane,
                  timeOf(double(bytes) / cluster.links[link].bytesPerSecond));
    times.addDependence({group.first, task});
    times.addDependence({task, group.last, std::max<int64_t>(group.latency - 2, 0)});
  }
  for (Id reader : group.before)
    times.addDependence({group.last, reader});
  count(slot, group.bytes);
}
