//===- TaskMemory.cpp - the bytes that the devices of tasks hold ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Tasks.h"

#include <algorithm>
#include <limits>

using namespace heddle::planner;

namespace {
/// The bytes that devices hold over time.
class Holdings {
public:
  explicit Holdings(size_t devices) : events(devices) {}

  void add(unsigned device, int64_t bytes, int64_t begin, int64_t end) {
    events[device].emplace_back(begin, bytes);
    events[device].emplace_back(end, -bytes);
  }
  std::vector<int64_t> most() {
    std::vector<int64_t> most;
    for (auto &own : events) {
      std::sort(own.begin(), own.end()); // at one time, what is released first
      int64_t now = 0, largest = 0;
      for (auto [time, bytes] : own)
        largest = std::max(largest, now += bytes);
      most.push_back(largest);
    }
    return most;
  }

private:
  std::vector<std::vector<std::pair<int64_t, int64_t>>> events; ///< by device: time and bytes
};
} // namespace

bool Tasks::isState(unsigned value) const {
  return std::any_of(edges[value].begin(), edges[value].end(), [&](const Edge &edge) {
    return graph.operators[edge.reader].reads[edge.read].ofNextStep;
  });
}

std::vector<int64_t> Tasks::memory() const {
  Holdings holdings(cluster.devices.size());
  for (unsigned i = 0; i < graph.values.size(); ++i) {
    const Graph::Value &value = graph.values[i];
    const Blocks &made = blocks[i];
    const std::vector<unsigned> &devices =
        configurations[graph.operators[value.maker].choice].devices;
    const std::vector<Id> &makers = slots[slotOfOperator(value.maker)].parts;
    bool isHeld = isState(i);
    auto hold = [&](unsigned device, int64_t bytes, int64_t begin, int64_t end, bool isHeld) {
      holdings.add(device, bytes, isHeld ? 0 : begin,
                   isHeld ? std::numeric_limits<int64_t>::max() : end);
    };
    // Messages are in the order in which they were made (makeMessages).
    const Slot &messages = slots[slotOfMessages(i)];
    const std::vector<Id> &sent = messages.all;
    size_t next = 0;
    auto need = messages.sent.needs.begin();
    std::vector<int64_t> until(made.count, 0); // groups have blocks
    for (const Group &group : messages.sent.groups) {
      for (unsigned block : group.blocks)
        until[block] = std::max(until[block], times[group.last].end);
      for (const Need &each : group.needs) {
        int64_t last = times[group.last].end;
        for (Id reader : each.readers)
          last = std::max(last, times[reader].end);
        hold(each.device, each.bytes, times[group.first].begin, last, isHeld && !each.fetcher);
      }
    }
    for (unsigned block = 0; block < made.count; ++block) {
      auto [part, firstPart, elements] = placeOf(i, block);
      int64_t bytes = elements * value.elementBytes;
      if (makers[part] == none)
        continue;
      const Slot &sum = slots[slotOfValue(i)];
      int64_t end = times[sum.parts.empty() ? makers[part] : sum.parts[block]].end;
      // Partial sums are on their devices, and then on that of the sum, until that ends: those that
      // come around a ring, one at a time.
      bool areBlocks = !options.isPaper && made.scattered, isReceived = false;
      if (areBlocks)
        holdings.add(devices[part], bytes * int64_t(made.parts.size() - 1),
                     times[makers[part]].begin, end);
      for (unsigned distance : made.parts) {
        unsigned other = firstPart + distance;
        if (other == part || makers[other] == none)
          continue;
        if (!areBlocks)
          holdings.add(devices[other], bytes, times[makers[other]].begin, end);
        if (devices[other] == devices[part] || isReceived)
          continue;
        holdings.add(devices[part], bytes, times[makers[other]].end, end);
        isReceived = !options.isPaper;
      }
      end = std::max(end, until[block]);
      for (; need != messages.sent.needs.end() && need->first.first == block; ++need)
        for (const Need &each : need->second) {
          int64_t last = each.fetcher ? 0 : end, size = elementsOf(each.box) * value.elementBytes;
          for (Id reader : each.readers)
            last = std::max(last, times[reader].end);
          if (need->first.second != devices[part]) {
            size_t first = next;
            next += cluster.routeOf(devices[part], need->first.second).size();
            hold(need->first.second, size, times[sent[first]].begin,
                 std::max(last, times[sent[next - 1]].end), isHeld && !each.fetcher);
            last = times[sent[first]].end;
          }
          end = std::max(end, last);
        }
      hold(devices[part], bytes, times[makers[part]].begin, end, isHeld);
    }
  }
  return holdings.most();
}

int64_t Tasks::stateBytes() const {
  int64_t bytes = 0;
  for (unsigned i = 0; i < graph.values.size(); ++i) {
    int64_t own = graph.values[i].elementBytes;
    for (int64_t size : graph.values[i].sizes)
      own *= size;
    if (isState(i))
      bytes += own;
  }
  return bytes;
}
