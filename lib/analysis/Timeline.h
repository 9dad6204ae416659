//===- Timeline.h - when ops run, and what they hold ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of a block one after another, by the cost model of nests (`secondsOf`). Transfers take no time:
// they run beside others. A value is held from the op that makes it to its last use; arguments are held
// throughout.
//
//     %a = nest.compute (...)     0 to 2 us, holds %a
//     %b = nest.compute ... %a    2 to 5 us, holds %a and %b
//     %c = nest.compute ... %b    5 to 6 us, holds %b and %c
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_TIMELINE_H
#define HEDDLE_ANALYSIS_TIMELINE_H

#include "dialects/nest/Nest.h"

namespace heddle {

class Timeline {
public:
  explicit Timeline(mlir::Block &block);

  /// In seconds from the begin of the block.
  double begin(mlir::Operation *op) const { return begins.lookup(op); }
  double end(mlir::Operation *op) const { return ends.lookup(op); }
  /// The most bytes that are held at once, at least 1.
  double mostBytes() const { return most; }

private:
  llvm::DenseMap<mlir::Operation *, double> begins, ends;
  double most = 1;
};

} // namespace heddle

#endif // HEDDLE_ANALYSIS_TIMELINE_H
