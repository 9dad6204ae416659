//===- Tasks.cpp - the tasks of a divided graph ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Tasks.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <set>

using namespace heddle;
using namespace heddle::planner;

uint64_t Tasks::keyOf(unsigned slot, unsigned to, unsigned from, unsigned hop) {
  assert(slot < 1u << 28 && to <= mostParts && from <= mostParts && hop <= lastHop);
  return uint64_t(slot) << 36 | uint64_t(to) << 22 | uint64_t(from) << 8 | hop;
}

std::optional<unsigned> Tasks::choiceOf(uint64_t key) const {
  auto slot = size_t(key >> 36), operators = graph.operators.size();
  if (slot >= operators + graph.values.size())
    return std::nullopt;
  return graph.operators[slot < operators ? slot : graph.values[slot - operators].maker].choice;
}

std::string Tasks::labelOf(uint64_t key) const {
  auto slot = unsigned(key >> 36), operators = unsigned(graph.operators.size());
  if (slot < operators)
    return graph.operators[slot].name;
  slot -= operators;
  auto values = unsigned(graph.values.size());
  auto maker = [&](unsigned value) { return graph.operators[graph.values[value].maker].name; };
  if (slot < values)
    return "sum of " + maker(slot);
  return slot < 2 * values ? "message of " + maker(slot - values) : "updates";
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

Tasks::Tasks(const Graph &graph, const Cluster &cluster, TaskOptions options)
    : graph(graph), cluster(cluster), options(options), blocks(graph.values.size()),
      edges(graph.values.size()), sentAround(graph.operators.size()),
      fetchedAround(graph.operators.size()), valuesOf(graph.operators.size()),
      operatorsOf(graph.choices.size()), isGradient(graph.values.size(), false) {
  for (size_t i = 0; i < cluster.devices.size() + cluster.lanes; ++i)
    times.addResource();
  for (unsigned i = 0; i < graph.values.size(); ++i)
    valuesOf[graph.values[i].maker].push_back(i);
  std::vector<bool> isRead(graph.values.size(), false);
  std::vector<bool> isReadByOthers(graph.values.size(), false);
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    const Graph::Operator &op = graph.operators[i];
    operatorsOf[op.choice].push_back(i);
    collectors.push_back(options.isPaper && !op.isUpdate ? times.addResource() : none);
    sentAround[i] = valuesOf[i];
    for (unsigned k = 0; k < op.reads.size(); ++k) {
      unsigned value = op.reads[k].value;
      (op.isUpdate ? isRead : isReadByOthers)[value] = true;
      sentAround[i].push_back(value);
      edges[value].push_back({i, k});
    }
  }
  for (unsigned i = 0; i < graph.values.size(); ++i)
    isGradient[i] = isRead[i] && !isReadByOthers[i];
  for (const Graph::Operator &op : graph.operators)
    for (const Graph::Read &fetched : op.reads)
      for (const Graph::Read &read : op.reads)
        if (fetched.ofNextStep && !read.ofNextStep)
          fetchedAround[graph.values[read.value].maker].push_back(fetched.value);
  slots.resize(slotOfMessages(unsigned(graph.values.size())));
  if (options.isPaper)
    barrier = times.addTask(keyOf((1u << 28) - 1, 0, 0, 0), times.addResource(), 1);
  for (const Graph::Choice &choice : graph.choices)
    configurations.push_back(onDevice(choice, 0));
  rebuild(configurations);
}

void Tasks::makeAll(const std::vector<std::vector<Part>> &parts) {
  for (unsigned i = 0; i < graph.values.size(); ++i)
    blocks[i] = madeBlocks(graph.values[i]);
  for (unsigned i = 0; i < graph.operators.size(); ++i)
    makeOperator(i, parts[i]);
  for (unsigned i = 0; i < graph.values.size(); ++i)
    makeSums(i);
  for (unsigned i = 0; i < graph.values.size(); ++i)
    makeMessages(i);
}

std::optional<int64_t> Tasks::rebuild(std::vector<Configuration> all, int64_t limit) {
  configurations = std::move(all);
  std::vector<std::vector<Part>> parts;
  LeastEnd computing;
  for (size_t i = 0; i < cluster.devices.size(); ++i)
    computing.addResource();
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    parts.push_back(partsOf(i));
    for (const Part &part : parts.back())
      computing.add(part.device, phaseOf(graph.operators[i]), part.duration);
  }
  computing.begin();
  if (computing.value() > limit)
    return std::nullopt;
  for (unsigned slot = 0; slot < slots.size(); ++slot)
    renew(slot);
  commit();
  makeAll(parts);
  commit();
  return times.computeTimes(limit);
}

