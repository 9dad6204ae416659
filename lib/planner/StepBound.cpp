//===- StepBound.cpp - the least time of a step ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/StepBound.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <set>

using namespace heddle;
using namespace heddle::planner;

StepBound::StepBound(TaskCosts &costs, Tasks &tasks, const Graph &graph, unsigned devices)
    : costs(costs), tasks(tasks), graph(graph), devices(devices), placeOf(graph.operators.size()),
      placeOfValue(graph.values.size()), valuesOf(graph.operators.size()),
      edges(graph.values.size()), heads(graph.operators.size()), tails(heads),
      ready(graph.values.size()), firstEnds(graph.operators.size()), firstTails(firstEnds) {
  std::vector<unsigned> operators(graph.choices.size()), values(operators);
  for (unsigned i = 0; i < graph.operators.size(); ++i)
    placeOf[i] = operators[graph.operators[i].choice]++;
  for (unsigned i = 0; i < graph.values.size(); ++i) {
    placeOfValue[i] = values[graph.operators[graph.values[i].maker].choice]++;
    valuesOf[graph.values[i].maker].push_back(i);
  }
  addEdges();
  waits.resize(covers.size());
  for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
    std::vector<Work> &all = works.emplace_back();
    for (unsigned number = 0; number < costs.of(choice).size(); ++number) {
      tasks.configure(choice, costs.of(choice)[number]);
      all.push_back(workOf(choice));
      tasks.undo();
    }
    Work &least = leastWorks.emplace_back(all.front());
    for (const Work &each : all) {
      for (unsigned phase : {0, 1})
        least.all[phase] = std::min(least.all[phase], each.all[phase]);
      least.withSums = std::min(least.withSums, each.withSums);
      for (size_t k = 0; k < least.shortest.size(); ++k)
        least.shortest[k] = std::min(least.shortest[k], each.shortest[k]);
    }
  }
}

StepBound::Work StepBound::workOf(unsigned choice) const {
  Work work;
  for (unsigned i = 0; i < graph.operators.size(); ++i)
    if (graph.operators[i].choice == choice) {
      work.parts.push_back(tasks.partsOf(i));
      int64_t shortest = std::numeric_limits<int64_t>::max();
      for (const Tasks::Part &part : work.parts.back()) {
        shortest = std::min(shortest, part.duration);
        work.all[phaseOf(i)] += part.duration;
      }
      work.shortest.push_back(shortest);
    }
  for (unsigned i = 0; i < graph.values.size(); ++i)
    if (graph.operators[graph.values[i].maker].choice == choice)
      work.made.push_back(tasks.blocksOf(i));
  work.ofDevices = tasks.computingOf(choice);
  work.withSums = std::accumulate(work.ofDevices.begin(), work.ofDevices.end(), int64_t(0));
  return work;
}

//===----------------------------------------------------------------------===//
// Reads and waits
//===----------------------------------------------------------------------===//

/// True if no part of a reader could find nothing of the value: all coordinates are inside it.
static bool isInsideOf(const Graph &graph, const Graph::Operator &op, const Graph::Read &read) {
  const std::vector<Graph::Name> &names = graph.choices[op.choice].names;
  for (size_t k = 0; k < read.coordinates.size(); ++k) {
    const Coordinate &coordinate = read.coordinates[k];
    int64_t low = coordinate.low, high = coordinate.high;
    for (auto [name, factor] : coordinate.terms)
      (factor > 0 ? high : low) += factor * (names[name].size - 1);
    if (low < 0 || low > high || high / coordinate.divisor >= graph.values[read.value].sizes[k])
      return false;
  }
  return true;
}

/// True if each element is read, and each part of the maker makes some of them.
static bool isCovered(const Graph &graph, const Graph::Operator &op, const Graph::Read &read) {
  const std::vector<Graph::Name> &names = graph.choices[op.choice].names;
  const Graph::Value &value = graph.values[read.value];
  std::set<unsigned> seen;
  for (size_t k = 0; k < read.coordinates.size(); ++k) {
    const Coordinate &coordinate = read.coordinates[k];
    auto name = nameIn(coordinate);
    bool isAll = coordinate.terms.empty() && coordinate.low <= 0 &&
                 coordinate.high >= value.sizes[k] - 1 && coordinate.divisor == 1;
    bool isName = name && names[*name].size == value.sizes[k] && seen.insert(*name).second &&
                  std::find(op.names.begin(), op.names.end(), *name) != op.names.end();
    if (!isAll && !isName)
      return false;
  }
  std::set<unsigned> made(value.summed.begin(), value.summed.end());
  for (std::optional<unsigned> name : value.names)
    if (name)
      made.insert(*name);
  const std::vector<unsigned> &own = graph.operators[value.maker].names;
  return std::all_of(own.begin(), own.end(), [&](unsigned name) { return made.contains(name); });
}

