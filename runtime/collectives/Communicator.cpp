//===- Communicator.cpp - ranks that exchange data ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/Communicator.h"

#include <algorithm>
#include <numeric>

using namespace heddle;

/// The message of the engine's last failure; if it has none, the status.
static std::string messageOf(const HeddleCollectives &engine, int32_t status) {
  const char *said = engine.message ? engine.message() : nullptr;
  if (said && *said)
    return said;
  static constexpr const char *words[] = {"ok",   "invalid", "mismatch", "timeout",
                                          "dead", "aborted", "failed"};
  bool isKnown = status > 0 && size_t(status) < std::size(words);
  return std::string("the engine '") + engine.name + "' failed with the status " +
         std::to_string(status) + (isKnown ? std::string(" (") + words[status] + ")" : "") +
         " and no message";
}

static void check(const HeddleCollectives &engine, int32_t status) {
  if (status != HEDDLE_OK)
    throw CollectiveError(status, messageOf(engine, status));
}

void Pending::wait(double seconds) {
  const HeddleCollectives &engine = *pending.get_deleter().engine;
  if (HeddlePending *taken = pending.release())
    check(engine, engine.wait(taken, seconds));
}

Communicator::Communicator(const HeddleCollectives &engine, const HeddleWorld &world)
    : engine(engine) {
  check(engine, engine.create(&world, &context));
}

Communicator::~Communicator() { engine.destroy(context); }

Group Communicator::group(const std::string &name, std::span<const int32_t> ranks) {
  std::vector<int32_t> list(ranks.begin(), ranks.end());
  if (ranks.data() == nullptr) {
    list.resize(size_t(size()));
    std::iota(list.begin(), list.end(), 0);
  }
  HeddleGroup *group = nullptr;
  check(engine, engine.group(context, name.c_str(), list.data(), int32_t(list.size()), &group));
  auto self = std::find(list.begin(), list.end(), rank()) - list.begin();
  return Group(engine, group, std::move(list), int32_t(self));
}

Pending Group::start(HeddleOperation operation) const {
  operation.overlapped |= overlapped;
  HeddlePending *pending = nullptr;
  check(*engine, engine->start(group, &operation, &pending));
  return Pending(*engine, pending);
}

const int64_t *Group::ofMembers(Counts counts) const {
  if (int64_t(counts.size()) != size())
    throw CollectiveError(HEDDLE_INVALID, "expected a count for each of " + std::to_string(size()) +
                                              " members, got " + std::to_string(counts.size()));
  return counts.data();
}
