// The initial value of a loop has the layout of the carried value, so that it is computed in its buffer without a copy.
// RUN: heddlec %s -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | FileCheck %s
// RUN: heddle-run %s --compare

// CHECK-LABEL: @one(
// CHECK: fill: f32 {a: 40, b: 30, step: 100}  [step, {{.*}} in the memory of
// CHECK-LABEL: @other(
// CHECK: fill: f32 {a: 40, b: 30, step: 100}  [step, {{.*}} in the memory of
!a_b_step = !nd.tensor<f32, a: 40, b: 30, step: 100>
!a_b = !nd.tensor<f32, a: 40, b: 30>

func.func @one(%x: !a_b {nd.layout = #nest.layout<[a, b]>}, %n: !nd.tensor<i64>) -> !a_b_step {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %high = nd.item %n : !nd.tensor<i64> -> index
  %zero = nd.constant dense<0.0> : tensor<f32> by [a, b, step] : !a_b_step
  %r = scf.for %i = %c0 to %high step %c1 iter_args(%s = %zero) -> (!a_b_step) {
    %t = nd.from_item %i : index -> !nd.tensor<i64>
    %y = nd.pointwise %x, %t : (!a_b, !nd.tensor<i64>) -> !a_b {
    ^bb0(%e: f32, %k: i64):
      %k2 = arith.sitofp %k : i64 to f32
      %0 = arith.mulf %e, %k2 : f32
      nd.yield %0 : f32
    }
    %p = nd.broadcast %y : !a_b -> !nd.tensor<f32, a: 40, b: 30, step: 1>
    %u = nd.update_slice %p into %s step from %t : (!nd.tensor<f32, a: 40, b: 30, step: 1>, !a_b_step, !nd.tensor<i64>) -> !a_b_step
    scf.yield %u : !a_b_step
  }
  return %r : !a_b_step
}
func.func @other(%x: !a_b {nd.layout = #nest.layout<[b, a]>}, %n: !nd.tensor<i64>) -> !a_b_step {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %high = nd.item %n : !nd.tensor<i64> -> index
  %zero = nd.constant dense<0.0> : tensor<f32> by [a, b, step] : !a_b_step
  %r = scf.for %i = %c0 to %high step %c1 iter_args(%s = %zero) -> (!a_b_step) {
    %t = nd.from_item %i : index -> !nd.tensor<i64>
    %y = nd.pointwise %x, %t : (!a_b, !nd.tensor<i64>) -> !a_b {
    ^bb0(%e: f32, %k: i64):
      %k2 = arith.sitofp %k : i64 to f32
      %0 = arith.mulf %e, %k2 : f32
      nd.yield %0 : f32
    }
    %p = nd.broadcast %y : !a_b -> !nd.tensor<f32, a: 40, b: 30, step: 1>
    %u = nd.update_slice %p into %s step from %t : (!nd.tensor<f32, a: 40, b: 30, step: 1>, !a_b_step, !nd.tensor<i64>) -> !a_b_step
    scf.yield %u : !a_b_step
  }
  return %r : !a_b_step
}