void StepBound::addEdges() {
  isGradient.assign(graph.values.size(), true);
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    const Graph::Operator &op = graph.operators[i];
    std::vector<unsigned> &numbers = firstEdge.emplace_back();
    for (unsigned k = 0; k < op.reads.size(); ++k) {
      const Graph::Read &read = op.reads[k];
      numbers.push_back(unsigned(covers.size()));
      edges[read.value].push_back({i, k, numbers.back()});
      covers.push_back(isCovered(graph, op, read));
      isInside.push_back(isInsideOf(graph, op, read));
      isGradient[read.value] = isGradient[read.value] && op.isUpdate && !read.ofNextStep;
    }
  }
}

/// For an edge between operators that are decided. All between two choices are found at once.
const std::vector<Tasks::Wait> &StepBound::waitsOf(unsigned value, const Edge &edge) {
  unsigned maker = graph.operators[graph.values[value].maker].choice;
  unsigned reader = graph.operators[edge.reader].choice;
  unsigned from = *(*decided)[maker], to = *(*decided)[reader];
  size_t place = size_t(from) * works[reader].size() + to;
  std::vector<std::optional<std::vector<Tasks::Wait>>> &known = waits[edge.number];
  if (known.empty())
    known.resize(works[maker].size() * works[reader].size());
  if (known[place])
    return *known[place];
  std::vector<Tasks::Change> changes{{maker, costs.of(maker)[from]}};
  if (reader != maker)
    changes.emplace_back(reader, costs.of(reader)[to]);
  tasks.configure(std::move(changes));
  for (unsigned i = 0; i < graph.values.size(); ++i)
    for (const Edge &each : edges[i]) {
      if (graph.operators[graph.values[i].maker].choice != maker ||
          graph.operators[each.reader].choice != reader)
        continue;
      waits[each.number].resize(known.size());
      waits[each.number][place] = tasks.waitsOf(each.reader, each.read);
    }
  tasks.undo();
  return *known[place];
}

//===----------------------------------------------------------------------===//
// Heads and tails
//===----------------------------------------------------------------------===//

/// When the parts of an operator begin at the soonest, and what they make is there. Updates that
/// are apart begin at 0.
void StepBound::findHeads(unsigned op) {
  const Work *work = workFor(op);
  int64_t first = 0; // of all parts
  if (work)
    heads[op].assign(partsOf(*work, op).back().number + 1, 0);
  const std::vector<Graph::Read> &reads = graph.operators[op].reads;
  for (unsigned k = 0; k < reads.size(); ++k) {
    unsigned value = reads[k].value, maker = graph.values[value].maker;
    if (reads[k].ofNextStep)
      continue;
    Edge edge{op, k, firstEdge[op][k]};
    const Work *made = workFor(maker);
    bool isApart = phaseOf(op) != phaseOf(maker);
    if (work && made) {
      for (const Tasks::Wait &wait : waitsOf(value, edge)) {
        const Tasks::Block &block = blocksOf(*made, value)[wait.block];
        int64_t from = isApart ? 0 : ready[value][wait.block], sent = wait.picoseconds;
        for (const auto &[other, time] : block.others)
          if (isApart && isGradient[value] && time > 0)
            from = std::max(from, time + block.sum);
        int64_t &head = heads[op][wait.part];
        head = std::max(head, from + (isApart && !isGradient[value] ? 0 : sent));
      }
    } else if (!isApart && isInside[edge.number]) {
      int64_t least = firstEnds[maker];
      if (made)
        least = *std::min_element(ready[value].begin(), ready[value].end());
      first = std::max(first, least);
    }
  }
  if (!work) {
    firstEnds[op] = first + shortest(op);
    return;
  }
  std::vector<int64_t> ends(heads[op].size(), 0);
  for (const Tasks::Part &part : partsOf(*work, op)) {
    heads[op][part.number] = std::max(heads[op][part.number], first);
    ends[part.number] = heads[op][part.number] + part.duration;
  }
  for (unsigned value : valuesOf[op]) {
    ready[value].clear();
    for (const Tasks::Block &block : blocksOf(*work, value)) {
      int64_t end = block.exists ? ends[block.part] : Tasks::noLimit;
      for (const auto &[other, time] : block.others)
        end = std::max(end, ends[other] + time);
      ready[value].push_back(block.exists ? end + block.sum : end);
    }
  }
}

