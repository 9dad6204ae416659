//===- ControlChannel.h - what the ranks of a job tell each other -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A control channel carries small messages between the processes of a job, beside the engine that
// moves tensors: who is there, values by name, which call comes next, and failures.
//
//     auto channel = ControlChannel::join(findRank());    // waits until all ranks are there
//     channel->put("address/" + std::to_string(channel->rank()), mine);
//     std::string other = channel->get("address/0");      // waits until rank 0 has put it
//     channel->onAbort([&](const Failure &failure) { engine.abort(failure.describe()); });
//     channel->agree({{"entry", "'train'"}, {"size N", "64"}});
//     channel->leave();
//
// After the first failure of any rank (Failure.h), functions that wait throw JobError on every
// rank: in a step of a program, in `fail`, a process that ended, hangs, or disagrees. The process
// lives on.
//
// A channel has one thread, which reads, sends heartbeats, and runs the server where there is no
// launcher. Any thread may call its functions. A child of `fork` has no part in it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_CONTROLCHANNEL_H
#define HEDDLE_RUNTIME_CONTROL_CONTROLCHANNEL_H

#include "runtime/control/Agreement.h"
#include "runtime/control/Failure.h"
#include "runtime/control/FindRank.h"

#include <functional>
#include <memory>
#include <vector>

namespace heddle {

class ControlChannel {
public:
  /// Joins the job that `info` describes. Throws Error if the server can't be reached or made, or
  /// refuses this process; JobError that names the ranks that have not joined in time.
  static std::shared_ptr<ControlChannel> join(const RankInfo &info);
  /// Leaves, unless an exception ends the scope: then the other ranks get a failure.
  ~ControlChannel();
  ControlChannel(const ControlChannel &) = delete;
  ControlChannel &operator=(const ControlChannel &) = delete;

  int rank() const;
  int size() const { return int(members().size()); }
  /// All ranks, in their order.
  const std::vector<Member> &members() const;

  /// Stores a value for all ranks; with `readers`, until it has been got so often. Throws Error if
  /// the key has another value already, or if the value is too large (64 MiB).
  void put(const std::string &key, std::string_view value, int readers = 0);
  /// The value of a key, as soon as a rank has stored it. Throws Error after the job's timeout, or
  /// the given one.
  std::string get(const std::string &key, std::optional<std::chrono::milliseconds> timeout = {});

  /// Returns when all ranks have come to this call with the same values. A difference is a failure
  /// of the job that names the value, and it on two ranks; so is a rank that has left, or that does
  /// not come within the timeout. A value that only one of two ranks states is no difference between
  /// them. Calls are numbered; a rank makes one at a time.
  void agree(const Agreement &values);

  /// Tells all ranks that this one has failed: the error, and of which op.
  void fail(const std::string &reason, const std::string &entry = "", const std::string &step = "",
            const std::string &location = "");
  /// The first failure of the job that this rank knows of, or hears of within `wait`.
  std::optional<Failure> failure(std::chrono::milliseconds wait = {}) const;
  using AbortCallback = std::function<void(const Failure &)>;
  /// Calls the function once, on another thread, if the job fails; at once if it has failed. It may
  /// not throw, nor wait for this channel. Returns a number for `removeAbortCallback`.
  int onAbort(AbortCallback callback);
  /// After it returns the function does not run any more.
  void removeAbortCallback(int number);

  /// Ends this rank's part. Rank 0 waits until all others have left or failed, for the timeout at
  /// most, if it runs the server.
  void leave();

private:
  class State;
  std::unique_ptr<State> state;
  explicit ControlChannel(std::unique_ptr<State> state);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_CONTROLCHANNEL_H
