// A symbolic size may be larger than its typical value: threads share it in chunks that are worth a dispatch, along
// every name that it is the size of.
// RUN: heddlec %s --emit=nest --target-cpu skylake-avx512 | FileCheck %s
// RUN: heddle-run %s --threads 2 --compare --size N=0,1,20003 --size M=3
// RUN: heddle-run %s --threads 2 --compare --size N=2 --size M=20003

// CHECK-LABEL: @one
// CHECK: schedule = #nest.schedule<[thread n by {{[0-9][0-9][0-9][0-9]+}}, cache n by
func.func @one(%a: !nd.tensor<f32, n: N> {nd.name = "a"}) -> (!nd.tensor<f32, n: N> {nd.name = "b"}) {
  %b = nest.compute (n: N) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N>
  return %b : !nd.tensor<f32, n: N>
}

// CHECK-LABEL: @two
// CHECK: schedule = #nest.schedule<[thread m by {{[0-9]+}}, thread n by {{[0-9][0-9][0-9][0-9]+}}, cache m by 1, cache n by
func.func @two(%a: !nd.tensor<f32, m: M, n: N> {nd.name = "a"}) -> (!nd.tensor<f32, m: M, n: N> {nd.name = "b"}) {
  %b = nest.compute (m: M, n: N) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, m: M, n: N>) -> !nd.tensor<f32, m: M, n: N>
  return %b : !nd.tensor<f32, m: M, n: N>
}
