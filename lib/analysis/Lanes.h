//===- Lanes.h - what the lanes of a nest hold ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule that walks a name by lanes, or by a unit of the machine, asks two questions of the
// nest: how wide a lane is, and which points a unit may take at once.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_LANES_H
#define HEDDLE_ANALYSIS_LANES_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// A unit of the machine that adds the products of a nest.
struct UnitUse {
  MatrixUnitAttr unit; ///< null: none
  /// Reduced names of which it may take neighbours at once. A schedule asks for it by `unit` over
  /// one of them, inside of a loop by as many.
  std::vector<std::string> names;
};
/// The first unit that the emission can visit and the nest can use: it adds products of two reads of
/// the unit's types, both of which have the names as coordinates as they stand.
UnitUse unitOf(ComputeOp op, MachineAttr machine);

/// How many neighbours along the reduced name a unit takes at once.
int64_t depthOf(MatrixUnitAttr unit);

/// The widest element that a nest computes with at every point: lanes of a vector are so wide. What
/// a reduction finishes with happens seldom, in several vectors if need be.
unsigned laneBits(ComputeOp op);
unsigned laneBits(UpdateOp op);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_LANES_H
