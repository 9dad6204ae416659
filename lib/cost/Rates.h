//===- Rates.h - hardware rates of the cost models --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This table lists every hardware rate that a cost model uses: its name in C++, its key in
// `#nest.machine`, its default value, its unit, and a description. Cost models read all rates at
// once:
//
//     Rates rates = Rates::of(machine);                  // or Rates(): the nominal core
//     cycles += amounts.loads * rates.loadCycles;
//
// A target overrides a rate that it has measured (`Target::machine`). A module may do so too, for
// an experiment: `heddle.machine = #nest.machine<{load_cycles = 0.5}>`. Search limits are not
// rates; they are constants next to the search. No code outside of `lib/cost` and targets computes
// with a rate.
//
// In a program, other kernels run between two calls of a kernel, and displace its data from the
// caches. "cold_" rates say how much longer it takes there than alone, again and again; `warm`
// drops them.
//
// Sources of the numbers: those of nests are fitted together to measurements (`heddle-bench cost`,
// docs/cost.md). Those of chunks were found by `heddle-bench matmul conv capsule`. A barrier of two
// threads takes 0.3 us on a Zen 4 (`heddle-probe`), and the threads of larger machines take longer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_RATES_H
#define HEDDLE_LIB_COST_RATES_H

#include "dialects/nest/Nest.h"

// clang-format off
// RATE(member, key, value, unit, what it is)
#define HEDDLE_MACHINE_RATES(RATE)                                                                             \
  /* Threads. */                                                                                               \
  RATE(smallestChunk,    "smallest_chunk_cycles", 12000,  "cycles",      "work of the smallest chunk of a contraction") \
  RATE(chunkFlops,       "chunk_flops",            3e4,   "operations",  "of the smallest chunk of other nests") \
  RATE(smallWork,        "small_work_cycles",      4e6,   "cycles",      "work that is worth a second thread") \
  RATE(largeWork,        "large_work_cycles",      1e8,   "cycles",      "work that is worth many threads")    \
  RATE(barrierSeconds,   "barrier_seconds",       1e-6,   "seconds",     "of the longest serial step")         \
  /* Nests; fitted with `bench/cost`. Cycles are those of `cycles_per_second`. */      \
  RATE(clock,            "cycles_per_second",     2.6e9,  "1/second",    "of a core")                          \
  RATE(operationCycles,  "operation_cycles",  0.251,      "cycles",      "a simple vector operation")          \
  RATE(productCycles,    "product_cycles",    0.519,      "cycles",      "a multiply-add of vectors")          \
  RATE(callCycles,       "call_cycles",      54.9,        "cycles/lane", "a function in f64")                  \
  RATE(convertCycles,    "convert_cycles",  0.315,        "cycles",      "a vector that is widened or narrowed") \
  RATE(loadCycles,       "load_cycles",     0.00951,      "cycles",      "a load of a vector, or of a scalar to all lanes") \
  RATE(storeCycles,      "store_cycles",    0.55,         "cycles",      "a store of a vector")                \
  RATE(coldStore,        "cold_store_cycles", 2.65,       "cycles",      "more if other kernels displaced its line") \
  RATE(laneCycles,       "lane_cycles",     1.34,         "cycles/lane", "a lane that is loaded or stored alone") \
  RATE(missCycles,       "miss_cycles",       2.68,       "cycles/lane", "more for a lane whose line left the first cache") \
  RATE(rowCycles,        "row_cycles",        0.0316,     "cycles",      "a coordinate that is gathered")      \
  RATE(turnCycles,       "turn_cycles",      2.4,         "cycles/vector", "a transpose in registers")         \
  RATE(coldTurn,         "cold_turn_cycles", 5.03,        "cycles/vector", "more if other kernels displaced its lines") \
  RATE(spillCycles,      "spill_cycles",     1.91,        "cycles",      "an accumulator that is stored and loaded") \
  RATE(issueCycles,      "issue_cycles",    0.108,        "cycles",      "an instruction of any kind")         \
  RATE(chainPart,        "chain_part",       0.276,       "of a latency", "that is exposed")                   \
  RATE(exposedInCore,    "exposed_in_core", 0.575,        "of a time",   "in the core beside a longer one")    \
  RATE(enterLoopCycles,  "enter_loop_cycles", 0.0336,     "cycles",      "start of an innermost loop")         \
  RATE(startTileCycles,  "start_tile_cycles", 0.07,       "cycles",      "prologue and epilogue of a register tile") \
  RATE(stageCycles,      "stage_cycles",     4.96,        "cycles/vector", "of a staged copy")                 \
  RATE(dividedCycles,    "divided_cycles",  0.862,        "cycles",      "a vector that lies in two lines")    \
  RATE(crowdedLine,      "crowded_line_cycles", 0.171,    "cycles",      "a line that shares sets of the first cache") \
  RATE(hopStep,          "hop_step_cycles", 0.128,        "cycles",      "a step of a loop to another page")   \
  RATE(pageSearch,       "page_search_cycles", 3.35,      "cycles",      "a page that a core does not remember") \
  RATE(l2ByteCycles,     "l2_cycles_per_byte", 0.02,      "cycles/byte", "from L2")                            \
  RATE(coldL2Byte,       "cold_l2_cycles_per_byte", 0.0116, "cycles/byte", "more after other kernels")         \
  RATE(l2FarCycles,      "l2_far_cycles", 0.000175,       "cycles/byte", "more in short runs")                 \
  RATE(l3ByteCycles,     "l3_cycles_per_byte", 0.023,     "cycles/byte", "from L3")                            \
  RATE(coldL3Byte,       "cold_l3_cycles_per_byte", 0.0055, "cycles/byte", "more after other kernels")         \
  RATE(l3FarCycles,      "l3_far_cycles",    0.008,       "cycles/byte", "more in short runs")                 \
  RATE(coldL3Far,        "cold_l3_far_cycles", 0.0263,    "cycles/byte", "more in short runs after other kernels") \
  RATE(memoryByteCycles, "memory_cycles_per_byte", 0.0828,  "cycles/byte", "from memory")                       \
  RATE(memoryFarCycles,  "memory_far_cycles", 0.136,      "cycles/byte", "more in short runs")                 \
  RATE(exposedPart,      "exposed_part",    0.222,        "of a time",   "of a core or memory beside a longer one") \
  RATE(waitedCycles,     "waited_cycles",    0.0667,      "cycles/byte", "that a staged copy waits for")       \
  RATE(stepStart,        "step_start_seconds", 3e-08,     "seconds",     "call of a kernel")                   \
  RATE(coldStart,        "cold_start_seconds", 1.44e-06,  "seconds",     "more after other kernels")           \
  RATE(chunkSeconds,     "chunk_seconds", 1.96e-09,       "seconds",     "start of a chunk")                   \
  RATE(teamStart,        "team_start_seconds",   12e-6,   "seconds",     "wake threads and wait for the last one") \
  RATE(l3Threads,        "l3_threads",            8,      "threads",     "that saturate L3")                   \
  RATE(memoryThreads,    "memory_threads",        4,      "threads",     "that saturate the memory")           \
  RATE(bySizes,          "by_sizes",              1.35,   "of a time",   "by sizes alone, which layouts and loops add") \
  RATE(boundPart,        "bound_part",            0.95,   "of a time",   "that no nest takes less than")       \
  /* Links between devices; nominal. */                                                                        \
  RATE(linkRate,         "link_bytes_per_second", 5e9,    "bytes/second", "that a device sends in a collective") \
  RATE(linkStart,        "link_start_seconds",   1e-5,    "seconds",     "until the first byte of a collective arrives")
