//===- Schedule.cpp - the loops of a nest ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/Schedule.h"

#include <functional>

using namespace heddle;
using namespace heddle::nest;

std::string Schedule::verify(const Sizes &names) const {
  std::map<std::vector<std::string>, int64_t> tiles; // the step of the last loop over a group
  std::map<std::string, std::vector<std::string>> groupOf;
  for (const Loop &loop : loops) {
    if (loop.names.empty())
      return "expected a name after '" + loop.level + "'";
    if (loop.step < 1)
      return "expected a step of at least 1 for '" + loop.names[0] + "', got " +
             std::to_string(loop.step);
    if (loop.unroll < 1)
      return "expected an unroll factor of at least 1 for '" + loop.names[0] + "', got " +
             std::to_string(loop.unroll);
    for (const std::string &name : loop.names) {
      if (!names.count(name))
        return "unknown iteration name '" + name + "'";
      auto [known, isNew] = groupOf.emplace(name, loop.names);
      if (!isNew && known->second != loop.names)
        return "the name '" + name + "' is walked in two different groups";
    }
    auto [tile, isFirst] = tiles.emplace(loop.names, loop.step);
    if (!isFirst) {
      if (tile->second % loop.step != 0)
        return "expected a step for '" + loop.names[0] + "' that divides the tile of " +
               std::to_string(tile->second) + ", got " + std::to_string(loop.step);
      tile->second = loop.step;
    }
  }
  for (const auto &[group, step] : tiles)
    if (step != 1)
      return "expected the last loop over '" + group[0] + "' to have step 1, got " +
             std::to_string(step);
  for (const Stage &stage : stages)
    if (stage.at >= loops.size())
      return "expected a stage at a loop below " + std::to_string(loops.size()) + ", got " +
             std::to_string(stage.at);
  return "";
}

Schedule Schedule::rename(const std::map<std::string, std::string, std::less<>> &to) const {
  Schedule result = *this;
  for (Loop &loop : result.loops)
    for (std::string &name : loop.names)
      if (auto found = to.find(name); found != to.end())
        name = found->second;
  return result;
}

size_t Schedule::hash() const {
  size_t seed = loops.size();
  auto mix = [&](size_t value) {
    seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
  };
  std::hash<std::string> text;
  for (const Loop &loop : loops) {
    mix(text(loop.level));
    for (const std::string &name : loop.names)
      mix(text(name));
    mix(size_t(loop.step));
    mix(size_t(loop.unroll));
  }
  for (const Stage &stage : stages) {
    mix(stage.operand);
    mix(stage.at);
    mix(text(stage.layout.str()));
  }
  return seed;
}
