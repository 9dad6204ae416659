// Long scans on a machine with lanes: prefixes of blocks, in groups, of their totals, and a nest that combines them.
// RUN: heddle-opt %s --convert-nd-to-nest --split-input-file | FileCheck %s

// Blocks of 16 elements take windows of 4 and 16; totals of 7 blocks fit one.
// CHECK-LABEL: @sum
// CHECK: %[[E:.*]] = nest.compute (n$block: 7, n$lane: 16) reads %arg0[n = 16 * n$block + n$lane] if [-16 * n$block - n$lane + 99 >= 0] else 0.000000e+00 : f32 {
// CHECK: {group = ["n$block", 0], heddle.materialize, heddle.name = "prefixes"}
// CHECK: %[[W:.*]] = nest.compute (n$block: 7, n$lane: 16) reads %[[E]][n$lane = n$lane - 3] if [n$lane - 3 >= 0] else 0.000000e+00 : f32, %[[E]][n$lane = n$lane - 2] if [n$lane - 2 >= 0] else 0.000000e+00 : f32, %[[E]][n$lane = n$lane - 1] if [n$lane - 1 >= 0] else 0.000000e+00 : f32, %[[E]][] {
// CHECK: %[[P:.*]] = nest.compute (n$block: 7, n$lane: 16) reads %[[W]][n$lane = n$lane - 12]
// CHECK: nest.compute (n$block: 1, n$lane: 16) reads %[[P]][n$block = 16 * n$block + n$lane, n$lane = 15] if
// CHECK: {group = ["n$block", 3], heddle.materialize
// CHECK: %[[T:.*]] = nest.compute (n$block: 1, n$lane: 16) reads {{.*}}[n$lane = n$lane - 12]
// CHECK: nest.compute (n: 100) reads %[[T]][n$block = {{.*}}, n$lane = {{.*}}] if [n floordiv 16 - 1 >= 0] else 0.000000e+00 : f32, %[[P]][n$block = n floordiv 16, n$lane = n mod 16] {
module attributes {heddle.machine = #nest.machine<{points_per_block = 16}>} {
func.func @sum(%x: !nd.tensor<f32, n: 100>) -> !nd.tensor<f32, n: 100> {
  %0 = nd.scan %x along n neutral [0.0 : f32] : (!nd.tensor<f32, n: 100>) -> !nd.tensor<f32, n: 100> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, n: 100>
}
}

// -----

// A block has as many bytes of wider accumulators. A short line whose other names have points is a recurrence.
// CHECK-LABEL: @wide
// CHECK: nest.compute (n$block: 3, n$lane: 32)
// CHECK-LABEL: @short
// CHECK: nest.scan along
module attributes {heddle.machine = #nest.machine<{points_per_block = 64}>} {
func.func @wide(%x: !nd.tensor<f64, n: 96>) -> !nd.tensor<f64, n: 96> {
  %0 = nd.scan %x along n exclusive reverse neutral [0.0 : f64] : (!nd.tensor<f64, n: 96>) -> !nd.tensor<f64, n: 96> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  return %0 : !nd.tensor<f64, n: 96>
}
func.func @short(%x: !nd.tensor<f32, n: 7, z: 96>) -> !nd.tensor<f32, n: 7, z: 96> {
  %0 = nd.scan %x along n neutral [0.0 : f32] : (!nd.tensor<f32, n: 7, z: 96>) -> !nd.tensor<f32, n: 7, z: 96> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, n: 7, z: 96>
}
}
