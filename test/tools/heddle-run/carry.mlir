// With --carry, a result that takes the place of a donated argument is that argument of the next call, as in training: the
// argument doubles three times. Without, every call has the same arguments.
// RUN: heddle-run %s --entry save --input from=%S/Inputs/2x3.npy:row,column --output %t.safetensors
// RUN: heddle-run %s --entry step --input %t.safetensors --repeat 3 --carry | FileCheck %s --check-prefix=CARRY
// RUN: heddlec %s -o %t.heddle
// RUN: heddle-run %t.heddle --entry step --input %t.safetensors --repeat 3 --carry | FileCheck %s --check-prefix=CARRY
// CARRY: x: f32 {column: 3, row: 2} = {{\[\[}}8, 32], [16, 40], [24, 48]]
// CARRY-NEXT: before: f32 {column: 3, row: 2} = {{\[\[}}4, 16], [8, 20], [12, 24]]
// RUN: heddle-run %t.heddle --entry step --input %t.safetensors --repeat 3 | FileCheck %s --check-prefix=APART
// APART: x: f32 {column: 3, row: 2} = {{\[\[}}2, 8], [4, 10], [6, 12]]

// A file for one argument goes before those of several.
// RUN: heddle-run %t.heddle --entry step --input %t.safetensors --output %t.after.safetensors
// RUN: heddle-run %s --entry step --input x=%t.after.safetensors --input %t.safetensors | FileCheck %s --check-prefix=OTHER
// OTHER: before: f32 {column: 3, row: 2} = {{\[\[}}2, 8], [4, 10], [6, 12]]

!row_column = !nd.tensor<f32, row: 2, column: 3>

func.func @save(%x: !row_column {nd.name = "from"}) -> (!row_column {nd.name = "x"}) {
  return %x : !row_column
}

func.func @step(%x: !row_column {nd.name = "x", heddle.donate = 0 : i64}) -> (!row_column {nd.name = "x"}, !row_column {nd.name = "before"}) {
  %0 = nd.pointwise %x : (!row_column) -> !row_column {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    nd.yield %b : f32
  }
  %1 = nd.pointwise %x : (!row_column) -> !row_column {
  ^bb0(%a: f32):
    %c = arith.constant 1.0 : f32
    %b = arith.mulf %a, %c : f32
    nd.yield %b : f32
  }
  return %0, %1 : !row_column, !row_column
}
