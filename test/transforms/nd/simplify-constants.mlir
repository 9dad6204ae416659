// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s

// CHECK-LABEL: @splats
func.func @splats(%x: !nd.tensor<f32, b: N>) -> !nd.tensor<f32, a: 2, b: N> {
  // CHECK-NEXT: %[[C:.*]] = nd.constant dense<5.000000e+00> : tensor<f32> by [a, b] : !nd.tensor<f32, a: 2, b: N>
  // CHECK-NEXT: return %[[C]]
  %0 = nd.constant dense<2.0> : tensor<f32> by [a] : !nd.tensor<f32, a: 2>
  %1 = nd.constant dense<1> : tensor<i64> by [a, b] : !nd.tensor<i64, a: 2, b: N>
  %2 = nd.pointwise %0, %1 : (!nd.tensor<f32, a: 2>, !nd.tensor<i64, a: 2, b: N>) -> !nd.tensor<f32, a: 2, b: N> {
  ^bb0(%p: f32, %i: i64):
    %f = arith.sitofp %i : i64 to f32
    %two = arith.constant 2.0 : f32
    %d = arith.mulf %p, %two : f32
    %r = arith.addf %d, %f : f32
    nd.yield %r : f32
  }
  return %2 : !nd.tensor<f32, a: 2, b: N>
}

// -----

// The interpreter evaluates ops on literals; the result lists its names in the order in which they were written.
// CHECK-LABEL: @literals
func.func @literals() -> (!nd.tensor<f32, a: 2, b: 2>, !nd.tensor<i32>, !nd.tensor<f32, a: 2>, !nd.tensor<i8, b: 3>) {
  // CHECK-DAG: nd.constant dense<{{\[\[}}1.000000e+01, 2.000000e+01], [2.000000e+01, 4.000000e+01]]> : tensor<2x2xf32> by [b, a]
  // CHECK-DAG: nd.constant dense<6> : tensor<i32> by []
  // CHECK-DAG: nd.constant dense<[2.000000e+00, 1.000000e+00]> : tensor<2xf32> by [a]
  // CHECK-DAG: nd.constant dense<[-1, 0, 7]> : tensor<3xi8> by [b]
  // CHECK-NOT: nd.pointwise
  %0 = nd.constant dense<[1.0, 2.0]> : tensor<2xf32> by [a] : !nd.tensor<f32, a: 2>
  %1 = nd.constant dense<[10.0, 20.0]> : tensor<2xf32> by [b] : !nd.tensor<f32, b: 2>
  %2 = nd.pointwise %1, %0 crossed : (!nd.tensor<f32, b: 2>, !nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 2, b: 2> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nd.yield %r : f32
  }
  %3 = nd.constant dense<[1, 2, 3]> : tensor<3xi32> by [a] : !nd.tensor<i32, a: 3>
  %4 = nd.reduce %3 over [a] neutral [0 : i32] : (!nd.tensor<i32, a: 3>) -> !nd.tensor<i32> {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    nd.yield %r : i32
  }
  %5 = nd.slice %0 a from 1 size 2 stride -1 : !nd.tensor<f32, a: 2> -> !nd.tensor<f32, a: 2>
  %6 = nd.constant dense<[0, 7, -1]> : tensor<3xi8> by [b] : !nd.tensor<i8, b: 3>
  %7 = nd.sort %6 along b : (!nd.tensor<i8, b: 3>) -> !nd.tensor<i8, b: 3>
  return %2, %4, %5, %7 : !nd.tensor<f32, a: 2, b: 2>, !nd.tensor<i32>, !nd.tensor<f32, a: 2>, !nd.tensor<i8, b: 3>
}

// -----

