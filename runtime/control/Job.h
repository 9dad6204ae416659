//===- Job.h - the job that this process is a rank of -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job is a set of processes, the ranks, that run the same programs on parts of the data:
//
//     auto job = Job::join();                  // one rank, unless a launcher has started several
//     CallOptions options{.job = job};
//     program->run("train", {{"batch", mine[job->rank()]}}, options);
//
// Before each call the ranks compare program, entry and sizes. If a rank fails, the running call of
// every other rank ends with an ExecutionError that names the rank, the op and its source location;
// tensors that were donated to the call are lost, but the process survives.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_JOB_H
#define HEDDLE_RUNTIME_CONTROL_JOB_H

#include "runtime/control/ControlChannel.h"
#include "runtime/device/ThreadTeam.h"

namespace heddle {

class JobTransport;

class Job {
public:
  /// Waits until all ranks have joined. Throws Error as `findRank` and `ControlChannel::join` do.
  static std::shared_ptr<Job> join(const RankInfo &info = findRank());

  int rank() const { return found.rank; }
  int ranks() const { return found.ranks; }
  const RankInfo &info() const { return found; }
  /// Null if the job has one rank.
  ControlChannel *channel() const { return control.get(); }

  /// The threads that run this rank's calls. Ranks of one process have separate teams, because a
  /// call of one rank may wait for a call of another.
  const std::shared_ptr<ThreadTeam> &team() const { return threads; }

  /// Runs the steps that communicate; null: programs with such steps are refused. It is aborted
  /// when the job fails. Set it before the first call.
  const std::shared_ptr<JobTransport> &transport() const { return moves; }
  void setTransport(std::shared_ptr<JobTransport> transport);
  ~Job();

  /// An all-gather of strings: returns the `mine` of each rank, in the order of ranks. All ranks
  /// call it, in the same order relative to calls of programs, with the same `what`, which is for
  /// messages. If it returns on one rank, it returns on all, even if a rank fails right after.
  /// Throws JobError, or Error that names a rank that does not call in time. `limit` replaces the
  /// job's timeout for slow ranks; `what` is then compared only at the end.
  using Limit = std::optional<std::chrono::milliseconds>;
  std::vector<std::string> exchange(const std::string &what, std::string_view mine,
                                    Limit limit = {});
  /// The same, but only rank 0 gets the values; other ranks get an empty list.
  std::vector<std::string> collect(const std::string &what, std::string_view mine,
                                   Limit limit = {});

private:
  explicit Job(const RankInfo &info) : found(info) {}
  RankInfo found;
  std::shared_ptr<ThreadTeam> threads;
  std::shared_ptr<JobTransport> moves;
  int abortsTransport = 0;
  int64_t exchanges = 0; ///< so far
  std::shared_ptr<ControlChannel> control;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_JOB_H
