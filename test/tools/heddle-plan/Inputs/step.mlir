// A step of a linear function with one output; its optimiser adds the gradient of the sum of squares.

!in = !nd.tensor<f32, in: 48>

func.func @step(%x: !nd.tensor<f32, batch: 64, in: 48> {nd.name = "x"},
    %w: !in {nd.name = "net.w", heddle.donate = 1 : i64})
    -> (!nd.tensor<f32, batch: 64> {nd.name = "y"}, !in {nd.name = "net.w"}) {
  %p = nd.pointwise %x, %w : (!nd.tensor<f32, batch: 64, in: 48>, !in) -> !nd.tensor<f32, batch: 64, in: 48> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.reduce %p over [in] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 64, in: 48>) -> !nd.tensor<f32, batch: 64> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %q = nd.pointwise %x, %y : (!nd.tensor<f32, batch: 64, in: 48>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64, in: 48> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %g = nd.reduce %q over [batch] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 64, in: 48>) -> !in {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %n = nd.pointwise %w, %g : (!in, !in) -> !in {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %y, %n : !nd.tensor<f32, batch: 64>, !in
}
