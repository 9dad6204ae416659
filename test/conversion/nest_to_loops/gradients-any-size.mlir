// If many sizes are symbols, none is assumed to be large: a row may be short, so sums stay in registers over the rows of
// several columns or images, whose loop of few steps is not the innermost one; and the copies for a block of channels are
// private to a thread.
// RUN: heddlec %s --emit=nest --target-cpu skylake-avx512 | FileCheck %s
// RUN: heddle-run %s --threads 2 --compare --size B=3,5 --size C=4,5 --size I=19,70 --size O=33,5 --size R=5,20
// CHECK: schedule = #nest.schedule<[{{.*}}thread {{in|out}} by {{[0-9]+}}, {{.*}}loop [[BLOCK:batch|column]] by {{[0-9]+}}, {{.*}}cache {{.*}}loop [[BLOCK]] by 1, loop row by
func.func @weight(%y: !nd.tensor<f32, batch: B, column: C, out: O, row: R> {nd.name = "y", nd.layout = #nest.layout<[batch, column, out, row]>}, %x: !nd.tensor<f32, batch: B, column: C, in: I, row: R> {nd.name = "x", nd.layout = #nest.layout<[batch, column, in, row]>}) -> (!nd.tensor<f32, in: I, kx: 3, ky: 3, out: O> {nd.name = "w"}) {
  %w = nest.compute (in: I, kx: 3, ky: 3, out: O) reduce (batch: B, column: C, row: R) reads %y[], %x[column = column + kx - 1, row = ky + row - 1] if [column + kx - 1 >= 0, -column + C - kx >= 0, ky + row - 1 >= 0, -ky - row + R >= 0] else 0.0 : f32 {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: B, column: C, out: O, row: R>, !nd.tensor<f32, batch: B, column: C, in: I, row: R>) -> !nd.tensor<f32, in: I, kx: 3, ky: 3, out: O>
  return %w : !nd.tensor<f32, in: I, kx: 3, ky: 3, out: O>
}
