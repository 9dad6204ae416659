//===- ControlChannel.h - messages between the ranks of a job ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A control channel carries small messages between the processes of a job, separate from the engine
// that moves tensors: membership, values by name, which call comes next, and failures.
//
//     auto channel = ControlChannel::join(findRank());    // waits until all ranks have joined
//     channel->put("address/" + std::to_string(channel->rank()), mine);
//     std::string other = channel->get("address/0");      // waits until rank 0 has put it
//     channel->onAbort([&](const Failure &failure) { engine.abort(failure.describe()); });
//     channel->agree({{"entry", "'train'"}, {"size N", "64"}});
//     channel->leave();
//
// After the first failure of any rank (FailureRecord.h), functions that wait throw JobError on all
// ranks. A failure is an error in a step of a program, a call of `fail`, a process that ended or
// hangs, or a rank that makes a different call. The process itself survives.
//
// A channel has one thread, which reads, sends heartbeats, and runs the server if there is no
// launcher. Any thread may call its functions. A child of `fork` can't use it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_CONTROLCHANNEL_H
#define HEDDLE_RUNTIME_CONTROL_CONTROLCHANNEL_H

#include "runtime/control/Agreement.h"
#include "runtime/control/FailureRecord.h"
#include "runtime/control/FindRank.h"

#include <functional>
#include <memory>
#include <vector>

namespace heddle {

class ControlChannel {
public:
  /// Joins the job that `info` describes. Throws Error if the server can't be reached or started,
  /// or refuses this process; JobError, which names the missing ranks, if some do not join in time.
  static std::shared_ptr<ControlChannel> join(const RankInfo &info);
  /// Leaves the job. If an exception is ending the scope, the other ranks get a failure instead.
  ~ControlChannel();
  ControlChannel(const ControlChannel &) = delete;
  ControlChannel &operator=(const ControlChannel &) = delete;

  int rank() const;
  int size() const { return int(members().size()); }
  /// All ranks, in order.
  const std::vector<Member> &members() const;

  /// Stores a value for all ranks; with `readers`, until that many ranks have read it. Throws Error
  /// if the key has another value already, or if the value is larger than 64 MiB.
  void put(const std::string &key, std::string_view value, int readers = 0);
  /// The value of a key; waits until a rank has stored it. Throws Error after the job's timeout, or
  /// after `timeout`.
  std::string get(const std::string &key, std::optional<std::chrono::milliseconds> timeout = {});

  /// Returns when all ranks have made this call with the same values. The job fails if a value
  /// differs (the failure names the value and both ranks), if a rank has left, or if one does not
  /// call within the timeout. Only values that two ranks both state are compared. Calls are
  /// numbered; a rank makes one at a time.
  void agree(const Agreement &values);

  /// Reports to all ranks that this one has failed, with the error and the op.
  void fail(const std::string &reason, const std::string &entry = "", const std::string &step = "",
            const std::string &location = "");
  /// The first failure of the job that this rank knows of, or learns of within `wait`.
  std::optional<Failure> failure(std::chrono::milliseconds wait = {}) const;
  using AbortCallback = std::function<void(const Failure &)>;
  /// Calls the function once, on another thread, when the job fails; immediately if it has failed.
  /// It must not throw, nor wait for this channel. Returns a number for `removeAbortCallback`.
  int onAbort(AbortCallback callback);
  /// Once this returns, the function is not running and will not run.
  void removeAbortCallback(int number);

  /// Leaves the job. If rank 0 runs the server, it waits, at most for the timeout, until all others
  /// have left or failed.
  void leave();

private:
  class State;
  std::unique_ptr<State> state;
  explicit ControlChannel(std::unique_ptr<State> state);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_CONTROLCHANNEL_H
