//===- Timeline.h - estimates times and live bytes --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times of the ops of a block, run in sequence, by the cost model of nests (`secondsOf`). Transfers
// overlap with other ops and take no time. A value is live from its defining op to its last use;
// arguments are live throughout.
//
//     %a = nest.compute (...)     0 to 2 us, live: %a
//     %b = nest.compute ... %a    2 to 5 us, live: %a and %b
//     %c = nest.compute ... %b    5 to 6 us, live: %b and %c
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_TIMELINE_H
#define HEDDLE_LIB_COST_TIMELINE_H

#include "dialects/nest/Nest.h"

namespace heddle {

class Timeline {
public:
  explicit Timeline(mlir::Block &block);

  /// In seconds from the beginning of the block.
  double begin(mlir::Operation *op) const { return begins.lookup(op); }
  double end(mlir::Operation *op) const { return ends.lookup(op); }
  /// The maximum number of live bytes, at least 1.
  double mostBytes() const { return most; }

private:
  llvm::DenseMap<mlir::Operation *, double> begins, ends;
  double most = 1;
};

} // namespace heddle

#endif // HEDDLE_LIB_COST_TIMELINE_H
