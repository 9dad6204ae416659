//===- LocalRanks.cpp - ranks that are threads of a process ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/LocalRanks.h"

#include "runtime/control/EngineTransport.h"
#include "runtime/device/ThreadCount.h"
#include "runtime/program/CallShards.h"
#include "runtime/program/Gather.h"

#include <atomic>
#include <filesystem>
#include <thread>

using namespace heddle;

/// Each rank has at least two threads.
static constexpr int mostRanks = 1024;

namespace {
/// A folder with access for this user only, in which the ranks meet.
struct PrivateFolder {
  std::string path;
  PrivateFolder()
      : path((std::filesystem::temp_directory_path() / "heddle-ranks-XXXXXX").string()) {
    if (!mkdtemp(path.data()))
      throw Error("can't make the folder '" + path + "' for the ranks of a job");
  }
  ~PrivateFolder() { remove(); }
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};
} // namespace

/// Calls `body` for each rank: rank 0 on this thread, the others on new ones. No body begins until
/// all threads have started; if one can't be started, none begins, since it would wait for the
/// missing rank.
static void onThreads(int ranks, const std::function<void(int)> &body) {
  enum class Start : int { Waits, Begins, Fails };
  std::atomic<Start> start{Start::Waits};
  std::vector<std::thread> others;
  std::string reason;
  try {
    for (int rank = 1; rank < ranks; ++rank)
      others.emplace_back([&, rank] {
        start.wait(Start::Waits);
        if (start == Start::Begins)
          body(rank);
      });
    start = Start::Begins;
  } catch (const std::exception &error) { // std::system_error if memory or threads run out
    start = Start::Fails;
    reason = error.what();
  }
  start.notify_all();
  bool begins = start == Start::Begins;
  if (begins)
    body(0);
  for (std::thread &other : others)
    other.join();
  if (!begins)
    throw Error("can't start rank " + std::to_string(others.size() + 1) + " of " +
                std::to_string(ranks) + " as a thread of this process: " + reason);
}

static bool isOfTheJob(const std::exception_ptr &error) {
  try {
    std::rethrow_exception(error);
  } catch (const JobError &) {
    return true;
  } catch (...) {
    return false;
  }
}

/// Rethrows the first error that is a rank's own; if there is none, the first JobError.
static void throwFirst(const std::vector<std::exception_ptr> &errors) {
  for (bool heard : {false, true})
    for (const std::exception_ptr &error : errors)
      if (error && isOfTheJob(error) == heard)
        std::rethrow_exception(error);
}

void heddle::onLocalRanks(int ranks, int threads, const std::string &engine,
                          const std::function<void(const std::shared_ptr<Job> &)> &body) {
  if (ranks > mostRanks)
    throw Error("expected at most " + std::to_string(mostRanks) + " ranks in one process, got " +
                std::to_string(ranks) + ": start them as processes, by heddle-launch -n " +
                std::to_string(ranks));
  PrivateFolder folder;
  RankInfo info;
  info.ranks = info.localRanks = ranks;
  info.control = "file:" + folder.path + "/control";
  info.threads = threads > 0
                     ? threads
                     : statedThreads().value_or(std::max(1, availableCores() / std::max(1, ranks)));
  std::vector<std::exception_ptr> errors(static_cast<size_t>(ranks));
  onThreads(ranks, [&](int rank) {
    try {
      RankInfo mine = info;
      mine.rank = mine.localRank = rank;
      std::shared_ptr<Job> job = Job::join(mine);
      if (rank == 0)
        folder.remove(); // all have joined; nothing is left behind if the process is killed later
      useEngine(*job, engine);
      body(job);
    } catch (...) {
      errors[size_t(rank)] = std::current_exception();
    }
  });
  throwFirst(errors);
}

//===----------------------------------------------------------------------===//
// Calls on whole tensors
//===----------------------------------------------------------------------===//

static CallShards callShardsOf(const Program &program, const EntrySpec &entry,
                               const std::vector<TensorRef> &whole) {
  std::vector<const TensorSpec *> types;
  for (const TensorRef &tensor : whole)
    types.push_back(&tensor->spec());
  return CallShards(program.manifest(), entry, types);
}

/// Calls the entry for the rank's role.
static std::vector<TensorRef> callOnBlocks(const Program &program, const EntrySpec &entry,
                                           const std::vector<TensorRef> &whole,
                                           const std::shared_ptr<Job> &job, const BlockCall &call) {
  const EntrySpec &mine = program.entry(entry.name, job->rank());
  CallShards placed = callShardsOf(program, mine, whole);
  std::vector<TensorRef> blocks;
  for (size_t i = 0; i < whole.size(); ++i)
    blocks.push_back(placed.arguments[i].cut(*whole[i], job->rank()));
  CallOptions how;
  how.job = job;
  how.supplied = placed.supplied;
  return call(mine, std::move(blocks), how);
}

std::vector<TensorRef> heddle::callAsRank(Program &program, const EntrySpec &entry,
                                          const std::vector<TensorRef> &whole,
                                          const std::shared_ptr<Job> &job, const BlockCall &call) {
  CallShards placed = callShardsOf(program, entry, whole);
  std::vector<TensorRef> results = callOnBlocks(program, entry, whole, job, call);
  for (size_t r = 0; r < results.size(); ++r)
    results[r] = gather(*job, placed.results[r], *results[r],
                        "'" + entry.values[size_t(entry.results[r])].name + "'");
  return results;
}

std::vector<TensorRef> heddle::callOnLocalRanks(Program &program, const EntrySpec &entry,
                                                const std::vector<TensorRef> &whole, int threads,
                                                const std::string &engine, const BlockCall &call) {
  CallShards placed = callShardsOf(program, entry, whole);
  std::vector<std::vector<TensorRef>> blocks(size_t(program.manifest().mesh.ranks()));
  onLocalRanks(int(blocks.size()), threads, engine, [&](const std::shared_ptr<Job> &job) {
    blocks[size_t(job->rank())] = callOnBlocks(program, entry, whole, job, call);
  });
  std::vector<TensorRef> results;
  for (size_t r = 0; r < placed.results.size(); ++r) {
    results.push_back(wholeTensor(placed.results[r], blocks[0][r]->spec().element));
    for (size_t rank = 0; rank < blocks.size(); ++rank)
      placed.results[r].put(*blocks[rank][r], int64_t(rank), *results[r]);
  }
  return results;
}
