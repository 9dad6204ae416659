// A sum of four products is too short to prefetch where its results go: tiles write long contiguous runs, of several r. If
// short runs cost no more, a tile has one r, whose weights it reuses.
// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s
// RUN: sed 's/_far_cycles = 0.1/_far_cycles = 0.0/g' %s | heddle-opt --nest-choose-schedules | FileCheck %s --check-prefix=FREE
// CHECK: vector (r, o) by 1]
// FREE: vector o by 1]

module attributes {heddle.machine = #nest.machine<{vector_bytes = 64, vector_registers = 32, memory_far_cycles = 0.1, l3_far_cycles = 0.1, l2_far_cycles = 0.1}>} {
func.func @far_stores(%w: !nd.tensor<f32, k: 4, o: 16, r: 64> {nd.layout = #nest.layout<[r, k, o]>},
                      %x: !nd.tensor<f32, k: 4, p: 64, q: 16, r: 64> {nd.layout = #nest.layout<[r, k, p, q]>}) -> !nd.tensor<f32, o: 16, p: 64, q: 16, r: 64> {
  %0 = nest.compute (o: 16, p: 64, q: 16, r: 64) reduce (k: 4) reads %w[], %x[] {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    nest.yield %1 : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[p, q, r, o]>]}
    : (!nd.tensor<f32, k: 4, o: 16, r: 64>, !nd.tensor<f32, k: 4, p: 64, q: 16, r: 64>) -> !nd.tensor<f32, o: 16, p: 64, q: 16, r: 64>
  return %0 : !nd.tensor<f32, o: 16, p: 64, q: 16, r: 64>
}
}
