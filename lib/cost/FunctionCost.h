//===- FunctionCost.h - what a whole function costs -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion decides which values of a function are stored. Whatever it decides, the function accesses
// its arguments and results, and executes its operations:
//
//     func.func @f(%x: 64 MiB) -> (64 MiB) { %h = exp(%x)   %y = %h + 1   return %y }
//
//     estimate    the sum of the two nests, which also write and read %h
//     bound       the bytes of %x and %y, or the operations of both, whichever take longer
//
// As the estimates do, the bound finds data of one nest in the caches, as far as it fits there.
// Each argument and result counts in the nest that accesses the most of it. So the bound is never
// above the sum of the estimates. Branches, loops and transfers count in neither.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_FUNCTIONCOST_H
#define HEDDLE_LIB_COST_FUNCTIONCOST_H

#include "lib/cost/Cost.h"

namespace heddle::cost {

struct FunctionCost {
  double seconds = 0; ///< the sum of the estimates of its nests
  unsigned nests = 0; ///< that run one after another: those of a group count as one
  double bytes = 0;   ///< of arguments and results, which nests access
  Amounts least;      ///< the bytes of these, from where they come, and all operations
  Bound bound;        ///< of `least`

  std::string str() const;
};

/// Returns the cost of a function with one block by the layouts and schedules that its nests state.
FunctionCost costOfFunction(mlir::FunctionOpInterface function, const Machine &machine,
                            unsigned threads = 1);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_FUNCTIONCOST_H
