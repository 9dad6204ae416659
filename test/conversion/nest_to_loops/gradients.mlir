// If the lines of a tile's rows would conflict in one set of the L1 cache (rows of an image that are 16 KiB apart), the
// tile has other rows; a block of few steps is not the innermost loop of a reduction.
// RUN: heddlec %s --emit=nest --target-cpu skylake-avx512 | FileCheck %s

// CHECK-LABEL: @data
// CHECK: schedule = #nest.schedule<{{.*}}loop out by 1, register batch by 1,
func.func @data(%w: !nd.tensor<f32, channel: 32, kx: 5, ky: 5, out: 64> {nd.name = "w", nd.layout = #nest.layout<[kx, ky, out, channel]>}, %y: !nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14> {nd.name = "y", nd.layout = #nest.layout<[column, row, batch, out]>}) -> (!nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14> {nd.name = "x", nd.layout = #nest.layout<[batch, row, column, channel]>}) {
  %x = nest.compute (batch: 64, channel: 32, column: 14, row: 14) reduce (kx: 5, ky: 5, out: 64) reads %w[], %y[column = column - kx + 2, row = row - ky + 2] if [row - ky + 2 >= 0, ky - row + 11 >= 0, column - kx + 2 >= 0, kx - column + 11 >= 0] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, channel: 32, kx: 5, ky: 5, out: 64>, !nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14>) -> !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14>
  return %x : !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14>
}

// CHECK-LABEL: @weight
// CHECK: schedule = #nest.schedule<{{.*}}loop batch by 2, {{.*}}loop batch by 1, loop column by 1, loop row by 1, register
func.func @weight(%y: !nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14> {nd.name = "y", nd.layout = #nest.layout<[column, row, batch, out]>}, %x: !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14> {nd.name = "x", nd.layout = #nest.layout<[batch, row, column, channel]>}) -> (!nd.tensor<f32, channel: 32, kx: 5, ky: 5, out: 64> {nd.name = "w", nd.layout = #nest.layout<[kx, ky, channel, out]>}) {
  %w = nest.compute (channel: 32, kx: 5, ky: 5, out: 64) reduce (batch: 64, column: 14, row: 14) reads %y[], %x[column = column + kx - 2, row = ky + row - 2] if [column + kx - 2 >= 0, -column - kx + 15 >= 0, ky + row - 2 >= 0, -ky - row + 15 >= 0] else 0.0 : f32 {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14>, !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14>) -> !nd.tensor<f32, channel: 32, kx: 5, ky: 5, out: 64>
  return %w : !nd.tensor<f32, channel: 32, kx: 5, ky: 5, out: 64>
}

// 25 products use each element of %y: its copy, turned so that `out` lies along the lanes, costs less than lanes that
// hold the five rows of a window.
// CHECK-LABEL: @first_layer
// CHECK: vector out by 1],
func.func @first_layer(%y: !nd.tensor<f32, batch: 8, column: 28, out: 32, row: 28> {nd.name = "y", nd.layout = #nest.layout<[batch, column, out, row]>}, %x: !nd.tensor<f32, batch: 8, column: 28, row: 28> {nd.name = "x", nd.layout = #nest.layout<[batch, column, row]>}) -> (!nd.tensor<f32, kx: 5, ky: 5, out: 32> {nd.name = "w", nd.layout = #nest.layout<[kx, ky, out]>}) {
  %w = nest.compute (kx: 5, ky: 5, out: 32) reduce (batch: 8, column: 28, row: 28) reads %y[], %x[column = column + kx - 2, row = ky + row - 2] if [column + kx - 2 >= 0, -column - kx + 29 >= 0, ky + row - 2 >= 0, -ky - row + 29 >= 0] else 0.0 : f32 {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 8, column: 28, out: 32, row: 28>, !nd.tensor<f32, batch: 8, column: 28, row: 28>) -> !nd.tensor<f32, kx: 5, ky: 5, out: 32>
  return %w : !nd.tensor<f32, kx: 5, ky: 5, out: 32>
}
