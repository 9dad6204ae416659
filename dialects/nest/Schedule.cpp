//===- Schedule.cpp - the loops of a nest ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/Schedule.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

using namespace heddle;
using namespace heddle::nest;

/// The hierarchy of a device, coarse levels first.
static constexpr std::array<const char *, 5> hierarchy = {"grid", "cluster", "block", "warp",
                                                          "lane"};
/// Levels of the register tile, which must be in this order over one group.
static constexpr std::array<const char *, 3> innermost = {"register", "vector", "unit"};
/// A limit on copies of a loop's body, for compile time.
static constexpr int64_t mostUnrolled = 64;

/// The position of a level in a list; none if it is not there.
template <typename Levels>
static std::optional<size_t> positionIn(const Levels &levels, const std::string &level) {
  auto found = std::find(levels.begin(), levels.end(), level);
  return found == levels.end() ? std::nullopt : std::optional(size_t(found - levels.begin()));
}

bool Loop::isParallel() const { return level == "thread" || positionIn(hierarchy, level); }

template <typename Words>
static std::string listed(const Words &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

static std::string described(const Loop &loop) {
  return loop.level + " over '" + loop.names[0] + "'";
}

/// Checks the level, step and unroll factor of a loop. Returns "" or an error message.
static std::string verifyLevel(const Loop &loop) {
  const std::string &first = loop.names[0];
  bool isInnermost = positionIn(innermost, loop.level).has_value();
  if (!loop.isParallel() && !loop.isSequential() && !isInnermost) {
    std::set<std::string> all{"thread", "cache", "loop"};
    all.insert(hierarchy.begin(), hierarchy.end());
    all.insert(innermost.begin(), innermost.end());
    return "unknown level '" + loop.level + "' of the loop over '" + first + "', expected one of " +
           listed(all);
  }
  if (loop.step < 1)
    return "expected a step of at least 1 for '" + first + "', got " + std::to_string(loop.step);
  if (isInnermost && loop.level != "register" && loop.step != 1)
    return "expected step 1 for the " + described(loop) + ", got " + std::to_string(loop.step);
  if (loop.unroll < 1)
    return "expected an unroll factor of at least 1 for '" + first + "', got " +
           std::to_string(loop.unroll);
  if (loop.unroll > 1 && !loop.isSequential())
    return "expected an unroll factor of a cache or loop only, got " + std::to_string(loop.unroll) +
           " for the " + described(loop);
  return "";
}

/// Checks the names of a loop, and its level for these names. Returns "" or an error message.
static std::string verifyNames(const Loop &loop, const std::set<std::string> &produced,
                               const std::set<std::string> &reduced) {
  const std::string &first = loop.names[0];
  std::set<std::string> met;
  for (const std::string &name : loop.names) {
    if (!produced.count(name) && !reduced.count(name)) {
      std::set<std::string> all = produced;
      all.insert(reduced.begin(), reduced.end());
      return "unknown iteration name '" + name + "', expected one of {" + listed(all) + "}";
    }
    if (!met.insert(name).second)
      return "the name '" + name + "' occurs twice in one group";
    if (reduced.count(name) != reduced.count(first))
      return "the names '" + first + "' and '" + name +
             "' are merged, of which one is produced and one reduced";
  }
  if (loop.isShared() && reduced.count(first))
    return "expected a " + loop.level + " over produced names, got '" + first + "'";
  return "";
}

/// Checks that `inner` may be nested in `outer`. Returns "" or an error message.
static std::string verifyOrder(const Loop &outer, const Loop &inner) {
  auto expected = [&] {
    return "expected the " + described(inner) + " outside of the " + described(outer);
  };
  if (outer.isParallel() && inner.isParallel()) {
    auto coarse = positionIn(hierarchy, outer.level), fine = positionIn(hierarchy, inner.level);
    if (coarse.has_value() != fine.has_value())
      return "expected threads or the levels of a grid, got a " + described(outer) + " and a " +
             described(inner);
    if (coarse && *coarse > *fine)
      return expected();
  }
  if (outer.level == "vector" && inner.level == "vector")
    return "expected one vector, got one over '" + outer.names[0] + "' and one over '" +
           inner.names[0] + "'";
  if (auto last = positionIn(innermost, outer.level); last && outer.names == inner.names)
    if (auto next = positionIn(innermost, inner.level); *last > 0 || !next)
      return expected();
  return "";
}

/// Checks a stage and the loop that it is at. Returns "" or an error message.
static std::string verifyStage(const Stage &stage, const std::vector<Loop> &loops) {
  if (stage.at >= loops.size())
    return "expected a stage at a loop below " + std::to_string(loops.size()) + ", got " +
           std::to_string(stage.at);
  const Loop &at = loops[stage.at];
  if (!at.isParallel() && !at.isSequential())
    return "expected a stage at a parallel or sequential loop, got the " + described(at);
  if (stage.buffers < 1)
    return "expected at least 1 buffer for a stage, got " + std::to_string(stage.buffers);
  if (stage.level != "shared")
    return "";
  bool inBlock = false;
  for (unsigned i = 0; i <= stage.at; ++i) {
    inBlock |= loops[i].level == "block";
    if (loops[i].level == "warp" || loops[i].level == "lane")
      return "expected a stage in shared memory outside of the " + described(loops[i]) +
             ", got one at the " + described(at);
  }
  return inBlock ? ""
                 : "expected a stage in shared memory inside of a block, got one at the " +
                       described(at);
}

std::string Schedule::verify(const std::set<std::string> &produced,
                             const std::set<std::string> &reduced) const {
  std::map<std::vector<std::string>, int64_t> tiles; // the step of the last loop over a group
  std::map<std::string, std::vector<std::string>> groupOf;
  int64_t unrolled = 1;
  if (partial && !stages.empty())
    return "expected no stages in a partial schedule, got " + std::to_string(stages.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop &loop = loops[i];
    if (loop.names.empty())
      return "expected a name after '" + loop.level + "'";
    std::string message = verifyLevel(loop);
    if (message.empty())
      message = verifyNames(loop, produced, reduced);
    for (size_t outer = 0; outer < i && message.empty(); ++outer)
      message = verifyOrder(loops[outer], loop);
    if (!message.empty())
      return message;
    if (partial && loop.level != "vector")
      return "expected no loop but a vector in a partial schedule, got the " + described(loop);
    for (const std::string &name : loop.names) {
      auto [known, isNew] = groupOf.emplace(name, loop.names);
      if (!isNew && known->second != loop.names)
        return "the name '" + name + "' is in loops over different names, (" +
               listed(known->second) + ") and (" + listed(loop.names) + ")";
    }
    auto tile = tiles.emplace(loop.names, loop.step).first;
    if (tile->second % loop.step != 0)
      return "expected a step for '" + loop.names[0] + "' that divides the tile of " +
             std::to_string(tile->second) + ", got " + std::to_string(loop.step);
    tile->second = loop.step;
    unrolled *= std::min(loop.unroll, mostUnrolled + 1);
    if (unrolled > mostUnrolled)
      return "expected unroll factors whose product is at most " + std::to_string(mostUnrolled) +
             ", got more with the " + described(loop);
  }
  for (const auto &[group, step] : tiles)
    if (step != 1)
      return "expected the last loop over '" + group[0] + "' to have step 1, got " +
             std::to_string(step);
  for (const Stage &stage : stages)
    if (std::string message = verifyStage(stage, loops); !message.empty())
      return message;
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
  auto mixLoops = [&](const std::vector<Loop> &loops) {
    for (const Loop &loop : loops) {
      mix(text(loop.level));
      for (const std::string &name : loop.names)
        mix(text(name));
      mix(size_t(loop.step));
      mix(size_t(loop.unroll));
    }
  };
  mixLoops(loops);
  for (const Stage &stage : stages) {
    mix(stage.operand);
    mix(stage.at);
    mix(text(stage.layout.str()));
    mixLoops(stage.copy);
    mix(stage.buffers);
    mix(text(stage.level));
    mix(text(stage.engine));
  }
  return seed;
}