// A large literal is not made, and coordinates are no literal.
// CHECK-LABEL: @large
func.func @large(%x: !nd.tensor<f32, a: 2>) -> (!nd.tensor<f32, a: 20, b: 20>, !nd.tensor<i64, a: 3>) {
  // CHECK: nd.pointwise
  // CHECK: nd.iota
  // CHECK: nd.pointwise
  %0 = nd.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]> : tensor<20xf32> by [a] : !nd.tensor<f32, a: 20>
  %1 = nd.rename %0 [a] to [b] : !nd.tensor<f32, a: 20> -> !nd.tensor<f32, b: 20>
  %2 = nd.pointwise %0, %1 crossed : (!nd.tensor<f32, a: 20>, !nd.tensor<f32, b: 20>) -> !nd.tensor<f32, a: 20, b: 20> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nd.yield %r : f32
  }
  %3 = nd.iota a : !nd.tensor<i64, a: 3>
  %4 = nd.pointwise %3 : (!nd.tensor<i64, a: 3>) -> !nd.tensor<i64, a: 3> {
  ^bb0(%p: i64):
    %r = arith.muli %p, %p : i64
    nd.yield %r : i64
  }
  return %2, %4 : !nd.tensor<f32, a: 20, b: 20>, !nd.tensor<i64, a: 3>
}

// -----

// Index maps of splats of any size; elements outside must have the same value.
// CHECK-LABEL: @maps_of_splats
func.func @maps_of_splats() -> (!nd.tensor<f32, a: 1000>, !nd.tensor<f32, a: 3004>, !nd.tensor<f32, a: 3004>, !nd.tensor<f32, a: 2998, k: 3>) {
  // CHECK-DAG: %[[S:.*]] = nd.constant dense<1.000000e+00> : tensor<f32> by [a] : !nd.tensor<f32, a: 1000>
  // CHECK-DAG: %[[P:.*]] = nd.constant dense<1.000000e+00> : tensor<f32> by [a] : !nd.tensor<f32, a: 3004>
  // CHECK-DAG: %[[Q:.*]] = nd.pad
  // CHECK-DAG: %[[W:.*]] = nd.constant dense<1.000000e+00> : tensor<f32> by [a, k]
  // CHECK: return %[[S]], %[[P]], %[[Q]], %[[W]]
  %0 = nd.constant dense<1.0> : tensor<f32> by [a] : !nd.tensor<f32, a: 3000>
  %1 = nd.slice %0 a from 2 size 1000 : !nd.tensor<f32, a: 3000> -> !nd.tensor<f32, a: 1000>
  %2 = nd.pad %0 a low 2 high 2 value 1.0 : f32 : !nd.tensor<f32, a: 3000> -> !nd.tensor<f32, a: 3004>
  %3 = nd.pad %0 a low 2 high 2 value 0.0 : f32 : !nd.tensor<f32, a: 3000> -> !nd.tensor<f32, a: 3004>
  %4 = nd.window %0 a -> k size 3 : !nd.tensor<f32, a: 3000> -> !nd.tensor<f32, a: 2998, k: 3>
  return %1, %2, %3, %4 : !nd.tensor<f32, a: 1000>, !nd.tensor<f32, a: 3004>, !nd.tensor<f32, a: 3004>, !nd.tensor<f32, a: 2998, k: 3>
}

// -----

// A combiner that is not associative gives what hangs on the order: such an op stays as it is.
// CHECK-LABEL: @undecided
func.func @undecided() -> !nd.tensor<f64, a: 3> {
  // CHECK: nd.scan
  %0 = nd.constant dense<[1.5, -0.75, 1.25]> : tensor<3xf64> by [a] : !nd.tensor<f64, a: 3>
  %1 = nd.scan %0 along a neutral [0.0] : (!nd.tensor<f64, a: 3>) -> !nd.tensor<f64, a: 3> {
  ^bb0(%p: f64, %r: f64):
    %s = arith.addf %p, %r : f64
    %q = arith.mulf %p, %r : f64
    %qq = arith.mulf %q, %q : f64
    %t = arith.addf %s, %qq : f64
    nd.yield %t : f64
  }
  return %1 : !nd.tensor<f64, a: 3>
}
