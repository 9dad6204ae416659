//===- Graph.cpp - operators, the values between them, and splits ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Graph.h"

#include <algorithm>
#include <map>

using namespace heddle;
using namespace heddle::planner;

std::optional<unsigned> planner::nameOf(const Graph::Choice &choice, const std::string &label) {
  for (unsigned i = 0; i < choice.names.size(); ++i)
    if (choice.names[i].label == label && !choice.names[i].isSequence)
      return i;
  return std::nullopt;
}

int64_t planner::elementsOf(const Box &box) {
  int64_t elements = 1;
  for (const Interval &each : box)
    elements *= each.size();
  return elements;
}

unsigned planner::partsOf(const Configuration &configuration) {
  unsigned parts = 1;
  for (unsigned degree : configuration.degrees)
    parts *= degree;
  return parts;
}

std::optional<unsigned> planner::nameIn(const Coordinate &coordinate) {
  bool isName = coordinate.terms.size() == 1 && coordinate.terms[0].factor == 1 &&
                coordinate.low == 0 && coordinate.high == 0 && coordinate.divisor == 1;
  return isName ? std::optional(coordinate.terms[0].name) : std::nullopt;
}

NameClasses::NameClasses(const Graph &graph) {
  for (const Graph::Choice &choice : graph.choices) {
    firsts.push_back(parents.size());
    for (size_t i = 0; i < choice.names.size(); ++i)
      parents.push_back(parents.size());
  }
  for (const Graph::Operator &op : graph.operators)
    for (const Graph::Read &read : op.reads) {
      const Graph::Value &value = graph.values[read.value];
      for (size_t i = 0; i < value.names.size(); ++i)
        if (auto name = nameIn(read.coordinates[i]); name && value.names[i])
          parents[of(op.choice, *name)] = of(graph.operators[value.maker].choice, *value.names[i]);
    }
}

size_t NameClasses::of(unsigned choice, unsigned name) const {
  size_t at = firsts[choice] + name;
  while (parents[at] != at)
    at = parents[at];
  return at;
}

Interval planner::blockOf(int64_t size, unsigned degree, unsigned index) {
  int64_t block = (size + degree - 1) / degree;
  return {std::min(size, block * index), std::min(size, block * (index + 1))};
}

Configuration planner::onDevice(const Graph::Choice &choice, unsigned device) {
  return {std::vector<unsigned>(choice.names.size(), 1), {device}};
}

/// By dimension of the value that an operator copies: the dimension of the copy. None if it does
/// something else.
static std::optional<std::vector<size_t>> copiedDims(const Graph &graph, const Graph::Operator &op,
                                                     const Graph::Value &made) {
  if (op.operations != 0 || op.reads.size() != 1 || op.sequence || op.isUpdate)
    return std::nullopt;
  const Graph::Value &source = graph.values[op.reads[0].value];
  std::vector<size_t> dims;
  for (size_t k = 0; k < source.sizes.size(); ++k) {
    auto name = nameIn(op.reads[0].coordinates[k]);
    size_t dim = size_t(std::find(made.names.begin(), made.names.end(), name) - made.names.begin());
    if (!name || dim == made.names.size() || made.sizes[dim] != source.sizes[k])
      return std::nullopt;
    dims.push_back(dim);
  }
  bool isAll = dims.size() == made.sizes.size() && source.elementBytes == made.elementBytes;
  return isAll ? std::optional(dims) : std::nullopt;
}

