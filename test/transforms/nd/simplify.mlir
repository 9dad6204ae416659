// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s

// CHECK-LABEL: @broadcast_of_an_operand
func.func @broadcast_of_an_operand(%x: !nd.tensor<f32, a: 2>, %y: !nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  // CHECK-NOT: nd.broadcast
  // CHECK: nd.pointwise %arg0, %arg1 :
  %0 = nd.broadcast %x : !nd.tensor<f32, a: 2> -> !nd.tensor<f32, a: 2, b: 3>
  %1 = nd.pointwise %0, %y : (!nd.tensor<f32, a: 2, b: 3>, !nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  return %1 : !nd.tensor<f32, a: 2, b: 3>
}

// -----

// If no other operand has the name, the broadcast stays.
// CHECK-LABEL: @needed_broadcast
func.func @needed_broadcast(%x: !nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2, b: 3> {
  // CHECK: nd.broadcast
  %0 = nd.broadcast %x : !nd.tensor<f32, a: 2> -> !nd.tensor<f32, a: 2, b: 3>
  %1 = nd.pointwise %0 : (!nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32, a: 2, b: 3> {
  ^bb0(%p: f32):
    %m = math.exp %p : f32
    nd.yield %m : f32
  }
  return %1 : !nd.tensor<f32, a: 2, b: 3>
}

// -----

!a = !nd.tensor<f32, a: 2>

// x * 1 is x. x + 0 is not, for x = -0; x + (-0) is.
// CHECK-LABEL: @identities
func.func @identities(%x: !a) -> (!a, !a, !a) {
  // CHECK-NOT: arith.mulf
  // CHECK: %[[S:.*]] = nd.pointwise %arg0
  // CHECK: arith.addf
  // CHECK: return %arg0, %[[S]], %arg0
  %0 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%p: f32):
    %one = arith.constant 1.0 : f32
    %m = arith.mulf %p, %one : f32
    nd.yield %m : f32
  }
  %1 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%p: f32):
    %zero = arith.constant 0.0 : f32
    %m = arith.addf %p, %zero : f32
    nd.yield %m : f32
  }
  %2 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%p: f32):
    %zero = arith.constant -0.0 : f32
    %m = arith.addf %p, %zero : f32
    nd.yield %m : f32
  }
  return %0, %1, %2 : !a, !a, !a
}

// -----

// CHECK-LABEL: @sum_of_a_sum
func.func @sum_of_a_sum(%x: !nd.tensor<f32, a: 2, b: 3, c: 4>) -> !nd.tensor<f32, c: 4> {
  // CHECK: nd.reduce %arg0 over [b, a]
  // CHECK-NOT: nd.reduce
  %0 = nd.reduce %x over [b] neutral [0.0 : f32] : (!nd.tensor<f32, a: 2, b: 3, c: 4>) -> !nd.tensor<f32, a: 2, c: 4> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  %1 = nd.reduce %0 over [a] neutral [0.0 : f32] : (!nd.tensor<f32, a: 2, c: 4>) -> !nd.tensor<f32, c: 4> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  return %1 : !nd.tensor<f32, c: 4>
}

// -----

