//===- Schedule.h - the loops of a nest -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is the loop nest that visits the points of a nest: a list of loops, outermost first.
// Each loop iterates over one name, or over a merged group of names of which the last varies
// fastest. It divides the tile of the previous loop over the same name into steps; the tile of the
// first loop is the whole size. The last loop over every name has step 1:
//
//     [thread row by 1, cache column by 14, loop ky by 1, register column by 1,
//      register out by 16, vector out by 1]          for row: 56, column: 56, out: 32
//
// Here threads share the rows. Columns are tiled by 14, and the points of a tile are unrolled in
// registers. The 32 points of `out` are two unrolled vectors of 16 lanes. The level of a loop
// determines how it runs, not what it computes: every legal schedule computes the same values on
// every target. Tiles need not divide sizes.
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
// On a GPU, the lanes of a block fill a copy together and then read it:
//
//     [block m by 64, block n by 64, loop k by 16, lane n by 4, lane m by 4, loop k by 1,
//      register m by 1, register n by 1],
//     [stage 0 at 2 level "shared" in ..., stage 1 at 2 level "shared" in ...]
//
// A chunk of a nest is one step of its `thread` loops, or of its grid, cluster and block loops; the
// schedule determines the number of chunks. Threads of a CPU share the chunks and run the warps and
// lanes of a chunk sequentially. Order of the loops:
//   - grid, cluster, block, warp and lane loops nest from coarse to fine, and a schedule that has
//     one of them has no `thread` loop;
//   - sequential loops may appear anywhere among them;
//   - innermost loops run inside of all others, wherever they are written. They are the last loops
//     over their group: register loops, then one vector or unit.
//
// A schedule is legal if its loops
//   - have a level listed above, in this order, and steps of at least 1;
//   - iterate over iteration names, each of which belongs to one group. The names of a group are
//     all produced or all reduced, and only the first may have a size with symbols;
//   - have steps that divide the step of the previous loop over the same group; the last step is 1;
//   - are shared by chunks over produced names only: the bits of a sum do not depend on the number
//     of threads. Warps and lanes may run parts of a sum, which are combined in an order that the
//     sizes and steps alone decide;
//   - include at most one vector loop; vectors and units have step 1;
//   - have an unroll factor only if they are sequential; the product of all factors is at most 64;
// and its stages
//   - are at a parallel or sequential loop; each step of that loop makes the copy;
//   - have a layout of the operand's names, and at least one buffer (2: the next copy is fetched
//     while one is in use);
//   - have loops over these names that are legal for them, which execute the copy;
//   - if they are in `shared` memory, are inside of a block and outside of its warps and lanes, all
//     of which fill the copy.
// A target defines other memory levels, engines and numbers of buffers. It rejects those that it
// does not support before it emits anything.
//
// A partial schedule of a `nest.compute` fixes the vector lanes and leaves all other loops open:
//
//     [vector out by 1], partial      vectorises over `out`; all other loops are to be chosen
//     [], partial                     no vectors
//
// It has no stages and no loop but the `vector` loop; `nest-choose-schedules` completes it.
//
// A name that no loop mentions gets a sequential loop: for a produced name it is outside of all
// listed loops except the leading parallel ones, for a reduced name inside of all sequential loops.
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
  int64_t unroll = 1; ///< unroll factor of a sequential loop
  bool operator==(const Loop &) const = default;

  bool isParallel() const;
  /// True if chunks share the steps of this loop.
  bool isShared() const { return isParallel() && level != "warp" && level != "lane"; }
  bool isSequential() const { return level == "cache" || level == "loop"; }
};

/// Copies the part of an operand that the loops inside of `at` read into a buffer with its own
/// layout; packing is one case. The copy is a nest over the operand's names with its own loops:
///
///     stage 1 at 0 in #nest.layout<[k, n]> copy [cache k by 1, vector n by 1]
struct Stage {
  unsigned operand = 0;
  unsigned at = 0;        ///< index into `loops`: the copy is made inside of this loop
  std::string level;      ///< memory: "" (private), "shared" (of a block), or defined by a target
  Layout layout;          ///< over the operand's names
  std::vector<Loop> copy; ///< loops over the operand's names that fill it; empty: not chosen yet
  unsigned buffers = 1;   ///< 2: double buffering
  std::string engine;     ///< performs the copy: "" is plain code, a target defines others
  bool operator==(const Stage &) const = default;
};

struct Schedule {
  std::vector<Loop> loops;
  std::vector<Stage> stages;
  bool partial = false;
  bool operator==(const Schedule &) const = default;

  /// True if only the vector lanes are fixed and all other loops are still to be chosen.
  bool isPartial() const { return partial; }
  /// Returns "" if the schedule is legal for these iteration names, else an error message.
  std::string verify(const std::set<std::string> &produced,
                     const std::set<std::string> &reduced) const;
  /// Renames loops, but not stages, whose names are those of operands.
  Schedule rename(const std::map<std::string, std::string, std::less<>> &to) const;
  size_t hash() const;
};

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_SCHEDULE_H
