// Of equal elements the gradient of a maximum goes to the first one in the order that is written, whatever the
// names are.
// RUN: heddle-run %s --compare

!i_j = !nd.tensor<f32, i: 2, j: 2>

func.func private @rows_first(%x: !i_j) -> !nd.tensor<f32> {
  %0 = nest.compute () reduce (i: 2, j: 2) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine max [0xFF800000 : f32] {order = ["i", "j"]} : (!i_j) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}
func.func private @columns_first(%x: !i_j) -> !nd.tensor<f32> {
  %0 = nest.compute () reduce (i: 2, j: 2) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine max [0xFF800000 : f32] {order = ["j", "i"]} : (!i_j) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}
// @rows_first with the names z and a.
func.func private @renamed(%x: !nd.tensor<f32, z: 2, a: 2>) -> !nd.tensor<f32> {
  %0 = nest.compute () reduce (z: 2, a: 2) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine max [0xFF800000 : f32] {order = ["z", "a"]} : (!nd.tensor<f32, z: 2, a: 2>) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}

func.func @gradients() {
  %x = nd.constant dense<[[1.0, 3.0], [3.0, 0.0]]> : tensor<2x2xf32> by [i, j] : !i_j
  %g = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:2 = nd.vjp @rows_first(%x) cotangents(%g) wrt [0] : (!i_j, !nd.tensor<f32>) -> (!nd.tensor<f32>, !i_j)
  check.expect_eq_const %0#0 is dense<3.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %0#1 is dense<[[0.0, 1.0], [0.0, 0.0]]> : tensor<2x2xf32> by [i, j] : !i_j
  %1:2 = nd.vjp @columns_first(%x) cotangents(%g) wrt [0] : (!i_j, !nd.tensor<f32>) -> (!nd.tensor<f32>, !i_j)
  check.expect_eq_const %1#1 is dense<[[0.0, 0.0], [1.0, 0.0]]> : tensor<2x2xf32> by [i, j] : !i_j
  %y = nd.rename %x [i, j] to [z, a] : !i_j -> !nd.tensor<f32, z: 2, a: 2>
  %2:2 = nd.vjp @renamed(%y) cotangents(%g) wrt [0] : (!nd.tensor<f32, z: 2, a: 2>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, z: 2, a: 2>)
  check.expect_eq_const %2#1 is dense<[[0.0, 1.0], [0.0, 0.0]]> : tensor<2x2xf32> by [z, a] : !nd.tensor<f32, z: 2, a: 2>
  return
}
