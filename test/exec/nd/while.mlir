// A loop of unknown length has values and tangents; it is not compiled.
// RUN: heddle-run %s --interpret

// The first power of x that is at least 100.
func.func private @power(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %y = scf.while (%s = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    %small = nd.pointwise %s : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%v: f32):
      %b = arith.constant 100.0 : f32
      %r = arith.cmpf olt, %v, %b : f32
      nd.yield %r : i1
    }
    %c = nd.item %small : !nd.tensor<i1> -> i1
    scf.condition(%c) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    %t = nd.pointwise %s, %x : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%v: f32, %w: f32):
      %r = arith.mulf %v, %w : f32
      nd.yield %r : f32
    }
    scf.yield %t : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
func.func @unbounded() {
  %x = nd.constant dense<3.0> : tensor<f32> by [] : !nd.tensor<f32>
  %d = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:2 = nd.jvp @power(%x) tangents(%d) wrt [0] : (!nd.tensor<f32>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  check.expect_eq_const %0#0 is dense<243.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %0#1 is dense<405.0> : tensor<f32> by [] : !nd.tensor<f32>
  return
}
