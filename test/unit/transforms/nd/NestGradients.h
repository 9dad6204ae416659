//===- NestGradients.h - programs of nests ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TRANSFORMS_ND_NESTGRADIENTS_H
#define HEDDLE_TEST_UNIT_TRANSFORMS_ND_NESTGRADIENTS_H

#include "GradientProgram.h"

inline const GradientProgram nestGradients[] = {
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
    // Small integers times their scale: rounding has slope 0, so the slope by the scale is the
    // integer.
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
    // The order of its names is kept in first and second derivatives.
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

#endif // HEDDLE_TEST_UNIT_TRANSFORMS_ND_NESTGRADIENTS_H
