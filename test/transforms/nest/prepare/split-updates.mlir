// RUN: heddle-opt %s --nest-split-updates | FileCheck %s
// RUN: heddle-opt %s --nest-split-updates --nest-split-updates | FileCheck %s --check-prefix=TWICE

!v = !nd.tensor<f32, v: 10>
!i32_n = !nd.tensor<i32, n: 10007>

module attributes {heddle.machine = #nest.machine<{points_per_block = 100}>} {
// A histogram: parts have bins of their own, which are added to the destination. The size is no multiple of the parts, so
// a guard excludes what follows the end. A coordinate in the code is that of the whole.
// CHECK-LABEL: @histogram
// CHECK: %[[ZERO:.*]] = nest.compute (n$part: 64, v: 10)
// CHECK: layouts = [#nest.layout<[n$part, v]>]
// CHECK: %[[P:.*]] = nest.update (n: 157, n$part: 64) %[[ZERO]][v = read(0)] reads %arg1[n = n + 157 * n$part] if [-n - 157 * n$part + 10006 >= 0] {
// CHECK: nest.index n
// CHECK: nest.index n$part
// CHECK: arith.addf
// CHECK: layouts = [#nest.layout<[n$part, v]>]
// CHECK: nest.compute (v: 10) reduce (n$part: 64) reads %[[P]][] {
// CHECK: combine add [0.000000e+00 : f32] finish reads %arg0[]
// TWICE-LABEL: @histogram
// TWICE: nest.update (n: 157, n$part: 64)
func.func @histogram(%bins: !v, %at: !i32_n) -> !v {
  %a = nest.update (n: 10007) %bins[v = read(0)] reads %at[] {
  ^bb0(%i: i32):
    %n = nest.index n
    %w = arith.index_cast %n : index to i32
    %r = arith.sitofp %w : i32 to f32
    nest.yield %r : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!v, !i32_n) -> !v
  return %a : !v
}

// Not split: other combiners may depend on the order, and parts of them can't be combined.
// CHECK-LABEL: @general
// CHECK-NOT: $part
func.func @general(%bins: !v, %at: !i32_n, %x: !nd.tensor<f32, n: 10007>) -> !v {
  %a = nest.update (n: 10007) %bins[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %s = arith.mulf %new, %new : f32
    %r = arith.addf %old, %s : f32
    nest.yield %r : f32
  } : (!v, !i32_n, !nd.tensor<f32, n: 10007>) -> !v
  return %a : !v
}

// Not split: enough points of a free name for many lanes; few points; no element twice; a schedule that the user wrote.
// CHECK-LABEL: @others
// CHECK-NOT: $part
func.func @others(%t: !nd.tensor<f32, d: 5000, v: 10>, %bins: !v, %at: !i32_n, %few: !nd.tensor<i32, n: 150>, %x: !nd.tensor<f32, d: 5000, n: 10007>)
    -> (!nd.tensor<f32, d: 5000, v: 10>, !v, !v, !v) {
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %a = nest.update (d: 5000, n: 10007) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, d: 5000, v: 10>, !i32_n, !nd.tensor<f32, d: 5000, n: 10007>) -> !nd.tensor<f32, d: 5000, v: 10>
  %b = nest.update (n: 150) %bins[v = read(0)] reads %few[], %one[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!v, !nd.tensor<i32, n: 150>, !nd.tensor<f32>) -> !v
  %c = nest.update (n: 10007) %bins[v = read(0)] unique reads %at[], %one[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!v, !i32_n, !nd.tensor<f32>) -> !v
  %d = nest.update (n: 10007) %bins[v = read(0)] reads %at[], %one[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[loop n by 256, lane n by 1]>} : (!v, !i32_n, !nd.tensor<f32>) -> !v
  return %a, %b, %c, %d : !nd.tensor<f32, d: 5000, v: 10>, !v, !v, !v
}

// Nobody knows the sizes, so there are fewer parts. Neighbours along d write neighbouring elements.
// CHECK-LABEL: @unknown
// CHECK: nest.update (d: 3, m: {{.*}}, m$part: 64, n: N)
// CHECK: layouts = [#nest.layout<[m$part, u, v, d]>]
func.func @unknown(%t: !nd.tensor<f32, d: 3, u: 2, v: 10>, %at: !nd.tensor<i32, m: M, n: N>, %x: !nd.tensor<f32, d: 3, m: M, n: N>) -> !nd.tensor<f32, d: 3, u: 2, v: 10> {
  %a = nest.update (d: 3, m: M, n: N) %t[u = (m + n) mod 2, v = read(0)] reads %at[], %x[] if [m - n >= 0] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, d: 3, u: 2, v: 10>, !nd.tensor<i32, m: M, n: N>, !nd.tensor<f32, d: 3, m: M, n: N>) -> !nd.tensor<f32, d: 3, u: 2, v: 10>
  return %a : !nd.tensor<f32, d: 3, u: 2, v: 10>
}
}
