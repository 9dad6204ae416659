//===- ReductionOrder.cpp - the loops of a reduction ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ReductionOrder.h"

#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Returns the reduced names that a guard compares with a name that has several points in a tile.
static std::set<std::string> namesInGuardsOfTile(ComputeOp op, const NestModel &nest,
                                                 ArrayRef<unsigned> vector,
                                                 ArrayRef<RegisterTile> tiles) {
  std::set<std::string> unrolled, result;
  for (unsigned name : vector)
    unrolled.insert(nest.names[name]);
  for (const RegisterTile &tile : tiles)
    for (auto [name, points] : tile.rows)
      unrolled.insert(nest.names[name]);
  for (unsigned i = 0; i < op.getReads().size(); ++i) {
    GuardAttr guard = op.readGuard(i);
    for (const Condition &condition : guard.getConditions()) {
      std::vector<std::string> names = condition.expr().names();
      if (llvm::any_of(names, [&](const std::string &name) { return unrolled.count(name); }))
        for (const nd::Dim &dim : op.getReduced())
          if (llvm::is_contained(names, dim.name.str()))
            result.insert(dim.name.str());
    }
  }
  return result;
}

std::vector<Loop> nest::reductionOrder(ComputeOp op, const LaidNestModel &laid, unsigned panel,
                                       ArrayRef<unsigned> vector, ArrayRef<RegisterTile> tiles) {
  const NestModel &nest = laid.nest;
  auto sizeOf = [&](const std::string &name) { return nest.sizes[size_t(nest.indexOf(name))]; };
  std::set<std::string> guardsOfTile = namesInGuardsOfTile(op, nest, vector, tiles);
  struct Digit {
    int64_t stride;
    std::string name;
    int64_t step;
  };
  std::map<std::pair<std::string, int64_t>, int64_t> digits; // (name, step) -> stride
  auto note = [&](const std::string &name, int64_t step, int64_t stride) {
    auto [known, isNew] = digits.emplace(std::make_pair(name, step), stride);
    if (!isNew)
      known->second = std::max(known->second, stride);
  };
  {
    MapAttr map = op.readMap(panel);
    const Layout &layout = laid.layouts[panel];
    int64_t below = 1;
    std::vector<int64_t> extents = layout.extents(nest.sizesOf(nest.accesses[panel].type));
    for (size_t i = extents.size(); i-- > 0;) {
      const Layout::Factor &factor = layout.factors[i];
      for (const std::string &name : factor.names)
        if (auto coordinate = map.lookup(name))
          for (const nd::Dim &dim : op.getReduced()) {
            std::string each = dim.name.str();
            if (!coordinate->mentions(each))
              continue;
            bool blocked = factor.names.size() == 1 && coordinate->asName() && factor.divisor > 1 &&
                           factor.divisor < sizeOf(each);
            note(each, blocked ? factor.divisor : 1, below);
          }
      below *= extents[i];
    }
  }
  std::vector<Digit> order;
  for (const nd::Dim &dim : op.getReduced()) {
    std::string name = dim.name.str();
    note(name, 1, 1);
    int64_t last = sizeOf(name);
    // Keep only steps that divide one another.
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (const auto &[key, stride] : digits)
      if (key.first == name)
        steps.emplace_back(key.second, stride);
    bool first = true;
    for (auto &[step, stride] : llvm::reverse(steps)) {
      if (!first && last % step != 0)
        continue;
      order.push_back({stride, name, step});
      last = step;
      first = false;
    }
  }
  // If a guard distinguishes points of a tile, the tile has separate code for every border: the
  // other loops are inside of that branch.
  auto isGuarded = [&](const std::string &name) { return guardsOfTile.count(name) > 0; };
  llvm::stable_sort(order, [&](const Digit &a, const Digit &b) {
    return std::tuple(!isGuarded(a.name), -a.stride, a.name) <
           std::tuple(!isGuarded(b.name), -b.stride, b.name);
  });
  // A name's larger steps come first.
  std::vector<Loop> loops;
  for (const Digit &digit : order) {
    bool late = llvm::any_of(loops, [&](const Loop &loop) {
      return loop.names[0] == digit.name && loop.step <= digit.step;
    });
    if (!late)
      loops.push_back({"loop", {digit.name}, digit.step, 1});
  }
  return loops;
}
