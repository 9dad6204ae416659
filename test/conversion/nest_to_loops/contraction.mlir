// A matrix product whose sizes no tile divides: the inner loop is vectors of 16 lanes times scalars broadcast from memory,
// the edges are masked, and there is no scalar code.
// RUN: heddlec %s --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: FileCheck %s --check-prefix=NOSCALAR < %t.s
// CHECK: vbroadcastss {{[^%]*}}(%{{.*}}), %zmm
// CHECK: vfmadd231ps {{.*}}%zmm
// CHECK: vmovups {{.*}}{%k
// NOSCALAR-NOT: vfmadd{{[0-9]+}}ss
// NOSCALAR-NOT: vmulss

func.func @product(%a: !nd.tensor<f32, k: 64, m: 59> {nd.name = "a"}, %b: !nd.tensor<f32, k: 64, n: 50> {nd.name = "b"}) -> (!nd.tensor<f32, m: 59, n: 50> {nd.name = "c"}) {
  %c = nest.compute (m: 59, n: 50) reduce (k: 64) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 64, m: 59>, !nd.tensor<f32, k: 64, n: 50>) -> !nd.tensor<f32, m: 59, n: 50>
  return %c : !nd.tensor<f32, m: 59, n: 50>
}
