// What is written is computed from the coordinate that it is written to, behind a condition: the coordinate is read
// without one.
// RUN: heddle-run %s --compare --seed 1
// RUN: heddle-run %s --compare --seed 2
// RUN: heddle-run %s --compare --seed 3
// RUN: heddle-run %s --compare --seed 4

!half_row = !nd.tensor<f32, half: 2, row: 1>

func.func @main(%keys: !nd.tensor<f32, depth: 4, row: 7> {nd.name = "keys"}, %place: !nd.tensor<i64> {nd.name = "place"},
                %x: !half_row {nd.name = "x"})
    -> (!nd.tensor<f32, depth: 4, row: 7> {nd.name = "result"}) {
  %y = nd.pointwise %place, %x : (!nd.tensor<i64>, !half_row) -> !half_row {
  ^bb0(%a: i64, %b: f32):
    %f = arith.sitofp %a : i64 to f32
    %0 = arith.mulf %f, %b : f32
    nd.yield %0 : f32
  }
  %z = nd.pointwise %place, %x : (!nd.tensor<i64>, !half_row) -> !half_row {
  ^bb0(%a: i64, %b: f32):
    %f = arith.sitofp %a : i64 to f32
    %0 = arith.subf %b, %f : f32
    nd.yield %0 : f32
  }
  %both = nd.concat %y, %z along half : (!half_row, !half_row) -> !nd.tensor<f32, half: 4, row: 1>
  %part = nd.rename %both [half] to [depth] : !nd.tensor<f32, half: 4, row: 1> -> !nd.tensor<f32, depth: 4, row: 1>
  %u = nd.update_slice %part into %keys row from %place : (!nd.tensor<f32, depth: 4, row: 1>, !nd.tensor<f32, depth: 4, row: 7>, !nd.tensor<i64>) -> !nd.tensor<f32, depth: 4, row: 7>
  return %u : !nd.tensor<f32, depth: 4, row: 7>
}
