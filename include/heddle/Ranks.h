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
// Every rank makes the same calls of functions with a mesh, in the same order. If one fails, or does
// something else, the calls of all others end with an Error that names it.
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
  /// The job that this process is a rank of, by its environment. The first call waits until all
  /// ranks are there; later ones give the same job, which this process leaves when it ends. `engine`
  /// moves the tensors: "shm", "mpi", "net"; empty: what the launcher says, else "shm". Throws Error
  /// if the job can't be joined, for an unknown engine, and for another one than before.
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
