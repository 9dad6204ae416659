//===- RunRanks.cpp - programs for several ranks --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "lib/profile/MergedTrace.h"
#include "runtime/control/EngineTransport.h"
#include "runtime/program/LocalRanks.h"

#include <mutex>

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
    mine.profile = options.profileOf(placed.job->rank());
    return repeat(program, own, blocks, mine, options);
  };
  if (std::shared_ptr<Job> job = jobOf(options))
    return callAsRank(program, entry, whole, job, call);
  int ranks = int(program.manifest().mesh.ranks());
  int threads = options.threads > 0 ? std::max(1, options.threads / ranks) : 0;
  return callOnLocalRanks(program, entry, whole, threads, options.engine, call);
}

Profile *Options::profileOf(int rank) const {
  static std::mutex mutex; // ranks may be threads
  std::lock_guard lock(mutex);
  return profiles ? &(*profiles)[rank] : nullptr;
}

std::string run::timelineOf(const Options &options) {
  if (std::shared_ptr<Job> job = jobOf(options))
    return mergedTrace(*job, *options.profileOf(job->rank()));
  if (options.profiles->size() == 1)
    return options.profileOf(0)->chromeTrace();
  auto now = Profile::Clock::now();
  std::vector<std::string> events;
  for (auto &[rank, profile] : *options.profiles)
    events.push_back(profile.chromeEvents(rank, now));
  return Profile::joinTraces(events);
}
