// A temporary without elements has an address: a window that excludes all taps uses it.
// RUN: heddle-run %s --compare --size N=0,3
// RUN: heddle-run %s --compare --managed --size N=0,3

func.func @static(%x: !nd.tensor<f32, a: 0, b: 3>) -> !nd.tensor<f32> {
  %s = nest.compute (a: 0) reduce (b: 3) reads %x[] {
  ^bb0(%p: f32):
    nest.yield %p : f32
  } combine add [0.0 : f32] {heddle.materialize} : (!nd.tensor<f32, a: 0, b: 3>) -> !nd.tensor<f32, a: 0>
  %w = nd.window %s a -> k size 2 pad 2, 2 exclude : !nd.tensor<f32, a: 0> -> !nd.tensor<f32, a: 3, k: 2>
  %r = nd.reduce %w over [a, k] neutral [0x7F800000 : f32] : (!nd.tensor<f32, a: 3, k: 2>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.minimumf %p, %q : f32
    nd.yield %m : f32
  }
  return %r : !nd.tensor<f32>
}

func.func @symbolic(%x: !nd.tensor<f32, a: N>) -> !nd.tensor<f32> {
  %s = nd.sort %x along a : (!nd.tensor<f32, a: N>) -> !nd.tensor<f32, a: N>
  %w = nd.window %s a -> k size 2 pad 2, 2 exclude : !nd.tensor<f32, a: N> -> !nd.tensor<f32, a: N + 3, k: 2>
  %r = nd.reduce %w over [a, k] neutral [0x7F800000 : f32] : (!nd.tensor<f32, a: N + 3, k: 2>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.minimumf %p, %q : f32
    nd.yield %m : f32
  }
  return %r : !nd.tensor<f32>
}
