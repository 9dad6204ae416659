//===- ReductionGradients.h - reductions, scans and sorts -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TRANSFORMS_ND_REDUCTIONGRADIENTS_H
#define HEDDLE_TEST_UNIT_TRANSFORMS_ND_REDUCTIONGRADIENTS_H

#include "GradientProgram.h"

inline const GradientProgram reductionGradients[] = {
    {"ScanCapturesItsOwnName", R"mlir(
func.func @f(%s: !nd.tensor<f64>, %x: !nd.tensor<f64, t: 3>) -> !nd.tensor<f64, t: 3> {
  %last, %all = nest.scan along <t: 3> init(%s) reads(%x) : (!nd.tensor<f64>, !nd.tensor<f64, t: 3>) -> (!nd.tensor<f64>, !nd.tensor<f64, t: 3>) {
  ^bb0(%u: !nd.tensor<f64>, %v: !nd.tensor<f64>):
    %0 = nest.compute () reduce (t: 3) reads %x[], %u[], %v[] {
    ^bb0(%p: f64, %q: f64, %w: f64):
      %1 = arith.mulf %p, %q : f64
      %2 = arith.mulf %1, %w : f64
      nest.yield %2 : f64
    } combine add [0.0 : f64] : (!nd.tensor<f64, t: 3>, !nd.tensor<f64>, !nd.tensor<f64>) -> !nd.tensor<f64>
    nest.yield %0, %0 : !nd.tensor<f64>, !nd.tensor<f64>
  }
  return %all : !nd.tensor<f64, t: 3>
})mlir"},
    {"Sort", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5, b: 2>, %y: !nd.tensor<f64, a: 5, b: 2>)
    -> (!nd.tensor<f64, a: 5, b: 2>, !nd.tensor<f64, a: 5, b: 2>) {
  %r:2 = nd.sort %x, %y along a descending : (!nd.tensor<f64, a: 5, b: 2>, !nd.tensor<f64, a: 5, b: 2>)
      -> (!nd.tensor<f64, a: 5, b: 2>, !nd.tensor<f64, a: 5, b: 2>)
  return %r#0, %r#1 : !nd.tensor<f64, a: 5, b: 2>, !nd.tensor<f64, a: 5, b: 2>
})mlir"},
    {"TopK", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 7>, %y: !nd.tensor<f64, a: 7>) -> !nd.tensor<f64, a: 3> {
  %k, %r = nd.sort %x, %y along a : (!nd.tensor<f64, a: 7>, !nd.tensor<f64, a: 7>)
      -> (!nd.tensor<f64, a: 3>, !nd.tensor<f64, a: 3>)
  %p = nd.pointwise %k, %r : (!nd.tensor<f64, a: 3>, !nd.tensor<f64, a: 3>) -> !nd.tensor<f64, a: 3> {
  ^bb0(%u: f64, %v: f64):
    %0 = arith.mulf %u, %v : f64
    nd.yield %0 : f64
  }
  return %p : !nd.tensor<f64, a: 3>
})mlir"},
    {"ReduceProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  %r = nd.reduce %x over [a, b] neutral [1.0 : f64] : (!nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nd.yield %0 : f64
  }
  return %r : !nd.tensor<f64, c: 2>
})mlir"},
    {"ReduceProductAtZero", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  %r = nd.reduce %x over [a, b] neutral [1.0 : f64] : (!nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nd.yield %0 : f64
  }
  return %r : !nd.tensor<f64, c: 2>
})mlir",
     true, false, true},
    {"ReduceMaximum", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  %s = nd.pointwise %x : (!nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, a: 3, b: 2, c: 2> {
  ^bb0(%p: f64):
    %0 = arith.mulf %p, %p : f64
    nd.yield %0 : f64
  }
  %r = nd.reduce %s over [b, a] neutral [0xFFF0000000000000 : f64] : (!nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.maximumf %p, %q : f64
    nd.yield %0 : f64
  }
  return %r : !nd.tensor<f64, c: 2>
})mlir"},
    {"ReduceArgMinimum", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5, c: 2>) -> !nd.tensor<f64, c: 2> {
  %i = nd.iota a : !nd.tensor<i32, a: 5>
  %w = nd.broadcast %i : !nd.tensor<i32, a: 5> -> !nd.tensor<i32, a: 5, c: 2>
  %r:2 = nd.reduce %x, %w over [a] neutral [0x7FF0000000000000 : f64, 99 : i32]
      : (!nd.tensor<f64, a: 5, c: 2>, !nd.tensor<i32, a: 5, c: 2>) -> (!nd.tensor<f64, c: 2>, !nd.tensor<i32, c: 2>) {
  ^bb0(%p: f64, %pi: i32, %q: f64, %qi: i32):
    %less = arith.cmpf olt, %q, %p : f64
    %v = arith.select %less, %q, %p : f64
    %j = arith.select %less, %qi, %pi : i32
    nd.yield %v, %j : f64, i32
  }
  return %r#0 : !nd.tensor<f64, c: 2>
})mlir"},
    {"ReduceLogSumExp", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  %r = nd.reduce %x over [a, b] neutral [-1.0e30 : f64] : (!nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %m = arith.maximumf %p, %q : f64
    %0 = arith.subf %p, %m : f64
    %1 = arith.subf %q, %m : f64
    %2 = math.exp %0 : f64
    %3 = math.exp %1 : f64
    %4 = arith.addf %2, %3 : f64
    %5 = math.log %4 : f64
    %6 = arith.addf %5, %m : f64
    nd.yield %6 : f64
  }
  return %r : !nd.tensor<f64, c: 2>
})mlir"},
    {"ReducePair", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, c: 2>, %y: !nd.tensor<f64, a: 4, c: 2>) -> (!nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 2>) {
  %r:2 = nd.reduce %x, %y over [a] neutral [1.0 : f64, 0.0 : f64]
      : (!nd.tensor<f64, a: 4, c: 2>, !nd.tensor<f64, a: 4, c: 2>) -> (!nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 2>) {
  ^bb0(%p: f64, %pi: f64, %q: f64, %qi: f64):
    %0 = arith.mulf %p, %q : f64
    %1 = arith.addf %pi, %qi : f64
    nd.yield %0, %1 : f64, f64
  }
  return %r#0, %r#1 : !nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 2>
})mlir"},
    {"ScanSum", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, c: 2>) -> (!nd.tensor<f64, a: 4, c: 2>, !nd.tensor<f64, a: 4, c: 2>) {
  %r = nd.scan %x along a neutral [0.0 : f64] : (!nd.tensor<f64, a: 4, c: 2>) -> !nd.tensor<f64, a: 4, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.addf %p, %q : f64
    nd.yield %0 : f64
  }
  %s = nd.pointwise %r : (!nd.tensor<f64, a: 4, c: 2>) -> !nd.tensor<f64, a: 4, c: 2> {
  ^bb0(%p: f64):
    %0 = math.sin %p : f64
    nd.yield %0 : f64
  }
  %t = nd.scan %s along a exclusive reverse neutral [0.0 : f64] : (!nd.tensor<f64, a: 4, c: 2>) -> !nd.tensor<f64, a: 4, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.addf %p, %q : f64
    nd.yield %0 : f64
  }
  return %s, %t : !nd.tensor<f64, a: 4, c: 2>, !nd.tensor<f64, a: 4, c: 2>
})mlir"},
    {"ScanProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, c: 2>) -> (!nd.tensor<f64, a: 4, c: 2>, !nd.tensor<f64, a: 4, c: 2>) {
  %r = nd.scan %x along a neutral [1.0 : f64] : (!nd.tensor<f64, a: 4, c: 2>) -> !nd.tensor<f64, a: 4, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nd.yield %0 : f64
  }
  %t = nd.scan %x along a exclusive reverse neutral [1.0 : f64] : (!nd.tensor<f64, a: 4, c: 2>) -> !nd.tensor<f64, a: 4, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nd.yield %0 : f64
  }
  return %r, %t : !nd.tensor<f64, a: 4, c: 2>, !nd.tensor<f64, a: 4, c: 2>
})mlir"},
    {"ScanMaximum", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5, c: 2>) -> (!nd.tensor<f64, a: 5, c: 2>, !nd.tensor<f64, a: 5, c: 2>) {
  %r = nd.scan %x along a neutral [0xFFF0000000000000 : f64] : (!nd.tensor<f64, a: 5, c: 2>) -> !nd.tensor<f64, a: 5, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.maximumf %p, %q : f64
    nd.yield %0 : f64
  }
  %t = nd.scan %x along a exclusive reverse neutral [-8.0 : f64] : (!nd.tensor<f64, a: 5, c: 2>) -> !nd.tensor<f64, a: 5, c: 2> {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.maximumf %p, %q : f64
    nd.yield %0 : f64
  }
  return %r, %t : !nd.tensor<f64, a: 5, c: 2>, !nd.tensor<f64, a: 5, c: 2>
})mlir",
     false},
};

#endif // HEDDLE_TEST_UNIT_TRANSFORMS_ND_REDUCTIONGRADIENTS_H