void planner::forwardCopies(Graph &graph) {
  std::vector<std::vector<Graph::Read *>> readers(graph.values.size());
  std::vector<unsigned> made(graph.operators.size()), number(made), choiceNumber;
  for (Graph::Operator &op : graph.operators)
    for (Graph::Read &read : op.reads)
      readers[read.value].push_back(&read);
  for (const Graph::Value &value : graph.values)
    ++made[value.maker];
  std::vector<bool> isGone(graph.operators.size()), isUsed(graph.choices.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Graph::Value &value = graph.values[i];
    const Graph::Operator &op = graph.operators[value.maker];
    auto dims = copiedDims(graph, op, value);
    auto isLater = [](const Graph::Read *read) { return read->ofNextStep; };
    if (!dims || made[value.maker] != 1 ||
        std::any_of(readers[i].begin(), readers[i].end(), isLater))
      continue;
    isGone[value.maker] = true;
    for (Graph::Read *read : readers[i]) {
      std::vector<Coordinate> coordinates;
      for (size_t dim : *dims)
        coordinates.push_back(read->coordinates[dim]);
      *read = {op.reads[0].value, std::move(coordinates), op.reads[0].ofNextStep};
      readers[read->value].push_back(read);
    }
  }
  // Number what is left.
  Graph left;
  std::vector<unsigned> valueNumber(graph.values.size());
  for (size_t i = 0; i < graph.operators.size(); ++i)
    if (!isGone[i])
      isUsed[graph.operators[i].choice] = true;
  for (size_t i = 0; i < graph.choices.size(); ++i) {
    choiceNumber.push_back(unsigned(left.choices.size()));
    if (isUsed[i])
      left.choices.push_back(std::move(graph.choices[i]));
  }
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    number[i] = unsigned(left.operators.size());
    if (!isGone[i])
      left.operators.push_back(std::move(graph.operators[i]));
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    valueNumber[i] = unsigned(left.values.size());
    if (isGone[graph.values[i].maker])
      continue;
    left.values.push_back(std::move(graph.values[i]));
    left.values.back().maker = number[left.values.back().maker];
  }
  for (Graph::Operator &op : left.operators) {
    op.choice = choiceNumber[op.choice];
    for (Graph::Read &read : op.reads)
      read.value = valueNumber[read.value];
  }
  graph = std::move(left);
}

void planner::findDepths(Graph &graph) {
  auto layerOf = [&](const Graph::Operator &op) -> const std::string & {
    return graph.choices[op.choice].layer;
  };
  size_t count = graph.operators.size();
  std::vector<unsigned> depths(count), needed(count, ~0u); // by operator
  for (size_t i = 0; i < count; ++i)
    for (const Graph::Read &read : graph.operators[i].reads)
      if (unsigned maker = graph.values[read.value].maker; !read.ofNextStep)
        depths[i] =
            std::max(depths[i], depths[maker] + graph.operators[maker].sequence.has_value());
  // By layer; first those of operators that read its parameters.
  std::map<std::string, std::pair<bool, unsigned>> ofLayers;
  for (size_t i = count; i-- > 0;) {
    const Graph::Operator &op = graph.operators[i];
    if (!op.sequence && needed[i] != ~0u)
      depths[i] = needed[i];
    bool readsNone = true;
    for (const Graph::Read &read : op.reads) {
      unsigned maker = graph.values[read.value].maker;
      if (!read.ofNextStep)
        needed[maker] = std::min(needed[maker], depths[i]);
      else if (!op.isUpdate && layerOf(graph.operators[maker]) == layerOf(op))
        readsNone = false;
    }
    std::pair own(readsNone, depths[i]);
    auto [first, isNew] = ofLayers.try_emplace(layerOf(op), own);
    first->second = std::min(first->second, own);
  }
  for (Graph::Choice &choice : graph.choices)
    choice.depth = ofLayers[choice.layer].second;
}

Configuration planner::splitOver(const Graph::Choice &choice, const std::string &label,
                                 unsigned most, unsigned first, unsigned distance) {
  Configuration made = onDevice(choice, first);
  auto name = nameOf(choice, label);
  if (!name)
    return made;
  unsigned &degree = made.degrees[*name] = most;
  while (most % degree != 0 || blockOf(choice.names[*name].size, degree, degree - 1).size() == 0)
    --degree;
  for (unsigned part = 1; part < degree; ++part)
    made.devices.push_back(first + part * distance);
  return made;
}
