// RUN: heddle-opt %s --canonicalize --cse | FileCheck %s
// RUN: heddle-opt %s --canonicalize --cse | heddle-opt | FileCheck %s

// Assertions have no result and stay.
// CHECK-LABEL: @assertions
func.func @assertions(%x: !nd.tensor<f32, row: 2, column: 2>, %i: !nd.tensor<i32, row: 2, column: 2>) {
  // CHECK: check.expect_eq %arg1, %arg1 : !nd.tensor<i32, column: 2, row: 2>
  check.expect_eq %i, %i : !nd.tensor<i32, row: 2, column: 2>
  // CHECK: check.expect_close %arg0, %arg0 : !nd.tensor<f32, column: 2, row: 2>
  check.expect_close %x, %x : !nd.tensor<f32, row: 2, column: 2>
  // CHECK: check.expect_close %arg0, %arg0 {atol = 1.000000e-03 : f64, rtol = 0.000000e+00 : f64} : !nd.tensor<f32, column: 2, row: 2>
  check.expect_close %x, %x {atol = 1.0e-3 : f64, rtol = 0.0 : f64} : !nd.tensor<f32, row: 2, column: 2>
  // CHECK: check.expect_eq_const %arg1 is dense<{{.*}}> : tensor<2x2xi32> by [row, column] : !nd.tensor<i32, column: 2, row: 2>
  check.expect_eq_const %i is dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> by [row, column] : !nd.tensor<i32, row: 2, column: 2>
  // CHECK: check.expect_close_const %arg0 is dense<1.000000e+00> : tensor<f32> by [row, column] {rtol = 1.000000e-02 : f64} : !nd.tensor<f32, column: 2, row: 2>
  check.expect_close_const %x is dense<1.0> : tensor<f32> by [row, column] {rtol = 1.0e-2 : f64} : !nd.tensor<f32, row: 2, column: 2>
  return
}
