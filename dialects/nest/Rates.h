//===- Rates.h - how fast a machine does what nests need --------*- C++ -*-===//
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
//     cycles += bytes / rates.l2Bandwidth;
//
// A target overrides a rate that it has measured (`Target::machine`). A module may do so too, for
// an experiment: `heddle.machine = #nest.machine<{l2_bytes_per_cycle = 48.0}>`. Search limits are
// not rates; they are constants next to the search.
//
// Sources of the numbers. "schedules": fitted on server cores with AVX-512 (Cascade Lake, Sapphire
// Rapids) with `heddle-bench matmul conv capsule`, until the model preferred the schedules that
// were measured to be the fastest. "layouts": fitted in the same way for layouts, with
// `heddle-bench fashion conv normalise`. "nominal": a round number for a core at 2.5 GHz. Only the
// ratios within one of the three groups matter.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_RATES_H
#define HEDDLE_DIALECTS_NEST_RATES_H

#include "dialects/nest/Nest.h"

// clang-format off
// RATE(member, key, value, unit, what it is)
#define HEDDLE_MACHINE_RATES(RATE)                                                                             \
  /* Caches and memory; schedules. */                                                                          \
  RATE(l2Bandwidth,      "l2_bytes_per_cycle",      32,   "bytes/cycle", "from the second cache to the first")  \
  RATE(l3Bandwidth,      "l3_bytes_per_cycle",       4,   "bytes/cycle", "from the third cache to the second")  \
  RATE(l2Overlap,        "l2_overlap",             0.4,   "of arithmetic", "transfers from L2 that it hides")    \
  RATE(l2Felt,           "l2_felt",                0.1,   "of a transfer", "that is felt even so")               \
  RATE(prefetchedFelt,   "prefetched_felt",        0.4,   "of a transfer", "from L3 that was prefetched")        \
  RATE(stagedFelt,       "staged_felt",            1.3,   "of a transfer", "from L3 that a copy waits for")      \
  RATE(l1Ways,           "l1_ways",                  8,   "lines",       "of a set of the first cache")         \
  RATE(lineBytes,        "line_bytes",              64,   "bytes",       "of a cache line")                     \
  RATE(pageBytes,        "page_bytes",            4096,   "bytes",       "of a page")                           \
  RATE(pageCycles,       "page_cycles",             10,   "cycles",      "of a page that is touched anew")      \
  RATE(hopCycles,        "hop_cycles",               4,   "cycles",      "of a step that leaves the page")      \
  RATE(splitCycles,      "split_cycles",           0.5,   "cycles",      "of a vector that lies in two lines")  \
  RATE(crowdedCycles,    "crowded_cycles",         0.2,   "cycles/row",  "of rows that share a set of L1")      \
  /* Instructions; schedules. */                                                                               \
  RATE(enterCycles,      "loop_enter_cycles",        6,   "cycles",      "of entering the innermost loop")      \
  RATE(tileCycles,       "tile_cycles",             40,   "cycles",      "of entering a register tile")         \
  RATE(scatterCycles,    "scatter_cycles",         1.5,   "cycles/lane", "of loading or storing lanes apart")   \
  RATE(copyCycles,       "copy_cycles",            0.3,   "cycles/element", "of a copy, lanes side by side")    \
  RATE(transposeCycles,  "transpose_cycles",       0.5,   "cycles/element", "of a copy that transposes lanes")  \
  RATE(pairCopy,         "pair_copy",              0.6,   "of copy_cycles", "of an element of a pair")          \
  RATE(widenVector,      "widen_vector_cycles",      1,   "cycles/vector", "of widening to 32 bits")            \
  RATE(widenScalar,      "widen_scalar_cycles",    1.5,   "cycles",      "of widening a broadcast scalar")      \
  RATE(gatherPair,       "gather_pair",            2.5,   "of widening", "of a pair whose elements lie apart")  \
  /* Threads; schedules. */                                                                                    \
  RATE(chunkCycles,      "chunk_cycles",           400,   "cycles",      "of fetching a chunk")                 \
  RATE(smallestChunk,    "smallest_chunk_cycles", 12000,  "cycles",      "of work, below which none is made")   \
  RATE(smallWork,        "small_work_cycles",      4e6,   "cycles",      "of work that two threads share")      \
  RATE(largeWork,        "large_work_cycles",      1e8,   "cycles",      "of work that many threads share")     \
  RATE(chunkFlops,       "chunk_flops",            3e4,   "operations",  "of a chunk, computed point by point") \
  /* Accesses; layouts. */                                                                                     \
  RATE(streamedLine,     "streamed_line_cycles",     6,   "cycles/line", "of a vector from beyond L2")          \
  RATE(cachedLine,       "cached_line_cycles",       2,   "cycles/line", "of a vector from L1 or L2")           \
  RATE(gatherLane,       "gather_lane_cycles",     1.1,   "cycles/lane", "of a gather")                         \
  RATE(scatterPart,      "scatter_part",           1.3,   "of a gather", "of a scatter")                        \
  RATE(newLine,          "new_line_cycles",        0.9,   "cycles/line", "of a line that a scalar touches first") \
  RATE(farStep,          "far_step_cycles",          2,   "cycles",      "of a panel's row far from the last")  \
  RATE(sameSets,         "same_set_cycles",          5,   "cycles",      "of one that meets the same sets")     \
  RATE(relayoutStart,    "relayout_cycles",       4000,   "cycles",      "of another nest that copies")         \
  RATE(relayoutNear,     "relayout_near_cycles",  0.05,   "cycles/byte", "of a copy within the caches")         \
  RATE(relayoutFar,      "relayout_far_cycles",   0.16,   "cycles/byte", "of one beyond them")                  \
  /* Whole nests, for fusion; nominal, and equal on all CPUs: fusion decides which sums are nested. */         \
  RATE(productRate,      "products_per_second",   8e10,   "1/second",    "operations of a contraction")         \
  RATE(scalarRate,       "ops_per_second",        2e10,   "1/second",    "operations of other nests")           \
  RATE(memoryRate,       "bytes_per_second",      1e10,   "bytes/second", "between nests")                      \
  RATE(nestStart,        "nest_start_seconds",    2e-6,   "seconds",     "of a nest's barrier and first touch") \
  RATE(keptBytes,        "kept_bytes",       512 << 10,   "bytes",       "that stay in a cache between nests")  \
  RATE(groupBytes,       "group_bytes",      256 << 10,   "bytes",       "of a group's values at one point")    \
  RATE(stepRate,         "step_ops_per_second",    2e10, "1/second",    "operations of a step that one thread runs") \
  RATE(stepBandwidth,    "step_bytes_per_second", 2e10,   "bytes/second", "of a step that one thread runs")     \
  RATE(barrierSeconds,   "barrier_seconds",       5e-6,   "seconds",     "of a step below which one thread runs it")
// clang-format on

namespace heddle::nest {

struct Rates {
#define HEDDLE_RATE(member, key, value, unit, what) double member = value;
  HEDDLE_MACHINE_RATES(HEDDLE_RATE)
#undef HEDDLE_RATE

  /// Reads the rates that `machine` states; all others have their defaults. `machine` may be null.
  static Rates of(MachineAttr machine);
  /// True for the keys of the table.
  static bool isRate(llvm::StringRef key);
};

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_RATES_H
