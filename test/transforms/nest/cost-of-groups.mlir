// Of loops of a group whose schedule is not known the longest is assumed to be innermost, not the last name: then rows of
// these layouts are walked as they lie in memory, and only the first of them is waited for.
// RUN: heddle-opt %s --nest-cost 2>&1 >/dev/null | FileCheck %s

// CHECK: 'group' takes {{.*}} by its layouts, {{.*}} memory_scattered 132
module attributes {heddle.machine = #nest.machine<{vector_bytes = 64, vector_registers = 32}>} {
func.func @inside(%x: !nd.tensor<f32, a: 1024, b: 16, c: 16, d: 64> {nd.layout = #nest.layout<[b, c, a, d]>}) -> !nd.tensor<f32, a: 1024, b: 16, c: 16, d: 64> {
  %0 = nest.group (a: 1024, b: 16, c: 16) {
    %1 = nest.compute () reduce (d: 64) reads %x[] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } combine add [0.0 : f32] {layouts = [#nest.layout<[]>]} : (!nd.tensor<f32, a: 1024, b: 16, c: 16, d: 64>) -> !nd.tensor<f32>
    %2 = nest.compute (d: 64) reads %x[], %1[] {
    ^bb0(%p: f32, %q: f32):
      %3 = arith.mulf %p, %q : f32
      nest.yield %3 : f32
    } {layouts = [#nest.layout<[d]>]} : (!nd.tensor<f32, a: 1024, b: 16, c: 16, d: 64>, !nd.tensor<f32>) -> !nd.tensor<f32, d: 64>
    nest.yield %2 : !nd.tensor<f32, d: 64>
  } {layouts = [#nest.layout<[b, c, a, d]>]} : !nd.tensor<f32, a: 1024, b: 16, c: 16, d: 64>
  return %0 : !nd.tensor<f32, a: 1024, b: 16, c: 16, d: 64>
}
}
