// A failed check is reported with its source location, by the interpreter and on compiled values; the exit status is 1.
// RUN: not heddle-run %s 2>&1 | FileCheck %s
// RUN: not heddle-run %s --interpret 2>&1 | FileCheck %s
// RUN: not heddle-run %s --compare 2>&1 | FileCheck %s --check-prefixes=CHECK,COMPARE

func.func @fails() {
  %x = nd.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> by [row, column] : !nd.tensor<i32, row: 2, column: 2>
  // CHECK: check-fails.mlir:[[@LINE+1]]:3: error: 'check.expect_eq_const' op failed: expected 5 at {column: 1, row: 0}, got 2 (1 of 4 elements differ)
  check.expect_eq_const %x is dense<[[1, 5], [3, 4]]> : tensor<2x2xi32> by [row, column] : !nd.tensor<i32, row: 2, column: 2>
  %f = nd.constant dense<[1.0, 2.0]> : tensor<2xf32> by [n] : !nd.tensor<f32, n: 2>
  %g = nd.constant dense<[1.0, 2.1]> : tensor<2xf32> by [n] : !nd.tensor<f32, n: 2>
  check.expect_close %f, %g {rtol = 0.1 : f64} : !nd.tensor<f32, n: 2>
  // CHECK: check-fails.mlir:[[@LINE+1]]:3: error: 'check.expect_close' op failed: expected 2.1 at {n: 1}, got 2 (1 of 2 elements differ)
  check.expect_close %f, %g : !nd.tensor<f32, n: 2>
  return
}

// COMPARE: @holds: 1 check holds
func.func @holds() {
  %x = nd.constant dense<1> : tensor<i32> by [] : !nd.tensor<i32>
  check.expect_eq %x, %x : !nd.tensor<i32>
  return
}
