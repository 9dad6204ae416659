// Small results are printed in full, large ones as a summary; the interpreter and the compiler print the same.
// RUN: heddle-run %s --input x=%S/Inputs/2x3.npy:row,column --entry scale | FileCheck %s --check-prefix=SCALE
// RUN: heddle-run %s --input x=%S/Inputs/2x3.npy:row,column --entry scale --interpret | FileCheck %s --check-prefix=SCALE
// SCALE: @scale
// SCALE-NEXT: doubled: f32 {column: 3, row: 2} = {{\[\[}}2, 8], [4, 10], [6, 12]]
// SCALE-NEXT: result1: i64 {} = 3

// Without an order a .npy file holds the sorted names: columns outermost.
// RUN: heddle-run %s --input y=%S/Inputs/2x3.npy --entry sorted --interpret | FileCheck %s --check-prefix=SORTED
// SORTED: result0: f32 {a: 2, b: 3} = {{\[\[}}1, 2, 3], [4, 5, 6]]

// RUN: heddle-run %s --input x=%S/Inputs/2x3.npy:row,column --entry scale --print-limit 5 | FileCheck %s --check-prefix=SUMMARY
// SUMMARY: doubled: f32 {column: 3, row: 2}, 6 elements: from 2 to 12, mean 7

// The seed determines the values: another one gives others.
// RUN: heddle-run %s --entry scale --seed 3 > %t.a
// RUN: heddle-run %s --entry scale --seed 3 --interpret > %t.b
// RUN: heddle-run %s --entry scale --seed 3 --threads 1 --managed --row-major --no-cache > %t.c
// RUN: heddle-run %s --entry scale --seed 4 > %t.d
// RUN: cmp %t.a %t.b
// RUN: cmp %t.a %t.c
// RUN: not cmp %t.a %t.d

// Without --entry every public function is run.
// RUN: heddle-run %s --compare | FileCheck %s --check-prefix=ALL
// ALL: @scale: 7 elements agree
// ALL-NEXT: @sorted: 6 elements agree
// ALL-NEXT: @checked: 1 check holds
// ALL-NOT: @

// A program file needs no compiler, and says the same.
// RUN: sed '/^func.func @checked/,$d' %s > %t.mlir
// RUN: heddlec %t.mlir -o %t.heddle
// RUN: heddle-run %t.heddle --entry scale --seed 3 > %t.e
// RUN: cmp %t.a %t.e

func.func @scale(%x: !nd.tensor<f32, row: 2, column: 3> {nd.name = "x"}) -> (!nd.tensor<f32, row: 2, column: 3> {nd.name = "doubled"}, !nd.tensor<i64>) {
  %0 = nd.pointwise %x : (!nd.tensor<f32, row: 2, column: 3>) -> !nd.tensor<f32, row: 2, column: 3> {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    nd.yield %b : f32
  }
  %1 = nd.constant dense<3> : tensor<i64> by [] : !nd.tensor<i64>
  return %0, %1 : !nd.tensor<f32, row: 2, column: 3>, !nd.tensor<i64>
}

func.func @sorted(%y: !nd.tensor<f32, a: 2, b: 3> {nd.name = "y"}) -> !nd.tensor<f32, a: 2, b: 3> {
  return %y : !nd.tensor<f32, a: 2, b: 3>
}

func.func @checked() {
  %0 = nd.iota n : !nd.tensor<i32, n: 2>
  check.expect_eq_const %0 is dense<[0, 1]> : tensor<2xi32> by [n] : !nd.tensor<i32, n: 2>
  return
}
