// A padded convolution: products are added in one operation in the interior and at every border, whichever branches
// the guards make, and accumulators stay in registers.
// RUN: heddlec %s --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: FileCheck %s --check-prefix=APART < %t.s
// CHECK: vbroadcastss {{[^%]*}}(%{{.*}}), %zmm
// CHECK: vfmadd231ps {{.*}}%zmm
// APART-NOT: vmulps
// APART-NOT: (%rsp){{.*}}%zmm
// APART-NOT: %zmm{{.*}}(%rsp)

func.func @convolution(%x: !nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56> {nd.name = "x"}, %w: !nd.tensor<f32, in: 64, kx: 3, ky: 3, out: 64> {nd.name = "w"}) -> (!nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56> {nd.name = "y"}) {
  %y = nest.compute (batch: 16, column: 56, out: 64, row: 56) reduce (in: 64, kx: 3, ky: 3) reads %x[column = column + kx - 1, row = ky + row - 1] if [column + kx - 1 >= 0, -column - kx + 56 >= 0, ky + row - 1 >= 0, -ky - row + 56 >= 0] else 0.0 : f32, %w[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56>, !nd.tensor<f32, in: 64, kx: 3, ky: 3, out: 64>) -> !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56>
  return %y : !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56>
}
