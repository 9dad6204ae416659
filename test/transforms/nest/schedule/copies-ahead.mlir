// Copies at loops inside of a chunk have two buffers, so that the next one is prefetched, also at a loop over a reduced
// name (k, loop 2) around tiles.
// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s

// CHECK: thread m by {{[0-9]+}}, thread n by {{[0-9]+}}, loop k by {{[0-9]+}}, cache
// CHECK-SAME: stage 1 at 2 in {{.*}} buffers 2]
module attributes {heddle.machine = #nest.machine<{vector_bytes = 64, vector_registers = 32}>} {
func.func @product(%a: !nd.tensor<f32, m: 2048, k: 2048> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 2048, n: 2048> {nd.layout = #nest.layout<[k, n]>}) -> (!nd.tensor<f32, m: 2048, n: 2048> {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 2048, n: 2048) reduce (k: 2048) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[vector n by 1], partial>} : (!nd.tensor<f32, m: 2048, k: 2048>, !nd.tensor<f32, k: 2048, n: 2048>) -> !nd.tensor<f32, m: 2048, n: 2048>
  return %c : !nd.tensor<f32, m: 2048, n: 2048>
}
}