Tasks::Slot &Tasks::renew(unsigned slot) {
  for (Id task : slots[slot].all)
    times.remove(task);
  sums.bytes -= slots[slot].totals.bytes;
  sums.transfers -= slots[slot].totals.transfers;
  sums.computing -= slots[slot].totals.computing;
  oldSlots.emplace_back(slot, std::exchange(slots[slot], {}));
  return slots[slot];
}

bool Tasks::configure(std::vector<Change> changes, int64_t limit) {
  std::vector<std::pair<unsigned, std::vector<Part>>> made; // by operator
  std::set<unsigned> around;
  LeastEnd least = times.work();
  auto discount = [&](const Slot &slot) {
    for (Id task : slot.all)
      least.remove(times.resource(task), times.phase(task), times.duration(task));
  };
  for (auto &[choice, configuration] : changes) {
    assert(configuration.degrees.size() == graph.choices[choice].names.size() &&
           configuration.devices.size() == planner::partsOf(configuration));
    std::swap(configurations[choice], configuration);
    for (unsigned op : operatorsOf[choice]) {
      made.emplace_back(op, partsOf(op));
      for (const Part &part : made.back().second)
        least.add(part.device, phaseOf(graph.operators[op]), part.duration);
      discount(slots[slotOfOperator(op)]);
      for (unsigned value : valuesOf[op])
        discount(slots[slotOfValue(value)]);
      around.insert(sentAround[op].begin(), sentAround[op].end());
      std::copy_if(fetchedAround[op].begin(), fetchedAround[op].end(),
                   std::inserter(around, around.end()),
                   [&](unsigned value) { return isFetched(value); });
    }
  }
  for (unsigned value : around)
    discount(slots[slotOfMessages(value)]);
  least.begin();
  if (least.value() > limit) {
    for (auto &[choice, configuration] : changes)
      std::swap(configurations[choice], configuration);
    return false;
  }
  for (auto &[choice, configuration] : changes)
    oldConfigurations.emplace_back(choice, std::move(configuration));
  return remake(made, around, limit);
}

bool Tasks::remake(const std::vector<std::pair<unsigned, std::vector<Part>>> &made,
                   const std::set<unsigned> &around, int64_t limit) {
  for (const auto &[op, parts] : made) {
    renew(slotOfOperator(op));
    for (unsigned value : valuesOf[op]) {
      renew(slotOfValue(value));
      blocks[value] = madeBlocks(graph.values[value]);
    }
  }
  for (unsigned value : around)
    renew(slotOfMessages(value));
  times.work().begin();
  for (const auto &[op, parts] : made)
    makeOperator(op, parts);
  for (const auto &[op, parts] : made)
    for (unsigned value : valuesOf[op])
      makeSums(value);
  for (unsigned value : around) {
    if (times.work().value() > limit)
      return false;
    makeMessages(value);
  }
  return true;
}

int64_t Tasks::computeTimes() {
  commit();
  return times.computeTimes();
}

void Tasks::commit() {
  oldSlots.clear();
  oldConfigurations.clear();
  oldSums = sums;
  times.commit();
}

void Tasks::undo() {
  for (; !oldSlots.empty(); oldSlots.pop_back())
    slots[oldSlots.back().first] = std::move(oldSlots.back().second);
  for (; !oldConfigurations.empty(); oldConfigurations.pop_back()) {
    auto &[choice, configuration] = oldConfigurations.back();
    configurations[choice] = std::move(configuration);
    for (unsigned op : operatorsOf[choice])
      for (unsigned value : valuesOf[op])
        blocks[value] = madeBlocks(graph.values[value]);
  }
  sums = oldSums;
  times.undo();
}

std::vector<int64_t> Tasks::busy() const {
  std::vector<int64_t> busy(cluster.devices.size() + cluster.lanes);
  for (Id id : times.sorted())
    if (times.resource(id) < busy.size())
      busy[times.resource(id)] += times[id].end - times[id].begin;
  return busy;
}

std::vector<int64_t> Tasks::computingOf(unsigned choice) const {
  std::vector<int64_t> computing(cluster.devices.size());
  auto add = [&](const Slot &slot) {
    for (Id task : slot.all)
      if (times.resource(task) < computing.size())
        computing[times.resource(task)] += times.duration(task);
  };
  for (unsigned op : operatorsOf[choice]) {
    add(slots[slotOfOperator(op)]);
    for (unsigned value : valuesOf[op])
      add(slots[slotOfValue(value)]);
  }
  return computing;
}
