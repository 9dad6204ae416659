//===- LocalRanks.h - ranks that are threads of a process -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a job may be threads of one process, without a launcher: for tests and experiments.
//
//     onLocalRanks(2, 1, "shm", [&](const std::shared_ptr<Job> &job) {
//       program->run("train", blocksOf(job->rank()), {.job = job});
//     });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_LOCALRANKS_H
#define HEDDLE_RUNTIME_PROGRAM_LOCALRANKS_H

#include "runtime/control/Job.h"
#include "runtime/program/Program.h"

namespace heddle {

/// Runs `body` on each rank of a new job. `engine` moves tensors ("": shm); each rank has `threads`
/// threads (0: the cores are divided). Returns when all have ended; rethrows the first error that
/// is a rank's own, else the first JobError. Throws Error for more than 1,024 ranks, or if the
/// threads can't be started.
void onLocalRanks(int ranks, int threads, const std::string &engine,
                  const std::function<void(const std::shared_ptr<Job> &)> &body);

/// Calls the entry for this rank's role with this rank's shards of the arguments; returns its
/// shards of the results.
using BlockCall = std::function<std::vector<TensorRef>(
    const EntrySpec &entry, std::vector<TensorRef> blocks, const CallOptions &how)>;

/// Calls an entry of a program for several ranks on whole tensors, with all ranks in this process.
/// Returns whole results, row-major over the sorted names; of replicated shards that of the last
/// rank is used. Throws as `onLocalRanks` and `CallShards` do.
std::vector<TensorRef> callOnLocalRanks(Program &program, const EntrySpec &entry,
                                        const std::vector<TensorRef> &whole, int threads,
                                        const std::string &engine, const BlockCall &call);
/// The same for one rank of a job; the other ranks call it too.
std::vector<TensorRef> callAsRank(Program &program, const EntrySpec &entry,
                                  const std::vector<TensorRef> &whole,
                                  const std::shared_ptr<Job> &job, const BlockCall &call);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_LOCALRANKS_H
