// RUN: heddle-opt %s --nd-differentiate --nd-inline-calls --nd-expand-control-flow --split-input-file --verify-diagnostics

func.func @steps(%x: !nd.tensor<f32>, %n: !nd.tensor<i64>) -> !nd.tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = nd.item %n : !nd.tensor<i64> -> index
  // expected-error @below {{expected a number of steps that is known when the program is compiled: bounds that are constants and a positive step; write the largest number of steps and an scf.if}}
  %y = scf.for %i = %c0 to %many step %c1 iter_args(%s = %x) -> (!nd.tensor<f32>) {
    scf.yield %s : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}

// -----

func.func @while(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // expected-error @below {{cannot be compiled: the number of its steps is not known; write scf.for with the largest number of steps and an scf.if}}
  %y = scf.while (%s = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    scf.condition(%c) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    scf.yield %s : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}

// -----

func.func private @loop(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // expected-error @below {{cannot be differentiated backwards: the number of its steps is not known, so what they need can't be kept; write scf.for}}
  %y = scf.while (%s = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    scf.condition(%c) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    scf.yield %s : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
func.func @reverse(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>, %g: !nd.tensor<f32>) -> !nd.tensor<f32> {
  // expected-remark @below {{while differentiating '@loop'}}
  %0:2 = nd.vjp @loop(%x, %b) cotangents(%g) wrt [0] : (!nd.tensor<f32>, !nd.tensor<i1>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  return %0#1 : !nd.tensor<f32>
}

// -----

func.func private @choose(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  // expected-error @below {{cannot be lifted over {a: 3}: control flow would differ from point to point; compute both ways and select instead}}
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %y = scf.if %c -> (!nd.tensor<f32>) {
    scf.yield %x : !nd.tensor<f32>
  } else {
    scf.yield %x : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
func.func @lifted(%x: !nd.tensor<f32>, %b: !nd.tensor<i1, a: 3>) -> !nd.tensor<f32, a: 3> {
  %0 = nd.call @choose(%x, %b) : (!nd.tensor<f32>, !nd.tensor<i1, a: 3>) -> !nd.tensor<f32, a: 3>
  return %0 : !nd.tensor<f32, a: 3>
}
