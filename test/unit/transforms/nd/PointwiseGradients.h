//===- PointwiseGradients.h - pointwise ops, products and calls *- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TRANSFORMS_ND_POINTWISEGRADIENTS_H
#define HEDDLE_TEST_UNIT_TRANSFORMS_ND_POINTWISEGRADIENTS_H

#include "GradientProgram.h"

inline const GradientProgram pointwiseGradients[] = {
    {"CheckpointLiftedOverANameOfItsOwn", R"mlir(
func.func private @g(%x: !nd.tensor<f64, c: 2>, %y: !nd.tensor<f64>) -> (!nd.tensor<f64, c: 2>, !nd.tensor<f64>) {
  %0 = nd.pointwise %x, %x : (!nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 2>) -> !nd.tensor<f64, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %1 = arith.mulf %p, %q : f64
    nd.yield %1 : f64
  }
  %2 = nd.reduce %x over [c] neutral [0.0] : (!nd.tensor<f64, c: 2>) -> !nd.tensor<f64> {
  ^bb0(%p: f64, %q: f64):
    %3 = arith.addf %p, %q : f64
    nd.yield %3 : f64
  }
  %4 = nd.pointwise %2, %y : (!nd.tensor<f64>, !nd.tensor<f64>) -> !nd.tensor<f64> {
  ^bb0(%p: f64, %q: f64):
    %5 = arith.mulf %p, %q : f64
    nd.yield %5 : f64
  }
  return %0, %4 : !nd.tensor<f64, c: 2>, !nd.tensor<f64>
}
func.func @f(%x: !nd.tensor<f64, c: 2>, %y: !nd.tensor<f64, c: 3>) -> (!nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 3>) {
  %0:2 = nd.call @g(%x, %y) checkpoint : (!nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 3>) -> (!nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 3>)
  return %0#0, %0#1 : !nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 3>
})mlir"},
    {"PointwiseArithmetic", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2>, %y: !nd.tensor<f64, b: 2>, %z: !nd.tensor<f64>)
    -> !nd.tensor<f64, a: 3, b: 2> {
  %r = nd.pointwise %x, %y, %z : (!nd.tensor<f64, a: 3, b: 2>, !nd.tensor<f64, b: 2>, !nd.tensor<f64>)
      -> !nd.tensor<f64, a: 3, b: 2> {
  ^bb0(%p: f64, %q: f64, %s: f64):
    %c = arith.constant 2.5 : f64
    %0 = arith.mulf %p, %q : f64
    %1 = arith.subf %0, %s : f64
    %2 = arith.divf %1, %q : f64
    %3 = arith.negf %2 : f64
    %4 = math.fma %3, %p, %s : f64
    %5 = arith.remf %4, %c : f64
    %6 = arith.addf %5, %p : f64
    nd.yield %6 : f64
  }
  return %r : !nd.tensor<f64, a: 3, b: 2>
})mlir"},
    {"PointwiseFunctions", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4>) -> !nd.tensor<f64, a: 4> {
  %r = nd.pointwise %x : (!nd.tensor<f64, a: 4>) -> !nd.tensor<f64, a: 4> {
  ^bb0(%p: f64):
    %0 = math.sin %p : f64
    %1 = math.exp %0 : f64
    %2 = math.log %1 : f64
    %3 = math.cos %2 : f64
    %4 = math.tanh %3 : f64
    %5 = math.erf %4 : f64
    %6 = math.exp2 %5 : f64
    %7 = math.sqrt %6 : f64
    %8 = math.rsqrt %7 : f64
    %9 = math.log1p %8 : f64
    %10 = math.expm1 %9 : f64
    %11 = math.log2 %10 : f64
    %12 = math.absf %11 : f64
    nd.yield %12 : f64
  }
  return %r : !nd.tensor<f64, a: 4>
})mlir",
     true, true},
    {"PointwisePower", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4>, %y: !nd.tensor<f64, a: 4>) -> !nd.tensor<f64, a: 4> {
  %r = nd.pointwise %x, %y : (!nd.tensor<f64, a: 4>, !nd.tensor<f64, a: 4>) -> !nd.tensor<f64, a: 4> {
  ^bb0(%p: f64, %q: f64):
    %two = arith.constant 2.0 : f64
    %three = arith.constant 3.0 : f64
    %odd = arith.constant 1.7 : f64
    %0 = math.powf %p, %q : f64
    %1 = math.powf %p, %two : f64
    %2 = math.powf %p, %three : f64
    %3 = math.powf %p, %odd : f64
    %4 = arith.addf %0, %1 : f64
    %5 = arith.mulf %2, %3 : f64
    %6 = arith.addf %4, %5 : f64
    nd.yield %6 : f64
  }
  return %r : !nd.tensor<f64, a: 4>
})mlir",
     true, true},
    // With respect to the divisor; the signs differ from element to element.
    {"PointwiseRemainder", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 7>, %y: !nd.tensor<f64, a: 7>) -> !nd.tensor<f64, a: 7> {
  %r = nd.pointwise %x, %y : (!nd.tensor<f64, a: 7>, !nd.tensor<f64, a: 7>) -> !nd.tensor<f64, a: 7> {
  ^bb0(%p: f64, %q: f64):
    %seven = arith.constant 7.0 : f64
    %0 = arith.mulf %p, %seven : f64
    %1 = arith.remf %0, %q : f64
    %2 = arith.mulf %1, %q : f64
    nd.yield %2 : f64
  }
  return %r : !nd.tensor<f64, a: 7>
})mlir"},
    {"PointwiseChoices", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5>, %y: !nd.tensor<f64, a: 5>) -> !nd.tensor<f64, a: 5> {
  %r = nd.pointwise %x, %y : (!nd.tensor<f64, a: 5>, !nd.tensor<f64, a: 5>) -> !nd.tensor<f64, a: 5> {
  ^bb0(%p: f64, %q: f64):
    %zero = arith.constant 0.0 : f64
    %0 = arith.maximumf %p, %q : f64
    %1 = arith.minimumf %p, %zero : f64
    %2 = arith.maxnumf %q, %zero : f64
    %3 = arith.minnumf %p, %q : f64
    %c = arith.cmpf olt, %p, %q : f64
    %4 = arith.mulf %0, %p : f64
    %5 = arith.mulf %3, %q : f64
    %6 = arith.select %c, %4, %5 : f64
    %7 = arith.addf %1, %2 : f64
    %8 = math.floor %p : f64
    %9 = arith.mulf %7, %8 : f64
    %10 = arith.addf %6, %9 : f64
    nd.yield %10 : f64
  }
  return %r : !nd.tensor<f64, a: 5>
})mlir"},
    {"OuterProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3>, %y: !nd.tensor<f64, b: 2>) -> !nd.tensor<f64, a: 3, b: 2> {
  %r = nd.pointwise %x, %y crossed : (!nd.tensor<f64, a: 3>, !nd.tensor<f64, b: 2>) -> !nd.tensor<f64, a: 3, b: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    %1 = arith.mulf %0, %p : f64
    nd.yield %1 : f64
  }
  return %r : !nd.tensor<f64, a: 3, b: 2>
})mlir"},
    {"MatrixProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, m: 3, k: 4>, %y: !nd.tensor<f64, k: 4, n: 2>) -> !nd.tensor<f64, m: 3, n: 2> {
  %p = nd.pointwise %x, %y : (!nd.tensor<f64, m: 3, k: 4>, !nd.tensor<f64, k: 4, n: 2>) -> !nd.tensor<f64, m: 3, n: 2, k: 4> {
  ^bb0(%a: f64, %b: f64):
    %0 = arith.mulf %a, %b : f64
    nd.yield %0 : f64
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f64] : (!nd.tensor<f64, m: 3, n: 2, k: 4>) -> !nd.tensor<f64, m: 3, n: 2> {
  ^bb0(%a: f64, %b: f64):
    %0 = arith.addf %a, %b : f64
    nd.yield %0 : f64
  }
  return %r : !nd.tensor<f64, m: 3, n: 2>
})mlir"},
    {"RoundIsStraightThrough", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3>) -> !nd.tensor<f64, a: 3> {
  %r = nd.round %x to f64 : !nd.tensor<f64, a: 3> -> !nd.tensor<f64, a: 3>
  %s = nd.pointwise %r : (!nd.tensor<f64, a: 3>) -> !nd.tensor<f64, a: 3> {
  ^bb0(%p: f64):
    %0 = arith.mulf %p, %p : f64
    nd.yield %0 : f64
  }
  return %s : !nd.tensor<f64, a: 3>
})mlir"},
    {"BroadcastThenSum", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3>) -> !nd.tensor<f64> {
  %0 = nd.broadcast %x : !nd.tensor<f64, a: 3> -> !nd.tensor<f64, a: 3, c: 2>
  %1 = nd.pointwise %0 : (!nd.tensor<f64, a: 3, c: 2>) -> !nd.tensor<f64, a: 3, c: 2> {
  ^bb0(%p: f64):
    %m = arith.mulf %p, %p : f64
    nd.yield %m : f64
  }
  %2 = nd.reduce %1 over [a, c] neutral [0.0 : f64] : (!nd.tensor<f64, a: 3, c: 2>) -> !nd.tensor<f64> {
  ^bb0(%a: f64, %b: f64):
    %m = arith.addf %a, %b : f64
    nd.yield %m : f64
  }
  return %2 : !nd.tensor<f64>
})mlir"},
    {"CallLifted", R"mlir(
func.func private @dot(%x: !nd.tensor<f64, k: 3>, %y: !nd.tensor<f64, k: 3>) -> !nd.tensor<f64> {
  %p = nd.pointwise %x, %y : (!nd.tensor<f64, k: 3>, !nd.tensor<f64, k: 3>) -> !nd.tensor<f64, k: 3> {
  ^bb0(%a: f64, %b: f64):
    %0 = arith.mulf %a, %b : f64
    nd.yield %0 : f64
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f64] : (!nd.tensor<f64, k: 3>) -> !nd.tensor<f64> {
  ^bb0(%a: f64, %b: f64):
    %0 = arith.addf %a, %b : f64
    nd.yield %0 : f64
  }
  return %r : !nd.tensor<f64>
}
func.func @f(%x: !nd.tensor<f64, k: 3, m: 2>, %y: !nd.tensor<f64, k: 3, n: 2>) -> !nd.tensor<f64, m: 2, n: 2> {
  %r = nd.call @dot(%x, %y) : (!nd.tensor<f64, k: 3, m: 2>, !nd.tensor<f64, k: 3, n: 2>) -> !nd.tensor<f64, m: 2, n: 2>
  return %r : !nd.tensor<f64, m: 2, n: 2>
})mlir"},
    {"QuantisedProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, m: 2, k: 3>, %s: !nd.tensor<f64, m: 2>, %w: !nd.tensor<f64, k: 3>) -> !nd.tensor<f64, m: 2> {
  %q = nd.pointwise %x, %s : (!nd.tensor<f64, m: 2, k: 3>, !nd.tensor<f64, m: 2>) -> !nd.tensor<i8, k: 3, m: 2> {
  ^bb0(%p: f64, %t: f64):
    %low = arith.constant -7.0 : f64
    %high = arith.constant 7.0 : f64
    %0 = arith.divf %p, %t : f64
    %1 = math.roundeven %0 : f64
    %2 = arith.maximumf %1, %low : f64
    %3 = arith.minimumf %2, %high : f64
    %4 = arith.fptosi %3 : f64 to i8
    nd.yield %4 : i8
  }
  %p = nd.pointwise %q, %q : (!nd.tensor<i8, k: 3, m: 2>, !nd.tensor<i8, k: 3, m: 2>) -> !nd.tensor<i32, k: 3, m: 2> {
  ^bb0(%a: i8, %b: i8):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    nd.yield %2 : i32
  }
  %d = nd.pointwise %p, %s, %w : (!nd.tensor<i32, k: 3, m: 2>, !nd.tensor<f64, m: 2>, !nd.tensor<f64, k: 3>) -> !nd.tensor<f64, k: 3, m: 2> {
  ^bb0(%a: i32, %t: f64, %v: f64):
    %0 = arith.sitofp %a : i32 to f64
    %1 = arith.mulf %t, %t : f64
    %2 = arith.mulf %0, %1 : f64
    %3 = arith.mulf %2, %v : f64
    nd.yield %3 : f64
  }
  %r = nd.reduce %d over [k] neutral [0.0 : f64] : (!nd.tensor<f64, k: 3, m: 2>) -> !nd.tensor<f64, m: 2> {
  ^bb0(%a: f64, %e: f64):
    %0 = arith.addf %a, %e : f64
    nd.yield %0 : f64
  }
  return %r : !nd.tensor<f64, m: 2>
})mlir",
     true, true},
    // A predicate and two accumulators of one nest.
};

#endif // HEDDLE_TEST_UNIT_TRANSFORMS_ND_POINTWISEGRADIENTS_H
