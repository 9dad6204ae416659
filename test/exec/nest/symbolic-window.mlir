// Windows that reach over the borders of operands whose sizes are symbols: a tile of whole steps ends before the border, so
// that few of its points need to be told apart, and code in which that is decided tests nothing at a point.
// RUN: heddle-run %s --compare --size R=1,2,7,5 --size C=1,5,6,7,13,18,0
// RUN: heddle-run %s --compare --threads 2 --target-cpu haswell --size R=3 --size C=14
// RUN: heddlec %s --emit=loops | FileCheck %s

// CHECK: scf.for
// CHECK-NOT: arith.select
func.func @gradient(%w: !nd.tensor<f32, in: 20, kx: 3, ky: 3, out: 5>, %g: !nd.tensor<f32, column: C, out: 5, row: R>) -> !nd.tensor<f32, column: C, in: 20, row: R> {
  %0 = nest.compute (column: C, in: 20, row: R) reduce (kx: 3, ky: 3, out: 5) reads %w[], %g[column = column - kx + 1, row = row - ky + 1] if [column - kx + 1 >= 0, -column + kx + C - 2 >= 0, row - ky + 1 >= 0, -row + ky + R - 2 >= 0] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread row by 1, cache column by 6, loop kx by 1, loop ky by 1, loop out by 1, register column by 1, register in by 16, vector in by 1]>} : (!nd.tensor<f32, in: 20, kx: 3, ky: 3, out: 5>, !nd.tensor<f32, column: C, out: 5, row: R>) -> !nd.tensor<f32, column: C, in: 20, row: R>
  return %0 : !nd.tensor<f32, column: C, in: 20, row: R>
}

// Five wide: two points at each end of a tile.
func.func @wide(%x: !nd.tensor<f32, column: C, in: 3>) -> !nd.tensor<f32, column: C, in: 3> {
  %0 = nest.compute (column: C, in: 3) reduce (kx: 5) reads %x[column = column + kx - 2] if [column + kx - 2 >= 0, -column - kx + C + 1 >= 0] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[cache column by 6, loop kx by 1, register column by 1, vector in by 1]>} : (!nd.tensor<f32, column: C, in: 3>) -> !nd.tensor<f32, column: C, in: 3>
  return %0 : !nd.tensor<f32, column: C, in: 3>
}
