// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: sed 's/vector_bytes = 32/vector_bytes = 64/' %s | heddle-opt --nest-choose-schedules | FileCheck %s --check-prefixes=CHECK,WIDE

module attributes {heddle.machine = #nest.machine<{vector_bytes = 32, vector_registers = 16, stage_cycles = 0.5, waited_cycles = 0.0, page_search_cycles = 50.0}>} {
// A part of merged names is copied only if it is a box of them: 16 or 32 points of (b, f: 5) are none, so the part of a
// thread is copied; of (b, f: 4) they are.
// CHECK-LABEL: func.func @merged
// NARROW: thread (b, f) by {{[0-9]*[05]}}, cache g by 1, {{.*}}vector (b, f) by 1], [stage 0 at 0 in {{.*}} : (!nd.tensor<f32, b: 512, f: 5, k: 256>
// WIDE: thread (b, f) by {{[0-9]*[05]}}, {{.*}}vector (b, f) by 1], [stage 0 at {{[01]}} in {{.*}} : (!nd.tensor<f32, b: 512, f: 5, k: 256>
// CHECK: vector (b, f) by 1], [stage 0 at {{.*}} : (!nd.tensor<f32, b: 512, f: 4, k: 256>
func.func @merged(%x: !nd.tensor<f32, b: 512, f: 5, k: 256> {nd.layout = #nest.layout<[k, b, f]>},
                  %y: !nd.tensor<f32, b: 512, f: 4, k: 256> {nd.layout = #nest.layout<[k, b, f]>},
                  %w: !nd.tensor<f32, g: 16, h: 16, k: 256>)
    -> (!nd.tensor<f32, b: 512, f: 5, g: 16, h: 16> {nd.layout = #nest.layout<[g, h, b, f]>},
        !nd.tensor<f32, b: 512, f: 4, g: 16, h: 16> {nd.layout = #nest.layout<[g, h, b, f]>}) {
  %0 = nest.compute (b: 512, f: 5, g: 16, h: 16) reduce (k: 256) reads %x[], %w[] {
  ^bb0(%p: f32, %q: f32):
    %2 = arith.mulf %p, %q : f32
    nest.yield %2 : f32
  } combine add [0.000000e+00 : f32] {layouts = [#nest.layout<[g, h, b, f]>], schedule = #nest.schedule<[vector (b, f) by 1], partial>}
      : (!nd.tensor<f32, b: 512, f: 5, k: 256>, !nd.tensor<f32, g: 16, h: 16, k: 256>) -> !nd.tensor<f32, b: 512, f: 5, g: 16, h: 16>
  %1 = nest.compute (b: 512, f: 4, g: 16, h: 16) reduce (k: 256) reads %y[], %w[] {
  ^bb0(%p: f32, %q: f32):
    %2 = arith.mulf %p, %q : f32
    nest.yield %2 : f32
  } combine add [0.000000e+00 : f32] {layouts = [#nest.layout<[g, h, b, f]>], schedule = #nest.schedule<[vector (b, f) by 1], partial>}
      : (!nd.tensor<f32, b: 512, f: 4, k: 256>, !nd.tensor<f32, g: 16, h: 16, k: 256>) -> !nd.tensor<f32, b: 512, f: 4, g: 16, h: 16>
  return %0, %1 : !nd.tensor<f32, b: 512, f: 5, g: 16, h: 16>, !nd.tensor<f32, b: 512, f: 4, g: 16, h: 16>
}
}
