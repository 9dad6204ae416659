//===- Context.h - a rank's end of its connections --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context moves the data of its operations when a thread starts one or waits for one. If the
// caller computes in between (`HeddleOperation::overlapped`), a helper thread of the context moves
// it; the helper sleeps unless data arrives.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_ENGINE_CONTEXT_H
#define HEDDLE_RUNTIME_COLLECTIVES_ENGINE_CONTEXT_H

#include "runtime/collectives/engine/CollectivePhases.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

struct HeddleContext {
  using Failure = heddle::collectives::Failure;

  /// Throws Failure.
  explicit HeddleContext(heddle::collectives::World &world);
  ~HeddleContext();

  HeddleGroup *group(const char *name, const int32_t *ranks, int32_t count);
  HeddlePending *start(HeddleGroup &group, const HeddleOperation &call,
                       const std::string &title = "");
  void wait(HeddlePending *operation, double seconds);
  void abort(const char *reason);

  const std::unique_ptr<heddle::collectives::Transport> transport;

private:
  const double timeout; ///< in seconds
  std::mutex mutex;
  std::unique_ptr<HeddleGroup> world; ///< all ranks; used to create groups
  std::vector<std::unique_ptr<HeddleGroup>> groups;
  std::vector<heddle::collectives::Lane *> active; ///< lanes with operations
  std::vector<std::unique_ptr<HeddlePending>> spare;
  std::optional<Failure> failure;

  std::atomic<int> waiting{0}; ///< threads
  int overlapped = 0;          ///< operations under way that the helper moves
  bool ends = false;
  std::condition_variable change;
  std::thread helper;

  std::unique_ptr<HeddleGroup> makeGroup(const char *name, std::vector<int32_t> ranks,
                                         int64_t number);
  int64_t agree(const char *name, const std::vector<int32_t> &ranks);
  void transfer(int32_t kind, int32_t other, void *data, int64_t bytes, const std::string &title);
  bool hear();
  bool progress();
  void fail(const Failure &cause, bool tell = true);
  [[noreturn]] void throwFailure(const HeddlePending &operation) const;
  void sleepUntil(HeddlePending &operation, double seconds);
  void examine(HeddlePending &operation, double seconds);
  void help();
};

#endif // HEDDLE_RUNTIME_COLLECTIVES_ENGINE_CONTEXT_H
