// Prefetches: the result's lines at the start of a tile, the next rows that will be copied while
// the current ones are used, and the vectors of a panel that no first cache holds some steps before their use.
// RUN: heddlec %s --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: heddle-run %s --compare
// CHECK: prefetchw
// CHECK: prefetcht1
// CHECK: vbroadcastss {{[^%]*}}(%{{.*}}), %zmm
// CHECK: vfmadd231ps {{.*}}%zmm
// CHECK: prefetcht0

func.func @product(%a: !nd.tensor<f32, inner: 256, row: 128> {nd.name = "a"}, %b: !nd.tensor<f32, column: 28, inner: 256> {nd.name = "b"}) -> (!nd.tensor<f32, column: 28, row: 128> {nd.name = "c"}) {
  %c = nest.compute (column: 28, row: 128) reduce (inner: 256) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread row by 128, cache column by 14, cache row by 32, loop inner by 1, register column by 1, register row by 16, vector row by 1], [stage 0 at 0 in #nest.layout<[row floordiv 32, inner, row mod 32]>, stage 1 at 1 in #nest.layout<[column, inner pad(0, 16)]> buffers 2]>} : (!nd.tensor<f32, inner: 256, row: 128>, !nd.tensor<f32, column: 28, inner: 256>) -> !nd.tensor<f32, column: 28, row: 128>
  return %c : !nd.tensor<f32, column: 28, row: 128>
}
