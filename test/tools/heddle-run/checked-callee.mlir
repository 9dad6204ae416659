// A function with checks that another one calls, or differentiates, runs only in the interpreter.
// RUN: heddle-run %s --interpret
// RUN: not heddle-run %s 2>&1 | FileCheck %s

func.func @checked(%x: !nd.tensor<f32, n: 2>) -> !nd.tensor<f32, n: 2> {
  // CHECK: checked-callee.mlir:[[@LINE+1]]:3: error: 'check.expect_eq' op can only be checked by the interpreter here; expected it in the body of a public function that no other one calls
  check.expect_eq %x, %x : !nd.tensor<f32, n: 2>
  return %x : !nd.tensor<f32, n: 2>
}
func.func @calls(%x: !nd.tensor<f32, n: 2>) -> !nd.tensor<f32, n: 2> {
  %y = nd.call @checked(%x) : (!nd.tensor<f32, n: 2>) -> !nd.tensor<f32, n: 2>
  return %y : !nd.tensor<f32, n: 2>
}
