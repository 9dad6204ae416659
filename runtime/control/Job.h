//===- Job.h - the job that this process is a rank of -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job is a number of processes, the ranks, that run the same programs on parts of the data:
//
//     auto job = Job::join();                  // one rank, unless a launcher has started several
//     CallOptions options{.job = job};
//     program->run("train", {{"batch", mine[job->rank()]}}, options);
//
// Before each call the ranks compare which program, entry and sizes they have. If a rank fails, the
// running call of every other rank ends with an ExecutionError that names the rank, the op and its
// source location; what was donated to the call is lost, and the process lives.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_JOB_H
#define HEDDLE_RUNTIME_CONTROL_JOB_H

#include "runtime/control/ControlChannel.h"
#include "runtime/device/ThreadTeam.h"

namespace heddle {

class Transport;

class Job {
public:
  /// Waits until all ranks are there. Throws Error as `findRank` and `ControlChannel::join` do.
  static std::shared_ptr<Job> join(const RankInfo &info = findRank());

  int rank() const { return found.rank; }
  int ranks() const { return found.ranks; }
  const RankInfo &info() const { return found; }
  /// Null in a job of one rank.
  ControlChannel *channel() const { return control.get(); }

  /// The threads that run this rank's calls. Ranks of one process have teams of their own, since a
  /// call of one may wait for a call of another.
  const std::shared_ptr<ThreadTeam> &team() const { return threads; }

  /// Runs the steps that communicate; null: programs that have such steps are refused. It is
  /// aborted when the job fails. Set it before the first call.
  const std::shared_ptr<Transport> &transport() const { return moves; }
  void setTransport(std::shared_ptr<Transport> transport);
  ~Job();

  /// Returns the `mine` of each rank, in the order of ranks. All ranks call it, between the same calls
  /// of programs, with the same `what`, which is for messages. If it returns on one rank it does on all:
  /// no failure of a rank that has returned keeps the values from others. Throws JobError, or Error
  /// that names a rank that does not come in time. With a limit ranks may come so much later than
  /// others; they compare `what` only at the end then.
  using Limit = std::optional<std::chrono::milliseconds>;
  std::vector<std::string> exchange(const std::string &what, std::string_view mine,
                                    Limit limit = {});
  /// The same for rank 0 alone; nothing on others.
  std::vector<std::string> collect(const std::string &what, std::string_view mine,
                                   Limit limit = {});

private:
  explicit Job(const RankInfo &info) : found(info) {}
  RankInfo found;
  std::shared_ptr<ThreadTeam> threads;
  std::shared_ptr<Transport> moves;
  int abortsTransport = 0;
  int64_t exchanges = 0; ///< so far
  std::shared_ptr<ControlChannel> control;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_JOB_H
