//===- RunRanks.cpp - programs for several ranks ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "runtime/control/EngineTransport.h"
#include "runtime/control/LocalRanks.h"

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

std::vector<TensorRef> run::callOnRanks(Program &program, const EntrySpec &entry,
                                        const std::vector<TensorRef> &whole, const CallOptions &how,
                                        const Options &options) {
  auto call = [&](const EntrySpec &own, std::vector<TensorRef> blocks, const CallOptions &placed) {
    CallOptions mine = placed;
    mine.managed = how.managed;
    mine.profile = placed.job->rank() == 0 ? how.profile : nullptr;
    return repeat(program, own, blocks, mine, options);
  };
  if (std::shared_ptr<Job> job = jobOf(options))
    return callAsRank(program, entry, whole, job, call);
  int ranks = int(program.manifest().mesh.ranks());
  int threads = options.threads > 0 ? std::max(1, options.threads / ranks) : 0;
  return callOnLocalRanks(program, entry, whole, threads, options.engine, call);
}
