//===- VectorLanes.h - lane width and matrix unit of a nest -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule that vectorises a name, or that uses a matrix unit of the machine, needs two facts
// about the nest: the width of a lane, and which points a unit can compute together.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_VECTORLANES_H
#define HEDDLE_ANALYSIS_VECTORLANES_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// A matrix unit of the machine that computes the sums of products of a nest.
struct UnitUse {
  MatrixUnitAttr unit; ///< null: none
  /// Reduced names along which the unit can take neighbours together. A schedule requests the unit
  /// by a `unit` loop over one of them, inside of a loop whose step is the number of these
  /// neighbours.
  std::vector<std::string> names;
};
/// The first unit that the emission supports and the nest can use: it adds products of two reads of
/// the unit's types, both of which have the names as plain coordinates.
UnitUse unitOf(ComputeOp op, MachineAttr machine);

/// Returns the number of neighbours along the reduced name that a unit takes together.
int64_t depthOf(MatrixUnitAttr unit);

/// Returns the bits of the widest element that a nest computes with at every point, which is the
/// width of its vector lanes. The epilogue of a reduction is ignored: it runs rarely, and may use
/// several vectors.
unsigned laneBits(ComputeOp op);
unsigned laneBits(UpdateOp op);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_VECTORLANES_H
