//===- Process.h - systems in separate processes ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A measured process prepares its work and prints one line about itself. Then it answers each line
// "N" with the time in seconds of N runs. It exits at the end of its input.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_PEERS_PROCESS_H
#define HEDDLE_BENCH_PEERS_PROCESS_H

#include "bench/Bench.h"

#include <memory>

namespace heddle::bench {

class Process {
public:
  /// Starts it. If the program does not exist, the process ends at once.
  explicit Process(const std::vector<std::string> &command);
  ~Process();
  Process(const Process &) = delete;
  Process &operator=(const Process &) = delete;

  /// Reads a line, without its line end; empty at the end of the output.
  std::string line();
  /// The time in seconds of `count` runs. Throws Error if the process has ended.
  double run(int64_t count);
  /// The processor time in seconds that the process has used.
  double processorSeconds() const;
  /// The process's peak memory so far, in bytes; -1 if unknown.
  int64_t peakMemoryBytes() const;

private:
  pid_t child = -1;
  FILE *in = nullptr, *out = nullptr;
};

/// A system that runs in `process`, which has printed its line.
System systemOf(std::shared_ptr<Process> process, std::string name, bool peer);

/// Prefixes a peer's command so that its allocations are quick: with an allocator that keeps freed
/// memory (jemalloc, or $HEDDLE_PEER_JEMALLOC), and huge pages.
std::vector<std::string> tunedAllocation(std::vector<std::string> command);
/// $HEDDLE_PEER_PYTHON, or python3.
std::string peerPython();

} // namespace heddle::bench

#endif // HEDDLE_BENCH_PEERS_PROCESS_H
