// Zero padding with symbolic sizes: the number of cleared bytes is computed at each call.
// RUN: heddle-run %s --compare --size N=1,2,3,7,16,33,0 --size M=5,1,64,2,0,40,16
// RUN: heddle-run %s --compare --managed --size N=5 --size M=3

func.func @blocks(%d: !nd.tensor<f32, m: M, n: N>) -> !nd.tensor<f32, m: M, n: N> {
  %t = nest.compute (m: M, n: N) reads %d[m = M - 1 - m, n = N - 1 - n] {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    nest.yield %r : f32
  } {heddle.materialize, layouts = [#nest.layout<[m floordiv 2, n floordiv 4, m mod 2, n mod 4], zero_padded>]} : (!nd.tensor<f32, m: M, n: N>) -> !nd.tensor<f32, m: M, n: N>
  %w = nest.compute (m: M, n: N) reads %t[m = M - 1 - m] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, m: M, n: N>) -> !nd.tensor<f32, m: M, n: N>
  return %w : !nd.tensor<f32, m: M, n: N>
}
func.func @borders(%x: !nd.tensor<f32, m: M, n: 5> {nd.name = "x"}) -> (!nd.tensor<f32, m: M, n: 5> {nd.name = "y", nd.layout = #nest.layout<[m floordiv 8, n, m mod 8], zero_padded>}) {
  %t = nest.compute (m: M, n: 5) reads %x[m = M - 1 - m] {
  ^bb0(%a: f32):
    %r = arith.mulf %a, %a : f32
    nest.yield %r : f32
  } {heddle.materialize, layouts = [#nest.layout<[m pad(1, 1), n pad(2, 1)], zero_padded>]} : (!nd.tensor<f32, m: M, n: 5>) -> !nd.tensor<f32, m: M, n: 5>
  %y = nest.compute (m: M, n: 5) reads %t[m = M - 1 - m, n = 4 - n] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, m: M, n: 5>) -> !nd.tensor<f32, m: M, n: 5>
  return %y : !nd.tensor<f32, m: M, n: 5>
}
func.func @accumulates(%x: !nd.tensor<f32, m: M, k: N>) -> (!nd.tensor<f32, m: M> {nd.layout = #nest.layout<[m floordiv 16, m mod 16], zero_padded>}) {
  %t = nest.compute (m: M) reduce (k: N) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, m: M, k: N>) -> !nd.tensor<f32, m: M>
  return %t : !nd.tensor<f32, m: M>
}
