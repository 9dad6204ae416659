//===- IndexingGradients.h - windows, slices, gathers, scatters *- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TRANSFORMS_ND_INDEXINGGRADIENTS_H
#define HEDDLE_TEST_UNIT_TRANSFORMS_ND_INDEXINGGRADIENTS_H

#include "GradientProgram.h"

inline const GradientProgram indexingGradients[] = {
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
};

#endif // HEDDLE_TEST_UNIT_TRANSFORMS_ND_INDEXINGGRADIENTS_H
