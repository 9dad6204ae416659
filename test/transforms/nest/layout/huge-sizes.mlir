// Names whose sizes multiply to more than 2^64 are refused, and counts of lanes do not overflow before that.
// RUN: not heddle-opt %s --nest-assign-layouts 2>&1 | FileCheck %s

// CHECK: huge-sizes.mlir:[[#@LINE+2]]:8: error: {{.*}}the sizes multiply to more than 2^48 elements at 'c'
func.func @f(%x: !nd.tensor<f32, c: 4611686018427387904, row: 16>) -> !nd.tensor<f32, c: 4611686018427387904, row: 16> {
  %0 = nest.compute (c: 4611686018427387904, row: 16) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, c: 4611686018427387904, row: 16>) -> !nd.tensor<f32, c: 4611686018427387904, row: 16>
  return %0 : !nd.tensor<f32, c: 4611686018427387904, row: 16>
}
