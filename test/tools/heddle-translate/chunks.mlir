// The chunks of a step are those that run: in one thread, where the step is small, and a number over the symbols where sizes
// are symbols.
// RUN: heddlec %s -o %t.heddle --target-cpu haswell --threads 2
// RUN: heddle-translate --program-to-text %t.heddle | FileCheck %s
// RUN: heddle-run %s --compare --size N=100

// CHECK-LABEL: @small(x)
// CHECK: pointwise: k_{{[0-9a-f]+}}, 3 chunks in one thread, {{[0-9.]+}} flops
func.func @small(%x: !nd.tensor<f32, a: 3, b: 10> {nd.name = "x"}) -> (!nd.tensor<f32, a: 3, b: 10> {nd.name = "y"}) {
  %y = nest.compute (a: 3, b: 10) reads %x[] {
  ^bb0(%p: f32):
    %q = arith.mulf %p, %p : f32
    nest.yield %q : f32
  } {heddle.name = "pointwise", schedule = #nest.schedule<[thread a by 1, loop b by 1]>} : (!nd.tensor<f32, a: 3, b: 10>) -> !nd.tensor<f32, a: 3, b: 10>
  return %y : !nd.tensor<f32, a: 3, b: 10>
}

// CHECK-LABEL: @one(x)
// CHECK: pointwise: k_{{[0-9a-f]+}}, 1 chunk, {{[0-9.]+}} flops
func.func @one(%x: !nd.tensor<f32, a: 3> {nd.name = "x"}) -> (!nd.tensor<f32, a: 3> {nd.name = "y"}) {
  %y = nest.compute (a: 3) reads %x[] {
  ^bb0(%p: f32):
    %q = arith.mulf %p, %p : f32
    nest.yield %q : f32
  } {heddle.name = "pointwise", schedule = #nest.schedule<[loop a by 1]>} : (!nd.tensor<f32, a: 3>) -> !nd.tensor<f32, a: 3>
  return %y : !nd.tensor<f32, a: 3>
}

// CHECK-LABEL: @many(x)
// CHECK: pointwise: k_{{[0-9a-f]+}}, 4 chunks, {{[0-9.e+]+}} flops
func.func @many(%x: !nd.tensor<f32, a: 4, b: 1000000> {nd.name = "x"}) -> (!nd.tensor<f32, a: 4, b: 1000000> {nd.name = "y"}) {
  %y = nest.compute (a: 4, b: 1000000) reads %x[] {
  ^bb0(%p: f32):
    %q = arith.mulf %p, %p : f32
    nest.yield %q : f32
  } {heddle.name = "pointwise", schedule = #nest.schedule<[thread a by 1, loop b by 8, vector b by 1]>} : (!nd.tensor<f32, a: 4, b: 1000000>) -> !nd.tensor<f32, a: 4, b: 1000000>
  return %y : !nd.tensor<f32, a: 4, b: 1000000>
}

// CHECK-LABEL: @symbols(x)
// CHECK: pointwise: k_{{[0-9a-f]+}}, (N + 31) floordiv 32 chunks, {{[0-9.e+]+}} flops
func.func @symbols(%x: !nd.tensor<f32, a: N> {nd.name = "x"}) -> (!nd.tensor<f32, a: N> {nd.name = "y"}) {
  %y = nest.compute (a: N) reads %x[] {
  ^bb0(%p: f32):
    %q = arith.mulf %p, %p : f32
    nest.yield %q : f32
  } {heddle.name = "pointwise", schedule = #nest.schedule<[thread a by 32, loop a by 1]>} : (!nd.tensor<f32, a: N>) -> !nd.tensor<f32, a: N>
  return %y : !nd.tensor<f32, a: N>
}
