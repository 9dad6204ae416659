// A size that is a known multiple is cut into tiles that divide it: there are no remainder loops. The same product
// for any size has three times as many.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 --threads 1 --no-cache -o %t.loops
// RUN: grep -c "iter_args" %t.loops > %t.multiple
// RUN: sed "s/8 [*] N/N/g" %s > %t.any.mlir
// RUN: heddlec %t.any.mlir --emit=loops --target-cpu skylake-avx512 --threads 1 --no-cache -o %t.any.loops
// RUN: grep -c "iter_args" %t.any.loops > %t.any
// RUN: cat %t.multiple %t.any | tr '\n' ' ' | FileCheck %s
// CHECK: {{^}}1 3
// RUN: heddle-run %s --compare --size N=0,1,5

func.func @product(%a: !nd.tensor<f32, k: 64, m: 8 * N> {nd.name = "a"}, %b: !nd.tensor<f32, k: 64, n: 64> {nd.name = "b"}) -> (!nd.tensor<f32, m: 8 * N, n: 64> {nd.name = "c"}) {
  %c = nest.compute (m: 8 * N, n: 64) reduce (k: 64) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[cache m by 8, cache n by 32, loop k by 1, register m by 1, register n by 16, vector n by 1]>} : (!nd.tensor<f32, k: 64, m: 8 * N>, !nd.tensor<f32, k: 64, n: 64>) -> !nd.tensor<f32, m: 8 * N, n: 64>
  return %c : !nd.tensor<f32, m: 8 * N, n: 64>
}
