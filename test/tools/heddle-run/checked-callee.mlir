// A function with checks that another one calls, or differentiates, runs only in the interpreter.
// RUN: heddle-run %s --interpret
// RUN: not heddle-run %s 2>&1 | FileCheck %s

!n = !nd.tensor<f32, n: 2>

func.func @checked(%x: !n) -> !n {
  // CHECK: checked-callee.mlir:[[@LINE+1]]:3: error: 'check.expect_eq' op can only be checked by the interpreter here; expected it in the body of a public function that no other one calls
  check.expect_eq %x, %x : !n
  return %x : !n
}
func.func @calls(%x: !n) -> !n {
  %y = nd.call @checked(%x) : (!n) -> !n
  return %y : !n
}
