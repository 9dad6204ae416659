// RUN: heddle-opt %s --nest-split-reductions --split-input-file | FileCheck %s
// RUN: heddle-opt %s --nest-split-reductions --nest-split-reductions --split-input-file | FileCheck %s --check-prefix=TWICE

// A million points and eight results: sixteen parts, and a sum over them that keeps the epilogue.
// CHECK-LABEL: @sum
// CHECK-NEXT: %[[P:.*]] = nest.compute (k: 8, n$part: 16) reduce (n: 8192) reads %arg0[n = n + 8192 * n$part] {
// CHECK: {heddle.materialize, heddle.name = "partial"}
// CHECK: nest.compute (k: 8) reduce (n$part: 16) reads %[[P]][] {
// CHECK: finish {
// CHECK: arith.mulf
// TWICE-LABEL: @sum
// TWICE-NEXT: nest.compute (k: 8, n$part: 16, n$part$: 16) reduce (n: 512) reads %arg0[n = n + 8192 * n$part + 512 * n$part$] {
func.func @sum(%x: !nd.tensor<f32, k: 8, n: 131072>) -> !nd.tensor<f32, k: 8> {
  %s = nest.compute (k: 8) reduce (n: 131072) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] finish {
  ^bb0(%a: f32):
    %0 = arith.mulf %a, %a : f32
    nest.yield %0 : f32
  } : (!nd.tensor<f32, k: 8, n: 131072>) -> !nd.tensor<f32, k: 8>
  return %s : !nd.tensor<f32, k: 8>
}

// -----

// Nine parts, the most up to sixteen that divide the size.
// CHECK-LABEL: @odd
// CHECK: nest.compute (n$part: 9) reduce (n: 116509)
func.func @odd(%x: !nd.tensor<f32, n: 1048581>) -> !nd.tensor<f32> {
  %s = nest.compute () reduce (n: 1048581) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 1048581>) -> !nd.tensor<f32>
  return %s : !nd.tensor<f32>
}

// -----

// Refused: enough results for all threads.
// CHECK-LABEL: @manyResults
// CHECK-COUNT-1: nest.compute
// CHECK-NOT: nest.compute
func.func @manyResults(%x: !nd.tensor<f32, k: 16384, n: 512>) -> !nd.tensor<f32, k: 16384> {
  %s = nest.compute (k: 16384) reduce (n: 512) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 16384, n: 512>) -> !nd.tensor<f32, k: 16384>
  return %s : !nd.tensor<f32, k: 16384>
}

// -----

// Refused: too little work.
// CHECK-LABEL: @small
// CHECK-COUNT-1: nest.compute
// CHECK-NOT: nest.compute
func.func @small(%x: !nd.tensor<f32, n: 4096>) -> !nd.tensor<f32> {
  %s = nest.compute () reduce (n: 4096) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 4096>) -> !nd.tensor<f32>
  return %s : !nd.tensor<f32>
}

// -----

// Refused: the body needs the coordinate that would be cut.
// CHECK-LABEL: @index
// CHECK-COUNT-1: nest.compute
// CHECK-NOT: nest.compute
func.func @index(%x: !nd.tensor<f32, n: 1048576>) -> !nd.tensor<i32> {
  %s = nest.compute () reduce (n: 1048576) reads %x[] {
  ^bb0(%a: f32):
    %0 = nest.index n
    %1 = arith.index_cast %0 : index to i32
    nest.yield %1 : i32
  } combine max [-2147483648 : i32] : (!nd.tensor<f32, n: 1048576>) -> !nd.tensor<i32>
  return %s : !nd.tensor<i32>
}
