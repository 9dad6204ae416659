//===- EngineTransport.cpp - an engine runs a job's steps -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/control/EngineTransport.h"

#include "runtime/collectives/Communicator.h"
#include "runtime/control/JobTransport.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <unistd.h>

using namespace heddle;

static_assert(int(CommunicationSpec::Kind::Barrier) == HEDDLE_BARRIER &&
                  int(CommunicationSpec::Kind::ReduceScatter) == HEDDLE_REDUCE_SCATTER &&
                  int(CommunicationSpec::Kind::AllToAll) == HEDDLE_ALL_TO_ALL &&
                  int(CommunicationSpec::Kind::Receive) == HEDDLE_RECEIVE,
              "kinds have the numbers that engines use");
static_assert(int(CommunicationSpec::Combiner::Sum) == HEDDLE_SUM &&
                  int(CommunicationSpec::Combiner::Min) == HEDDLE_MIN,
              "combiners have the numbers that engines use");

namespace {
class EngineTransport : public JobTransport {
public:
  EngineTransport(Job &job, const HeddleCollectives &engine, const std::string &options)
      : channel(job.channel()), self(job.rank()), ranks(job.ranks()),
        world(engine, worldOf(options)) {}

  std::unique_ptr<Pending> start(const Operation &operation) override {
    if (!operation.others.empty())
      return startBucket(operation);
    return std::make_unique<Started>(begin(operation));
  }
  void abort(const std::string &reason) override { world.abort(reason); }

private:
  struct Started : Pending {
    heddle::Pending pending;
    explicit Started(heddle::Pending pending) : pending(std::move(pending)) {}
    void wait() override { pending.wait(); }
  };
  /// Values that are moved together, packed into one buffer.
  struct Bucket : Pending {
    struct Piece {
      void *output;
      size_t begin, bytes;
    };
    std::vector<Piece> pieces;
    std::vector<char> buffer;
    std::optional<heddle::Pending> pending;
    void wait() override {
      pending->wait();
      for (const Piece &piece : pieces)
        std::memcpy(piece.output, buffer.data() + piece.begin, piece.bytes);
    }
  };

  std::unique_ptr<Pending> startBucket(const Operation &operation) {
    auto bucket = std::make_unique<Bucket>();
    auto width = size_t(byteSize(operation.spec->element));
    size_t bytes = 0;
    for (int64_t count : operation.counts)
      bytes += size_t(count) * width;
    bucket->buffer.resize(bytes);
    auto add = [&, at = size_t(0), i = size_t(0)](const void *input, void *output) mutable {
      bucket->pieces.push_back({output, at, size_t(operation.counts[i++]) * width});
      std::memcpy(bucket->buffer.data() + at, input, bucket->pieces.back().bytes);
      at += bucket->pieces.back().bytes;
    };
    add(operation.input, operation.output);
    for (auto [input, output] : operation.others)
      add(input, output);
    Operation whole = operation;
    whole.counts = {int64_t(bytes / width)};
    whole.input = whole.output = bucket->buffer.data();
    bucket->pending.emplace(begin(whole));
    return bucket;
  }

  heddle::Pending begin(const Operation &operation) {
    HeddleOperation made{.kind = int32_t(operation.spec->kind),
                         .combiner = int32_t(operation.spec->combiner),
                         .element = int32_t(operation.spec->element),
                         .source = int32_t(operation.source),
                         .target = int32_t(operation.target),
                         .input = operation.input,
                         .output = operation.output,
                         .counts = operation.counts.data(),
                         .outputCounts = operation.outputCounts.data(),
                         .overlapped = operation.overlapped};
    return groupOf(operation).start(made);
  }

  ControlChannel *channel; ///< exchanges the engine's addresses
  int32_t self, ranks;
  int exchanges = 0;
  std::string key;
  Communicator world;
  static inline std::atomic<int> opened{0};
  std::mutex mutex; ///< guards the groups
  std::map<std::vector<int32_t>, Group> groups;

  HeddleWorld worldOf(const std::string &options) {
    HeddleWorld made{.rank = self, .size = ranks};
    if (channel) {
      // Distinguishes the jobs of one process.
      if (self == 0)
        channel->put("engine", std::to_string(getpid()) + "-" + std::to_string(++opened));
      key = channel->get("engine");
      made.exchange = [](void *user, const void *mine, int64_t bytes, void *all) -> int32_t {
        return static_cast<EngineTransport *>(user)->exchange(mine, bytes, all);
      };
    }
    made.key = key.c_str();
    made.user = this;
    made.options = options.empty() ? nullptr : options.c_str();
    return made;
  }

  int32_t exchange(const void *mine, int64_t bytes, void *all) noexcept try {
    std::string key = "engine/" + std::to_string(exchanges++) + "/";
    channel->put(key + std::to_string(self), {static_cast<const char *>(mine), size_t(bytes)},
                 ranks);
    for (int32_t r = 0; r < ranks; ++r) {
      std::string theirs = channel->get(key + std::to_string(r));
      if (theirs.size() != size_t(bytes))
        return 1;
      std::memcpy(static_cast<char *>(all) + r * bytes, theirs.data(), size_t(bytes));
    }
    return 0;
  } catch (const std::exception &) {
    return 1; // the channel reports the reason
  }

  const Group &groupOf(const Operation &operation) {
    std::lock_guard lock(mutex);
    auto found = groups.find(operation.group);
    if (found == groups.end()) {
      std::string name;
      for (const AxisPart &axis : operation.spec->axes)
        name += (name.empty() ? "" : ",") + axis.str();
      found = groups.emplace(operation.group, world.group(name, operation.group)).first;
    }
    return found->second;
  }
};
} // namespace

/// An engine's timeout is that of the job, unless its options set one.
static std::string withTimeout(const std::string &options, std::chrono::milliseconds timeout) {
  if (options.starts_with("timeout=") || options.find(",timeout=") != std::string::npos)
    return options;
  std::string fraction = std::to_string(1000 + timeout.count() % 1000).substr(1);
  return options + (options.empty() ? "timeout=" : ",timeout=") +
         std::to_string(timeout.count() / 1000) + "." + fraction;
}

void heddle::useEngine(Job &job, const std::string &name, const std::string &options) {
  const std::string &chosen = !name.empty()               ? name
                              : job.info().engine.empty() ? std::string("shm")
                                                          : job.info().engine;
  try {
    job.setTransport(std::make_shared<EngineTransport>(job, openEngine(chosen),
                                                       withTimeout(options, job.info().timeout)));
  } catch (const Error &error) { // report to the other ranks and the launcher
    if (ControlChannel *channel = job.channel())
      channel->fail(error.what());
    throw;
  }
}
