// Functions that call functions, lifted over a name that each uses for another size; sizes bound through the chain.
// RUN: heddle-run %s --compare --size L=7

!k = !nd.tensor<f32, k: 3>

func.func private @inner(%x: !nd.tensor<f32, k: M>, %w: !nd.tensor<f32>) -> !nd.tensor<f32, k: M> {
  %s = nd.reduce %x over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: M>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  %r = nd.pointwise %x, %s, %w : (!nd.tensor<f32, k: M>, !nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32, k: M> {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %a = arith.addf %p, %q : f32
    %b = arith.mulf %a, %v : f32
    nd.yield %b : f32
  }
  return %r : !nd.tensor<f32, k: M>
}
func.func private @middle(%x: !nd.tensor<f32, k: N>, %w: !nd.tensor<f32>) -> !nd.tensor<f32, k: N - 1> {
  %0 = nd.slice %x k from 1 size N - 1 : !nd.tensor<f32, k: N> -> !nd.tensor<f32, k: N - 1>
  %1 = nd.call @inner(%0, %w) : (!nd.tensor<f32, k: N - 1>, !nd.tensor<f32>) -> !nd.tensor<f32, k: N - 1>
  return %1 : !nd.tensor<f32, k: N - 1>
}
func.func private @top(%x: !nd.tensor<f32, k: N>, %w: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %1 = nd.call @middle(%x, %w) : (!nd.tensor<f32, k: N>, !nd.tensor<f32>) -> !nd.tensor<f32, k: N - 1>
  %s = nd.reduce %1 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: N - 1>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  return %s : !nd.tensor<f32>
}
func.func @clash(%x: !nd.tensor<f32, k: 5>, %w: !k) -> !k {
  %0 = nd.call @top(%x, %w) : (!nd.tensor<f32, k: 5>, !k) -> !k
  return %0 : !k
}
func.func @batched(%x: !nd.tensor<f32, b: 2, k: 5>, %w: !k) -> !nd.tensor<f32, b: 2, k: 3> {
  %0 = nd.call @top(%x, %w) : (!nd.tensor<f32, b: 2, k: 5>, !k) -> !nd.tensor<f32, b: 2, k: 3>
  return %0 : !nd.tensor<f32, b: 2, k: 3>
}
func.func @open(%x: !nd.tensor<f32, b: 2, k: L>, %w: !k) -> !nd.tensor<f32, b: 2, k: 3> {
  %0 = nd.call @top(%x, %w) : (!nd.tensor<f32, b: 2, k: L>, !k) -> !nd.tensor<f32, b: 2, k: 3>
  return %0 : !nd.tensor<f32, b: 2, k: 3>
}
