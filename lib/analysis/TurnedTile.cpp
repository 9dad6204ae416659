//===- TurnedTile.cpp - tiles that are transposed in registers ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/TurnedTile.h"

#include <algorithm>

using namespace heddle::nest;

TileCode heddle::nest::finishOf(double cost, double vectors) {
  constexpr double longest = 256;
  return cost * vectors > longest ? TileCode::FinishInRows : TileCode::Finish;
}

bool heddle::nest::turnsAlong(TileCode code, const TileLoop &loop) {
  // The other parts have no straight-line code with all rows of a square.
  bool hasRows = code == TileCode::Points || code == TileCode::Finish;
  return hasRows && !loop.isReduced && !loop.isOfLanes && loop.isAlone && loop.step == 1 &&
         loop.points > 1;
}

bool heddle::nest::isTurned(int64_t rows, bool isWrite) {
  constexpr int64_t leastStored = 4; // of fewer, lanes are stored one by one
  return rows >= (isWrite ? leastStored : 1);
}

int64_t heddle::nest::turnedRows(int64_t points, int64_t lanes, bool isWrite) {
  int64_t rest = points % lanes, whole = isTurned(lanes, isWrite) ? points - rest : 0;
  return whole + (rest && isTurned(rest, isWrite) ? rest : 0);
}
