// Files in and out; sizes that follow from them.
// Written files are read back by names, in any order of axes.
// RUN: heddle-run %s --entry scale --seed 3 --output %t.safetensors
// RUN: heddle-run %s --entry again --input doubled=%t.safetensors --input x=%S/Inputs/2x3.npy:row,column | FileCheck %s --check-prefix=AGAIN
// AGAIN: result0: f32 {column: 3, row: 2} =

// Size symbols follow from files or from --size.
// RUN: heddle-run %s --entry symbolic --size N=2 --compare | FileCheck %s --check-prefix=SYMBOLIC
// SYMBOLIC: @symbolic: 4 elements agree


// A list of axes is matched by name; without one the sorted names count.
// RUN: heddle-run %s --entry symbolic --input argument0=%S/Inputs/2x3.npy:two,n --interpret | FileCheck %s --check-prefix=ORDER
// ORDER: result0: f32 {n: 3, two: 2} = {{\[\[}}1, 4], [2, 5], [3, 6]]

!row_column = !nd.tensor<f32, row: 2, column: 3>

func.func @scale(%x: !row_column {nd.name = "x"}) -> (!row_column {nd.name = "doubled"}) {
  %0 = nd.pointwise %x : (!row_column) -> !row_column {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    nd.yield %b : f32
  }
  return %0 : !row_column
}

func.func @again(%x: !row_column {nd.name = "x"}, %y: !row_column {nd.name = "doubled"}) -> !row_column {
  %0 = nd.pointwise %x, %y : (!row_column, !row_column) -> !row_column {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nd.yield %c : f32
  }
  return %0 : !row_column
}

func.func @symbolic(%x: !nd.tensor<f32, two: 2, n: N>) -> !nd.tensor<f32, two: 2, n: N> {
  %0 = nd.slice %x n from 0 size N : !nd.tensor<f32, two: 2, n: N> -> !nd.tensor<f32, two: 2, n: N>
  return %0 : !nd.tensor<f32, two: 2, n: N>
}
