// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s

!a = !nd.tensor<f32, a: 4>

// Unused values are neither carried nor computed; invariant ones are captured.
// CHECK-LABEL: @recurrence
// CHECK: %[[R:.*]] = nest.scan along <t: 3> init(%arg0) reads(%arg2) : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, t: 3>) -> !nd.tensor<f32, a: 4> {
// CHECK-NEXT: ^bb0(%[[U:.*]]: !nd.tensor<f32, a: 4>, %[[X:.*]]: !nd.tensor<f32>):
// CHECK-NEXT: nd.pointwise %[[U]], %[[X]], %arg1
// CHECK-NOT: nd.pointwise
// CHECK: return %[[R]]
func.func @recurrence(%u: !a, %w: !a, %x: !nd.tensor<f32, t: 3>, %y: !nd.tensor<f32, t: 3>) -> (!a) {
  %r:4 = nest.scan along <t: 3> init(%u, %u, %w) reads(%x, %y)
      : (!a, !a, !a, !nd.tensor<f32, t: 3>, !nd.tensor<f32, t: 3>)
      -> (!a, !a, !a, !nd.tensor<f32, a: 4, t: 3>) {
  ^bb0(%c: !a, %dead: !a, %same: !a, %p: !nd.tensor<f32>, %q: !nd.tensor<f32>):
    %n = nd.pointwise %c, %p, %same : (!a, !nd.tensor<f32>, !a) -> !a {
    ^bb0(%0: f32, %1: f32, %2: f32):
      %3 = arith.mulf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      nd.yield %4 : f32
    }
    %m = nd.pointwise %dead, %q, %c : (!a, !nd.tensor<f32>, !a) -> !a {
    ^bb0(%0: f32, %1: f32, %2: f32):
      %3 = arith.mulf %0, %1 : f32
      %4 = arith.subf %3, %2 : f32
      nd.yield %4 : f32
    }
    nest.yield %n, %m, %same, %m : !a, !a, !a, !a
  }
  return %r#0 : !a
}

// -----

// The first tensor depends on the second: both are carried. The third one is not, although it depends on itself.
// CHECK-LABEL: @for
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %arg0, %{{.*}} = %arg1) -> (!nd.tensor<i64>, !nd.tensor<i64>)
func.func @for(%x: !nd.tensor<i64>, %y: !nd.tensor<i64>, %n: !nd.tensor<i64>) -> !nd.tensor<i64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %high = nd.item %n : !nd.tensor<i64> -> index
  %r:3 = scf.for %i = %c0 to %high step %c1 iter_args(%a = %x, %b = %y, %c = %y) -> (!nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>) {
    %s = nd.pointwise %a, %b : (!nd.tensor<i64>, !nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%0: i64, %1: i64):
      %2 = arith.addi %0, %1 : i64
      nd.yield %2 : i64
    }
    %t = nd.pointwise %b : (!nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%0: i64):
      %1 = arith.muli %0, %0 : i64
      nd.yield %1 : i64
    }
    %u = nd.pointwise %c, %s : (!nd.tensor<i64>, !nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%0: i64, %1: i64):
      %2 = arith.addi %0, %1 : i64
      nd.yield %2 : i64
    }
    scf.yield %s, %t, %u : !nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>
  }
  return %r#0 : !nd.tensor<i64>
}

// -----

// A value that the condition reads is needed, even if its last value is not.
// CHECK-LABEL: @while
// CHECK: scf.while (%{{.*}} = %arg0, %{{.*}} = %arg1) : (!nd.tensor<i64>, !nd.tensor<i64>) -> (!nd.tensor<i64>, !nd.tensor<i64>)
func.func @while(%x: !nd.tensor<i64>, %k: !nd.tensor<i64>, %z: !nd.tensor<i64>) -> !nd.tensor<i64> {
  %r:4 = scf.while (%a = %x, %b = %k, %c = %z, %d = %z) : (!nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>) -> (!nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>) {
    %p = nd.pointwise %b, %d : (!nd.tensor<i64>, !nd.tensor<i64>) -> !nd.tensor<i1> {
    ^bb0(%0: i64, %1: i64):
      %2 = arith.cmpi sgt, %0, %1 : i64
      nd.yield %2 : i1
    }
    %g = nd.item %p : !nd.tensor<i1> -> i1
    scf.condition(%g) %a, %b, %c, %d : !nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>
  } do {
  ^bb0(%a: !nd.tensor<i64>, %b: !nd.tensor<i64>, %c: !nd.tensor<i64>, %d: !nd.tensor<i64>):
    %s = nd.pointwise %a : (!nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%0: i64):
      %1 = arith.addi %0, %0 : i64
      nd.yield %1 : i64
    }
    %t = nd.pointwise %b : (!nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%0: i64):
      %1 = arith.constant -9 : i64
      %2 = arith.addi %0, %1 : i64
      nd.yield %2 : i64
    }
    %u = nd.pointwise %c, %s : (!nd.tensor<i64>, !nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%0: i64, %1: i64):
      %2 = arith.addi %0, %1 : i64
      nd.yield %2 : i64
    }
    scf.yield %s, %t, %u, %d : !nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64>
  }
  return %r#0 : !nd.tensor<i64>
}

// -----

// CHECK-LABEL: @branch
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (!nd.tensor<f32>) {
// CHECK-NEXT: scf.yield %arg0
// CHECK: scf.yield %arg1
// CHECK: return %[[R]]
func.func @branch(%x: !nd.tensor<f32>, %y: !nd.tensor<f32>, %go: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %go : !nd.tensor<i1> -> i1
  %r:2 = scf.if %c -> (!nd.tensor<f32>, !nd.tensor<f32>) {
    %e = nd.pointwise %x : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%0: f32):
      %1 = math.exp %0 : f32
      nd.yield %1 : f32
    }
    scf.yield %e, %x : !nd.tensor<f32>, !nd.tensor<f32>
  } else {
    scf.yield %x, %y : !nd.tensor<f32>, !nd.tensor<f32>
  }
  return %r#1 : !nd.tensor<f32>
}
