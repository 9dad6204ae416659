// 25 products use each element of %y: its copy, turned so that `out` lies along the lanes, costs less than lanes that
// hold the five rows of a window.
// RUN: heddlec %s --emit=nest --target-cpu skylake-avx512 | FileCheck %s
// CHECK-LABEL: @first_layer
// CHECK: combine add {{.*}}vector out by 1]
func.func @first_layer(%y: !nd.tensor<f32, batch: 8, column: 28, out: 32, row: 28> {nd.name = "y", nd.layout = #nest.layout<[batch, column, out, row]>}, %x: !nd.tensor<f32, batch: 8, column: 28, row: 28> {nd.name = "x", nd.layout = #nest.layout<[batch, column, row]>}) -> (!nd.tensor<f32, kx: 5, ky: 5, out: 32> {nd.name = "w", nd.layout = #nest.layout<[kx, ky, out]>}) {
  %w = nest.compute (kx: 5, ky: 5, out: 32) reduce (batch: 8, column: 28, row: 28) reads %y[], %x[column = column + kx - 2, row = ky + row - 2] if [column + kx - 2 >= 0, -column - kx + 29 >= 0, ky + row - 2 >= 0, -ky - row + 29 >= 0] else 0.0 : f32 {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 8, column: 28, out: 32, row: 28>, !nd.tensor<f32, batch: 8, column: 28, row: 28>) -> !nd.tensor<f32, kx: 5, ky: 5, out: 32>
  return %w : !nd.tensor<f32, kx: 5, ky: 5, out: 32>
}
