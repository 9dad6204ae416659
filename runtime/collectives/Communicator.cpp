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

static void check(const HeddleCollectives &engine, int32_t status) {
  if (status != HEDDLE_OK)
    throw CollectiveError(status, engine.message());
}

Pending::~Pending() {
  if (pending)
    engine->wait(pending, -1);
}

void Pending::wait(double seconds) {
  if (HeddlePending *taken = std::exchange(pending, nullptr))
    check(*engine, engine->wait(taken, seconds));
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

Pending Group::barrier() const { return start({.kind = HEDDLE_BARRIER}); }

Pending Group::allReduce(const void *input, void *output, int64_t count, ElementType type,
                         Combiner combiner) const {
  return start({.kind = HEDDLE_ALL_REDUCE,
                .combiner = int32_t(combiner),
                .element = int32_t(type),
                .input = input,
                .output = output,
                .counts = &count});
}

Pending Group::reduceScatter(const void *input, void *output, Counts counts, ElementType type,
                             Combiner combiner) const {
  return start({.kind = HEDDLE_REDUCE_SCATTER,
                .combiner = int32_t(combiner),
                .element = int32_t(type),
                .input = input,
                .output = output,
                .counts = ofMembers(counts)});
}

Pending Group::allGather(const void *input, void *output, Counts counts, ElementType type) const {
  return start({.kind = HEDDLE_ALL_GATHER,
                .element = int32_t(type),
                .input = input,
                .output = output,
                .counts = ofMembers(counts)});
}

Pending Group::allToAll(const void *input, Counts inputCounts, void *output, Counts outputCounts,
                        ElementType type) const {
  return start({.kind = HEDDLE_ALL_TO_ALL,
                .element = int32_t(type),
                .input = input,
                .output = output,
                .counts = ofMembers(inputCounts),
                .outputCounts = ofMembers(outputCounts)});
}

Pending Group::permute(const void *input, int64_t inputCount, int32_t target, void *output,
                       int64_t outputCount, int32_t source, ElementType type) const {
  return start({.kind = HEDDLE_PERMUTE,
                .element = int32_t(type),
                .source = source,
                .target = target,
                .input = input,
                .output = output,
                .counts = &inputCount,
                .outputCounts = &outputCount});
}

Pending Group::broadcast(const void *input, void *output, int64_t count, int32_t source,
                         ElementType type) const {
  return start({.kind = HEDDLE_BROADCAST,
                .element = int32_t(type),
                .source = source,
                .input = input,
                .output = output,
                .counts = &count});
}

Pending Group::send(const void *input, int64_t count, int32_t target, ElementType type) const {
  return start({.kind = HEDDLE_SEND,
                .element = int32_t(type),
                .target = target,
                .input = input,
                .counts = &count});
}

Pending Group::receive(void *output, int64_t count, int32_t source, ElementType type) const {
  return start({.kind = HEDDLE_RECEIVE,
                .element = int32_t(type),
                .source = source,
                .output = output,
                .counts = &count});
}

const int64_t *Group::ofMembers(Counts counts) const {
  if (int64_t(counts.size()) != size())
    throw CollectiveError(HEDDLE_INVALID, "expected a count for each of " + std::to_string(size()) +
                                              " members, got " + std::to_string(counts.size()));
  return counts.data();
}
