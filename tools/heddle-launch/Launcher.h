//===- Launcher.h - starts, watches and ends ranks --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launcher is one thread, which polls for signals, for the output of its ranks, and the sockets
// of the job's control server. It passes each rank its number, and where the server is, in the
// environment variables that runtime/control/FindRank.h describes. Each rank leads a process group,
// so that processes that it starts end with it.
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
  std::string engine;          ///< empty: as the environment says
  int timeout = 60, grace = 5; ///< in seconds
  bool pin = true, prefix = true;
  std::vector<std::string> command;
};

/// Runs the job to its end and returns its exit status. Throws Error if it can't be started.
int launch(const LaunchOptions &options);

/// Divides the CPUs that this process may use among `ranks` ranks: equal shares of whole cores. If
/// there are more ranks than CPUs, several ranks share a CPU.
std::vector<std::vector<int>> shareCpus(int ranks);

} // namespace heddle

#endif // HEDDLE_TOOLS_HEDDLE_LAUNCH_LAUNCHER_H
