//===- Communicator.h - ranks that exchange data ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C++ side of Collectives.h: opens an engine by name, and owns contexts and operations.
//
//     Communicator world(openEngine("shm"),
//                        {.rank = rank, .size = 2, .key = key, .directory = tmp});
//     Group data = world.group("data");
//     Pending sum = data.allReduce(x, x, 1000, ElementType::BF16, Combiner::Sum);
//     ...                                              // other work
//     sum.wait();                                      // throws CollectiveError
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_COMMUNICATOR_H
#define HEDDLE_RUNTIME_COLLECTIVES_COMMUNICATOR_H

#include "heddle/ElementType.h"
#include "heddle/Error.h"
#include "runtime/collectives/Collectives.h"
#include "runtime/format/Communication.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heddle {

/// The engine called `name`: libheddle_collectives_NAME.so in $HEDDLE_ENGINES (folders separated by
/// colons), beside this library, or where dlopen finds it. It is never closed. Throws Error; for an
/// unknown name the message lists the known ones.
const HeddleCollectives &openEngine(const std::string &name);
/// The names of the engines that are installed, sorted.
std::vector<std::string> engineNames();

/// The failure of an operation between ranks.
class CollectiveError : public Error {
public:
  CollectiveError(int32_t status, const std::string &message) : Error(message), status(status) {}
  const int32_t status; ///< HEDDLE_TIMEOUT, ...
};

using Combiner = CommunicationSpec::Combiner;

/// An operation that was started. Do not use its buffers before `wait`. The destructor waits, and
/// ignores failures.
class Pending {
public:
  Pending(const HeddleCollectives &engine, HeddlePending *pending) : pending(pending, {&engine}) {}
  /// Throws CollectiveError if it failed. `seconds`: the timeout; negative: the context's.
  void wait(double seconds = -1);

private:
  struct Waiter {
    const HeddleCollectives *engine;
    void operator()(HeddlePending *pending) const { engine->wait(pending, -1); }
  };
  std::unique_ptr<HeddlePending, Waiter> pending;
};

/// Ranks that call operations together. Counts are numbers of elements; Collectives.h defines the
/// operations. A group must not outlive its communicator.
class Group {
public:
  using Counts = std::span<const int64_t>;

  int32_t size() const { return int32_t(ranks.size()); }
  /// The position of this rank among the members.
  int32_t member() const { return self; }
  const std::vector<int32_t> &members() const { return ranks; }
  /// The same group, but a thread of the engine moves the data of its operations while the caller
  /// computes.
  Group overlapping() const {
    Group other = *this;
    other.overlapped = 1;
    return other;
  }

  Pending barrier() const { return start({.kind = HEDDLE_BARRIER}); }
  Pending allReduce(const void *input, void *output, int64_t count, ElementType type,
                    Combiner combiner) const {
    return start({.kind = HEDDLE_ALL_REDUCE, .combiner = int32_t(combiner), .counts = &count}, type,
                 input, output);
  }
  Pending reduceScatter(const void *input, void *output, Counts counts, ElementType type,
                        Combiner combiner) const {
    return start(
        {.kind = HEDDLE_REDUCE_SCATTER, .combiner = int32_t(combiner), .counts = ofMembers(counts)},
        type, input, output);
  }
  Pending allGather(const void *input, void *output, Counts counts, ElementType type) const {
    return start({.kind = HEDDLE_ALL_GATHER, .counts = ofMembers(counts)}, type, input, output);
  }
  Pending allToAll(const void *input, Counts inputCounts, void *output, Counts outputCounts,
                   ElementType type) const {
    return start({.kind = HEDDLE_ALL_TO_ALL,
                  .counts = ofMembers(inputCounts),
                  .outputCounts = ofMembers(outputCounts)},
                 type, input, output);
  }
  Pending permute(const void *input, int64_t inputCount, int32_t target, void *output,
                  int64_t outputCount, int32_t source, ElementType type) const {
    return start({.kind = HEDDLE_PERMUTE,
                  .source = source,
                  .target = target,
                  .counts = &inputCount,
                  .outputCounts = &outputCount},
                 type, input, output);
  }
  Pending broadcast(const void *input, void *output, int64_t count, int32_t source,
                    ElementType type) const {
    return start({.kind = HEDDLE_BROADCAST, .source = source, .counts = &count}, type, input,
                 output);
  }
  Pending send(const void *input, int64_t count, int32_t target, ElementType type) const {
    return start({.kind = HEDDLE_SEND, .target = target, .counts = &count}, type, input, nullptr);
  }
  Pending receive(void *output, int64_t count, int32_t source, ElementType type) const {
    return start({.kind = HEDDLE_RECEIVE, .source = source, .counts = &count}, type, nullptr,
                 output);
  }
  /// Starts any operation. Throws CollectiveError if it can't be started.
  Pending start(HeddleOperation operation) const;

private:
  friend class Communicator;
  Group(const HeddleCollectives &engine, HeddleGroup *group, std::vector<int32_t> ranks,
        int32_t self)
      : engine(&engine), group(group), ranks(std::move(ranks)), self(self) {}
  const HeddleCollectives *engine;
  HeddleGroup *group;
  std::vector<int32_t> ranks;
  int32_t self;
  int32_t overlapped = 0;

  Pending start(HeddleOperation operation, ElementType type, const void *input,
                void *output) const {
    operation.element = int32_t(type);
    operation.input = input;
    operation.output = output;
    return start(operation);
  }
  const int64_t *ofMembers(Counts counts) const;
};

/// This rank's connection to all others.
class Communicator {
public:
  /// Joins the other ranks. Throws CollectiveError.
  Communicator(const HeddleCollectives &engine, const HeddleWorld &world);
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  int32_t rank() const { return engine.rank(context); }
  int32_t size() const { return engine.size(context); }
  /// A group of `ranks`, or of all. Each of these ranks calls it.
  Group group(const std::string &name, std::span<const int32_t> ranks = {});
  /// Fails all operations of all ranks with this reason. Any thread may call it.
  void abort(const std::string &reason) { engine.abort(context, reason.c_str()); }

private:
  const HeddleCollectives &engine;
  HeddleContext *context = nullptr;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_COLLECTIVES_COMMUNICATOR_H
