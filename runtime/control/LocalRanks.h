//===- LocalRanks.h - ranks that are threads of a process -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job needs no launcher: its ranks may be threads of one process, for tests and to try things.
//
//     onLocalRanks(2, 1, "shm", [&](const std::shared_ptr<Job> &job) {
//       program->run("train", blocksOf(job->rank()), {.job = job});
//     });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_LOCALRANKS_H
#define HEDDLE_RUNTIME_CONTROL_LOCALRANKS_H

#include "runtime/control/Job.h"
#include "runtime/program/Program.h"

namespace heddle {

/// Runs `body` on each rank of a new job, whose tensors `engine` moves ("": shm), with `threads`
/// each (0: the cores are shared). Returns when all have ended; throws the error of the first rank
/// that has one of its own, else what the first has heard of another rank. Throws Error for more
/// than 1,024 ranks, or if their threads can't be had.
void onLocalRanks(int ranks, int threads, const std::string &engine,
                  const std::function<void(const std::shared_ptr<Job> &)> &body);

/// Calls an entry with this rank's blocks of its arguments; returns the blocks of its results. The
/// entry is that of the rank's role.
using BlockCall = std::function<std::vector<TensorRef>(
    const EntrySpec &entry, std::vector<TensorRef> blocks, const CallOptions &how)>;

/// Calls an entry of a program for several ranks on whole tensors, all ranks in this process, and
/// returns whole results, row-major over the sorted names. Of equal blocks that of the last rank
/// counts. Throws as `onLocalRanks` and `Placement` do.
std::vector<TensorRef> callOnLocalRanks(Program &program, const EntrySpec &entry,
                                        const std::vector<TensorRef> &whole, int threads,
                                        const std::string &engine, const BlockCall &call);
/// The same by one rank of a job, which the others call as well.
std::vector<TensorRef> callAsRank(Program &program, const EntrySpec &entry,
                                  const std::vector<TensorRef> &whole,
                                  const std::shared_ptr<Job> &job, const BlockCall &call);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_LOCALRANKS_H
