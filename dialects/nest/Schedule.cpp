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

static const std::set<std::string> &levels() {
  static const std::set<std::string> words = {"thread",  "cache", "loop", "register",
                                              "vector",  "unit",  "grid", "block",
                                              "cluster", "warp",  "lane"};
  return words;
}

template <typename Words>
static std::string listed(const Words &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// What is wrong with a loop by itself.
static std::string verifyLoop(const Loop &loop, const std::set<std::string> &produced,
                              const std::set<std::string> &reduced) {
  if (loop.names.empty())
    return "expected a name after '" + loop.level + "'";
  const std::string &first = loop.names[0];
  if (!levels().count(loop.level))
    return "unknown level '" + loop.level + "' of the loop over '" + first + "', expected one of " +
           listed(levels());
  if (loop.step < 1)
    return "expected a step of at least 1 for '" + first + "', got " + std::to_string(loop.step);
  if (loop.unroll < 1)
    return "expected an unroll factor of at least 1 for '" + first + "', got " +
           std::to_string(loop.unroll);
  std::set<std::string> met;
  for (const std::string &name : loop.names) {
    if (!produced.count(name) && !reduced.count(name)) {
      std::set<std::string> all = produced;
      all.insert(reduced.begin(), reduced.end());
      return "unknown iteration name '" + name + "', expected one of {" + listed(all) + "}";
    }
    if (!met.insert(name).second)
      return "the name '" + name + "' stands twice in one group";
    if (reduced.count(name) != reduced.count(first))
      return "the names '" + first + "' and '" + name +
             "' are merged, of which one is produced and one reduced";
  }
  if (loop.level == "thread" && reduced.count(first))
    return "expected threads over produced names, got '" + first + "'";
  if (loop.level == "vector" && loop.step != 1)
    return "expected step 1 for the vector over '" + first + "', got " + std::to_string(loop.step);
  return "";
}

std::string Schedule::verify(const std::set<std::string> &produced,
                             const std::set<std::string> &reduced) const {
  std::map<std::vector<std::string>, int64_t> tiles; // the step of the last loop over a group
  std::map<std::string, std::vector<std::string>> groupOf;
  const Loop *vector = nullptr;
  if (partial && !stages.empty())
    return "expected no stages in a partial schedule, got " + std::to_string(stages.size());
  for (const Loop &loop : loops) {
    if (std::string message = verifyLoop(loop, produced, reduced); !message.empty())
      return message;
    if (partial && loop.level != "register" && loop.level != "vector")
      return "expected register and vector loops in a partial schedule, got '" + loop.level +
             "' over '" + loop.names[0] + "'";
    if (loop.level == "vector") {
      if (vector)
        return "expected one vector, got one over '" + vector->names[0] + "' and one over '" +
               loop.names[0] + "'";
      vector = &loop;
    }
    for (const std::string &name : loop.names) {
      auto [known, isNew] = groupOf.emplace(name, loop.names);
      if (!isNew && known->second != loop.names)
        return "the name '" + name + "' is walked in two different groups, (" +
               listed(known->second) + ") and (" + listed(loop.names) + ")";
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
  for (const Stage &stage : stages) {
    if (stage.at >= loops.size())
      return "expected a stage at a loop below " + std::to_string(loops.size()) + ", got " +
             std::to_string(stage.at);
    if (stage.buffers < 1)
      return "expected at least 1 buffer for a stage, got " + std::to_string(stage.buffers);
  }
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
  size_t seed = 2 * loops.size() + partial;
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
