//===- Fold.h - reductions with bounds for any order ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler chooses the order in which a reduction combines, so several results are correct.
// `Fold` computes one of them, with an error bound that covers the others:
//
//  - a float sum is bounded by the number of elements and the sum of their magnitudes. It is exact
//    if the elements are multiples of one power of two and the sum of their magnitudes is exact in
//    the type (for example, small integers in f32);
//  - integers, maxima and minima are exact in every order;
//  - any other combiner is run forwards and backwards; the error is twice the bound plus the
//    difference of the two results. Integers that differ (ties) are undecided, and so are results
//    of finite numbers if a step overflows, since the order determines which steps do.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_FOLD_H
#define HEDDLE_LIB_INTERP_FOLD_H

#include "dialects/nd/Combiner.h"
#include "lib/interp/ScalarRegion.h"

namespace heddle::interp {

/// A combiner that is prepared once for many reductions.
struct Combiner {
  static FailureOr<Combiner> prepare(mlir::Region &region, ArrayRef<Type> types,
                                     Arithmetic &arithmetic);
  /// The combination of two tuples of accumulators.
  SmallVector<Scalar, 2> apply(ArrayRef<Scalar> a, ArrayRef<Scalar> b);

  nd::CombinerKind kind = nd::CombinerKind::General;
  SmallVector<Type, 2> types;   ///< of the accumulators
  SmallVector<bool, 2> selects; ///< which accumulators select one of the elements
  ScalarRegion region;
  Arithmetic *arithmetic = nullptr;
  bool isFloatSum() const;
  /// True if all orders give the same bits and bounds.
  bool isOrderFree() const;
};

/// A sum of floats with a bound that holds for any order.
class FloatSum {
public:
  /// `zero`: the sum of no elements; -0.0 is also the sum of several -0.0.
  explicit FloatSum(double zero = 0) : sum(zero), compensation(zero) {}
  void add(const Scalar &x);
  Scalar result(FloatType type, Arithmetic &arithmetic) const;

private:
  double sum, compensation, magnitude = 0, errors = 0, grain = 0, scale = 0;
  double squares = 0, farthest = 0, roundings = 0; ///< for deviations of perturbed executions
  int64_t count = 0;
  bool undecided = false;
};

/// One reduction. Elements have the accumulators' types.
class Fold {
public:
  Fold(Combiner &combiner, ArrayRef<Scalar> neutral);
  void add(ArrayRef<Scalar> element);
  SmallVector<Scalar, 2> result();

private:
  Combiner &combiner;
  SmallVector<Scalar, 2> neutral, running;
  std::vector<SmallVector<Scalar, 2>> kept; ///< elements of a general combiner
  FloatSum floats;                          ///< if the combiner is a float sum
};

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_FOLD_H
