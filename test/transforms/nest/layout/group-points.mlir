// The nests of a group access the elements of one point of it. Runs of elements on pages of their own cost more there, also
// where lanes walk a reduced name: all elements of a point are together, although the other reader would have a block of
// (j, s) at a time for all b.
// RUN: split-file %s %t
// RUN: heddle-opt %t/sums.mlir -nest-assign-layouts | FileCheck %s
// CHECK: func.func @sums(%arg0: !nd.tensor<f32, b: 16384, j: 64, s: 8> {nd.layout = #nest.layout<[b, j, s]>}

// The nests of a group propose layouts with its names outside of their own: the votes have rows of (s, o) at each point of
// the group.
// RUN: heddle-opt %t/routed.mlir -nest-assign-layouts | FileCheck %s --check-prefix=POINTS
// POINTS: nest.compute (b: 32, i: 4, j: 4, o: 16, s: 72, x: 36) reduce (k: 4)
// POINTS: layouts = [#nest.layout<[{{(i, j, )?}}b, x, {{(i, j, )?}}s, o]>]

// The only reader of this argument is a nest of a group, whose names sort before that of the group.
// RUN: heddle-opt %t/rows.mlir -nest-assign-layouts | FileCheck %s --check-prefix=ROWS
// ROWS: func.func @rows(%arg0: !nd.tensor<f32, a: 16, o: 16, s: 4, z: 4096> {nd.layout = #nest.layout<[z, o, s, a]>}

//--- sums.mlir
module attributes {heddle.machine = #nest.machine<{vector_bytes = 64 : i64, vector_registers = 32 : i64}>} {
func.func @sums(%x: !nd.tensor<f32, b: 16384, j: 64, s: 8> {nd.layout = "any"}, %z: !nd.tensor<f32, b: 16384, k: 8> {nd.layout = "any"}) -> (!nd.tensor<f32, b: 16384, j: 64>, !nd.tensor<f32, j: 64, k: 8, s: 8>) {
  %0 = nest.group (b: 16384) {
    %m = nest.compute (j: 64) reduce (s: 8) reads %x[] {
    ^bb0(%a: f32):
      nest.yield %a : f32
    } combine add [0.0 : f32] {schedule = #nest.schedule<[vector s by 1], partial>} : (!nd.tensor<f32, b: 16384, j: 64, s: 8>) -> !nd.tensor<f32, j: 64>
    %e = nest.compute (j: 64) reads %m[] {
    ^bb0(%v: f32):
      %d = arith.mulf %v, %v : f32
      nest.yield %d : f32
    } : (!nd.tensor<f32, j: 64>) -> !nd.tensor<f32, j: 64>
    nest.yield %e : !nd.tensor<f32, j: 64>
  } : !nd.tensor<f32, b: 16384, j: 64>
  %g = nest.compute (j: 64, k: 8, s: 8) reduce (b: 16384) reads %x[], %z[] {
  ^bb0(%a: f32, %c: f32):
    %d = arith.mulf %a, %c : f32
    nest.yield %d : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, b: 16384, j: 64, s: 8>, !nd.tensor<f32, b: 16384, k: 8>) -> !nd.tensor<f32, j: 64, k: 8, s: 8>
  return %0, %g : !nd.tensor<f32, b: 16384, j: 64>, !nd.tensor<f32, j: 64, k: 8, s: 8>
}
}
//--- routed.mlir
module attributes {heddle.machine = #nest.machine<{vector_bytes = 64 : i64, vector_registers = 32 : i64}>} {
func.func @routed(%w: !nd.tensor<f32, j: 4, k: 4, o: 16, s: 72> {nd.layout = "any"}, %pose: !nd.tensor<f32, b: 32, i: 4, k: 4, s: 72, x: 36> {nd.layout = "any"}, %share: !nd.tensor<f32, b: 32, o: 16, s: 72, x: 36> {nd.layout = "any"})
    -> !nd.tensor<f32, b: 32, o: 16, s: 72, x: 36> {
  %votes = nest.compute (b: 32, i: 4, j: 4, o: 16, s: 72, x: 36) reduce (k: 4) reads %w[], %pose[] {
  ^bb0(%a: f32, %c: f32):
    %d = arith.mulf %a, %c : f32
    nest.yield %d : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, j: 4, k: 4, o: 16, s: 72>, !nd.tensor<f32, b: 32, i: 4, k: 4, s: 72, x: 36>) -> !nd.tensor<f32, b: 32, i: 4, j: 4, o: 16, s: 72, x: 36>
  %0 = nest.group (b: 32, x: 36) {
    %m = nest.compute (i: 4, j: 4, o: 16) reduce (s: 72) reads %votes[], %share[] {
    ^bb0(%a: f32, %c: f32):
      %d = arith.mulf %a, %c : f32
      nest.yield %d : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, b: 32, i: 4, j: 4, o: 16, s: 72, x: 36>, !nd.tensor<f32, b: 32, o: 16, s: 72, x: 36>) -> !nd.tensor<f32, i: 4, j: 4, o: 16>
    %f = nest.compute (o: 16, s: 72) reduce (i: 4, j: 4) reads %votes[], %m[] {
    ^bb0(%a: f32, %c: f32):
      %d = arith.subf %a, %c : f32
      nest.yield %d : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, b: 32, i: 4, j: 4, o: 16, s: 72, x: 36>, !nd.tensor<f32, i: 4, j: 4, o: 16>) -> !nd.tensor<f32, o: 16, s: 72>
    nest.yield %f : !nd.tensor<f32, o: 16, s: 72>
  } : !nd.tensor<f32, b: 32, o: 16, s: 72, x: 36>
  return %0 : !nd.tensor<f32, b: 32, o: 16, s: 72, x: 36>
}
}
//--- rows.mlir
module attributes {heddle.machine = #nest.machine<{vector_bytes = 64 : i64, vector_registers = 32 : i64}>} {
func.func @rows(%t: !nd.tensor<f32, a: 16, o: 16, s: 4, z: 4096> {nd.layout = "any"}) -> !nd.tensor<f32, a: 16, o: 16, z: 4096> {
  %0 = nest.group (z: 4096) {
    %m = nest.compute (a: 16, o: 16) reduce (s: 4) reads %t[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, a: 16, o: 16, s: 4, z: 4096>) -> !nd.tensor<f32, a: 16, o: 16>
    %e = nest.compute (a: 16, o: 16) reads %m[] {
    ^bb0(%v: f32):
      %d = arith.mulf %v, %v : f32
      nest.yield %d : f32
    } : (!nd.tensor<f32, a: 16, o: 16>) -> !nd.tensor<f32, a: 16, o: 16>
    nest.yield %e : !nd.tensor<f32, a: 16, o: 16>
  } : !nd.tensor<f32, a: 16, o: 16, z: 4096>
  return %0 : !nd.tensor<f32, a: 16, o: 16, z: 4096>
}
}
