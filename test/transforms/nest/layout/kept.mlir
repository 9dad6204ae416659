// RUN: heddle-opt %s -nest-assign-layouts | FileCheck %s

// Existing layouts are kept: on arguments, results and nests, even if others would be faster.
// CHECK-LABEL: func.func @written(
// CHECK-SAME: nd.layout = #nest.layout<[k floordiv 2, m, k mod 2]>
// CHECK-SAME: nd.layout = #nest.layout<[(k, n) floordiv 8, (k, n) mod 8], align 128>
// CHECK-SAME: nd.layout = #nest.layout<[n, m pad(1, 1)]>
// CHECK: layouts = [#nest.layout<[n floordiv 3, m, n mod 3]>]
// CHECK: layouts = [#nest.layout<[n, m pad(1, 1)]>]
func.func @written(%a: !nd.tensor<f32, k: 16, m: 20> {nd.layout = #nest.layout<[k floordiv 2, m, k mod 2]>},
                   %b: !nd.tensor<f32, k: 16, n: 10> {nd.layout = #nest.layout<[(k, n) floordiv 8, (k, n) mod 8], align 128>})
    -> (!nd.tensor<f32, m: 20, n: 10> {nd.layout = #nest.layout<[n, m pad(1, 1)]>}) {
  %c = nest.compute (m: 20, n: 10) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[n floordiv 3, m, n mod 3]>]}
      : (!nd.tensor<f32, k: 16, m: 20>, !nd.tensor<f32, k: 16, n: 10>) -> !nd.tensor<f32, m: 20, n: 10>
  %d = nest.compute (m: 20, n: 10) reads %c[] {
  ^bb0(%x: f32):
    %p = arith.negf %x : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, m: 20, n: 10>) -> !nd.tensor<f32, m: 20, n: 10>
  return %d : !nd.tensor<f32, m: 20, n: 10>
}

// Pairs along k are contiguous, as bf16 dot products need them.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: nd.layout = #nest.layout<[n floordiv 16, k floordiv 2, n mod 16, k mod 2]>
func.func @pairs(%a: !nd.tensor<bf16, k: 32, m: 8>,
                 %b: !nd.tensor<bf16, k: 32, n: 64> {nd.layout = #nest.layout<[n floordiv 16, k floordiv 2, n mod 16, k mod 2]>})
    -> !nd.tensor<f32, m: 8, n: 64> {
  %c = nest.compute (m: 8, n: 64) reduce (k: 32) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %x32 = arith.extf %x : bf16 to f32
    %y32 = arith.extf %y : bf16 to f32
    %p = arith.mulf %x32, %y32 : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: 32, m: 8>, !nd.tensor<bf16, k: 32, n: 64>) -> !nd.tensor<f32, m: 8, n: 64>
  return %c : !nd.tensor<f32, m: 8, n: 64>
}
