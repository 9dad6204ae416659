// A nest of a group walks one row after the other, so no tile of several rows turns lanes that lie apart: the group's result
// is contiguous along its lanes, although its two readers would have it along b.
// RUN: heddle-opt %s -nest-assign-layouts | FileCheck %s
// CHECK: nest.yield %{{.*}}, %{{.*}} : !nd.tensor<f32>, !nd.tensor<f32, p: 128>
// CHECK-NEXT: layouts = [#nest.layout<[b, h, t]>, #nest.layout<[{{.*}}, p]>]

!b_h_p_t = !nd.tensor<f32, b: 32, h: 6, p: 128, t: 128>
!b_h_t = !nd.tensor<f32, b: 32, h: 6, t: 128>

module attributes {heddle.machine = #nest.machine<{vector_bytes = 64 : i64, vector_registers = 32 : i64, lane_cycles = 4.0 : f64}>} {
func.func @softmax(%x: !b_h_p_t {nd.layout = #nest.layout<[h, t, b, p]>}, %g: !b_h_p_t {nd.layout = #nest.layout<[h, p, t, b]>}) -> (!b_h_t, !b_h_t) {
  %0:2 = nest.group (b: 32, h: 6, t: 128) {
    %m = nest.compute () reduce (p: 128) reads %x[] {
    ^bb0(%e: f32):
      nest.yield %e : f32
    } combine max [0xFF800000 : f32] : (!b_h_p_t) -> !nd.tensor<f32>
    %e = nest.compute (p: 128) reads %x[], %m[] {
    ^bb0(%v: f32, %n: f32):
      %d = arith.subf %v, %n : f32
      nest.yield %d : f32
    } : (!b_h_p_t, !nd.tensor<f32>) -> !nd.tensor<f32, p: 128>
    nest.yield %m, %e : !nd.tensor<f32>, !nd.tensor<f32, p: 128>
  } : !b_h_t, !b_h_p_t
  %r0 = nest.compute (b: 32, h: 6, t: 128) reduce (p: 128) reads %0#1[], %g[] {
  ^bb0(%a: f32, %c: f32):
    %d = arith.mulf %a, %c : f32
    nest.yield %d : f32
  } combine add [0.0 : f32] : (!b_h_p_t, !b_h_p_t) -> !b_h_t
  %r1 = nest.compute (b: 32, h: 6, t: 128) reduce (p: 128) reads %0#1[], %g[] {
  ^bb0(%a: f32, %c: f32):
    %d = arith.addf %a, %c : f32
    nest.yield %d : f32
  } combine add [0.0 : f32] : (!b_h_p_t, !b_h_p_t) -> !b_h_t
  return %r0, %r1 : !b_h_t, !b_h_t
}
}
