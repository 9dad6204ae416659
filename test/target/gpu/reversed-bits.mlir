// The 4 lanes of a block take (a3, k1) from two bits of their number in the other order, which LLVM writes as reversed
// bits. SPIR-V has them for graphics only.
// RUN: heddlec %s --target opencl --emit=asm | FileCheck %s
// CHECK: OpEntryPoint Kernel
// CHECK-NOT: OpBitReverse
func.func @main(%arg1: !nd.tensor<ui16, a2: 2, k: 2> {nd.name = "s0"}) -> (!nd.tensor<ui16, a2: 2, a3: 2, k: 2, k1: 2> {nd.name = "y0"}) {
    %0 = nest.compute (a2: 2, a3: 2, k: 2, k1: 2) reads %arg1[] {
    ^bb0(%arg2: i16):
      %c11_i16 = arith.constant 11 : i16
      %1 = arith.shli %arg2, %c11_i16 : i16
      nest.yield %1 : i16
    } {layouts = [#nest.layout<[k1, a3, a2, k]>]} : (!nd.tensor<ui16, a2: 2, k: 2>) -> !nd.tensor<ui16, a2: 2, a3: 2, k: 2, k1: 2>
    return %0 : !nd.tensor<ui16, a2: 2, a3: 2, k: 2, k1: 2>
}