// The maximum of a sum is no sum.
// CHECK-LABEL: @maximum_of_a_sum
func.func @maximum_of_a_sum(%x: !nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32> {
  // CHECK-COUNT-2: nd.reduce
  %0 = nd.reduce %x over [b] neutral [0.0 : f32] : (!nd.tensor<f32, a: 2, b: 3>) -> !nd.tensor<f32, a: 2> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  %1 = nd.reduce %0 over [a] neutral [0xFF800000 : f32] : (!nd.tensor<f32, a: 2>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.maximumf %p, %q : f32
    nd.yield %s : f32
  }
  return %1 : !nd.tensor<f32>
}

// -----

// CHECK-LABEL: @index_maps
func.func @index_maps(%x: !nd.tensor<f32, a: 12>, %y: !nd.tensor<f32, a: 3, b: 4>) -> (!nd.tensor<f32, b: 12>, !nd.tensor<f32, p: 3, q: 4>, !nd.tensor<f32, p: 4, q: 3>, !nd.tensor<f32, a: 2>) {
  // CHECK-DAG: %[[A:.*]] = nd.rename %arg0 [a] to [b]
  // CHECK-DAG: %[[B:.*]] = nd.rename %arg1 [a, b] to [p, q]
  // CHECK-DAG: nd.merge %arg1 [a, b] into c
  // CHECK-DAG: nd.slice %arg0 a from 3 size 2 stride 6
  %0 = nd.split %x a into [p, q] : !nd.tensor<f32, a: 12> -> !nd.tensor<f32, p: 3, q: 4>
  %1 = nd.merge %0 [p, q] into b : !nd.tensor<f32, p: 3, q: 4> -> !nd.tensor<f32, b: 12>
  %2 = nd.merge %y [a, b] into c : !nd.tensor<f32, a: 3, b: 4> -> !nd.tensor<f32, c: 12>
  %3 = nd.split %2 c into [p, q] : !nd.tensor<f32, c: 12> -> !nd.tensor<f32, p: 3, q: 4>
  %4 = nd.split %2 c into [p, q] : !nd.tensor<f32, c: 12> -> !nd.tensor<f32, p: 4, q: 3>
  %5 = nd.slice %x a from 1 size 5 stride 2 : !nd.tensor<f32, a: 12> -> !nd.tensor<f32, a: 5>
  %6 = nd.slice %5 a from 1 size 2 stride 3 : !nd.tensor<f32, a: 5> -> !nd.tensor<f32, a: 2>
  return %1, %3, %4, %6 : !nd.tensor<f32, b: 12>, !nd.tensor<f32, p: 3, q: 4>, !nd.tensor<f32, p: 4, q: 3>, !nd.tensor<f32, a: 2>
}

// CHECK-LABEL: @sorts
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, a: 4, one: 1>
func.func @sorts(%x: !nd.tensor<f32, a: 4, one: 1>, %y: !nd.tensor<i64, a: 4, one: 1>) -> (!nd.tensor<f32, a: 4, one: 1>, !nd.tensor<f32, a: 2, one: 1>) {
  %0:2 = nd.sort %x, %y along one : (!nd.tensor<f32, a: 4, one: 1>, !nd.tensor<i64, a: 4, one: 1>) -> (!nd.tensor<f32, a: 4, one: 1>, !nd.tensor<i64, a: 4, one: 1>)
  // CHECK: %[[S:.*]] = nd.sort %[[X]] along a : (!nd.tensor<f32, a: 4, one: 1>) -> !nd.tensor<f32, a: 2, one: 1>
  %1:2 = nd.sort %0#0, %0#1 along a : (!nd.tensor<f32, a: 4, one: 1>, !nd.tensor<i64, a: 4, one: 1>) -> (!nd.tensor<f32, a: 2, one: 1>, !nd.tensor<i64, a: 2, one: 1>)
  // CHECK: return %[[X]], %[[S]]
  return %0#0, %1#0 : !nd.tensor<f32, a: 4, one: 1>, !nd.tensor<f32, a: 2, one: 1>
}

// CHECK-LABEL: @slice_of_a_slice_backwards
// CHECK: nd.slice %{{.*}} a from 5 size 2 stride -3
func.func @slice_of_a_slice_backwards(%x: !nd.tensor<f32, a: 8>) -> !nd.tensor<f32, a: 2> {
  %0 = nd.slice %x a from 7 size 8 stride -1 : !nd.tensor<f32, a: 8> -> !nd.tensor<f32, a: 8>
  %1 = nd.slice %0 a from 2 size 2 stride 3 : !nd.tensor<f32, a: 8> -> !nd.tensor<f32, a: 2>
  return %1 : !nd.tensor<f32, a: 2>
}
