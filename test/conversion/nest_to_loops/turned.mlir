// A value that is stored in another order is transposed in registers: vectors are loaded and stored, nothing is gathered.
// So are the operands and the results of a finish.
// RUN: heddlec %s --emit=asm --target-cpu skylake-avx512 --no-cache -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: FileCheck %s --check-prefix=NOGATHER < %t.s
// CHECK: {{vunpck|vperm|vshuf|vinsert}}
// CHECK-COUNT-16: vmovap{{[sd]}} %zmm{{[0-9]+}}, {{.*}}(
// NOGATHER-NOT: vgather
// NOGATHER-NOT: vscatter
// NOGATHER-NOT: vextractps

func.func @turn(%a: !nd.tensor<f32, m: 64, n: 64> {nd.name = "a", nd.layout = #nest.layout<[m, n]>}) -> (!nd.tensor<f32, m: 64, n: 64> {nd.name = "b", nd.layout = #nest.layout<[n, m]>}) {
  %c = nest.compute (m: 64, n: 64) reads %a[] {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    nest.yield %y : f32
  } {layouts = [#nest.layout<[n, m]>]} : (!nd.tensor<f32, m: 64, n: 64>) -> !nd.tensor<f32, m: 64, n: 64>
  return %c : !nd.tensor<f32, m: 64, n: 64>
}

func.func @finish(%a: !nd.tensor<f32, m: 64, k: 8> {nd.name = "a", nd.layout = #nest.layout<[k, m]>}, %b: !nd.tensor<f32, k: 8, n: 16> {nd.name = "b", nd.layout = #nest.layout<[n, k]>}, %d: !nd.tensor<f32, m: 64, n: 16> {nd.name = "d", nd.layout = #nest.layout<[m, n]>}) -> (!nd.tensor<f32, m: 64, n: 16> {nd.name = "c", nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 64, n: 16) reduce (k: 8) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } combine add [0.000000e+00 : f32] finish reads %d[] {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    nest.yield %z : f32
  } {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 16, loop k by 1, register n by 1, register m by 16, vector m by 1]>} : (!nd.tensor<f32, m: 64, k: 8>, !nd.tensor<f32, k: 8, n: 16>, !nd.tensor<f32, m: 64, n: 16>) -> !nd.tensor<f32, m: 64, n: 16>
  return %c : !nd.tensor<f32, m: 64, n: 16>
}
