// A training step of a network of two layers: the loss, its gradient, and momentum for one of the parameters.
func.func private @loss(%x: !nd.tensor<f32, batch: 6, in: 4>, %w: !nd.tensor<f32, in: 4, hidden: 8>, %b: !nd.tensor<f32, hidden: 8>, %v: !nd.tensor<f32, hidden: 8, out: 2>) -> !nd.tensor<f32> {
  %p = nd.pointwise %x, %w : (!nd.tensor<f32, batch: 6, in: 4>, !nd.tensor<f32, in: 4, hidden: 8>) -> !nd.tensor<f32, batch: 6, in: 4, hidden: 8> {
  ^bb0(%a: f32, %c: f32):
    %d = arith.mulf %a, %c : f32
    nd.yield %d : f32
  }
  %h = nd.reduce %p over [in] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 6, in: 4, hidden: 8>) -> !nd.tensor<f32, batch: 6, hidden: 8> {
  ^bb0(%a: f32, %c: f32):
    %d = arith.addf %a, %c : f32
    nd.yield %d : f32
  }
  %t = nd.pointwise %h, %b : (!nd.tensor<f32, batch: 6, hidden: 8>, !nd.tensor<f32, hidden: 8>) -> !nd.tensor<f32, batch: 6, hidden: 8> {
  ^bb0(%a: f32, %c: f32):
    %d = arith.addf %a, %c : f32
    %e = math.tanh %d : f32
    nd.yield %e : f32
  }
  %q = nd.pointwise %t, %v : (!nd.tensor<f32, batch: 6, hidden: 8>, !nd.tensor<f32, hidden: 8, out: 2>) -> !nd.tensor<f32, batch: 6, hidden: 8, out: 2> {
  ^bb0(%a: f32, %c: f32):
    %d = arith.mulf %a, %c : f32
    nd.yield %d : f32
  }
  %y = nd.reduce %q over [hidden] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 6, hidden: 8, out: 2>) -> !nd.tensor<f32, batch: 6, out: 2> {
  ^bb0(%a: f32, %c: f32):
    %d = arith.addf %a, %c : f32
    nd.yield %d : f32
  }
  %z = nd.pointwise %y : (!nd.tensor<f32, batch: 6, out: 2>) -> !nd.tensor<f32, batch: 6, out: 2> {
  ^bb0(%a: f32):
    %d = arith.mulf %a, %a : f32
    nd.yield %d : f32
  }
  %l = nd.reduce %z over [batch, out] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 6, out: 2>) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %c: f32):
    %d = arith.addf %a, %c : f32
    nd.yield %d : f32
  }
  return %l : !nd.tensor<f32>
}
func.func @train(%x: !nd.tensor<f32, batch: 6, in: 4> {nd.name = "x"},
    %m: !nd.tensor<f32, in: 4, hidden: 8> {nd.name = "momentum.first.weight", heddle.donate = 1 : i64},
    %b: !nd.tensor<f32, hidden: 8> {nd.name = "net.first.bias", heddle.donate = 2 : i64},
    %w: !nd.tensor<f32, in: 4, hidden: 8> {nd.name = "net.first.weight", heddle.donate = 3 : i64},
    %v: !nd.tensor<f32, hidden: 8, out: 2> {nd.name = "net.last.weight", heddle.donate = 4 : i64})
    -> (!nd.tensor<f32> {nd.name = "loss"}, !nd.tensor<f32, in: 4, hidden: 8> {nd.name = "momentum.first.weight"}, !nd.tensor<f32, hidden: 8> {nd.name = "net.first.bias"},
        !nd.tensor<f32, in: 4, hidden: 8> {nd.name = "net.first.weight"}, !nd.tensor<f32, hidden: 8, out: 2> {nd.name = "net.last.weight"}) {
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %l, %dw, %db, %dv = nd.vjp @loss(%x, %w, %b, %v) cotangents(%one) wrt [1, 2, 3]
    : (!nd.tensor<f32, batch: 6, in: 4>, !nd.tensor<f32, in: 4, hidden: 8>, !nd.tensor<f32, hidden: 8>, !nd.tensor<f32, hidden: 8, out: 2>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, in: 4, hidden: 8>, !nd.tensor<f32, hidden: 8>, !nd.tensor<f32, hidden: 8, out: 2>)
  %m2 = nd.pointwise %m, %dw : (!nd.tensor<f32, in: 4, hidden: 8>, !nd.tensor<f32, in: 4, hidden: 8>) -> !nd.tensor<f32, in: 4, hidden: 8> {
  ^bb0(%a: f32, %c: f32):
    %h = arith.constant 0.5 : f32
    %d = arith.mulf %a, %h : f32
    %e = arith.addf %d, %c : f32
    nd.yield %e : f32
  }
  %w2 = nd.pointwise %w, %m2 : (!nd.tensor<f32, in: 4, hidden: 8>, !nd.tensor<f32, in: 4, hidden: 8>) -> !nd.tensor<f32, in: 4, hidden: 8> {
  ^bb0(%a: f32, %c: f32):
    %h = arith.constant 0.125 : f32
    %d = arith.mulf %c, %h : f32
    %e = arith.subf %a, %d : f32
    nd.yield %e : f32
  }
  %b2 = nd.pointwise %b, %db : (!nd.tensor<f32, hidden: 8>, !nd.tensor<f32, hidden: 8>) -> !nd.tensor<f32, hidden: 8> {
  ^bb0(%a: f32, %c: f32):
    %h = arith.constant 0.125 : f32
    %d = arith.mulf %c, %h : f32
    %e = arith.subf %a, %d : f32
    nd.yield %e : f32
  }
  %v2 = nd.pointwise %v, %dv : (!nd.tensor<f32, hidden: 8, out: 2>, !nd.tensor<f32, hidden: 8, out: 2>) -> !nd.tensor<f32, hidden: 8, out: 2> {
  ^bb0(%a: f32, %c: f32):
    %h = arith.constant 0.125 : f32
    %d = arith.mulf %c, %h : f32
    %e = arith.subf %a, %d : f32
    nd.yield %e : f32
  }
  return %l, %m2, %b2, %w2, %v2 : !nd.tensor<f32>, !nd.tensor<f32, in: 4, hidden: 8>, !nd.tensor<f32, hidden: 8>, !nd.tensor<f32, in: 4, hidden: 8>, !nd.tensor<f32, hidden: 8, out: 2>
}