// clang-format on

namespace heddle::cost {

struct Rates {
#define HEDDLE_RATE(member, key, value, unit, what) double member = value;
  HEDDLE_MACHINE_RATES(HEDDLE_RATE)
#undef HEDDLE_RATE

  /// Reads the rates that `machine` states; all others have their defaults. `machine` may be null.
  static Rates of(nest::MachineAttr machine);
  /// The rates of a kernel that runs alone, again and again: what fits into a cache stays in it.
  Rates warm() const {
    Rates rates = *this;
    rates.coldStore = rates.coldTurn = rates.coldStart = 0;
    rates.coldL2Byte = rates.coldL3Byte = rates.coldL3Far = 0;
    return rates;
  }
  /// Those of a kernel that a team which is awake begins, and in which all that may overlap does.
  Rates overlapping() const {
    Rates rates = *this;
    rates.exposedInCore = rates.exposedPart = rates.waitedCycles = 0;
    rates.l2FarCycles = rates.l3FarCycles = rates.coldL3Far = rates.memoryFarCycles = 0;
    rates.stepStart = rates.coldStart = rates.teamStart = 0;
    return rates;
  }
  std::string str() const; ///< "operation_cycles 0.251, load_cycles 0.00951, ..."
  /// True for the keys of the table.
  static bool isRate(StringRef key);
};

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_RATES_H
