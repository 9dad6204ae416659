func.func private @loop(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %y = scf.while (%s = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    scf.condition(%c) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    %t = nd.pointwise %s : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%e: f32):
      %p = math.sin %e : f32
      nd.yield %p : f32
    }
    scf.yield %t : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
func.func @slope(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %0:2 = nd.vjp @loop(%x, %b) cotangents(%x) wrt [0] : (!nd.tensor<f32>, !nd.tensor<i1>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  return %0#1 : !nd.tensor<f32>
}
