//===- NdCombination.h - combiners of reductions and scans ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients of reductions and scans depend on the kind of each accumulator of the combiner: it
// is a sum, selects an element (as a maximum does), or is anything else. For
//
//     (s, m) = (s + x, max(m, x))
//
// s is added and m is chosen.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDCOMBINATION_H
#define HEDDLE_DIALECTS_ND_NDCOMBINATION_H

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

namespace heddle::nd {

/// A combiner with its accumulators that have a cotangent, by kind.
struct Combination {
  Operation *op;
  Block &combiner;
  SmallVector<TypedAttr> neutral;
  SmallVector<unsigned> added;  ///< accumulators with a cotangent: sums
  SmallVector<unsigned> chosen; ///< accumulators that select an element
  SmallVector<unsigned> others; ///< other accumulators

  Combination(Operation *op, mlir::Region &region, ArrayAttr attrs, ValueRange cotangents)
      : op(op), combiner(region.front()) {
    for (Attribute value : attrs)
      neutral.push_back(cast<TypedAttr>(value));
    for (auto [i, cotangent] : llvm::enumerate(cotangents))
      if (cotangent)
        (accumulatorKind(combiner, i) == CombinerKind::Add ? added
         : isSelecting(combiner, i)                        ? chosen
                                                           : others)
            .push_back(i);
  }

  unsigned size() const { return neutral.size(); }
  Location loc() const { return op->getLoc(); }
  Type accumulator(unsigned i) const { return neutral[i].getType(); }
  bool isFloat(unsigned i) const { return isa<FloatType>(accumulator(i)); }
  /// The combiner, extended by a position for each selecting accumulator.
  SmallVector<Value> withPositions(OpBuilder &b, ValueRange s) const {
    unsigned n = size(), m = chosen.size();
    return inlineWithPositions(b, loc(), combiner, s.take_front(n), s.slice(n + m, n), chosen,
                               s.slice(n, m), s.take_back(m));
  }
  SmallVector<TypedAttr> neutralWithPositions(Type position) const {
    SmallVector<TypedAttr> result(neutral);
    llvm::APInt last = llvm::APInt::getSignedMaxValue(position.getIntOrFloatBitWidth());
    result.append(chosen.size(), IntegerAttr::get(position, last));
    return result;
  }
};

/// The row-major position in the order of `names`, which are names of `type` with constant sizes.
Value buildLinearIndex(OpBuilder &b, Location loc, NdTensorType type, Strings names, Type element);

/// Adds `more` to `sum`, which may be null.
void addGradient(OpBuilder &b, Location loc, Value &sum, Value more);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDCOMBINATION_H
