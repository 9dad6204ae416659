// RUN: heddle-opt %s --convert-nd-to-nest --split-input-file | FileCheck %s

// Index maps become reads through maps and guards.
// CHECK-LABEL: @window
// CHECK-NEXT: nest.compute (ky: 3, row: 4) reads %arg0[row = ky + 2 * row - 1] if [ky + 2 * row - 1 >= 0, -ky - 2 * row + 8 >= 0] else 0.000000e+00 : f32 {
func.func @window(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, ky: 3, row: 4> {
  %0 = nd.window %x row -> ky size 3 stride 2 pad 1, 0 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, ky: 3, row: 4>
  return %0 : !nd.tensor<f32, ky: 3, row: 4>
}

// -----

// Code on an excluding window is part of the reduction that follows.
// CHECK-LABEL: @excluding
// CHECK-NEXT: nest.compute (row: 8) reduce (ky: 3) reads %arg0[row = ky + row - 1] if [ky + row - 1 >= 0, -ky - row + 8 >= 0] {
// CHECK: math.exp
// CHECK-NOT: nd.{{window|pointwise|reduce}}
// CHECK: return
func.func @excluding(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8> {
  %0 = nd.window %x row -> ky size 3 pad 1, 1 exclude : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, ky: 3, row: 8>
  %1 = nd.pointwise %0 : (!nd.tensor<f32, ky: 3, row: 8>) -> !nd.tensor<f32, ky: 3, row: 8> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    nd.yield %e : f32
  }
  %2 = nd.reduce %1 over [ky] neutral [0.0 : f32] : (!nd.tensor<f32, ky: 3, row: 8>) -> !nd.tensor<f32, row: 8> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  return %2 : !nd.tensor<f32, row: 8>
}

// -----

// There is room for more at the end, but no window reads there: nothing is excluded, and no guard stands.
// CHECK-LABEL: @excluding_nothing
// CHECK-NEXT: nest.compute (ky: 2, row: N) reads %arg0[row = ky + 2 * row] {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: nest.yield
func.func @excluding_nothing(%x: !nd.tensor<f32, row: 2 * N>) -> !nd.tensor<f32, ky: 2, row: N> {
  %0 = nd.window %x row -> ky size 2 stride 2 pad 0, 1 exclude : !nd.tensor<f32, row: 2 * N> -> !nd.tensor<f32, ky: 2, row: N>
  return %0 : !nd.tensor<f32, ky: 2, row: N>
}

// -----

// The adjoint of a window with stride 2 and 4 taps gathers: each element is the sum of 2 taps.
// CHECK-LABEL: @unwindow
// CHECK-NEXT: nest.compute (row: 8) reduce (ky: 2) reads %arg0[ky = 2 * ky + row mod 2, row = -ky + row floordiv 2] if [-ky + row floordiv 2 >= 0, ky - row floordiv 2 + 2 >= 0] else 0.000000e+00 : f32 {
// CHECK: combine add
func.func @unwindow(%x: !nd.tensor<f32, ky: 4, row: 3>) -> !nd.tensor<f32, row: 8> {
  %0 = nd.unwindow %x row -> ky size 4 stride 2 : !nd.tensor<f32, ky: 4, row: 3> -> !nd.tensor<f32, row: 8>
  return %0 : !nd.tensor<f32, row: 8>
}

// -----

// CHECK-LABEL: @reshape
// CHECK-NEXT: %[[M:.*]] = nest.compute (c: 6) reads %arg0[a = c mod 3, b = c floordiv 3] {
// CHECK: nest.compute (p: 3, q: 2) reads %[[M]][c = 2 * p + q] {
func.func @reshape(%x: !nd.tensor<f32, a: 3, b: 2>) -> !nd.tensor<f32, p: 3, q: 2> {
  %0 = nd.merge %x [b, a] into c : !nd.tensor<f32, a: 3, b: 2> -> !nd.tensor<f32, c: 6>
  %1 = nd.split %0 c into [p, q] : !nd.tensor<f32, c: 6> -> !nd.tensor<f32, p: 3, q: 2>
  return %1 : !nd.tensor<f32, p: 3, q: 2>
}

// -----

// A gathered coordinate is the value of an earlier read; a scatter updates in place.
// CHECK-LABEL: @gather
// CHECK-NEXT: %[[G:.*]] = nest.compute (i: 2) reads %arg1[], %arg0[a = read(0)] {
// CHECK: nest.update (i: 2) %arg0[a = read(0)] reads %arg1[], %[[G]][] {
func.func @gather(%x: !nd.tensor<f32, a: 4>, %k: !nd.tensor<i32, i: 2>) -> !nd.tensor<f32, a: 4> {
  %0 = nd.gather %x [a] at %k : (!nd.tensor<f32, a: 4>, !nd.tensor<i32, i: 2>) -> !nd.tensor<f32, i: 2>
  %1 = nd.scatter %0 into %x [a] at %k : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, i: 2>, !nd.tensor<i32, i: 2>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%old: f32, %new: f32):
    %s = arith.addf %old, %new : f32
    nd.yield %s : f32
  }
  return %1 : !nd.tensor<f32, a: 4>
}
