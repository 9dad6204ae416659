//===- Measure.h - the rates of this machine --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures what the cost model (lib/cost) needs: the clock, vector arithmetic, loads and stores,
// bandwidths of caches and memory, and a barrier of all threads. Each number is the best of many
// runs, since other programs can only slow a run down.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_HEDDLE_PROBE_MEASURE_H
#define HEDDLE_TOOLS_HEDDLE_PROBE_MEASURE_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::probe {

/// Sizes of the caches that a core uses, in bytes.
struct Caches {
  int64_t l1, l2, l3;
};

/// A bandwidth in bytes per second.
struct Bandwidth {
  std::string level;       ///< "l1", "l2", "l3", "memory"
  double one = 0, all = 0; ///< by one thread; by all at once
  double shortRuns = 0;    ///< by one thread, in runs of two cache lines at random places
};

struct Measured {
  int threads = 1;
  int64_t vectorBytes = 16;
  Caches caches{};                  ///< as far as they are effective
  double clock = 0;                 ///< cycles per second of one thread
  double flops = 0, flopsOfAll = 0; ///< f32 multiplications and additions per second
  double stores = 0;                ///< bytes per second, to L1
  std::vector<Bandwidth> loads;     ///< from L1, L2, L3, memory
  double barrier = 0, dispatch = 0; ///< seconds of a barrier and of an empty region of all threads

  /// The facts for `#nest.machine`, by key.
  std::vector<std::pair<std::string, double>> facts() const;
  /// The machine file (lib/target/MachineFile.h). `cpu`: the name of the CPU.
  std::string json(const std::string &cpu) const;
};

/// The number of measurements that `measure` makes, at most.
constexpr size_t measurements = 24;

/// Measures for about `seconds`. `caches` are those that the system reports; of a last level that
/// other machines share, only the part that this one gets counts. Calls `advance` after each
/// measurement.
Measured measure(int threads, const Caches &caches, double seconds,
                 const std::function<void()> &advance);

} // namespace heddle::probe

#endif // HEDDLE_TOOLS_HEDDLE_PROBE_MEASURE_H
