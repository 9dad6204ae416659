// The gradient of a convolution of narrow floats: what is stored in 16 bits is widened while it is copied, points that
// the guard excludes among it, so that the inner loop reads vectors and broadcasts of 32 bits from memory.
// RUN: heddlec %s --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.s
// RUN: FileCheck %s < %t.s
// CHECK: vpslld $16
// CHECK: vbroadcastss {{[^%]*}}(%{{.*}}), %[[SCALAR:zmm[0-9]+]]
// CHECK-NOT: vpslld
// CHECK: vfmadd231ps {{.*}}%[[SCALAR]]
// CHECK-NOT: shll $16

func.func @gradient(%y: !nd.tensor<bf16, batch: 16, column: 28, out: 64, row: 28> {nd.name = "y"}, %w: !nd.tensor<bf16, in: 64, kx: 3, ky: 3, out: 64> {nd.name = "w"}) -> (!nd.tensor<bf16, batch: 16, column: 28, in: 64, row: 28> {nd.name = "x"}) {
  %x = nest.compute (batch: 16, column: 28, in: 64, row: 28) reduce (kx: 3, ky: 3, out: 64) reads %y[column = column - kx + 1, row = row - ky + 1] if [row - ky + 1 >= 0, ky - row + 26 >= 0, column - kx + 1 >= 0, kx - column + 26 >= 0], %w[] {
  ^bb0(%a: bf16, %b: bf16):
    %p = arith.mulf %a, %b : bf16
    nest.yield %p : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, batch: 16, column: 28, out: 64, row: 28>, !nd.tensor<bf16, in: 64, kx: 3, ky: 3, out: 64>) -> !nd.tensor<bf16, batch: 16, column: 28, in: 64, row: 28>
  return %x : !nd.tensor<bf16, batch: 16, column: 28, in: 64, row: 28>
}
