// A condition that holds on the one lane of a tile's last vector and on some lanes of another: at b = 2, c = 6 is read and c = 3 is not.
// RUN: heddle-run %s --compare

func.func @main(%x: !nd.tensor<f32, a: 2, b: 5, c: 3> {nd.name = "x"}) -> (!nd.tensor<f32, a: 2, c: 7> {nd.layout = #nest.layout<[c, a]>, nd.name = "y"}) {
  %y = nest.compute (a: 2, c: 7) reduce (b: 3) reads %x[b = 2 * b + c mod 2, c = -b + c floordiv 2 + 1]
      if [-2 * b - c mod 2 + 4 >= 0, -b + c floordiv 2 + 1 >= 0, b - c floordiv 2 + 1 >= 0] else 0.0 : f32 {
  ^bb0(%e: f32):
    nest.yield %e : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[c, a]>], schedule = #nest.schedule<[register c by 2, vector c by 1, loop b by 1]>}
      : (!nd.tensor<f32, a: 2, b: 5, c: 3>) -> !nd.tensor<f32, a: 2, c: 7>
  return %y : !nd.tensor<f32, a: 2, c: 7>
}
