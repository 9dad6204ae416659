// A sum of four products is too short to prefetch where its results go, and the rows of a tile lie on pages of their own:
// the tiles next to one another write to the same pages. Without that cost r is outside, where its weights are reused most,
// and each store fetches a line that nothing fetched ahead.
// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s
// RUN: sed 's/page_bytes = 4096/page_bytes = 1000000000/' %s | heddle-opt --nest-choose-schedules | FileCheck %s --check-prefix=FREE
// CHECK: cache p by 1, cache q by 8, cache r by 1, loop k by 1, register q by 1, vector o by 1]
// FREE: cache r by 1, cache p by 1, loop k by 1, register q by 1, vector o by 1]

module attributes {heddle.machine = #nest.machine<{vector_bytes = 64, vector_registers = 32, page_bytes = 4096.0 : f64}>} {
func.func @far_stores(%w: !nd.tensor<f32, k: 4, o: 16, r: 64> {nd.layout = #nest.layout<[r, k, o]>},
                      %x: !nd.tensor<f32, k: 4, p: 64, q: 16, r: 64> {nd.layout = #nest.layout<[r, k, p, q]>}) -> !nd.tensor<f32, o: 16, p: 64, q: 16, r: 64> {
  %0 = nest.compute (o: 16, p: 64, q: 16, r: 64) reduce (k: 4) reads %w[], %x[] {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    nest.yield %1 : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[p, q, r, o]>]}
    : (!nd.tensor<f32, k: 4, o: 16, r: 64>, !nd.tensor<f32, k: 4, p: 64, q: 16, r: 64>) -> !nd.tensor<f32, o: 16, p: 64, q: 16, r: 64>
  return %0 : !nd.tensor<f32, o: 16, p: 64, q: 16, r: 64>
}
}
