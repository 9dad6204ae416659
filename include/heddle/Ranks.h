//===- Ranks.h - the processes of a job -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job is a number of processes that run one program, the ranks. A launcher starts them:
//
//     heddle-launch -n 4 train            mpirun -n 4 train            srun -n 4 train
//
//     Ranks ranks = Ranks::join();        // 0 to 3 of 4; 0 of 1 without a launcher
//     auto step = jit(function, {.mesh = {{"data", ranks.size()}}, .rules = {"batch:data"}});
//     if (ranks.isFirst())
//       std::cout << "training on " << ranks.size() << " ranks\n";
//
// Every rank makes the same calls of functions with a mesh, in the same order. If one fails, or
// makes another call, the calls of all others throw an Error that names it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RANKS_H
#define HEDDLE_RANKS_H

#include "heddle/Error.h"

#include <memory>
#include <string>
#include <string_view>

namespace heddle {

class Job;

class Ranks {
public:
  /// One rank, this process.
  Ranks() = default;
  explicit Ranks(std::shared_ptr<Job> job) : of(std::move(job)) {}
  /// Joins the job that the launcher's environment variables describe. The first call waits for all
  /// ranks; later ones return the same job, which this process leaves when it exits. `engine` moves
  /// the tensors: "shm", "mpi" or "net"; empty: the launcher's, else "shm". Throws Error if the job
  /// can't be joined, and for an engine that is unknown or not the one of the first call.
  static Ranks join(std::string_view engine = "", Here here = Here::current());

  int rank() const;
  int size() const;
  bool isFirst() const { return rank() == 0; }
  /// Tells the other ranks that this one ends because of an error. Does nothing for one rank.
  void fail(const std::string &reason) const;

  const std::shared_ptr<Job> &job() const { return of; } ///< null: one rank

private:
  std::shared_ptr<Job> of;
};

} // namespace heddle

#endif // HEDDLE_RANKS_H
