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

namespace heddle {

/// Runs `body` on each rank of a new job, whose tensors `engine` moves ("": shm), with `threads`
/// each (0: the cores are shared). Returns when all have ended; throws the error of the first rank
/// that has one.
void onLocalRanks(int ranks, int threads, const std::string &engine,
                  const std::function<void(const std::shared_ptr<Job> &)> &body);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_LOCALRANKS_H
