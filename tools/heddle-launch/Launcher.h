//===- Launcher.h - starts, watches and ends ranks --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launcher is one thread that polls: the signals that it gets, the output of its ranks, and the
// sockets of the job's control server, which it runs. It tells ranks who they are by the variables
// that runtime/control/FindRank.h explains. Each rank leads a process group, so that what it starts
// ends with it.
//
//     a rank fails (exit status, signal, silence)
//       -> the control server tells the others          they report, and end
//       -> after `grace` seconds SIGTERM, then SIGKILL  those that did not
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_HEDDLE_LAUNCH_LAUNCHER_H
#define HEDDLE_TOOLS_HEDDLE_LAUNCH_LAUNCHER_H

#include <string>
#include <vector>

namespace heddle {

struct LaunchOptions {
  int ranks = 1;
  std::string engine;          ///< empty: what the environment says
  int timeout = 60, grace = 5; ///< in seconds
  bool pin = true, prefix = true;
  std::vector<std::string> command;
};

/// Runs the job to its end and returns its exit status. Throws Error if it can't be started.
int launch(const LaunchOptions &options);

/// The CPUs that each of `ranks` ranks gets of those that this process may use: equal shares of whole
/// cores. If there are more ranks than CPUs, some share one.
std::vector<std::vector<int>> shareCpus(int ranks);

} // namespace heddle

#endif // HEDDLE_TOOLS_HEDDLE_LAUNCH_LAUNCHER_H
