// The interpreter refuses programs that exceed its limits: a loop over tensors and one of functions, and a
// constant number of steps.
// RUN: not heddle-run %s --entry while --interpret 2>&1 | FileCheck %s --check-prefix=WHILE
// RUN: not heddle-run %s --entry control --interpret 2>&1 | FileCheck %s --check-prefix=CONTROL
// RUN: not heddle-run %s --entry for --interpret 2>&1 | FileCheck %s --check-prefix=FOR

// WHILE: no-end.mlir:[[# @LINE + 2]]:8: error: 'scf.while' op does not terminate within 1048576 steps
func.func @while(%x: !nd.tensor<i1>) -> !nd.tensor<i1> {
  %y = scf.while (%s = %x) : (!nd.tensor<i1>) -> !nd.tensor<i1> {
    %t = arith.constant true
    scf.condition(%t) %s : !nd.tensor<i1>
  } do {
  ^bb0(%s: !nd.tensor<i1>):
    scf.yield %s : !nd.tensor<i1>
  }
  return %y : !nd.tensor<i1>
}

func.func private @stays(%c: !nd.tensor<i1>) -> !nd.tensor<i1> {
  return %c : !nd.tensor<i1>
}
// CONTROL: no-end.mlir:[[# @LINE + 3]]:8: error: 'nest.control' op does not terminate within 1048576 steps
func.func @control() -> !nd.tensor<i1> {
  %t = nd.constant dense<true> : tensor<i1> by [] : !nd.tensor<i1>
  %y = nest.control [@stays] %t : (!nd.tensor<i1>) -> !nd.tensor<i1>
  return %y : !nd.tensor<i1>
}

// FOR: no-end.mlir:[[# @LINE + 5]]:8: error: 'scf.for' op expected at most 1048576 steps for the interpreter, got from 0 to 4000000000 by 1
func.func @for(%x: !nd.tensor<i1>) -> !nd.tensor<i1> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 4000000000 : index
  %y = scf.for %i = %zero to %many step %one iter_args(%s = %x) -> (!nd.tensor<i1>) {
    scf.yield %s : !nd.tensor<i1>
  }
  return %y : !nd.tensor<i1>
}
