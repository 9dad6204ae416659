// RUN: heddle-opt %s --nest-materialize-guards --split-input-file | FileCheck %s

// Every element is read 3 * 16 times: a copy with a border is faster.
// CHECK-LABEL: @dilation
// CHECK-NEXT: %[[P:.*]] = nest.compute (row: 34) reads %arg0[row = row - 1] if [row - 1 >= 0, -row + 32 >= 0] else 0.000000e+00 : f32 {
// CHECK: {heddle.materialize, heddle.name = "pad"}
// CHECK: nest.compute (out: 16, row: 32) reduce (ky: 3) reads %[[P]][row = ky + row], %arg1[] {
func.func @dilation(%x: !nd.tensor<f32, row: 32>, %k: !nd.tensor<f32, ky: 3, out: 16>) -> !nd.tensor<f32, out: 16, row: 32> {
  %c = nest.compute (out: 16, row: 32) reduce (ky: 3) reads %x[row = row + ky - 1] if [row + ky - 1 >= 0, 32 - row - ky >= 0] else 0.0 : f32, %k[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    nest.yield %p : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, row: 32>, !nd.tensor<f32, ky: 3, out: 16>) -> !nd.tensor<f32, out: 16, row: 32>
  return %c : !nd.tensor<f32, out: 16, row: 32>
}

// -----

// Not a convolution, which adds nothing outside: its loops are split there.
// CHECK-LABEL: @convolution
// CHECK-COUNT-1: nest.compute
// CHECK-NOT: nest.compute
func.func @convolution(%x: !nd.tensor<f32, row: 32>, %k: !nd.tensor<f32, ky: 3, out: 16>) -> !nd.tensor<f32, out: 16, row: 32> {
  %c = nest.compute (out: 16, row: 32) reduce (ky: 3) reads %x[row = row + ky - 1] if [row + ky - 1 >= 0, 32 - row - ky >= 0] else 0.0 : f32, %k[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, row: 32>, !nd.tensor<f32, ky: 3, out: 16>) -> !nd.tensor<f32, out: 16, row: 32>
  return %c : !nd.tensor<f32, out: 16, row: 32>
}

// -----

// Refused: three reads of each element do not pay for a copy.
// CHECK-LABEL: @fewReads
// CHECK-COUNT-1: nest.compute
// CHECK-NOT: nest.compute
func.func @fewReads(%x: !nd.tensor<f32, row: 32>) -> !nd.tensor<f32, row: 32> {
  %c = nest.compute (row: 32) reduce (ky: 3) reads %x[row = row + ky - 1] if [row + ky - 1 >= 0, 32 - row - ky >= 0] else 0.0 : f32 {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, row: 32>) -> !nd.tensor<f32, row: 32>
  return %c : !nd.tensor<f32, row: 32>
}

// -----

// Refused: a guard that excludes points has no value to fill a border with.
// CHECK-LABEL: @excludes
// CHECK-COUNT-1: nest.compute
// CHECK-NOT: nest.compute
func.func @excludes(%x: !nd.tensor<f32, row: 32>, %k: !nd.tensor<f32, ky: 3, out: 16>) -> !nd.tensor<f32, out: 16, row: 32> {
  %c = nest.compute (out: 16, row: 32) reduce (ky: 3) reads %x[row = row + ky - 1] if [row + ky - 1 >= 0, 32 - row - ky >= 0], %k[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, row: 32>, !nd.tensor<f32, ky: 3, out: 16>) -> !nd.tensor<f32, out: 16, row: 32>
  return %c : !nd.tensor<f32, out: 16, row: 32>
}

// -----

// Refused: no border explains this guard.
// CHECK-LABEL: @diagonal
// CHECK-COUNT-1: nest.compute
// CHECK-NOT: nest.compute
func.func @diagonal(%x: !nd.tensor<f32, row: 32>, %k: !nd.tensor<f32, ky: 3, out: 16>) -> !nd.tensor<f32, out: 16, row: 32> {
  %c = nest.compute (out: 16, row: 32) reduce (ky: 3) reads %x[] if [row - 2 * ky >= 0] else 0.0 : f32, %k[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    nest.yield %p : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, row: 32>, !nd.tensor<f32, ky: 3, out: 16>) -> !nd.tensor<f32, out: 16, row: 32>
  return %c : !nd.tensor<f32, out: 16, row: 32>
}
