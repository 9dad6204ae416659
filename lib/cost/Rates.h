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

#ifndef HEDDLE_LIB_COST_RATES_H
#define HEDDLE_LIB_COST_RATES_H

#include "dialects/nest/Nest.h"

// clang-format off
// RATE(member, key, value, unit, what it is)
#define HEDDLE_MACHINE_RATES(RATE)                                                                             \
  /* Caches and memory; schedules. */                                                                          \
  RATE(l2Bandwidth,      "l2_bytes_per_cycle",      32,   "bytes/cycle", "bandwidth from L2 to L1")            \
  RATE(l3Bandwidth,      "l3_bytes_per_cycle",       4,   "bytes/cycle", "bandwidth from L3 to L2")            \
  RATE(l2Overlap,        "l2_overlap",             0.4,   "of arithmetic", "transfers from L2 that overlap with it") \
  RATE(l2Exposed,        "l2_exposed",             0.1,   "of a transfer", "from L2 that does not overlap")    \
  RATE(prefetchedExposed, "prefetched_exposed",    0.4,   "of a transfer", "from L3, prefetched, that is exposed") \
  RATE(stagedExposed,    "staged_exposed",         1.3,   "of a transfer", "from L3 that a packing copy waits for") \
  RATE(l1Ways,           "l1_ways",                  8,   "lines",       "associativity of L1")                \
  RATE(pageBytes,        "page_bytes",            4096,   "bytes",       "size of a page")                     \
  RATE(pageCycles,       "page_cycles",             10,   "cycles",      "first access to a page")             \
  RATE(hopCycles,        "hop_cycles",               4,   "cycles",      "a loop step to another page")        \
  RATE(splitCycles,      "split_cycles",           0.5,   "cycles",      "a vector load that splits two lines") \
  RATE(crowdedCycles,    "crowded_cycles",         0.2,   "cycles/row",  "rows of a tile that share an L1 set") \
  /* Instructions; schedules. */                                                                               \
  RATE(enterCycles,      "loop_enter_cycles",        6,   "cycles",      "overhead of the innermost loop")     \
  RATE(tileCycles,       "tile_cycles",             40,   "cycles",      "overhead of a register tile")        \
  RATE(scatterCycles,    "scatter_cycles",         1.5,   "cycles/lane", "a strided load or store")            \
  RATE(copyCycles,       "copy_cycles",            0.3,   "cycles/element", "a copy with contiguous lanes")    \
  RATE(transposeCycles,  "transpose_cycles",       0.5,   "cycles/element", "a copy that transposes")          \
  RATE(pairCopy,         "pair_copy",              0.6,   "of copy_cycles", "a copy that interleaves pairs")   \
  RATE(widenVector,      "widen_vector_cycles",      1,   "cycles/vector", "widening to 32 bits")              \
  RATE(widenScalar,      "widen_scalar_cycles",    1.5,   "cycles",      "widening and broadcasting a scalar") \
  RATE(gatherPair,       "gather_pair",            2.5,   "of widening", "loading a pair that is not contiguous") \
  /* Threads; schedules. */                                                                                    \
  RATE(chunkCycles,      "chunk_cycles",           400,   "cycles",      "dispatch of a chunk")                \
  RATE(smallestChunk,    "smallest_chunk_cycles", 12000,  "cycles",      "work of the smallest chunk")         \
  RATE(smallWork,        "small_work_cycles",      4e6,   "cycles",      "work that is worth a second thread") \
  RATE(largeWork,        "large_work_cycles",      1e8,   "cycles",      "work that is worth many threads")    \
  RATE(chunkFlops,       "chunk_flops",            3e4,   "operations",  "of a chunk of scalar code")          \
  /* Accesses; layouts. */                                                                                     \
  RATE(streamedLine,     "streamed_line_cycles",     6,   "cycles/line", "a vector load from beyond L2")       \
  RATE(cachedLine,       "cached_line_cycles",       2,   "cycles/line", "a vector load from L1 or L2")        \
  RATE(gatherLane,       "gather_lane_cycles",     1.1,   "cycles/lane", "a gather")                           \
  RATE(scatterPart,      "scatter_part",           1.3,   "of a gather", "a scatter")                          \
  RATE(farLane,          "far_lane_cycles",         10,   "cycles/lane", "of a group's nest, each lane on its own page") \
  RATE(newLine,          "new_line_cycles",        0.9,   "cycles/line", "first scalar load from a line")      \
  RATE(farStep,          "far_step_cycles",          2,   "cycles",      "a panel row far from the previous one") \
  RATE(sameSets,         "same_set_cycles",          5,   "cycles",      "a panel row in the same cache sets") \
  RATE(relayoutStart,    "relayout_cycles",       4000,   "cycles",      "overhead of a nest that packs")      \
  RATE(relayoutNear,     "relayout_near_cycles",  0.05,   "cycles/byte", "packing within the caches")          \
  RATE(relayoutFar,      "relayout_far_cycles",   0.16,   "cycles/byte", "packing from beyond the caches")     \
  /* Whole nests, for fusion; nominal, and equal on all CPUs: fusion decides which sums are nested. */         \
  RATE(productRate,      "products_per_second",   8e10,   "1/second",    "multiply-adds of a contraction")     \
  RATE(scalarRate,       "ops_per_second",        2e10,   "1/second",    "operations of other nests")          \
  RATE(memoryRate,       "bytes_per_second",      1e10,   "bytes/second", "traffic between nests")             \
  RATE(nestStart,        "nest_start_seconds",    2e-6,   "seconds",     "barrier and first accesses of a nest") \
  RATE(keptBytes,        "kept_bytes",       512 << 10,   "bytes",       "data that stay in a cache between nests") \
  RATE(groupBytes,       "group_bytes",      256 << 10,   "bytes",       "largest values of a group at a point") \
  RATE(stepRate,         "step_ops_per_second",    2e10, "1/second",    "operations of a serial step")         \
  RATE(stepBandwidth,    "step_bytes_per_second", 2e10,   "bytes/second", "traffic of a serial step")          \
  RATE(barrierSeconds,   "barrier_seconds",       5e-6,   "seconds",     "of the longest serial step") \
  /* Nests with schedules (lib/cost); fitted with `bench/cost`. Cycles are those of `cycles_per_second`. */      \
  RATE(clock,            "cycles_per_second",     2.6e9,  "1/second",    "of a core")                          \
  RATE(operationCycles,  "operation_cycles",  0.3,        "cycles",      "a simple vector operation")          \
  RATE(callCycles,       "call_cycles",      54.9,        "cycles/lane", "a function in f64")                  \
  RATE(convertCycles,    "convert_cycles",  0.315,        "cycles",      "a vector that is widened or narrowed") \
  RATE(loadCycles,       "load_cycles",     0.377,        "cycles",      "a load of a vector, or of a scalar to all lanes") \
  RATE(storeCycles,      "store_cycles",    0.504,        "cycles",      "a store of a vector")                \
  RATE(laneCycles,       "lane_cycles",     0.981,        "cycles/lane", "a lane that is loaded or stored alone") \
  RATE(rowCycles,        "row_cycles",        0.8,        "cycles",      "a coordinate that is gathered")      \
  RATE(turnCycles,       "turn_cycles",      2.12,        "cycles/vector", "a transpose in registers")         \
  RATE(spillCycles,      "spill_cycles",     1.91,        "cycles",      "an accumulator that is stored and loaded") \
  RATE(issueCycles,      "issue_cycles",    0.229,        "cycles",      "an instruction of any kind")         \
  RATE(chainPart,        "chain_part",       0.37,        "of a latency", "that is exposed")                   \
  RATE(exposedInCore,    "exposed_in_core", 0.372,        "of a time",   "in the core beside a longer one")    \
  RATE(enterLoopCycles,  "enter_loop_cycles", 0.106,      "cycles",      "start of an innermost loop")         \
  RATE(startTileCycles,  "start_tile_cycles", 0.25,       "cycles",      "prologue and epilogue of a register tile") \
  RATE(stageCycles,      "stage_cycles",     5.14,        "cycles/vector", "of a staged copy")                 \
  RATE(dividedCycles,    "divided_cycles",  0.589,        "cycles",      "a vector that lies in two lines")    \
  RATE(crowdedLine,      "crowded_line_cycles", 0.379,    "cycles",      "a line that shares sets of the first cache") \
  RATE(hopStep,          "hop_step_cycles", 0.736,        "cycles",      "a step of a loop to another page")   \
  RATE(pageSearch,       "page_search_cycles", 1.55,      "cycles",      "a page that a core does not remember") \
  RATE(l2ByteCycles,     "l2_cycles_per_byte", 0.0203,    "cycles/byte", "from L2")                            \
  RATE(l2FarCycles,      "l2_far_cycles", 0.000478,       "cycles/byte", "more in short runs")                 \
  RATE(l3ByteCycles,     "l3_cycles_per_byte", 0.0174,    "cycles/byte", "from L3")                            \
  RATE(l3FarCycles,      "l3_far_cycles",  0.0112,        "cycles/byte", "more in short runs")                 \
  RATE(memoryByteCycles, "memory_cycles_per_byte", 0.0713,  "cycles/byte", "from memory")                       \
  RATE(memoryFarCycles,  "memory_far_cycles", 0.0627,     "cycles/byte", "more in short runs")                 \
  RATE(exposedPart,      "exposed_part",    0.192,        "of a time",   "of a core or memory beside a longer one") \
  RATE(waitedCycles,     "waited_cycles",    0.27,        "cycles/byte", "that a staged copy waits for")       \
  RATE(stepStart,        "step_start_seconds", 9.66e-9,   "seconds",     "call of a kernel")                   \
  RATE(chunkSeconds,     "chunk_seconds", 1.59e-8,        "seconds",     "start of a chunk")                   \
  RATE(teamStart,        "team_start_seconds",   12e-6,   "seconds",     "wake threads and wait for the last one") \
  RATE(l3Threads,        "l3_threads",            8,      "threads",     "that saturate L3")                   \
  RATE(memoryThreads,    "memory_threads",        4,      "threads",     "that saturate the memory")           \
  RATE(bySizes,          "by_sizes",              1.35,   "of a time",   "by sizes alone, which layouts and loops add") \
  RATE(boundPart,        "bound_part",            0.85,   "of a time",   "that no nest takes less than")       \
  /* Links between devices; nominal, in proportion to whole nests. */                                          \
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
  /// True for the keys of the table.
  static bool isRate(llvm::StringRef key);
};

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_RATES_H
