// Of 18 rows that are stored in another order, 16 are transposed in registers; the lanes of the others are stored one by
// one: three of four of each of 2 x 4 quarters of vectors by an instruction of their own.
// RUN: heddlec %s --emit=asm --target-cpu skylake-avx512 --no-cache -o - | FileCheck %s
// CHECK-COUNT-24: vextractps
// CHECK-NOT: vextractps

func.func @rest(%a: !nd.tensor<f32, m: 16, n: 18> {nd.name = "a", nd.layout = #nest.layout<[n, m]>}) -> (!nd.tensor<f32, m: 16, n: 18> {nd.name = "b", nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 16, n: 18) reads %a[] {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    nest.yield %y : f32
  } {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[register n by 1, vector m by 1]>} : (!nd.tensor<f32, m: 16, n: 18>) -> !nd.tensor<f32, m: 16, n: 18>
  return %c : !nd.tensor<f32, m: 16, n: 18>
}
