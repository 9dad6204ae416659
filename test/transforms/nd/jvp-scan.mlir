// Forward mode carries tangents beside the carried values of a scan: no step is saved, and captured values stay captured.
// RUN: heddle-opt %s --nd-differentiate --symbol-dce --nd-simplify | FileCheck %s

!a = !nd.tensor<f32, a: 4>

func.func private @decay(%x: !a, %w: !a) -> !a {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> (!a) {
    %t = nd.pointwise %s, %w : (!a, !a) -> !a {
    ^bb0(%v: f32, %u: f32):
      %m = arith.mulf %v, %u : f32
      %e = math.sin %m : f32
      nd.yield %e : f32
    }
    scf.yield %t : !a
  }
  return %y : !a
}
// CHECK-LABEL: @tangents
// CHECK: nest.scan along <step$1: 9> init(%arg0, %arg2) reads()
// CHECK: nd.pointwise %{{.*}}, %arg1
// CHECK: math.sin
// CHECK: math.cos
// CHECK: nest.yield
// CHECK-NOT: nest.scan
func.func @tangents(%x: !a, %w: !a, %d: !a) -> (!a, !a) {
  %0:2 = nd.jvp @decay(%x, %w) tangents(%d, %d) wrt [0, 1] : (!a, !a, !a, !a) -> (!a, !a)
  return %0#0, %0#1 : !a, !a
}
