// A product of bf16: pairs are added at once where that is faster than to widen them, with nothing but vectors of a packed
// panel and scalars of 32 bits in the inner loop. The module's machine overrides the target's.
// RUN: heddlec %s --emit=asm --target-cpu znver5 --no-cache -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: heddlec %s --emit=asm --target-cpu znver4 --no-cache -o %t.4.s
// RUN: FileCheck %s < %t.4.s
// RUN: heddlec %s --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.skx.s
// RUN: FileCheck %s --check-prefix=WIDENED < %t.skx.s
// RUN: heddlec %s --emit=asm --target-cpu sapphirerapids --no-cache -o %t.spr.s
// RUN: FileCheck %s --check-prefix=WIDENED < %t.spr.s
// RUN: sed 's/^module {/module attributes {heddle.machine = #nest.machine<{bf16_dot_rate = 1}>} {/' %s > %t.1.mlir
// RUN: heddlec %t.1.mlir --emit=asm --target-cpu znver5 --no-cache -o %t.1.s
// RUN: FileCheck %s --check-prefix=WIDENED < %t.1.s
// RUN: sed 's/^module {/module attributes {heddle.machine = #nest.machine<{bf16_dot_rate = 2}>} {/' %s > %t.2.mlir
// RUN: heddlec %t.2.mlir --emit=asm --target-cpu sapphirerapids --no-cache -o %t.2.s
// RUN: FileCheck %s < %t.2.s
// RUN: heddlec %t.2.mlir --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.3.s
// RUN: FileCheck %s --check-prefix=APART < %t.3.s
// RUN: sed 's/bf16_dot_rate = 2/has_bf16_dot = 1/' %t.2.mlir > %t.4.mlir
// RUN: not heddlec %t.4.mlir --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.4.s 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK: vbroadcastss {{[^%]*}}(%{{.*}}), %[[SCALAR:zmm[0-9]+]]
// CHECK-NOT: {{vpunpck|vpslld|vperm}}
// CHECK: vdpbf16ps %zmm{{[0-9]+}}, %[[SCALAR]], %zmm{{[0-9]+}}
// CHECK-NOT: {{vpunpck|vpslld|vperm}}
// CHECK: vdpbf16ps

// WIDENED-NOT: vdpbf16ps
// WIDENED: vfmadd231ps
// WIDENED-NOT: vdpbf16ps

// Without the instruction pairs are taken apart in registers.
// APART-NOT: vdpbf16ps
// APART: vpslld $16
// APART-NOT: vdpbf16ps

// REFUSED: error: expected 'has_bf16_dot' to be 0 in 'heddle.machine', as the target has none, got 1

module {
  func.func @product(%a: !nd.tensor<bf16, k: 512, m: 512> {nd.name = "a"}, %b: !nd.tensor<bf16, k: 512, n: 512> {nd.name = "b"}) -> (!nd.tensor<bf16, m: 512, n: 512> {nd.name = "c"}) {
    %c = nest.compute (m: 512, n: 512) reduce (k: 512) reads %a[], %b[] {
    ^bb0(%x: bf16, %y: bf16):
      %p = arith.mulf %x, %y : bf16
      nest.yield %p : bf16
    } combine add [0.0 : f32] : (!nd.tensor<bf16, k: 512, m: 512>, !nd.tensor<bf16, k: 512, n: 512>) -> !nd.tensor<bf16, m: 512, n: 512>
    return %c : !nd.tensor<bf16, m: 512, n: 512>
  }
}
