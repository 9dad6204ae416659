func.func @main(%a: !nd.tensor<f32, i: 65, j: 130> {nd.name = "a"}, %b: !nd.tensor<f32, j: 130, k: 200> {nd.name = "b"})
    -> (!nd.tensor<f32, i: 65, k: 200> {nd.name = "c"}) {
  %p = nd.pointwise %a, %b : (!nd.tensor<f32, i: 65, j: 130>, !nd.tensor<f32, j: 130, k: 200>) -> !nd.tensor<f32, i: 65, j: 130, k: 200> {
  ^bb0(%x: f32, %y: f32):
    %r = arith.mulf %x, %y : f32
    nd.yield %r : f32
  }
  %c = nd.reduce %p over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: 65, j: 130, k: 200>) -> !nd.tensor<f32, i: 65, k: 200> {
  ^bb0(%s: f32, %e: f32):
    %r = arith.addf %s, %e : f32
    nd.yield %r : f32
  }
  return %c : !nd.tensor<f32, i: 65, k: 200>
}
