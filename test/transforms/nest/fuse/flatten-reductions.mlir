// RUN: heddle-opt %s --nest-flatten-reductions --split-input-file | FileCheck %s

// The gradient of a convolution: one reduction over taps and channels. Only the read of %g has the guard.
// CHECK-LABEL: @gradient
// CHECK-NEXT: nest.compute (row: 8) reduce (k: 3, o: 4) reads %arg0[], %arg1[row = -k + row + 1] if [-k + row + 1 >= 0, k - row + 6 >= 0] {
// CHECK-NOT: nest.compute
func.func @gradient(%w: !nd.tensor<f32, k: 3, o: 4>, %g: !nd.tensor<f32, o: 4, row: 8>) -> !nd.tensor<f32, row: 8> {
  %p = nest.compute (k: 3, row: 8) reduce (o: 4) reads %w[], %g[] {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 3, o: 4>, !nd.tensor<f32, o: 4, row: 8>) -> !nd.tensor<f32, k: 3, row: 8>
  %d = nest.compute (row: 8) reduce (k: 3) reads %p[row = row - k + 1] if [row - k + 1 >= 0, 6 - row + k >= 0] else 0.0 : f32 {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 3, row: 8>) -> !nd.tensor<f32, row: 8>
  return %d : !nd.tensor<f32, row: 8>
}

// -----

// Both call what they reduce `k`: the inner one is renamed.
// CHECK-LABEL: @sameName
// CHECK-NEXT: nest.compute () reduce (k: 3, k$1: 4) reads %arg0[k = k$1, n = k] {
func.func @sameName(%x: !nd.tensor<f32, k: 4, n: 3>) -> !nd.tensor<f32> {
  %p = nest.compute (n: 3) reduce (k: 4) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, k: 4, n: 3>) -> !nd.tensor<f32, n: 3>
  %d = nest.compute () reduce (k: 3) reads %p[n = k] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, n: 3>) -> !nd.tensor<f32>
  return %d : !nd.tensor<f32>
}

// -----

// Refused: outside of the guard ones are added.
// CHECK-LABEL: @ones
// CHECK-COUNT-2: nest.compute
func.func @ones(%x: !nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, n: 8> {
  %p = nest.compute (n: 8) reduce (k: 4) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, n: 8>
  %d = nest.compute (n: 8) reduce (t: 3) reads %p[n = n + t - 1] if [n + t - 1 >= 0, 8 - n - t >= 0] else 1.0 : f32 {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 8>) -> !nd.tensor<f32, n: 8>
  return %d : !nd.tensor<f32, n: 8>
}

// -----

// Refused: a maximum of sums.
// CHECK-LABEL: @maxOfSums
// CHECK-COUNT-2: nest.compute
func.func @maxOfSums(%x: !nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32> {
  %p = nest.compute (n: 8) reduce (k: 4) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, n: 8>
  %d = nest.compute () reduce (n: 8) reads %p[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, n: 8>) -> !nd.tensor<f32>
  return %d : !nd.tensor<f32>
}

// -----

// Refused: every sum of 4096 would be made 31 times.
// CHECK-LABEL: @overlapping
// CHECK-COUNT-2: nest.compute
func.func @overlapping(%x: !nd.tensor<f32, k: 4096, n: 1024>) -> !nd.tensor<f32, n: 994> {
  %p = nest.compute (n: 1024) reduce (k: 4096) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 4096, n: 1024>) -> !nd.tensor<f32, n: 1024>
  %d = nest.compute (n: 994) reduce (t: 31) reads %p[n = n + t] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 1024>) -> !nd.tensor<f32, n: 994>
  return %d : !nd.tensor<f32, n: 994>
}

// -----

// A cast rounds the inner sums. What accumulators convert does not.
// CHECK-LABEL: @cast
// CHECK: nest.compute (n: 3) reduce (k: 4)
// CHECK: nest.compute () reduce (n: 3)
func.func @cast(%x: !nd.tensor<bf16, k: 4, n: 3>) -> !nd.tensor<f32> {
  %p = nest.compute (n: 3) reduce (k: 4) reads %x[] {
  ^bb0(%a: bf16):
    nest.yield %a : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: 4, n: 3>) -> !nd.tensor<bf16, n: 3>
  %d = nest.compute () reduce (n: 3) reads %p[] {
  ^bb0(%a: bf16):
    %w = arith.extf %a : bf16 to f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<bf16, n: 3>) -> !nd.tensor<f32>
  return %d : !nd.tensor<f32>
}

// -----

// Refused: the inner sum is collected in more bits.
// CHECK-LABEL: @widerInside
// CHECK-COUNT-2: nest.compute
func.func @widerInside(%x: !nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32> {
  %p = nest.compute (n: 8) reduce (k: 4) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f64] : (!nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, n: 8>
  %d = nest.compute () reduce (n: 8) reads %p[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 8>) -> !nd.tensor<f32>
  return %d : !nd.tensor<f32>
}

// -----

// CHECK-LABEL: @conversion
// CHECK-NEXT: nest.compute () reduce (k: 4, n: 3)
// CHECK-NOT: nest.compute
func.func @conversion(%x: !nd.tensor<bf16, k: 4, n: 3>) -> !nd.tensor<f32> {
  %p = nest.compute (n: 3) reduce (k: 4) reads %x[] {
  ^bb0(%a: bf16):
    nest.yield %a : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: 4, n: 3>) -> !nd.tensor<bf16, n: 3>
  %d = nest.compute () reduce (n: 3) reads %p[] {
  ^bb0(%a: bf16):
    %w = arith.extf %a fastmath<contract> : bf16 to f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<bf16, n: 3>) -> !nd.tensor<f32>
  return %d : !nd.tensor<f32>
}

// -----

// Refused: another value than 0 is read outside.
// CHECK-LABEL: @onesOutside
// CHECK-COUNT-2: nest.compute
func.func @onesOutside(%x: !nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32> {
  %p = nest.compute (n: 8) reduce (k: 4) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, n: 8>
  %d = nest.compute () reduce (n: 8) reads %p[] if [6 - n >= 0] else 1.0 : f32 {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 8>) -> !nd.tensor<f32>
  return %d : !nd.tensor<f32>
}
