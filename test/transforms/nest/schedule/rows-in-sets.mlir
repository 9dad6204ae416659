// If the lines of a tile's rows would conflict in one set of the L1 cache (rows of an image that are 16 KiB apart), the
// tile has other rows.
// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s

module attributes {heddle.machine = #nest.machine<{vector_bytes = 64, vector_registers = 32}>} {
// CHECK-LABEL: @data
// CHECK: schedule = #nest.schedule<{{.*}}loop out by 1, register batch by 1, register channel by 16,
func.func @data(%w: !nd.tensor<f32, channel: 32, kx: 5, ky: 5, out: 64> {nd.name = "w", nd.layout = #nest.layout<[kx, ky, out, channel]>}, %y: !nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14> {nd.name = "y", nd.layout = #nest.layout<[column, row, batch, out]>}) -> (!nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14> {nd.name = "x", nd.layout = #nest.layout<[batch, row, column, channel]>}) {
  %x = nest.compute (batch: 64, channel: 32, column: 14, row: 14) reduce (kx: 5, ky: 5, out: 64) reads %w[], %y[column = column - kx + 2, row = row - ky + 2] if [row - ky + 2 >= 0, ky - row + 11 >= 0, column - kx + 2 >= 0, kx - column + 11 >= 0] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[batch, row, column, channel]>]} : (!nd.tensor<f32, channel: 32, kx: 5, ky: 5, out: 64>, !nd.tensor<f32, batch: 64, column: 14, out: 64, row: 14>) -> !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14>
  return %x : !nd.tensor<f32, batch: 64, channel: 32, column: 14, row: 14>
}
}
