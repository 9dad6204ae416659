// A value that is stored in another order is transposed in registers: vectors are loaded and stored, nothing is gathered.
// RUN: heddlec %s --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: FileCheck %s --check-prefix=NOGATHER < %t.s
// CHECK: {{vunpck|vperm|vshuf|vinsert}}
// CHECK-COUNT-16: vmovap{{[sd]}} %zmm{{[0-9]+}}, {{.*}}(
// NOGATHER-NOT: vgather
// NOGATHER-NOT: vscatter

func.func @turn(%a: !nd.tensor<f32, m: 64, n: 64> {nd.name = "a", nd.layout = #nest.layout<[m, n]>}) -> (!nd.tensor<f32, m: 64, n: 64> {nd.name = "b", nd.layout = #nest.layout<[n, m]>}) {
  %c = nest.compute (m: 64, n: 64) reads %a[] {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    nest.yield %y : f32
  } {layouts = [#nest.layout<[n, m]>]} : (!nd.tensor<f32, m: 64, n: 64>) -> !nd.tensor<f32, m: 64, n: 64>
  return %c : !nd.tensor<f32, m: 64, n: 64>
}
