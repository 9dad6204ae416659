//===- ScalarRegion.h - evaluation of scalar regions ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A region of scalar `arith` and `math` ops, prepared once and run for each point. Values are in
// numbered slots: arguments first, then one per op.
//
//     ^bb0(%x: f32, %y: f32):                slots 0, 1
//       %p = arith.mulf %x, %y : f32         slot 2 = mul(slot 0, slot 1)
//       nd.yield %p : f32                    results: slot 2
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_SCALARREGION_H
#define HEDDLE_LIB_INTERP_SCALARREGION_H

#include "lib/interp/Scalar.h"

#include <functional>
#include <vector>

namespace heddle::interp {

class ScalarRegion {
public:
  /// Returns the coordinate of an iteration name, for `nest.index`.
  using Coordinates = function_ref<int64_t(StringRef name)>;

  /// Fails with a located error for an op that is not supported. `arithmetic` propagates error
  /// bounds.
  static FailureOr<ScalarRegion> prepare(mlir::Region &region, Arithmetic &arithmetic);

  /// The values that the region yields for these arguments. The reference is valid until the next
  /// run.
  ArrayRef<Scalar> run(ArrayRef<Scalar> arguments, Coordinates coordinates = nullptr);

private:
  using Function = std::function<Scalar(ArrayRef<Scalar> operands)>;
  struct Step {
    Function function; ///< empty: the coordinate `index`
    std::string index;
    std::vector<unsigned> slots; ///< of the operands
  };
  static Function functionOf(Operation *op, Arithmetic &arithmetic);
  static Function integerFunction(Operation *op);
  static Function floatFunction(Operation *op, Arithmetic &arithmetic);
  static Function conversion(Operation *op, Arithmetic &arithmetic);

  std::vector<Step> steps;
  std::vector<unsigned> resultSlots;
  std::vector<Scalar> slots, results;
};

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_SCALARREGION_H
