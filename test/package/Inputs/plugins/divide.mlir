// A division by 4 and one by 3.
func.func @main(%x: !nd.tensor<f32, row: 5> {nd.name = "x"}) -> (!nd.tensor<f32, row: 5> {nd.name = "y"}) {
  %y = nd.pointwise %x : (!nd.tensor<f32, row: 5>) -> !nd.tensor<f32, row: 5> {
  ^bb0(%e: f32):
    %four = arith.constant 4.0 : f32
    %three = arith.constant 3.0 : f32
    %a = arith.divf %e, %four : f32
    %b = arith.divf %a, %three : f32
    nd.yield %b : f32
  }
  return %y : !nd.tensor<f32, row: 5>
}
