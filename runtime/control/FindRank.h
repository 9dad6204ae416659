//===- FindRank.h - which rank of which job this process is -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program reads its rank from the environment that its launcher set:
//
//     heddle-launch -n 4 train        HEDDLE_RANK, HEDDLE_RANKS, HEDDLE_CONTROL, HEDDLE_JOB_KEY
//     mpirun -n 4 train               OMPI_COMM_WORLD_RANK, ... (Open MPI)
//     mpiexec -n 4 train              PMI_RANK, PMI_SIZE (MPICH, Intel MPI)
//     srun -n 4 train                 SLURM_PROCID, SLURM_STEP_NUM_TASKS, ...
//     train                           none of them: a job of one rank
//
// The first launcher in this list whose variables are set is used. With any of them HEDDLE_CONTROL
// may state where the ranks meet:
//
//     host:port      the server's address; rank 0 listens there, unless the launcher does
//     file:PATH      rank 0 listens at a free port and writes it, and the job's key, into this
//                    file, which all ranks can read
//
// Without it, ranks of one host meet by a file in a folder of the user in /tmp, and those of a
// Slurm job on several hosts at its first host. HEDDLE_JOB_KEY is a secret of 32 hexadecimal
// digits; the launcher passes on the options HEDDLE_ENGINE and HEDDLE_TIMEOUT (in seconds).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_FINDRANK_H
#define HEDDLE_RUNTIME_CONTROL_FINDRANK_H

#include "runtime/control/Frame.h"

#include <chrono>
#include <functional>
#include <string>

namespace heddle {

struct RankInfo {
  int rank = 0, ranks = 1;
  int localRank = 0, localRanks = 1; ///< among those of this host
  std::string source = {};           ///< "heddle-launch", "Open MPI", ...; empty: none, one rank
  std::string control = {};          ///< "host:port" or "file:PATH"; may be empty for one rank
  JobKey key = {};                   ///< not used with "file:PATH"
  bool launcherServes = false;       ///< heddle-launch runs the server, not rank 0
  int threads = 0;                   ///< of its team; 0: usualThreads()
  std::string engine = {};           ///< for tensors; empty: the program's choice
  /// How long a rank may be silent, and how long the others wait for it.
  std::chrono::milliseconds timeout{60000};

  bool severalHosts() const { return localRanks < ranks; }
};

/// The value of an environment variable; null if it is not set.
using Environment = std::function<const char *(const char *name)>;

/// Throws Error that names the variable if one of a set is missing or has an invalid value.
RankInfo findRank(const Environment &environment);
RankInfo findRank();
/// The folder in which the ranks of one host meet. Removing its last file removes it.
std::string meetingFolder();

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_FINDRANK_H
