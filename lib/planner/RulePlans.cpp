//===- RulePlans.cpp - plans with values in parts -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/RulePlans.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

using namespace heddle::planner;

/// The largest number of equal blocks of a size that divides a number.
static unsigned equalBlocks(int64_t size, unsigned number) {
  return unsigned(std::gcd(size, int64_t(number)));
}

//===----------------------------------------------------------------------===//
// Pairs of products
//===----------------------------------------------------------------------===//

namespace {
/// The classes of names along which pairs of products are split.
class Pairs {
public:
  explicit Pairs(const Graph &graph) : graph(graph), classes(graph) { find(); }

  /// The name of a choice that pairs split.
  std::optional<unsigned> nameOf(unsigned choice) const {
    const std::vector<Graph::Name> &names = graph.choices[choice].names;
    for (unsigned i = 0; i < names.size(); ++i)
      if (inner.contains(classes.of(choice, i)) && !names[i].isSequence)
        return i;
    return std::nullopt;
  }
  bool areAny() const { return !inner.empty(); }

private:
  /// A product with parameters.
  struct Product {
    std::set<size_t> made, summed; ///< classes of names of the parameters
    std::set<unsigned> parameters; ///< values
  };
  const Graph &graph;
  NameClasses classes;
  std::set<size_t> inner; ///< classes

  /// The parameters that an operator reads, and their names.
  Product productOf(const Graph::Operator &op, const std::set<size_t> &summed) const {
    Product product;
    for (const Graph::Read &read : op.reads)
      for (const Coordinate &coordinate : read.coordinates)
        if (auto name = nameIn(coordinate); name && read.ofNextStep && !op.isUpdate) {
          size_t each = classes.of(op.choice, *name);
          (summed.contains(each) ? product.summed : product.made).insert(each);
          product.parameters.insert(read.value);
        }
    if (product.made.empty())
      product.summed.clear();
    return product;
  }

  void find() {
    std::vector<std::set<size_t>> summed(graph.operators.size());
    for (const Graph::Value &value : graph.values)
      for (unsigned name : value.summed)
        summed[value.maker].insert(classes.of(graph.operators[value.maker].choice, name));
    std::vector<Product> products;
    std::set<size_t> others; // that something else sums over
    for (size_t i = 0; i < graph.operators.size(); ++i) {
      Product product = productOf(graph.operators[i], summed[i]);
      std::set_difference(summed[i].begin(), summed[i].end(), product.summed.begin(),
                          product.summed.end(), std::inserter(others, others.end()));
      if (!product.summed.empty())
        products.push_back(std::move(product));
    }
    choose(products, others);
  }

  void choose(const std::vector<Product> &products, const std::set<size_t> &others) {
    for (const Product &first : products)
      for (size_t each : first.made) {
        bool isSummed = false, isTaken = others.contains(each);
        for (const Product &product : products) {
          isSummed |= product.summed.contains(each) && product.parameters != first.parameters;
          if (!product.summed.contains(each) && !product.made.contains(each))
            continue;
          for (const std::set<size_t> &own : {product.made, product.summed})
            isTaken |= std::any_of(own.begin(), own.end(),
                                   [&](size_t other) { return inner.contains(other); });
        }
        if (isSummed && !isTaken)
          inner.insert(each);
      }
  }
};
} // namespace

std::optional<Point> heddle::planner::megatronPoint(TaskCosts &costs, const Graph &graph,
                                                    const std::string &sample, unsigned devices,
                                                    unsigned nodes) {
  Pairs pairs(graph);
  if (!pairs.areAny())
    return std::nullopt;
  Point point = costs.dataParallel(sample);
  for (unsigned i = 0; i < point.size(); ++i) {
    const Graph::Choice &choice = graph.choices[i];
    auto inner = pairs.nameOf(i), samples = nameOf(choice, sample);
    if (!inner)
      continue;
    Configuration made = onDevice(choice, 0);
    unsigned inNode = equalBlocks(choice.names[*inner].size, devices / nodes);
    unsigned groups = samples ? equalBlocks(choice.names[*samples].size, nodes) : 1;
    made.degrees[*inner] = inNode;
    if (samples)
      made.degrees[*samples] = groups;
    made.devices.clear();
    bool isOuter = samples && *samples < *inner;
    for (unsigned part = 0; part < inNode * groups; ++part) {
      unsigned group = isOuter ? part / inNode : part % groups;
      unsigned own = isOuter ? part % inNode : part / groups;
      made.devices.push_back(group * (devices / nodes) + own);
    }
    made.scattered = samples;
    point[i] = costs.add(i, made);
  }
  return point;
}

//===----------------------------------------------------------------------===//
// Parameters in parts
//===----------------------------------------------------------------------===//

std::optional<Point> heddle::planner::zeroPoint(TaskCosts &costs, const Graph &graph,
                                                const std::string &sample, unsigned devices) {
  Point point = costs.dataParallel(sample);
  std::vector<unsigned> updates(graph.choices.size()), others(updates);
  for (const Graph::Operator &op : graph.operators)
    ++(op.isUpdate ? updates : others)[op.choice];
  std::vector<std::optional<unsigned>> split(graph.choices.size());
  for (unsigned i = 0; i < point.size(); ++i) {
    const Graph::Choice &choice = graph.choices[i];
    if (updates[i] == 0)
      continue;
    if (others[i] > 0)
      return std::nullopt;
    auto sizeOf = [&](unsigned name) {
      int64_t size = choice.names[name].size;
      return std::pair(equalBlocks(size, devices), size);
    };
    Configuration made = onDevice(choice, 0);
    for (unsigned name = 0; name < choice.names.size(); ++name)
      if (!split[i] || sizeOf(*split[i]) < sizeOf(name))
        split[i] = name;
    if (split[i])
      made.degrees[*split[i]] = sizeOf(*split[i]).first;
    made.devices.resize(partsOf(made));
    std::iota(made.devices.begin(), made.devices.end(), 0u);
    made.isFetched = true;
    point[i] = costs.add(i, made);
  }
  for (const Graph::Operator &op : graph.operators)
    for (const Graph::Read &read : op.reads) {
      const Graph::Value &value = graph.values[read.value];
      unsigned maker = graph.operators[value.maker].choice;
      for (size_t k = 0; k < read.coordinates.size() && op.isUpdate && !read.ofNextStep; ++k) {
        auto name = nameIn(read.coordinates[k]);
        if (!name || name != split[op.choice] || !value.names[k] || updates[maker] > 0)
          continue;
        Configuration made = costs.of(maker)[point[maker]];
        made.scattered = value.names[k];
        point[maker] = costs.add(maker, made);
      }
    }
  return point;
}
