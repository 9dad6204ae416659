func.func @sum(%x: !nd.tensor<f32, a: 4, b: 6> {nd.name = "x"}) -> (!nd.tensor<f32, a: 4> {nd.name = "y"}) {
  %r = nd.reduce %x over [b] neutral [0.0 : f32] : (!nd.tensor<f32, a: 4, b: 6>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    nd.yield %0 : f32
  }
  return %r : !nd.tensor<f32, a: 4>
}
