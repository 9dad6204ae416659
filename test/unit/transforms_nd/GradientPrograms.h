//===- GradientPrograms.h - small programs, one for each rule ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program is a function @f on f64 tensors (integers are constants inside). The test compares
// its gradients with finite differences; where `twice` holds also those of its gradient.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAMS_H
#define HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAMS_H

#include <ostream>

struct GradientProgram {
  const char *name;
  const char *text;
  bool twice = true;     ///< the second derivative is worth a test
  bool positive = false; ///< arguments must be positive
  bool zeros = false;    ///< an element of each argument is exactly zero
};
inline void PrintTo(const GradientProgram &program, std::ostream *stream) {
  *stream << program.name;
}

inline const GradientProgram gradientPrograms[] = {
    {"NestOwnCombiner", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2>, %y: !nd.tensor<f64, b: 2>) -> !nd.tensor<f64, b: 2> {
  %r = nest.compute (b: 2) reduce (a: 3, c: 2) reads %x[a = a - c + 1] if [a - c + 1 >= 0, 1 - a + c >= 0], %y[b = c] {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nest.yield %0 : f64
  } combine [0.0] {
  ^bb0(%u: f64, %v: f64):
    %0 = arith.addf %u, %v : f64
    %1 = arith.mulf %u, %v : f64
    %2 = arith.addf %0, %1 : f64
    nest.yield %2 : f64
  } : (!nd.tensor<f64, a: 3, b: 2>, !nd.tensor<f64, b: 2>) -> !nd.tensor<f64, b: 2>
  return %r : !nd.tensor<f64, b: 2>
})mlir"},
    {"NestProductOfComplexNumbers", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4>, %y: !nd.tensor<f64, a: 4>) -> !nd.tensor<f64> {
  %r, %i = nest.compute () reduce (a: 4) reads %x[], %y[] {
  ^bb0(%p: f64, %q: f64):
    nest.yield %p, %q : f64, f64
  } combine [1.0, 0.0] {
  ^bb0(%ar: f64, %ai: f64, %br: f64, %bi: f64):
    %0 = arith.mulf %ar, %br : f64
    %1 = arith.mulf %ai, %bi : f64
    %2 = arith.subf %0, %1 : f64
    %3 = arith.mulf %ar, %bi : f64
    %4 = arith.mulf %ai, %br : f64
    %5 = arith.addf %3, %4 : f64
    nest.yield %2, %5 : f64, f64
  } : (!nd.tensor<f64, a: 4>, !nd.tensor<f64, a: 4>) -> (!nd.tensor<f64>, !nd.tensor<f64>)
  return %r : !nd.tensor<f64>
})mlir"},
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
    {"NestSort", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5, b: 2>, %y: !nd.tensor<f64, a: 5, b: 2>)
    -> (!nd.tensor<f64, a: 3, b: 2>, !nd.tensor<f64, a: 3, b: 2>) {
  %r:2 = nest.sort %x, %y along <a: 5> : (!nd.tensor<f64, a: 5, b: 2>, !nd.tensor<f64, a: 5, b: 2>)
      -> (!nd.tensor<f64, a: 3, b: 2>, !nd.tensor<f64, a: 3, b: 2>)
  return %r#0, %r#1 : !nd.tensor<f64, a: 3, b: 2>, !nd.tensor<f64, a: 3, b: 2>
})mlir"},
    {"NestReadRemainder", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5>) -> !nd.tensor<f64, k: 5> {
  %r = nest.compute (k: 5) reads %x[a = (k + 1) mod 2], %x[a = k] {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nest.yield %0 : f64
  } : (!nd.tensor<f64, a: 5>, !nd.tensor<f64, a: 5>) -> !nd.tensor<f64, k: 5>
  return %r : !nd.tensor<f64, k: 5>
})mlir"},
    {"DynamicSlice", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5, b: 2>) -> !nd.tensor<f64, a: 3, b: 2, k: 3> {
  %s = nd.constant dense<[[0, 1], [-2, 9], [2, 2]]> : tensor<3x2xi32> by [k, b] : !nd.tensor<i32, b: 2, k: 3>
  %r = nd.dynamic_slice %x a from %s size 3 : (!nd.tensor<f64, a: 5, b: 2>, !nd.tensor<i32, b: 2, k: 3>) -> !nd.tensor<f64, a: 3, b: 2, k: 3>
  %q = nd.pointwise %r : (!nd.tensor<f64, a: 3, b: 2, k: 3>) -> !nd.tensor<f64, a: 3, b: 2, k: 3> {
  ^bb0(%u: f64):
    %0 = arith.mulf %u, %u : f64
    nd.yield %0 : f64
  }
  return %q : !nd.tensor<f64, a: 3, b: 2, k: 3>
})mlir"},
    {"UpdateSlice", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5, b: 2>, %p: !nd.tensor<f64, a: 2, b: 2>) -> !nd.tensor<f64, a: 5, b: 2> {
  %s = nd.constant dense<[1, 9]> : tensor<2xi32> by [b] : !nd.tensor<i32, b: 2>
  %r = nd.update_slice %p into %x a from %s : (!nd.tensor<f64, a: 2, b: 2>, !nd.tensor<f64, a: 5, b: 2>, !nd.tensor<i32, b: 2>) -> !nd.tensor<f64, a: 5, b: 2>
  %q = nd.pointwise %r : (!nd.tensor<f64, a: 5, b: 2>) -> !nd.tensor<f64, a: 5, b: 2> {
  ^bb0(%u: f64):
    %0 = arith.mulf %u, %u : f64
    nd.yield %0 : f64
  }
  return %q : !nd.tensor<f64, a: 5, b: 2>
})mlir"},
    {"SliceBackwards", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 8>) -> !nd.tensor<f64, a: 3> {
  %r = nd.slice %x a from 6 size 3 stride -2 : !nd.tensor<f64, a: 8> -> !nd.tensor<f64, a: 3>
  %q = nd.pointwise %r : (!nd.tensor<f64, a: 3>) -> !nd.tensor<f64, a: 3> {
  ^bb0(%u: f64):
    %0 = arith.mulf %u, %u : f64
    nd.yield %0 : f64
  }
  return %q : !nd.tensor<f64, a: 3>
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
    // By a divisor that moves; the signs differ from element to element.
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
    {"Convolution", R"mlir(
func.func @f(%x: !nd.tensor<f64, row: 7, column: 6, ci: 2>, %w: !nd.tensor<f64, ky: 3, kx: 2, ci: 2, co: 2>)
    -> !nd.tensor<f64, row: 4, column: 4, co: 2> {
  %0 = nd.window %x row -> ky size 3 stride 2 pad 1, 1 value 0.0 : f64 : !nd.tensor<f64, row: 7, column: 6, ci: 2>
      -> !nd.tensor<f64, row: 4, ky: 3, column: 6, ci: 2>
  %1 = nd.window %0 column -> kx size 2 dilation 2 : !nd.tensor<f64, row: 4, ky: 3, column: 6, ci: 2>
      -> !nd.tensor<f64, row: 4, ky: 3, column: 4, kx: 2, ci: 2>
  %2 = nd.pointwise %1, %w : (!nd.tensor<f64, row: 4, ky: 3, column: 4, kx: 2, ci: 2>, !nd.tensor<f64, ky: 3, kx: 2, ci: 2, co: 2>)
      -> !nd.tensor<f64, row: 4, ky: 3, column: 4, kx: 2, ci: 2, co: 2> {
  ^bb0(%a: f64, %b: f64):
    %m = arith.mulf %a, %b : f64
    nd.yield %m : f64
  }
  %3 = nd.reduce %2 over [ky, kx, ci] neutral [0.0 : f64] : (!nd.tensor<f64, row: 4, ky: 3, column: 4, kx: 2, ci: 2, co: 2>)
      -> !nd.tensor<f64, row: 4, column: 4, co: 2> {
  ^bb0(%a: f64, %b: f64):
    %m = arith.addf %a, %b : f64
    nd.yield %m : f64
  }
  return %3 : !nd.tensor<f64, row: 4, column: 4, co: 2>
})mlir"},
    {"MaxPool", R"mlir(
func.func @f(%x: !nd.tensor<f64, row: 5, column: 6>) -> !nd.tensor<f64, row: 3, column: 3> {
  %s = nd.pointwise %x : (!nd.tensor<f64, row: 5, column: 6>) -> !nd.tensor<f64, row: 5, column: 6> {
  ^bb0(%p: f64):
    %0 = math.sin %p : f64
    nd.yield %0 : f64
  }
  %0 = nd.window %s row -> ky size 3 stride 2 pad 1, 1 exclude : !nd.tensor<f64, row: 5, column: 6> -> !nd.tensor<f64, row: 3, ky: 3, column: 6>
  %1 = nd.window %0 column -> kx size 2 stride 2 : !nd.tensor<f64, row: 3, ky: 3, column: 6> -> !nd.tensor<f64, row: 3, ky: 3, column: 3, kx: 2>
  %2 = nd.reduce %1 over [ky, kx] neutral [0xFFF0000000000000 : f64] : (!nd.tensor<f64, row: 3, ky: 3, column: 3, kx: 2>) -> !nd.tensor<f64, row: 3, column: 3> {
  ^bb0(%a: f64, %b: f64):
    %m = arith.maximumf %a, %b : f64
    nd.yield %m : f64
  }
  return %2 : !nd.tensor<f64, row: 3, column: 3>
})mlir"},
    {"ExcludedSum", R"mlir(
func.func @f(%x: !nd.tensor<f64, row: 4>, %w: !nd.tensor<f64, row: 4, ky: 3>) -> !nd.tensor<f64, row: 4> {
  %0 = nd.window %x row -> ky size 3 pad 1, 1 exclude : !nd.tensor<f64, row: 4> -> !nd.tensor<f64, row: 4, ky: 3>
  %1 = nd.pointwise %0, %w : (!nd.tensor<f64, row: 4, ky: 3>, !nd.tensor<f64, row: 4, ky: 3>) -> !nd.tensor<f64, row: 4, ky: 3> {
  ^bb0(%a: f64, %b: f64):
    %e = math.exp %a : f64
    %m = arith.mulf %e, %b : f64
    nd.yield %m : f64
  }
  %2 = nd.reduce %1 over [ky] neutral [0.0 : f64] : (!nd.tensor<f64, row: 4, ky: 3>) -> !nd.tensor<f64, row: 4> {
  ^bb0(%a: f64, %b: f64):
    %m = arith.addf %a, %b : f64
    nd.yield %m : f64
  }
  return %2 : !nd.tensor<f64, row: 4>
})mlir"},
    {"ExcludedProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, row: 4>, %w: !nd.tensor<f64, row: 4, ky: 3>) -> !nd.tensor<f64, row: 4> {
  %0 = nd.window %x row -> ky size 3 pad 1, 1 exclude : !nd.tensor<f64, row: 4> -> !nd.tensor<f64, row: 4, ky: 3>
  %1 = nd.pointwise %0, %w : (!nd.tensor<f64, row: 4, ky: 3>, !nd.tensor<f64, row: 4, ky: 3>) -> !nd.tensor<f64, row: 4, ky: 3> {
  ^bb0(%a: f64, %b: f64):
    %m = arith.addf %a, %b : f64
    nd.yield %m : f64
  }
  %2 = nd.reduce %1 over [ky] neutral [1.0 : f64] : (!nd.tensor<f64, row: 4, ky: 3>) -> !nd.tensor<f64, row: 4> {
  ^bb0(%a: f64, %b: f64):
    %m = arith.mulf %a, %b : f64
    nd.yield %m : f64
  }
  return %2 : !nd.tensor<f64, row: 4>
})mlir"},
    {"Unwindow", R"mlir(
func.func @f(%x: !nd.tensor<f64, row: 3, ky: 3>) -> !nd.tensor<f64, row: 5> {
  %s = nd.pointwise %x : (!nd.tensor<f64, row: 3, ky: 3>) -> !nd.tensor<f64, row: 3, ky: 3> {
  ^bb0(%p: f64):
    %0 = arith.mulf %p, %p : f64
    nd.yield %0 : f64
  }
  %0 = nd.unwindow %s row -> ky size 3 stride 2 pad 1, 1 : !nd.tensor<f64, row: 3, ky: 3> -> !nd.tensor<f64, row: 5>
  return %0 : !nd.tensor<f64, row: 5>
})mlir"},
    {"SliceAndPad", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 7, b: 2>) -> !nd.tensor<f64, a: 8, b: 2> {
  %0 = nd.slice %x a from 1 size 3 stride 2 : !nd.tensor<f64, a: 7, b: 2> -> !nd.tensor<f64, a: 3, b: 2>
  %1 = nd.pointwise %0 : (!nd.tensor<f64, a: 3, b: 2>) -> !nd.tensor<f64, a: 3, b: 2> {
  ^bb0(%p: f64):
    %s = math.sin %p : f64
    nd.yield %s : f64
  }
  %2 = nd.pad %1 a low 2 high 1 interior 1 value 0.5 : f64 : !nd.tensor<f64, a: 3, b: 2> -> !nd.tensor<f64, a: 8, b: 2>
  return %2 : !nd.tensor<f64, a: 8, b: 2>
})mlir"},
    {"ConcatSplitMerge", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 2, b: 2>, %y: !nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, q: 4, p: 3> {
  %0 = nd.pointwise %x : (!nd.tensor<f64, a: 2, b: 2>) -> !nd.tensor<f64, a: 2, b: 2> {
  ^bb0(%p: f64):
    %s = math.sin %p : f64
    nd.yield %s : f64
  }
  %1 = nd.concat %0, %y, %0 along a : (!nd.tensor<f64, a: 2, b: 2>, !nd.tensor<f64, a: 4, b: 2>, !nd.tensor<f64, a: 2, b: 2>) -> !nd.tensor<f64, a: 8, b: 2>
  %2 = nd.slice %1 a from 1 size 6 : !nd.tensor<f64, a: 8, b: 2> -> !nd.tensor<f64, a: 6, b: 2>
  %3 = nd.merge %2 [b, a] into c : !nd.tensor<f64, a: 6, b: 2> -> !nd.tensor<f64, c: 12>
  %4 = nd.split %3 c into [p, q] : !nd.tensor<f64, c: 12> -> !nd.tensor<f64, p: 3, q: 4>
  %5 = nd.pointwise %4 : (!nd.tensor<f64, p: 3, q: 4>) -> !nd.tensor<f64, p: 3, q: 4> {
  ^bb0(%p: f64):
    %s = arith.mulf %p, %p : f64
    nd.yield %s : f64
  }
  return %5 : !nd.tensor<f64, p: 3, q: 4>
})mlir"},
    {"RenameAndBroadcast", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 3>) -> !nd.tensor<f64, a: 3, b: 3, c: 2> {
  %0 = nd.rename %x [a, b] to [b, a] : !nd.tensor<f64, a: 3, b: 3> -> !nd.tensor<f64, a: 3, b: 3>
  %1 = nd.pointwise %0, %x : (!nd.tensor<f64, a: 3, b: 3>, !nd.tensor<f64, a: 3, b: 3>) -> !nd.tensor<f64, a: 3, b: 3> {
  ^bb0(%p: f64, %q: f64):
    %s = math.sin %p : f64
    %m = arith.mulf %s, %q : f64
    nd.yield %m : f64
  }
  %2 = nd.broadcast %1 : !nd.tensor<f64, a: 3, b: 3> -> !nd.tensor<f64, a: 3, b: 3, c: 2>
  return %2 : !nd.tensor<f64, a: 3, b: 3, c: 2>
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
    {"Gather", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, i: 5, b: 2> {
  %k = nd.constant dense<[3, 0, 3, 9, -2]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %s = nd.pointwise %x : (!nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64):
    %0 = math.sin %p : f64
    nd.yield %0 : f64
  }
  %0 = nd.gather %s [a] at %k : (!nd.tensor<f64, a: 4, b: 2>, !nd.tensor<i32, i: 5>) -> !nd.tensor<f64, i: 5, b: 2>
  return %0 : !nd.tensor<f64, i: 5, b: 2>
})mlir"},
    {"GatherZipped", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 3>) -> !nd.tensor<f64, b: 3> {
  %k = nd.constant dense<[3, 0, 3]> : tensor<3xi32> by [b] : !nd.tensor<i32, b: 3>
  %0 = nd.gather %x [a] at %k : (!nd.tensor<f64, a: 4, b: 3>, !nd.tensor<i32, b: 3>) -> !nd.tensor<f64, b: 3>
  %s = nd.pointwise %0 : (!nd.tensor<f64, b: 3>) -> !nd.tensor<f64, b: 3> {
  ^bb0(%p: f64):
    %1 = arith.mulf %p, %p : f64
    nd.yield %1 : f64
  }
  return %s : !nd.tensor<f64, b: 3>
})mlir"},
    {"ScatterAdd", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 2>, %u: !nd.tensor<f64, i: 4, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  %k = nd.constant dense<[3, 0, 3, 7]> : tensor<4xi32> by [i] : !nd.tensor<i32, i: 4>
  %0 = nd.scatter %u into %x [a] at %k : (!nd.tensor<f64, a: 4, b: 2>, !nd.tensor<f64, i: 4, b: 2>, !nd.tensor<i32, i: 4>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64, %q: f64):
    %1 = arith.addf %p, %q : f64
    nd.yield %1 : f64
  }
  %s = nd.pointwise %0 : (!nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64):
    %1 = arith.mulf %p, %p : f64
    nd.yield %1 : f64
  }
  return %s : !nd.tensor<f64, a: 4, b: 2>
})mlir"},
    {"ScatterOverwrite", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 2>, %u: !nd.tensor<f64, i: 3, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  %k = nd.constant dense<[3, 0, -1]> : tensor<3xi32> by [i] : !nd.tensor<i32, i: 3>
  %0 = nd.scatter %u into %x [a] at %k unique : (!nd.tensor<f64, a: 4, b: 2>, !nd.tensor<f64, i: 3, b: 2>, !nd.tensor<i32, i: 3>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64, %q: f64):
    nd.yield %q : f64
  }
  %s = nd.pointwise %0 : (!nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64):
    %1 = arith.mulf %p, %p : f64
    nd.yield %1 : f64
  }
  return %s : !nd.tensor<f64, a: 4, b: 2>
})mlir"},
    {"ScatterProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4>, %u: !nd.tensor<f64, i: 2>) -> !nd.tensor<f64, a: 4> {
  %k = nd.constant dense<[3, 0]> : tensor<2xi32> by [i] : !nd.tensor<i32, i: 2>
  %0 = nd.scatter %u into %x [a] at %k unique : (!nd.tensor<f64, a: 4>, !nd.tensor<f64, i: 2>, !nd.tensor<i32, i: 2>) -> !nd.tensor<f64, a: 4> {
  ^bb0(%p: f64, %q: f64):
    %1 = arith.mulf %p, %q : f64
    nd.yield %1 : f64
  }
  return %0 : !nd.tensor<f64, a: 4>
})mlir"},
    {"ScatterSharedProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 2>, %u: !nd.tensor<f64, i: 5, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  %k = nd.constant dense<[3, 0, 3, 7, 3]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %0 = nd.scatter %u into %x [a] at %k : (!nd.tensor<f64, a: 4, b: 2>, !nd.tensor<f64, i: 5, b: 2>, !nd.tensor<i32, i: 5>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64, %q: f64):
    %1 = arith.mulf %p, %q : f64
    nd.yield %1 : f64
  }
  %s = nd.pointwise %0 : (!nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64):
    %1 = arith.mulf %p, %p : f64
    nd.yield %1 : f64
  }
  return %s : !nd.tensor<f64, a: 4, b: 2>
})mlir"},
    {"ScatterSharedMaximum", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 2>, %u: !nd.tensor<f64, i: 5, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  %k = nd.constant dense<[3, 0, 3, 7, 3]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %0 = nd.scatter %u into %x [a] at %k : (!nd.tensor<f64, a: 4, b: 2>, !nd.tensor<f64, i: 5, b: 2>, !nd.tensor<i32, i: 5>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64, %q: f64):
    %1 = arith.maximumf %p, %q : f64
    nd.yield %1 : f64
  }
  %s = nd.pointwise %0 : (!nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64):
    %1 = arith.mulf %p, %p : f64
    nd.yield %1 : f64
  }
  return %s : !nd.tensor<f64, a: 4, b: 2>
})mlir"},
    {"ScatterSharedMinimum", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 2>, %u: !nd.tensor<f64, i: 5, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  %k = nd.constant dense<[3, 0, 3, 7, 3]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %0 = nd.scatter %u into %x [a] at %k : (!nd.tensor<f64, a: 4, b: 2>, !nd.tensor<f64, i: 5, b: 2>, !nd.tensor<i32, i: 5>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64, %q: f64):
    %1 = arith.minimumf %p, %q : f64
    nd.yield %1 : f64
  }
  %s = nd.pointwise %0 : (!nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64):
    %1 = arith.mulf %p, %p : f64
    nd.yield %1 : f64
  }
  return %s : !nd.tensor<f64, a: 4, b: 2>
})mlir"},
    {"ScatterCombined", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 2>, %u: !nd.tensor<f64, i: 3, j: 2, b: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  %k = nd.constant dense<[[3, 0], [3, 7], [3, 0]]> : tensor<3x2xi32> by [i, j] : !nd.tensor<i32, i: 3, j: 2>
  %0 = nd.scatter %u into %x [a] at %k : (!nd.tensor<f64, a: 4, b: 2>, !nd.tensor<f64, i: 3, j: 2, b: 2>, !nd.tensor<i32, i: 3, j: 2>) -> !nd.tensor<f64, a: 4, b: 2> {
  ^bb0(%p: f64, %q: f64):
    %1 = arith.mulf %p, %q : f64
    %2 = arith.addf %p, %q : f64
    %3 = arith.addf %1, %2 : f64
    nd.yield %3 : f64
  }
  return %0 : !nd.tensor<f64, a: 4, b: 2>
})mlir"},
    {"ScatterCombinedInScan", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4>, %u: !nd.tensor<f64, i: 5, t: 2>) -> !nd.tensor<f64, a: 4> {
  %k = nd.constant dense<[3, 0, 3, 7, 3]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %r = nest.scan along <t: 2> init(%x) reads(%u) : (!nd.tensor<f64, a: 4>, !nd.tensor<f64, i: 5, t: 2>) -> !nd.tensor<f64, a: 4> {
  ^bb0(%s: !nd.tensor<f64, a: 4>, %v: !nd.tensor<f64, i: 5>):
    %0 = nd.scatter %v into %s [a] at %k : (!nd.tensor<f64, a: 4>, !nd.tensor<f64, i: 5>, !nd.tensor<i32, i: 5>) -> !nd.tensor<f64, a: 4> {
    ^bb0(%p: f64, %q: f64):
      %1 = arith.mulf %p, %q : f64
      %2 = arith.addf %p, %q : f64
      %3 = arith.addf %1, %2 : f64
      nd.yield %3 : f64
    }
    nest.yield %0 : !nd.tensor<f64, a: 4>
  }
  return %r : !nd.tensor<f64, a: 4>
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
    {"NestMatrixProductWithBias", R"mlir(
func.func @f(%x: !nd.tensor<f64, m: 3, k: 4>, %y: !nd.tensor<f64, k: 4, n: 2>, %b: !nd.tensor<f64, n: 2>) -> !nd.tensor<f64, m: 3, n: 2> {
  %r = nest.compute (m: 3, n: 2) reduce (k: 4) reads %x[], %y[] {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nest.yield %0 : f64
  } combine add [0.0 : f64] finish reads %b[] {
  ^bb0(%s: f64, %t: f64):
    %0 = arith.addf %s, %t : f64
    %1 = math.tanh %0 : f64
    nest.yield %1 : f64
  } : (!nd.tensor<f64, m: 3, k: 4>, !nd.tensor<f64, k: 4, n: 2>, !nd.tensor<f64, n: 2>) -> !nd.tensor<f64, m: 3, n: 2>
  return %r : !nd.tensor<f64, m: 3, n: 2>
})mlir"},
    {"NestCapsules", R"mlir(
func.func @f(%x: !nd.tensor<f64, row: 7, ci: 2, i: 2, k: 2>, %w: !nd.tensor<f64, ky: 3, ci: 2, co: 2, k: 2, j: 2>)
    -> !nd.tensor<f64, row: 3, co: 2, i: 2, j: 2> {
  %r = nest.compute (row: 3, co: 2, i: 2, j: 2) reduce (ky: 3, ci: 2, k: 2) reads %x[row = 2 * row + ky], %w[] {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nest.yield %0 : f64
  } combine add [0.0 : f64] : (!nd.tensor<f64, row: 7, ci: 2, i: 2, k: 2>, !nd.tensor<f64, ky: 3, ci: 2, co: 2, k: 2, j: 2>)
      -> !nd.tensor<f64, row: 3, co: 2, i: 2, j: 2>
  return %r : !nd.tensor<f64, row: 3, co: 2, i: 2, j: 2>
})mlir"},
    {"NestPadded", R"mlir(
func.func @f(%x: !nd.tensor<f64, row: 5>, %w: !nd.tensor<f64, ky: 3>) -> !nd.tensor<f64, row: 5> {
  %r = nest.compute (row: 5) reduce (ky: 3) reads %x[row = row + ky - 1] if [row + ky - 1 >= 0, 5 - row - ky >= 0] else 0.5 : f64, %w[] {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nest.yield %0 : f64
  } combine add [0.0 : f64] : (!nd.tensor<f64, row: 5>, !nd.tensor<f64, ky: 3>) -> !nd.tensor<f64, row: 5>
  return %r : !nd.tensor<f64, row: 5>
})mlir"},
    {"NestExcludedMaximum", R"mlir(
func.func @f(%x: !nd.tensor<f64, row: 5, c: 2>) -> !nd.tensor<f64, row: 3, c: 2> {
  %r = nest.compute (row: 3, c: 2) reduce (ky: 3) reads %x[row = 2 * row + ky - 1] if [2 * row + ky - 1 >= 0, 5 - 2 * row - ky >= 0] {
  ^bb0(%p: f64):
    %0 = arith.mulf %p, %p : f64
    nest.yield %0 : f64
  } combine max [0xFFF0000000000000 : f64] : (!nd.tensor<f64, row: 5, c: 2>) -> !nd.tensor<f64, row: 3, c: 2>
  return %r : !nd.tensor<f64, row: 3, c: 2>
})mlir"},
    {"NestProduct", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  %r = nest.compute (c: 2) reduce (a: 3, b: 2) reads %x[] {
  ^bb0(%p: f64):
    %0 = math.sin %p : f64
    nest.yield %0 : f64
  } combine mul [1.0 : f64] : (!nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2>
  return %r : !nd.tensor<f64, c: 2>
})mlir"},
    {"NestProductAtZero", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2> {
  %r = nest.compute (c: 2) reduce (a: 3, b: 2) reads %x[] {
  ^bb0(%p: f64):
    %0 = math.sin %p : f64
    nest.yield %0 : f64
  } combine mul [1.0 : f64] : (!nd.tensor<f64, a: 3, b: 2, c: 2>) -> !nd.tensor<f64, c: 2>
  return %r : !nd.tensor<f64, c: 2>
})mlir",
     true, false, true},
    {"NestShiftedPoint", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 5>) -> !nd.tensor<f64, a: 3> {
  %r = nest.compute (a: 3) reads %x[a = a + 1], %x[a = 4 - 2 * a] {
  ^bb0(%p: f64, %q: f64):
    %i = nest.index a
    %j = arith.index_cast %i : index to i64
    %k = arith.sitofp %j : i64 to f64
    %0 = arith.mulf %p, %q : f64
    %1 = math.exp %0 : f64
    %2 = arith.mulf %1, %k : f64
    nest.yield %2 : f64
  } : (!nd.tensor<f64, a: 5>, !nd.tensor<f64, a: 5>) -> !nd.tensor<f64, a: 3>
  return %r : !nd.tensor<f64, a: 3>
})mlir"},
    {"NestDigits", R"mlir(
func.func @f(%x: !nd.tensor<f64, c: 6>, %y: !nd.tensor<f64, a: 2, b: 3>) -> !nd.tensor<f64, c: 6> {
  %u = nest.compute (a: 2, b: 3) reads %x[c = 3 * a + b], %y[] {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nest.yield %0 : f64
  } : (!nd.tensor<f64, c: 6>, !nd.tensor<f64, a: 2, b: 3>) -> !nd.tensor<f64, a: 2, b: 3>
  %v = nest.compute (c: 6) reads %u[a = c floordiv 3, b = c mod 3], %y[a = 1, b = c floordiv 2] {
  ^bb0(%p: f64, %q: f64):
    %0 = math.sin %p : f64
    %1 = arith.mulf %0, %q : f64
    nest.yield %1 : f64
  } : (!nd.tensor<f64, a: 2, b: 3>, !nd.tensor<f64, a: 2, b: 3>) -> !nd.tensor<f64, c: 6>
  return %v : !nd.tensor<f64, c: 6>
})mlir"},
    {"NestDiagonal", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 3>) -> !nd.tensor<f64, a: 3> {
  %r = nest.compute (a: 3) reads %x[b = a] {
  ^bb0(%p: f64):
    %0 = math.sin %p : f64
    nest.yield %0 : f64
  } : (!nd.tensor<f64, a: 3, b: 3>) -> !nd.tensor<f64, a: 3>
  return %r : !nd.tensor<f64, a: 3>
})mlir"},
    {"NestGathered", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, b: 2, i: 3> {
  %k = nd.constant dense<[3, 0, 3]> : tensor<3xi32> by [i] : !nd.tensor<i32, i: 3>
  %r = nest.compute (b: 2, i: 3) reads %k[], %x[a = read(0)] {
  ^bb0(%i: i32, %p: f64):
    %0 = math.sin %p : f64
    nest.yield %0 : f64
  } : (!nd.tensor<i32, i: 3>, !nd.tensor<f64, a: 4, b: 2>) -> !nd.tensor<f64, b: 2, i: 3>
  return %r : !nd.tensor<f64, b: 2, i: 3>
})mlir"},
    {"NestUpdateAdd", R"mlir(
func.func @f(%d: !nd.tensor<f64, a: 5>, %x: !nd.tensor<f64, i: 3, j: 3>) -> !nd.tensor<f64, a: 5> {
  %r = nest.update (i: 3, j: 3) %d[a = i + 2 * j - 1] reads %x[] {
  ^bb0(%p: f64):
    %0 = math.sin %p : f64
    nest.yield %0 : f64
  } combine {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.addf %p, %q : f64
    nest.yield %0 : f64
  } : (!nd.tensor<f64, a: 5>, !nd.tensor<f64, i: 3, j: 3>) -> !nd.tensor<f64, a: 5>
  return %r : !nd.tensor<f64, a: 5>
})mlir"},
    {"NestUpdateUnique", R"mlir(
func.func @f(%d: !nd.tensor<f64, a: 5, b: 2>, %x: !nd.tensor<f64, i: 3, b: 2>) -> !nd.tensor<f64, a: 5, b: 2> {
  %k = nd.constant dense<[3, 0, 7]> : tensor<3xi32> by [i] : !nd.tensor<i32, i: 3>
  %r = nest.update (i: 3, b: 2) %d[a = read(0)] unique reads %k[], %x[] {
  ^bb0(%i: i32, %p: f64):
    %0 = math.sin %p : f64
    nest.yield %0 : f64
  } combine {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    %1 = math.sin %p : f64
    %2 = arith.addf %0, %1 : f64
    nest.yield %2 : f64
  } : (!nd.tensor<f64, a: 5, b: 2>, !nd.tensor<i32, i: 3>, !nd.tensor<f64, i: 3, b: 2>) -> !nd.tensor<f64, a: 5, b: 2>
  return %r : !nd.tensor<f64, a: 5, b: 2>
})mlir"},
    {"NestUpdateProduct", R"mlir(
func.func @f(%d: !nd.tensor<f64, a: 5, b: 2>, %x: !nd.tensor<f64, i: 4, b: 2>) -> !nd.tensor<f64, a: 5, b: 2> {
  %k = nd.constant dense<[3, 0, 3, 7]> : tensor<4xi32> by [i] : !nd.tensor<i32, i: 4>
  %r = nest.update (i: 4, b: 2) %d[a = read(0)] reads %k[], %x[] if [i + b - 1 >= 0] {
  ^bb0(%i: i32, %p: f64):
    %0 = math.sin %p : f64
    nest.yield %0 : f64
  } combine {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    nest.yield %0 : f64
  } : (!nd.tensor<f64, a: 5, b: 2>, !nd.tensor<i32, i: 4>, !nd.tensor<f64, i: 4, b: 2>) -> !nd.tensor<f64, a: 5, b: 2>
  return %r : !nd.tensor<f64, a: 5, b: 2>
})mlir"},
    {"NestUpdateCombined", R"mlir(
func.func @f(%d: !nd.tensor<f64, a: 5, b: 2>, %x: !nd.tensor<f64, i: 4, b: 2>) -> !nd.tensor<f64, a: 5, b: 2> {
  %k = nd.constant dense<[3, 0, 3, 7]> : tensor<4xi32> by [i] : !nd.tensor<i32, i: 4>
  %r = nest.update (i: 4, b: 2) %d[a = read(0)] reads %k[], %x[] if [i + b - 1 >= 0] {
  ^bb0(%i: i32, %p: f64):
    %0 = math.sin %p : f64
    nest.yield %0 : f64
  } combine {
  ^bb0(%p: f64, %q: f64):
    %0 = arith.mulf %p, %q : f64
    %1 = arith.addf %p, %q : f64
    %2 = arith.addf %0, %1 : f64
    nest.yield %2 : f64
  } : (!nd.tensor<f64, a: 5, b: 2>, !nd.tensor<i32, i: 4>, !nd.tensor<f64, i: 4, b: 2>) -> !nd.tensor<f64, a: 5, b: 2>
  return %r : !nd.tensor<f64, a: 5, b: 2>
})mlir"},
    {"NestScan", R"mlir(
func.func @f(%h: !nd.tensor<f64, c: 2>, %x: !nd.tensor<f64, t: 4, c: 2>, %w: !nd.tensor<f64, c: 2, d: 2>)
    -> (!nd.tensor<f64, c: 2>, !nd.tensor<f64, t: 4, d: 2>) {
  %r:2 = nest.scan along #nd.dims<t: 4> init(%h) reads(%x)
      : (!nd.tensor<f64, c: 2>, !nd.tensor<f64, t: 4, c: 2>) -> (!nd.tensor<f64, c: 2>, !nd.tensor<f64, t: 4, d: 2>) {
  ^bb0(%s: !nd.tensor<f64, c: 2>, %e: !nd.tensor<f64, c: 2>):
    %m = nest.compute (d: 2) reduce (c: 2) reads %s[], %w[] {
    ^bb0(%p: f64, %q: f64):
      %0 = arith.mulf %p, %q : f64
      nest.yield %0 : f64
    } combine add [0.0 : f64] : (!nd.tensor<f64, c: 2>, !nd.tensor<f64, c: 2, d: 2>) -> !nd.tensor<f64, d: 2>
    %n = nest.compute (c: 2) reads %m[d = c], %e[] {
    ^bb0(%p: f64, %q: f64):
      %0 = arith.addf %p, %q : f64
      %1 = math.sin %0 : f64
      nest.yield %1 : f64
    } : (!nd.tensor<f64, d: 2>, !nd.tensor<f64, c: 2>) -> !nd.tensor<f64, c: 2>
    nest.yield %n, %m : !nd.tensor<f64, c: 2>, !nd.tensor<f64, d: 2>
  }
  return %r#0, %r#1 : !nd.tensor<f64, c: 2>, !nd.tensor<f64, t: 4, d: 2>
})mlir"},
    {"NestGroup", R"mlir(
func.func @f(%x: !nd.tensor<f64, n: 3, k: 2>, %w: !nd.tensor<f64, k: 2, c: 2>) -> !nd.tensor<f64, n: 3, c: 2> {
  %r = nest.group (n: 3) {
    %s = nest.compute (c: 2) reduce (k: 2) reads %x[n = n], %w[] {
    ^bb0(%p: f64, %q: f64):
      %0 = arith.mulf %p, %q : f64
      nest.yield %0 : f64
    } combine add [0.0 : f64] : (!nd.tensor<f64, n: 3, k: 2>, !nd.tensor<f64, k: 2, c: 2>) -> !nd.tensor<f64, c: 2>
    %m = nest.compute () reduce (c: 2) reads %s[] {
    ^bb0(%p: f64):
      %0 = math.exp %p : f64
      nest.yield %0 : f64
    } combine add [0.0 : f64] : (!nd.tensor<f64, c: 2>) -> !nd.tensor<f64>
    %t = nest.compute (c: 2) reads %s[], %m[] {
    ^bb0(%p: f64, %q: f64):
      %0 = math.exp %p : f64
      %1 = arith.divf %0, %q : f64
      nest.yield %1 : f64
    } : (!nd.tensor<f64, c: 2>, !nd.tensor<f64>) -> !nd.tensor<f64, c: 2>
    nest.yield %t : !nd.tensor<f64, c: 2>
  } : !nd.tensor<f64, c: 2, n: 3>
  return %r : !nd.tensor<f64, n: 3, c: 2>
})mlir"},
    // Small integers times their scale, whose rounding is flat: the slope by the scale is the integer.
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
    {"NestPredicateAndTwoResults", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 2, b: 4>, %y: !nd.tensor<f64, b: 4>) -> (!nd.tensor<f64, a: 2>, !nd.tensor<f64, a: 2>) {
  %r:2 = nest.compute (a: 2) reduce (b: 4) reads %x[], %y[] {
  ^bb0(%p: f64, %q: f64):
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %c = arith.cmpf olt, %p, %q : f64
    %0 = arith.mulf %p, %q : f64
    %1 = arith.select %c, %0, %zero : f64
    %2 = arith.select %c, %p, %one : f64
    nest.yield %1, %2 : f64, f64
  } combine [0.0, 1.0] {
  ^bb0(%s: f64, %t: f64, %u: f64, %v: f64):
    %0 = arith.addf %s, %u : f64
    %1 = arith.mulf %t, %v : f64
    nest.yield %0, %1 : f64, f64
  } finish {
  ^bb0(%s: f64, %t: f64):
    %0 = arith.mulf %s, %t : f64
    %1 = math.sin %s : f64
    nest.yield %0, %1 : f64, f64
  } : (!nd.tensor<f64, a: 2, b: 4>, !nd.tensor<f64, b: 4>) -> (!nd.tensor<f64, a: 2>, !nd.tensor<f64, a: 2>)
  return %r#0, %r#1 : !nd.tensor<f64, a: 2>, !nd.tensor<f64, a: 2>
})mlir"},
    // The order of its names goes along to what is derived from it, and derived again.
    {"NestOrderAndFinish", R"mlir(
func.func @f(%x: !nd.tensor<f64, a: 3, b: 2, c: 2>, %y: !nd.tensor<f64, c: 2>) -> !nd.tensor<f64, c: 2> {
  %r = nest.compute (c: 2) reduce (a: 3, b: 2) reads %x[] {
  ^bb0(%p: f64):
    %0 = arith.mulf %p, %p : f64
    nest.yield %0 : f64
  } combine [0xFFF0000000000000 : f64] {
  ^bb0(%s: f64, %t: f64):
    %0 = arith.maximumf %s, %t : f64
    nest.yield %0 : f64
  } finish reads %y[] {
  ^bb0(%s: f64, %t: f64):
    %0 = arith.mulf %s, %s : f64
    %1 = arith.mulf %0, %t : f64
    nest.yield %1 : f64
  } {order = ["b", "a"]} : (!nd.tensor<f64, a: 3, b: 2, c: 2>, !nd.tensor<f64, c: 2>) -> !nd.tensor<f64, c: 2>
  return %r : !nd.tensor<f64, c: 2>
})mlir"},
};

#endif // HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAMS_H
