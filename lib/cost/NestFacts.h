//===- NestFacts.h - what the cost model knows of a nest --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that the cost model (Cost.h) needs to know of a nest. It is built once from an op, and a
// search then asks for the costs of variants, without IR:
//
//     NestFacts facts(op, machine);                   nothing is known but the nest itself
//     costOf(facts, rates).seconds                    with good layouts and loops
//     facts.setSizes({32, 32, 16});                   half of the rows, for one of two devices
//     facts.setLayouts({a, b, c});                    of each read, then of each result
//     costOf(facts, rates).seconds                    with good loops for these layouts
//     for (candidate : ...) {
//       facts.setLoops(candidate.loops);              names by number: no string is touched
//       costOf(facts, rates).seconds
//     }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_NESTFACTS_H
#define HEDDLE_LIB_COST_NESTFACTS_H

#include "lib/cost/AccessBoxes.h"
#include "lib/cost/Adjustment.h"
#include "lib/cost/Amounts.h"
#include "lib/cost/Instructions.h"
#include "lib/cost/Loops.h"

#include "llvm/ADT/StringMap.h"

namespace heddle::cost {

/// How much is known of a nest; the cost model assumes good choices of all else.
enum class Knowledge { Nothing, Layouts, Schedule };

/// Copies the part of an operand that the loops inside of loop `at` read.
struct Stage {
  unsigned access = 0, at = 0;
  bool ahead = false; ///< the next part is fetched while loops read this one
};

class NestFacts {
public:
  /// Facts of a `nest.compute` or `nest.update`, without layouts and loops. `shrink`: see
  /// NestModel.
  NestFacts(Operation *op, nest::MachineAttr machine, bool shrink = false);

  /// Facts of a copy of a tensor to another layout.
  static NestFacts ofCopy(Value tensor, nest::MachineAttr machine);

  Instructions body, combine, finish; ///< at each point; at each produced point
  bool isUpdate = false;
  int64_t depth = 1;              ///< reduced points that one instruction of a matrix unit adds
  const Adjustments *adjustments; ///< of the op's context, of its cost; null: none

  const nest::NestModel &nest() const { return model; }
  Knowledge knowledge() const { return basis; }

  /// Replaces the sizes of all iteration names. Layouts stay, loops are forgotten.
  void setSizes(ArrayRef<int64_t> sizes);
  /// Sets the layouts of all accesses: of the reads, then of the results. Loops are forgotten.
  void setLayouts(ArrayRef<Layout> layouts);
  /// Replaces the layout of an access; the others and the loops stay.
  void setLayout(size_t access, const Layout &layout);
  /// Sets the loops of the groups around the nest (the first `outer`), then its own, and their
  /// stages. Layouts must be known.
  void setLoops(ArrayRef<Loop> loops, ArrayRef<Stage> stages = {}, size_t outer = 0);
  /// Replaces the stages, which are within the first loops of the nest itself.
  void setStages(ArrayRef<Stage> stages, size_t outer = 0);
  /// Forgets what is known beyond `to`.
  void forget(Knowledge to) { basis = std::min(basis, to); }

  /// Those of the schedule; known only if it is.
  const Loops &loops() const { return walked; }
  /// An access in its layout. Layouts must be known.
  const nest::PlacedAccess &place(size_t access) const { return laid(access).place; }
  const Layout &layout(size_t access) const { return laid(access).layout; }
  /// Returns the copy of an access, of which `at` is the number of loop levels outside of it; null:
  /// it has none.
  const Stage *stageOf(size_t access) const;
  /// Returns the boxes of an access. Loops must be known.
  const AccessBoxes &boxes(size_t access) const;
  /// Returns what `count` says of an access, which depends on its layout, its copy and the loops.
  const Amounts &counted(size_t access, function_ref<Amounts()> count) const;
  /// Returns how lanes reach an access. Layouts must be known.
  nest::LaneKind laneKind(size_t access, ArrayRef<unsigned> lanes) const;

private:
  explicit NestFacts(nest::NestModel model) : adjustments(nullptr), model(std::move(model)) {}

  nest::NestModel model;
  Knowledge basis = Knowledge::Nothing;
  Loops walked;
  unsigned walk = 0;            ///< the number of the loops, of all that were set
  SmallVector<Stage, 4> staged; ///< `at`: levels

  /// An access in a layout, and what was asked of it.
  struct Laid {
    Layout layout;
    nest::SizedLayout sized;
    nest::PlacedAccess place;
    mutable SmallVector<std::pair<Names, nest::LaneKind>, 2> kinds{}; ///< by lanes
    mutable llvm::StringMap<Box> boxOf{}; ///< by extents; loops of a search share most
    mutable AccessBoxes boxes{};
    /// The instructions of the access, by the level of its copy.
    mutable SmallVector<std::pair<size_t, Amounts>, 1> counts{};
    mutable unsigned walk = 0; ///< the loops of `boxes` and `counts`
  };
  /// A search sets the same layouts again and again, so they are kept.
  struct Known {
    std::vector<Laid> all;
    size_t chosen = 0;
  };
  std::vector<Known> known; ///< of each access

  const Laid &laid(size_t access) const { return known[access].all[known[access].chosen]; }
  /// Forgets what was asked with other loops.
  const Laid &laidInLoops(size_t access) const;
  void choose(size_t access, const Layout &layout);
  void setLanes(size_t access);
};

/// Returns the facts of the nests that run together in `op`: of a nest, or of all nests of a group
/// or a recurrence. Layouts and loops that the nests state are known.
std::vector<NestFacts> factsOf(Operation *op, nest::MachineAttr machine);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_NESTFACTS_H
