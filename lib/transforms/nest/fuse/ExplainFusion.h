//===- ExplainFusion.h - what else fusion might have chosen -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions by which nests are fused and grouped, as far as the cost model takes them, with the
// cost of the other choice. What is always fused, or must not be fused, is no decision.
//
//     'relu' is recomputed in its 2 readers     stored: 12.1 us more
//     'sum' and 'max' run apart                 joined: 0.4 us more
//     'mean' runs in a group over (n)           in nests of their own: 31.0 us more
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_EXPLAINFUSION_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_EXPLAINFUSION_H

#include "lib/support/Mlir.h"

namespace heddle::nest {

struct FusionDecision {
  std::string nest; ///< its label
  Location loc;
  std::string chosen, other;
  double seconds =
      0; ///< that the other choice would take longer; negative: it would save too little
};

/// The decisions on one function, in order. Null pointers to it record nothing.
class FusionDecisions {
public:
  /// Replaces a decision between the same choices: rewrites decide again after others.
  void add(FusionDecision decision);
  const std::vector<FusionDecision> &all() const { return decisions; }

private:
  std::vector<FusionDecision> decisions;
};

struct ExplainFusionOptions {
  bool explain = false; ///< emit remarks
  std::function<void(func::FuncOp, const FusionDecisions &)> explained;

  bool isOn() const { return explain || explained; }
  /// Emits remarks or calls `explained`.
  void report(func::FuncOp function, const FusionDecisions &decisions) const;
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_EXPLAINFUSION_H
