//===- TurnedTile.h - tiles that are transposed in registers ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes of a vector may lie apart in a tensor that is contiguous along another loop of the register
// tile. Then a square of elements is loaded or stored as vectors along that loop, and transposed in
// registers:
//
//     lanes m: 16, register loop n: 18, %c[m, n] in [m, n], written
//
//     n 0 to 15     16 vectors of m are transposed to 16 vectors of n, which are stored
//     n 16, 17      too few rows to transpose: each lane is stored alone
//
// Emission and the cost model ask here what is transposed. How a tensor lies along a loop they know
// in their own terms: emission by the addresses that it computes, the cost model by the layout.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_TURNEDTILE_H
#define HEDDLE_ANALYSIS_TURNEDTILE_H

#include <cstdint>

namespace heddle::nest {

/// The part of a tile's code in which a vector is loaded or stored.
enum class TileCode {
  Points,       ///< all of a nest without a reduction
  Steps,        ///< those of a reduction
  PartialSums,  ///< of a reduction, which a later step continues
  Finish,       ///< the results of a reduction and operands of its finish, in straight-line code
  FinishInRows, ///< the same in a loop over the rows of the tile
  Update,       ///< all of an update
};

/// Returns the code that finishes a tile with so many vectors. A loop does it if the code would be
/// too long unrolled. `cost`: that of one finish.
TileCode finishOf(double cost, double vectors);

/// A loop of a register tile.
struct TileLoop {
  bool isReduced = false;
  bool isOfLanes = false; ///< its names are those of the lanes
  bool isAlone = true;    ///< no other loop of the tile is over its names
  int64_t points = 1, step = 1;
};

/// Returns true if vectors may be rows of squares along a loop: each of its values is a point.
bool turnsAlong(TileCode code, const TileLoop &loop);

/// Returns true if a square with so many rows is transposed, where the tensor is contiguous along
/// the loop.
bool isTurned(int64_t rows, bool isWrite);
/// Returns how many of the `points` of a loop are rows of such squares.
int64_t turnedRows(int64_t points, int64_t lanes, bool isWrite);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_TURNEDTILE_H
