// The gradient of a maximum over several names needs their order, since it must not depend on spelling.
// RUN: heddle-opt %s --nd-differentiate --verify-diagnostics

func.func private @f(%x: !nd.tensor<f32, i: 2, j: 3>) -> !nd.tensor<f32> {
  // expected-error @below {{cannot be differentiated: expected `order`, the order of the names {i: 2, j: 3} that decides between equal elements}}
  %0 = nest.compute () reduce (i: 2, j: 3) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, i: 2, j: 3>) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}

func.func @g(%x: !nd.tensor<f32, i: 2, j: 3>, %c: !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, i: 2, j: 3>) {
  // expected-remark @below {{while differentiating '@f'}}
  %0:2 = nd.vjp @f(%x) cotangents(%c) wrt [0] : (!nd.tensor<f32, i: 2, j: 3>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, i: 2, j: 3>)
  return %0#0, %0#1 : !nd.tensor<f32>, !nd.tensor<f32, i: 2, j: 3>
}
