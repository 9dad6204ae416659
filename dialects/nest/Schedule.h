//===- Schedule.h - the loops of a nest -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule says in which loops a nest's points are visited. It is a list of
// loops, outermost first. Each walks one name (or a merged group of names, the
// last varying fastest) in steps within the tile that the loop before it over the same
// name left, at first the whole size; the last loop over every name has step 1:
//
//     [thread row by 1, cache column by 14, loop ky by 1, register column by 1,
//      register out by 16, vector out by 1]          for row: 56, column: 56, out: 32
//
// reads: rows are shared out among threads; columns are walked in tiles of 14, whose
// points are unrolled in registers; 32 outs are two unrolled vectors of 16 lanes. The level
// says how the loop is run, not what it computes: any legal schedule gives the same values, on
// any target. Tiles need not divide sizes.
//
//     parallel     thread            steps that threads share; each is run by one of them
//                  grid              steps that the blocks of a device share in turn
//                  cluster           a step is run by a cluster of blocks
//                  block             a step is run by a block, whose lanes share memory
//                  warp              a step is run by a warp of the block
//                  lane              a step is run by a lane of the warp
//     sequential   cache, loop       one step after another (`cache`: tiles that fit a cache)
//     innermost    register          all steps are unrolled and live in registers
//                  vector            a step is a lane of one vector
//                  unit              a step is a part of one instruction (`#nest.unit`)
//
// A block of a GPU whose lanes fill a copy together, then compute from it:
//
//     [block m by 64, block n by 64, loop k by 16, lane n by 4, lane m by 4, loop k by 1,
//      register m by 1, register n by 1],
//     [stage 0 at 2 level "shared" in ..., stage 1 at 2 level "shared" in ...]
//
// A chunk of a nest is a step of its threads, or of its grid, clusters and blocks: how many there are
// follows from the schedule. Threads of a CPU share chunks, in which warps and lanes are sequential.
// Order:
//   - grid, cluster, block, warp, lane: a coarser one never stands inside of a finer one, and
//     `thread` never beside any of them;
//   - sequential loops stand anywhere among them;
//   - innermost loops run inside of all others, wherever they are written. Over one group they are
//     the last: register, then one vector or unit.
//
// Legal is a schedule whose loops
//   - have a level listed above, in this order, and steps of at least 1;
//   - walk iteration names, each in one group, a group of produced or of reduced names, of which
//     only the first may have a size with symbols;
//   - walk, over the same group, in steps that divide the step before, the last of which is 1;
//   - are parallel over produced names only (the bits of a sum do not depend on how many threads or
//     lanes there are);
//   - are vectors once at most; vectors and units have step 1;
//   - are unrolled by a factor only if sequential; the product of all factors is at most 64;
// and whose stages
//   - stand at a parallel or sequential loop, in each step of which the copy is made;
//   - have a layout of the operand's names, and at least one buffer (2: the next copy is fetched
//     while one is in use);
//   - are in `shared` memory inside of a block and outside of its warps and lanes, all of which
//     fill the copy.
// Other memory levels, engines and numbers of buffers are words of a target, which refuses those
// that it lacks before it emits anything.
//
// A partial schedule of a `nest.compute` fixes the lanes and leaves all other loops open:
//
//     [vector out by 1], partial      lanes walk `out`, everything else is to be chosen
//     [], partial                     no vectors
//
// It has no stages and at most the `vector` loop; `nest-choose-schedules` completes it.
//
// A name that no loop mentions is walked by a sequential loop: produced names outside of all
// listed loops but the parallel ones that come first, reduced names inside of all sequential ones.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_SCHEDULE_H
#define HEDDLE_DIALECTS_NEST_SCHEDULE_H

#include "runtime/expr/Layout.h"

#include <set>

namespace heddle::nest {

struct Loop {
  std::string level;
  std::vector<std::string> names; ///< one, or a merged group
  int64_t step = 1;
  int64_t unroll = 1; ///< of a sequential loop: steps made in one
  bool operator==(const Loop &) const = default;

  bool isParallel() const;
  /// Whether its steps make chunks.
  bool isShared() const { return isParallel() && level != "warp" && level != "lane"; }
  bool isSequential() const { return level == "cache" || level == "loop"; }
};

/// Copies an operand's footprint below loop `at` into a buffer with its own layout; packing is one
/// case.
struct Stage {
  unsigned operand = 0;
  unsigned at = 0;      ///< index into `loops`: the copy is made inside of this loop
  std::string level;    ///< memory: "" of whoever runs the loop, "shared" of a block, or a target's
  Layout layout;        ///< over the operand's names
  unsigned buffers = 1; ///< 2: double buffering
  std::string engine;   ///< what copies: "" is plain code, others are words of a target
  bool operator==(const Stage &) const = default;
};

struct Schedule {
  std::vector<Loop> loops;
  std::vector<Stage> stages;
  bool partial = false;
  bool operator==(const Schedule &) const = default;

  /// Whether all loops but the lanes are still to be chosen.
  bool isPartial() const { return partial; }
  /// Empty if legal for these iteration names, else a sentence naming the name at fault.
  std::string verify(const std::set<std::string> &produced,
                     const std::set<std::string> &reduced) const;
  Schedule rename(const std::map<std::string, std::string, std::less<>> &to) const;
  size_t hash() const;
};

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_SCHEDULE_H
