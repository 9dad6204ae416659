// RUN: heddle-opt %s --nd-check | FileCheck %s
// RUN: heddle-opt %s --nd-check --nd-pipeline --nest-pipeline -o /dev/null

!n = !nd.tensor<f32, n: 4>

// Results and operands of ops are checked; ops that only move elements are skipped.
// CHECK-LABEL: func.func @not_a_number
// CHECK-SAME: -> (!nd.tensor<f32, n: 4>, !nd.tensor<i64> {nd.name = "heddle.check"}, !nd.tensor<i64> {nd.name = "heddle.coordinate"})
// CHECK-SAME: heddle.checks = ["{{.*}}runtime-checks.mlir:[[#@LINE+8]]:8: 'nd.pointwise' makes a NaN of operands without one, in !nd.tensor<f32, n: 4>"]
// CHECK: %[[BEFORE:.*]] = nd.reduce %{{.*}} over [n] neutral [false]
// CHECK: math.log
// CHECK: %[[NOW:.*]] = nd.reduce %{{.*}} over [n] neutral [false]
// CHECK: nd.pointwise %[[NOW]], %[[BEFORE]]
// CHECK: arith.cmpi ugt
// CHECK-NOT: over [m]
func.func @not_a_number(%x: !n) -> !n {
  %0 = nd.pointwise %x : (!n) -> !n {
  ^bb0(%v: f32):
    %l = math.log %v : f32
    nd.yield %l : f32
  }
  %1 = nd.rename %0 [n] to [m] : !n -> !nd.tensor<f32, m: 4>
  %2 = nd.rename %1 [m] to [n] : !nd.tensor<f32, m: 4> -> !n
  return %2 : !n
}

// Sizes are symbols here; a list of coordinates may have any integer type.
// CHECK-LABEL: func.func @places
// CHECK-SAME: heddle.checks = ["{{.*}}:[[#@LINE+5]]:8: 'nd.gather' expected coordinates of 'n' from 0 to N - 1, got "]
// CHECK-DAG: over [i] neutral [9223372036854775807]
// CHECK-DAG: over [i] neutral [-9223372036854775808]
// CHECK-DAG: over [n] neutral [0]
func.func @places(%x: !nd.tensor<i32, n: N>, %at: !nd.tensor<ui8, i: 3>) -> !nd.tensor<i32, i: 3> {
  %0 = nd.gather %x [n] at %at : (!nd.tensor<i32, n: N>, !nd.tensor<ui8, i: 3>) -> !nd.tensor<i32, i: 3>
  return %0 : !nd.tensor<i32, i: 3>
}

// A range whose start needs no clamping.
// CHECK-LABEL: func.func @starts
// CHECK-SAME: heddle.checks = ["{{.*}}:[[#@LINE+7]]:8: 'nd.dynamic_slice' expected a start along 'n' from 0 to N - 3, got ",
// CHECK-SAME: "{{.*}}:[[#@LINE+8]]:8: 'nd.update_slice' expected a start along 'n' from 0 to 5, got "]
// CHECK: over [b] neutral [9223372036854775807]
// CHECK: over [b] neutral [-9223372036854775808]
// CHECK: over [n] neutral [0] : (!nd.tensor<i64, n: N - 2>)
// CHECK: over [n] neutral [0] : (!nd.tensor<i64, n: 6>)
func.func @starts(%x: !nd.tensor<i32, n: N>, %b: !nd.tensor<i64, b: 2>, %c: !nd.tensor<i32, n: 8>, %at: !nd.tensor<i32>) -> (!nd.tensor<i32, b: 2, n: 3>, !nd.tensor<i32, n: 8>) {
  %0 = nd.dynamic_slice %x n from %b size 3 : (!nd.tensor<i32, n: N>, !nd.tensor<i64, b: 2>) -> !nd.tensor<i32, b: 2, n: 3>
  %p = nd.slice %x n from 0 size 3 : !nd.tensor<i32, n: N> -> !nd.tensor<i32, n: 3>
  %1 = nd.update_slice %p into %c n from %at : (!nd.tensor<i32, n: 3>, !nd.tensor<i32, n: 8>, !nd.tensor<i32>) -> !nd.tensor<i32, n: 8>
  return %0, %1 : !nd.tensor<i32, b: 2, n: 3>, !nd.tensor<i32, n: 8>
}

// Loops carry what was found.
// CHECK-LABEL: func.func @loops
// CHECK: scf.if {{.*}} -> (!nd.tensor<f32, n: 4>, !nd.tensor<i64>, !nd.tensor<i64>)
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK: scf.yield %arg0, %{{.*}}, %{{.*}} :
// CHECK: scf.for {{.*}} -> (!nd.tensor<f32, n: 4>, !nd.tensor<i64>, !nd.tensor<i64>)
// CHECK: nest.scan along <n: 4> init(%{{.*}}, %{{.*}}, %{{.*}}) reads(%{{.*}})
// CHECK: scf.while
func.func @loops(%x: !n, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %y = scf.if %c -> (!n) {
    %e = nd.pointwise %x : (!n) -> !n {
    ^bb0(%v: f32):
      %l = math.log %v : f32
      nd.yield %l : f32
    }
    scf.yield %e : !n
  } else {
    scf.yield %x : !n
  }
  %z = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %y) -> (!n) {
    %e = nd.pointwise %s : (!n) -> !n {
    ^bb0(%v: f32):
      %l = math.sqrt %v : f32
      nd.yield %l : f32
    }
    scf.yield %e : !n
  }
  %zero = nd.constant dense<0.0> : tensor<f32> by [] : !nd.tensor<f32>
  %last = nest.scan along <n: 4> init(%zero) reads(%z) : (!nd.tensor<f32>, !n) -> !nd.tensor<f32> {
  ^bb0(%h: !nd.tensor<f32>, %t: !nd.tensor<f32>):
    %e = nd.pointwise %h, %t : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%u: f32, %v: f32):
      %l = arith.divf %u, %v : f32
      nd.yield %l : f32
    }
    nest.yield %e : !nd.tensor<f32>
  }
  %w = scf.while (%s = %last) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    %go = nd.pointwise %s : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%v: f32):
      %one = arith.constant 1.0 : f32
      %l = arith.cmpf olt, %v, %one : f32
      nd.yield %l : i1
    }
    %k = nd.item %go : !nd.tensor<i1> -> i1
    scf.condition(%k) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    %e = nd.pointwise %s : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%v: f32):
      %l = arith.addf %v, %v : f32
      nd.yield %l : f32
    }
    scf.yield %e : !nd.tensor<f32>
  }
  return %w : !nd.tensor<f32>
}
