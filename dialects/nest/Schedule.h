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
// says how the loop is run, not what it computes: any legal schedule gives the same values.
// Tiles need not divide sizes.
//
// Levels are words, so that a new target adds values and moves nothing: cpu code knows
// `thread`, `cache`, `loop` (plain sequential loops), `register` (unrolled), `vector` (lanes),
// `unit` (a matrix unit's tile); gpu code `grid`, `cluster`, `block`, `warp`, `lane`.
//
// Legal is a schedule whose loops
//   - have a level listed above, and steps and unroll factors of at least 1;
//   - walk iteration names, each in one group, a group of produced or of reduced names;
//   - walk, over the same group, in steps that divide the step before, the last of which is 1;
//   - are threads over produced names only (the bits of a sum do not depend on how many there are);
//   - are vectors once at most, in step 1;
// and whose stages stand at one of the loops and have at least one buffer.
//
// A partial schedule fixes how points share registers and leaves the loops around them open:
//
//     [vector out by 1], partial      lanes walk `out`, everything else is to be chosen
//     [], partial                     no vectors
//
// Layouts are chosen together with the lanes of each nest, which are written so; whoever chooses
// schedules completes them. It has `register` and `vector` loops only, and no stages.
//
// A name that no loop mentions is walked by a sequential loop: produced names outside of all
// listed loops, reduced names inside the innermost `cache`, `thread` or `loop` level.
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
  int64_t unroll = 1; ///< of a sequential loop
  bool operator==(const Loop &) const = default;
};

/// Copies an operand's footprint below loop `at` into a buffer with its own layout; packing is one
/// case.
struct Stage {
  unsigned operand = 0;
  unsigned at = 0;      ///< index into `loops`: the copy is made inside of this loop
  std::string level;    ///< memory level of the buffer; "" is ordinary memory
  Layout layout;        ///< over the operand's names
  unsigned buffers = 1; ///< 2: double buffering
  std::string engine;   ///< what copies; "" is plain code
  bool operator==(const Stage &) const = default;
};

struct Schedule {
  std::vector<Loop> loops;
  std::vector<Stage> stages;
  bool partial = false;
  bool operator==(const Schedule &) const = default;

  /// Whether the loops around the register tile are still to be chosen.
  bool isPartial() const { return partial; }
  /// Empty if legal for these iteration names, else a sentence naming the name at fault.
  std::string verify(const std::set<std::string> &produced,
                     const std::set<std::string> &reduced) const;
  Schedule rename(const std::map<std::string, std::string, std::less<>> &to) const;
  size_t hash() const;
};

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_SCHEDULE_H
