// Loops are unrolled as schedules ask, and levels of a device run as plain loops on a CPU.
// RUN: heddlec %s --emit=loops | FileCheck %s
// RUN: heddle-run %s --threads 2 --compare --size N=1,4,7,18

!n = !nd.tensor<f32, n: N>

// Four points are made in one step, what is left one by one.
// CHECK-LABEL: // unrolled
// CHECK: %[[FACTOR:.*]] = arith.muli %{{.*}}, %c4_i64 : i64
// CHECK-NEXT: scf.for {{.*}} step %[[FACTOR]]
// CHECK-COUNT-4: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK-NOT: arith.mulf
func.func @unrolled(%a: !n {nd.name = "a"}) -> !n {
  %b = nest.compute (n: N) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } {heddle.name = "unrolled", schedule = #nest.schedule<[loop n by 1 unroll 4]>} : (!n) -> !n
  return %b : !n
}

// Near the end a window has fewer points, or none: its loop ends before it begins.
// CHECK-LABEL: // clipped
// CHECK-COUNT-3: arith.addf
func.func @clipped(%a: !n {nd.name = "a"}, %w: !nd.tensor<f32, k: 7>) -> !n {
  %b = nest.compute (n: N) reduce (k: 7) reads %a[n = n + k + 6] if [N - 7 - n - k >= 0] else 0.0 : f32, %w[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {heddle.name = "clipped", schedule = #nest.schedule<[thread n by 4, cache n by 1 unroll 2, loop k by 1 unroll 3]>} : (!n, !nd.tensor<f32, k: 7>) -> !n
  return %b : !n
}

// Chunks are the blocks of a grid. Their warps and lanes are loops, in which a copy is read that was made outside.
// CHECK-LABEL: // device
// CHECK: arith.divui %arg1, %c2_i64
// CHECK: masked.store
// CHECK-COUNT-3: scf.for
// CHECK: arith.mulf
func.func @device(%a: !nd.tensor<f32, k: 9, m: 24> {nd.name = "a"}, %b: !nd.tensor<f32, k: 9, n: N> {nd.name = "b"}) -> !nd.tensor<f32, m: 24, n: N> {
  %c = nest.compute (m: 24, n: N) reduce (k: 9) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {heddle.name = "device", schedule = #nest.schedule<[grid n by 4, block m by 12, cache k by 6, warp n by 2, lane n by 1, lane m by 4, loop k by 1, register m by 1], [stage 0 at 2 level "shared" in #nest.layout<[k, m]>]>} : (!nd.tensor<f32, k: 9, m: 24>, !nd.tensor<f32, k: 9, n: N>) -> !nd.tensor<f32, m: 24, n: N>
  return %c : !nd.tensor<f32, m: 24, n: N>
}
