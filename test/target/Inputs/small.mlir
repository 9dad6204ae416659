// A kernel that computes with f64.
func.func @scaled(%x: !nd.tensor<f64, n: 1000> {nd.name = "x"}) -> !nd.tensor<f64, n: 1000> {
  %y = nd.pointwise %x : (!nd.tensor<f64, n: 1000>) -> !nd.tensor<f64, n: 1000> {
  ^bb0(%a: f64):
    %b = arith.mulf %a, %a : f64
    nd.yield %b : f64
  }
  return %y : !nd.tensor<f64, n: 1000>
}
