// If loops of a reduction are nested, the data of the next tile are prefetched in parts between steps of the outer
// one, not in a burst before them.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 --no-cache -o - | FileCheck %s
// RUN: heddle-run %s --compare
// CHECK: %[[START:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK-NOT: prefetch
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-2: "llvm.intr.prefetch"{{.*}}rw = 1
// CHECK: "llvm.intr.prefetch"{{.*}}hint = 2 : i32, rw = 0
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: prefetch
// CHECK: arith.addf {{.*}}vector<16xf32>

func.func @product(%a: !nd.tensor<f32, inner: 250, row: 128> {nd.name = "a"}, %b: !nd.tensor<f32, column: 41, inner: 250> {nd.name = "b"}) -> (!nd.tensor<f32, column: 41, row: 128> {nd.name = "c"}) {
  %c = nest.compute (column: 41, row: 128) reduce (inner: 250) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread row by 128, cache column by 14, cache row by 32, loop inner by 16, loop inner by 1, register column by 1, register row by 16, vector row by 1], [stage 0 at 0 in #nest.layout<[row floordiv 32, inner, row mod 32]>, stage 1 at 1 in #nest.layout<[column, inner pad(0, 16)]> buffers 2]>} : (!nd.tensor<f32, inner: 250, row: 128>, !nd.tensor<f32, column: 41, inner: 250>) -> !nd.tensor<f32, column: 41, row: 128>
  return %c : !nd.tensor<f32, column: 41, row: 128>
}
