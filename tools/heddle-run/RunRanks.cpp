//===- RunRanks.cpp - programs for several ranks ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "runtime/control/EngineTransport.h"
#include "runtime/control/Gather.h"
#include "runtime/control/LocalRanks.h"
#include "runtime/program/Placement.h"

using namespace heddle;
using namespace heddle::run;

std::shared_ptr<Job> run::jobOf(const Options &options) {
  static std::shared_ptr<Job> job = [&]() -> std::shared_ptr<Job> {
    RankInfo info = findRank();
    if (info.ranks == 1)
      return nullptr;
    if (options.threads > 0)
      info.threads = options.threads;
    auto made = Job::join(info);
    useEngine(*made, options.engine);
    return made;
  }();
  return job;
}

/// Runs an entry on this rank's blocks of the arguments.
static std::vector<TensorRef> runBlocks(Program &program, const EntrySpec &entry,
                                        const Placement &placed,
                                        const std::vector<TensorRef> &whole, CallOptions how,
                                        const Options &options) {
  std::vector<TensorRef> blocks;
  for (size_t i = 0; i < whole.size(); ++i)
    blocks.push_back(placed.arguments[i].cut(*whole[i], how.job->rank()));
  how.supplied = placed.supplied;
  how.team = nullptr; // that of the job
  if (how.job->rank() != 0)
    how.profile = nullptr;
  return repeat(program, entry, blocks, how, options);
}

std::vector<TensorRef> run::callOnRanks(Program &program, const EntrySpec &entry,
                                        const std::vector<TensorRef> &whole, CallOptions how,
                                        const Options &options) {
  std::vector<const TensorSpec *> types;
  for (const TensorRef &tensor : whole)
    types.push_back(&tensor->spec());
  Placement placed(program.manifest(), entry, types);
  auto wholeOf = [&](size_t result, const RuntimeTensor &block) {
    TensorSpec type{block.spec().element, {}};
    std::vector<std::string> names;
    for (const auto &[name, size] : placed.results[result].wholeSizes()) {
      type.dims.emplace(name, Expr(size));
      names.push_back(name);
    }
    return std::make_shared<RuntimeTensor>(type, Layout::rowMajor(names));
  };
  std::vector<TensorRef> results;
  if ((how.job = jobOf(options))) {
    auto blocks = runBlocks(program, entry, placed, whole, how, options);
    for (size_t r = 0; r < blocks.size(); ++r)
      results.push_back(gather(*how.job, placed.results[r], *blocks[r],
                               "'" + entry.values[size_t(entry.results[r])].name + "'"));
    return results;
  }
  auto ranks = size_t(program.manifest().mesh.ranks());
  std::vector<std::vector<TensorRef>> blocks(ranks);
  int threads = options.threads > 0 ? std::max(1, options.threads / int(ranks)) : 0;
  onLocalRanks(int(ranks), threads, options.engine, [&](const std::shared_ptr<Job> &job) {
    CallOptions mine = how;
    mine.job = job;
    blocks[size_t(job->rank())] = runBlocks(program, entry, placed, whole, mine, options);
  });
  for (size_t r = 0; r < blocks[0].size(); ++r) {
    results.push_back(wholeOf(r, *blocks[0][r]));
    for (size_t rank = 0; rank < ranks;
         ++rank) // of equal blocks the last counts, as in a simulation
      placed.results[r].put(*blocks[rank][r], int64_t(rank), *results.back());
  }
  return results;
}
