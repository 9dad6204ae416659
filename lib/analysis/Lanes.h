//===- Lanes.h - lane width and matrix unit of a nest -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule that vectorises a name, or that uses a matrix unit of the machine, needs two facts
// about the nest: how wide a lane is, and which points a unit may compute at once.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_LANES_H
#define HEDDLE_ANALYSIS_LANES_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// A matrix unit of the machine that computes the sums of products of a nest.
struct UnitUse {
  MatrixUnitAttr unit; ///< null: none
  /// Reduced names along which the unit may take neighbours at once. A schedule requests the unit
  /// by a `unit` loop over one of them, inside of a loop whose step is the number of these
  /// neighbours.
  std::vector<std::string> names;
};
/// The first unit that the emission can visit and the nest can use: it adds products of two reads
/// of the unit's types, both of which have the names as coordinates as they stand.
UnitUse unitOf(ComputeOp op, MachineAttr machine);

/// Returns the number of neighbours along the reduced name that a unit takes at once.
int64_t depthOf(MatrixUnitAttr unit);

/// Returns the bits of the widest element that a nest computes with at every point, which is the
/// width of its vector lanes. The epilogue of a reduction is not counted: it runs seldom, and may
/// use several vectors.
unsigned laneBits(ComputeOp op);
unsigned laneBits(UpdateOp op);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_LANES_H