/// Raises the tails of a value's blocks to the least time that one of its readers adds.
void StepBound::addTails(unsigned value, const Edge &edge, std::vector<int64_t> &ofBlocks) {
  const Graph::Read &read = graph.operators[edge.reader].reads[edge.read];
  unsigned maker = graph.values[value].maker;
  bool isApart = phaseOf(maker) != phaseOf(edge.reader);
  const Work *work = workFor(edge.reader);
  if (read.ofNextStep ? !work || (tasks.isPaper() && phaseOf(maker) == 0) : isApart)
    return;
  if (!work) {
    for (int64_t &tail : ofBlocks)
      if (covers[edge.number])
        tail = std::max(tail, shortest(edge.reader) + firstTails[edge.reader]);
    return;
  }
  const std::vector<Tasks::Part> &parts = partsOf(*work, edge.reader);
  std::vector<int64_t> after(parts.back().number + 1, 0);
  if (!read.ofNextStep)
    for (const Tasks::Part &part : parts)
      after[part.number] = part.duration + tails[edge.reader][part.number];
  for (const Tasks::Wait &wait : waitsOf(value, edge)) {
    ofBlocks[wait.block] = std::max(ofBlocks[wait.block], wait.picoseconds + after[wait.part]);
  }
}

void StepBound::findTails(unsigned op) {
  const Work *work = workFor(op);
  if (work) {
    tails[op].assign(partsOf(*work, op).back().number + 1, 0);
    for (unsigned value : valuesOf[op]) {
      const std::vector<Tasks::Block> &blocks = blocksOf(*work, value);
      std::vector<int64_t> ofBlocks(blocks.size(), -1);
      for (const Edge &edge : edges[value])
        addTails(value, edge, ofBlocks);
      for (size_t i = 0; i < blocks.size(); ++i) {
        if (ofBlocks[i] < 0 || !blocks[i].exists)
          continue;
        int64_t after = blocks[i].sum + ofBlocks[i];
        tails[op][blocks[i].part] = std::max(tails[op][blocks[i].part], after);
        for (const auto &[other, time] : blocks[i].others)
          tails[op][other] = std::max(tails[op][other], time + after);
      }
    }
    return;
  }
  firstTails[op] = 0;
  for (unsigned value : valuesOf[op])
    for (const Edge &edge : edges[value]) {
      if (graph.operators[edge.reader].reads[edge.read].ofNextStep || !covers[edge.number] ||
          phaseOf(op) != phaseOf(edge.reader))
        continue;
      int64_t least = shortest(edge.reader) + firstTails[edge.reader];
      if (const Work *reader = workFor(edge.reader)) {
        least = std::numeric_limits<int64_t>::max();
        for (const Tasks::Part &part : partsOf(*reader, edge.reader))
          least = std::min(least, part.duration + tails[edge.reader][part.number]);
      }
      firstTails[op] = std::max(firstTails[op], least);
    }
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// The end of the last tail, if a device runs pieces with interruptions.
int64_t StepBound::withInterruptions(std::vector<Piece> &pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece &a, const Piece &b) { return a.head < b.head; });
  std::priority_queue<std::pair<int64_t, int64_t>> queue; // tails, and what is left to run
  int64_t now = 0, end = 0;
  for (size_t next = 0; next < pieces.size() || !queue.empty();) {
    if (queue.empty())
      now = std::max(now, pieces[next].head);
    for (; next < pieces.size() && pieces[next].head <= now; ++next)
      queue.emplace(pieces[next].tail, pieces[next].duration);
    auto [tail, left] = queue.top();
    queue.pop();
    int64_t until = next < pieces.size() ? std::min(now + left, pieces[next].head) : now + left;
    if (until - now < left)
      queue.emplace(tail, left - (until - now));
    else
      end = std::max(end, until + tail);
    now = until;
  }
  return end;
}

int64_t StepBound::boundOf(unsigned phase) const {
  std::vector<std::vector<Piece>> pieces(devices);
  int64_t bound = 0, all = 0;
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    if (phaseOf(i) != phase)
      continue;
    const Work *work = workFor(i);
    if (!work)
      bound = std::max(bound, firstEnds[i] + firstTails[i]);
    else
      for (const Tasks::Part &part : partsOf(*work, i))
        pieces[part.device].push_back(
            {heads[i][part.number], part.duration, tails[i][part.number]});
  }
  for (auto &own : pieces)
    bound = std::max(bound, withInterruptions(own));
  for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
    auto number = (*decided)[choice];
    all += (number ? works[choice][*number] : leastWorks[choice]).all[phase];
  }
  return std::max(bound, (all + devices - 1) / devices);
}

int64_t StepBound::operator()(const Decided &given) {
  decided = &given;
  for (unsigned i = 0; i < graph.operators.size(); ++i)
    findHeads(i);
  for (unsigned i = unsigned(graph.operators.size()); i-- > 0;)
    findTails(i);
  std::vector<int64_t> ofDevices(devices);
  int64_t all = 0;
  for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
    auto number = given[choice];
    all += (number ? works[choice][*number] : leastWorks[choice]).withSums;
    for (unsigned device = 0; number && device < devices; ++device)
      ofDevices[device] += works[choice][*number].ofDevices[device];
  }
  return std::max({*std::max_element(ofDevices.begin(), ofDevices.end()),
                   (all + devices - 1) / devices, boundOf(0) + boundOf(1)});
}
