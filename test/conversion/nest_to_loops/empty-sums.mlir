// A sum over a symbol may be empty, while its parts are stored and combined once: a loop of at most one step is around
// all that a tile adds, not around each product, where it would be tested again and again.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 --no-cache | FileCheck %s
// RUN: heddle-run %s --compare --size nb=0,1,3

// CHECK: scf.for %[[OUTER:.*]] = %{{.*}} to %[[STEPS:[0-9]+]] step
// CHECK: scf.for %{{.*}} to %c3_i64
// CHECK: %[[LEFT:.*]] = arith.divui
// CHECK: scf.for %{{.*}} to %[[LEFT]]
// CHECK: scf.for %{{.*}} to %c64_i64
// CHECK-NOT: scf.for
// CHECK: arith.mulf
func.func @sums(%a: !nd.tensor<f32, b: nb, k: 64, m: 12>, %b: !nd.tensor<f32, b: nb, k: 64, n: 16>) -> !nd.tensor<f32, m: 12, n: 16> {
  %c = nest.compute (m: 12, n: 16) reduce (b: nb, k: 64) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread m by 12, loop b by 1, cache m by 4, loop k by 1, register m by 1, register n by 16, vector n by 1]>} : (!nd.tensor<f32, b: nb, k: 64, m: 12>, !nd.tensor<f32, b: nb, k: 64, n: 16>) -> !nd.tensor<f32, m: 12, n: 16>
  return %c : !nd.tensor<f32, m: 12, n: 16>
}
