// Lanes are two names merged, one of which has a symbolic size: what is left of them begins anywhere within the other.
// RUN: heddle-run %s --compare --size N=5
// RUN: heddle-run %s --compare --size N=1
// RUN: heddle-run %s --compare --size N=16
// RUN: heddle-run %s --compare --size N=37

func.func @steps(%x: !nd.tensor<f32, batch: N, time: 3, in: 1> {nd.name = "x"}, %w: !nd.tensor<f32, out: 16, in: 1> {nd.name = "w"},
                 %b: !nd.tensor<f32, out: 16> {nd.name = "b"}) -> !nd.tensor<f32, batch: N, time: 3, out: 16> {
  %0 = nest.compute (batch: N, time: 3, out: 16) reduce (in: 1) reads %x[batch = batch, in = in, time = time], %w[in = in, out = out] {
  ^bb0(%p: f32, %q: f32):
    %1 = arith.mulf %p, %q : f32
    nest.yield %1 : f32
  } combine add [0.0 : f32] finish reads %b[out = out] {
  ^bb0(%sum: f32, %r: f32):
    %1 = arith.addf %sum, %r : f32
    nest.yield %1 : f32
  } {layouts = [#nest.layout<[out, batch, time]>]} : (!nd.tensor<f32, batch: N, time: 3, in: 1>, !nd.tensor<f32, out: 16, in: 1>, !nd.tensor<f32, out: 16>) -> !nd.tensor<f32, batch: N, time: 3, out: 16>
  return %0 : !nd.tensor<f32, batch: N, time: 3, out: 16>
}
