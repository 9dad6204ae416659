// RUN: heddle-opt %s --nd-differentiate --nd-inline-calls --nd-simplify | FileCheck %s
// RUN: heddle-opt %s --nd-differentiate --nd-inline-calls --nd-simplify="without=unused-carried" | FileCheck %s --check-prefix=ALL

!a = !nd.tensor<f32, a: 4>

// The gradient with respect to %w alone: the backward loop carries the cotangents of its state and of %w. Those of %d and %e,
// which are captured too, are not carried; ops that only %e needs are not recomputed.
// CHECK-LABEL: func.func @gradient
// CHECK: nest.scan along {{.*}} init(%{{[^,]*}}) reads(
// CHECK: math.exp
// CHECK: nest.scan along {{.*}} reverse init(%{{[^,]*}}, %{{[^,]*}}) reads(
// CHECK-NOT: math.exp
// CHECK: return
// ALL-LABEL: func.func @gradient
// ALL: nest.scan along {{.*}} reverse init(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) reads(
func.func private @loop(%s: !a, %w: !a, %d: !a, %e: !a) -> !a {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %s) -> (!a) {
    %f = nd.pointwise %e, %d : (!a, !a) -> !a {
    ^bb0(%0: f32, %1: f32):
      %2 = math.exp %0 : f32
      %3 = arith.mulf %2, %1 : f32
      nd.yield %3 : f32
    }
    %y = nd.pointwise %x, %w, %f : (!a, !a, !a) -> !a {
    ^bb0(%0: f32, %1: f32, %2: f32):
      %3 = arith.mulf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      nd.yield %4 : f32
    }
    scf.yield %y : !a
  }
  return %r : !a
}
func.func @gradient(%s: !a, %w: !a, %d: !a, %e: !a, %g: !a) -> !a {
  %r:2 = nd.vjp @loop(%s, %w, %d, %e) cotangents(%g) wrt [1] : (!a, !a, !a, !a, !a) -> (!a, !a)
  return %r#1 : !a
}
