// Forward mode carries tangents beside the carried values of a scan: no step is saved, and captured values stay captured.
// RUN: heddle-opt %s --nd-differentiate --symbol-dce --nd-simplify | FileCheck %s

func.func private @decay(%x: !nd.tensor<f32, a: 4>, %w: !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> (!nd.tensor<f32, a: 4>) {
    %t = nd.pointwise %s, %w : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
    ^bb0(%v: f32, %u: f32):
      %m = arith.mulf %v, %u : f32
      %e = math.sin %m : f32
      nd.yield %e : f32
    }
    scf.yield %t : !nd.tensor<f32, a: 4>
  }
  return %y : !nd.tensor<f32, a: 4>
}
// CHECK-LABEL: @tangents
// CHECK: nest.scan along <step$1: 9> init(%arg0, %arg2) reads()
// CHECK: nd.pointwise %{{.*}}, %arg1
// CHECK: math.sin
// CHECK: math.cos
// CHECK: nest.yield
// CHECK-NOT: nest.scan
func.func @tangents(%x: !nd.tensor<f32, a: 4>, %w: !nd.tensor<f32, a: 4>, %d: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>) {
  %0:2 = nd.jvp @decay(%x, %w) tangents(%d, %d) wrt [0, 1] : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>)
  return %0#0, %0#1 : !nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>
}
