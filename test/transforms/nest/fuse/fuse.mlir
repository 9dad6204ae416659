// RUN: heddle-opt %s --convert-nd-to-nest --nest-fuse --split-input-file | FileCheck %s

// A convolution with bias, relu and pooling: two passes over memory.
// CHECK-LABEL: @convolution
// CHECK-NEXT: %[[C:.*]] = nest.compute (out: 16, row: 64) reduce (channel: 8, ky: 3) reads %arg0[row = ky + row - 1] if [{{.*}}] else 0.000000e+00 : f32, %arg1[] {
// CHECK: finish reads %arg2[] {
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: nest.compute (out: 16, row: 32) reduce (py: 2) reads %[[C]][row = py + 2 * row] {
// CHECK: combine max
// CHECK-NOT: nest.compute
!out_row = !nd.tensor<f32, out: 16, row: 64>

func.func @convolution(%x: !nd.tensor<f32, channel: 8, row: 64>, %w: !nd.tensor<f32, channel: 8, ky: 3, out: 16>, %b: !nd.tensor<f32, out: 16>) -> !nd.tensor<f32, out: 16, row: 32> {
  %0 = nd.window %x row -> ky size 3 pad 1, 1 value 0.0 : f32 : !nd.tensor<f32, channel: 8, row: 64> -> !nd.tensor<f32, channel: 8, ky: 3, row: 64>
  %1 = nd.pointwise %0, %w : (!nd.tensor<f32, channel: 8, ky: 3, row: 64>, !nd.tensor<f32, channel: 8, ky: 3, out: 16>) -> !nd.tensor<f32, channel: 8, ky: 3, out: 16, row: 64> {
  ^bb0(%a: f32, %k: f32):
    %p = arith.mulf %a, %k : f32
    nd.yield %p : f32
  }
  %2 = nd.reduce %1 over [channel, ky] neutral [0.0 : f32] : (!nd.tensor<f32, channel: 8, ky: 3, out: 16, row: 64>) -> !out_row {
  ^bb0(%a: f32, %k: f32):
    %p = arith.addf %a, %k : f32
    nd.yield %p : f32
  }
  %3 = nd.pointwise %2, %b : (!out_row, !nd.tensor<f32, out: 16>) -> !out_row {
  ^bb0(%a: f32, %k: f32):
    %p = arith.addf %a, %k : f32
    nd.yield %p : f32
  }
  %4 = nd.pointwise %3 : (!out_row) -> !out_row {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f32
    %p = arith.maximumf %a, %z : f32
    nd.yield %p : f32
  }
  %5 = nd.window %4 row -> py size 2 stride 2 : !out_row -> !nd.tensor<f32, out: 16, py: 2, row: 32>
  %6 = nd.reduce %5 over [py] neutral [0xFF800000 : f32] : (!nd.tensor<f32, out: 16, py: 2, row: 32>) -> !nd.tensor<f32, out: 16, row: 32> {
  ^bb0(%a: f32, %k: f32):
    %p = arith.maximumf %a, %k : f32
    nd.yield %p : f32
  }
  return %6 : !nd.tensor<f32, out: 16, row: 32>
}

// -----

!n = !nd.tensor<f32, n: 4>

// The names of the ops do not matter: a user's nest.compute instead of pointwise ops fuses alike. Nests inside of a scan are
// fused as well, and what nobody reads goes.
// CHECK-LABEL: @inScan
// CHECK: nest.scan
// CHECK-COUNT-1: nest.compute
// CHECK: math.tanh
// CHECK-NOT: nest.compute
func.func @inScan(%h: !n, %x: !nd.tensor<f32, n: 4, t: 5>) -> !n {
  %dead = nest.compute (n: 4) reads %h[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!n) -> !n
  %r = nest.scan along #nd.dims<t: 5> init(%h) reads(%x) : (!n, !nd.tensor<f32, n: 4, t: 5>) -> !n {
  ^bb0(%c: !n, %s: !n):
    %0 = nest.compute (n: 4) reads %c[], %s[] {
    ^bb0(%a: f32, %b: f32):
      %p = arith.addf %a, %b : f32
      nest.yield %p : f32
    } : (!n, !n) -> !n
    %1 = nest.compute (n: 4) reads %0[] {
    ^bb0(%a: f32):
      %p = math.tanh %a : f32
      nest.yield %p : f32
    } : (!n) -> !n
    nest.yield %1 : !n
  }
  return %r : !n
}

// -----

// A value that is returned under two names is computed once, or fusion would not end: equal nests are merged,
// one becoming a renaming of the other.
// CHECK-LABEL: @two_names
// CHECK-NEXT: %[[S:.*]] = nest.compute (n: 4) reads %arg0[n = n + 2] {
// CHECK: %[[R:.*]] = nest.compute (m: 4) reads %[[S]][n = m] {
// CHECK: return %[[S]], %[[R]]
func.func @two_names(%x: !nd.tensor<f32, n: 8>) -> (!nd.tensor<f32, n: 4>, !nd.tensor<f32, m: 4>) {
  %0 = nd.slice %x n from 2 size 4 : !nd.tensor<f32, n: 8> -> !nd.tensor<f32, n: 4>
  %1 = nd.rename %0 [n] to [m] : !nd.tensor<f32, n: 4> -> !nd.tensor<f32, m: 4>
  return %0, %1 : !nd.tensor<f32, n: 4>, !nd.tensor<f32, m: 4>
}

// -----

// If only the other name is used, there is one nest.
// CHECK-LABEL: @one_name
// CHECK-NEXT: %[[S:.*]] = nest.compute (m: 4) reads %arg0[n = m + 2] {
// CHECK-NOT: nest.compute
func.func @one_name(%x: !nd.tensor<f32, n: 8>) -> !nd.tensor<f32, m: 4> {
  %0 = nd.slice %x n from 2 size 4 : !nd.tensor<f32, n: 8> -> !nd.tensor<f32, n: 4>
  %1 = nd.rename %0 [n] to [m] : !nd.tensor<f32, n: 4> -> !nd.tensor<f32, m: 4>
  return %1 : !nd.tensor<f32, m: 4>
}

// -----

// It does not pay to compute the producer in both reductions; it does as soon as these are one nest.
// CHECK-LABEL: @declined_at_first
// CHECK: nest.compute
// CHECK: math.sin
// CHECK-NOT: nest.compute
// CHECK: return
func.func @declined_at_first(%x: !nd.tensor<f32, m: 4096, n: 512>) -> (!nd.tensor<f32, m: 4096>, !nd.tensor<f32, m: 4096>) {
  %p = nd.pointwise %x : (!nd.tensor<f32, m: 4096, n: 512>) -> !nd.tensor<f32, m: 4096, n: 512> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    %g = math.sin %e : f32
    %h = math.exp %g : f32
    nd.yield %h : f32
  }
  %s = nd.reduce %p over [n] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, m: 4096, n: 512>) -> !nd.tensor<f32, m: 4096> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  %t = nd.reduce %p over [n] neutral [0xFF800000 : f32] : (!nd.tensor<f32, m: 4096, n: 512>) -> !nd.tensor<f32, m: 4096> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    nd.yield %r : f32
  }
  return %s, %t : !nd.tensor<f32, m: 4096>, !nd.tensor<f32, m: 4096>
}
