// RUN: heddle-opt %s --nd-differentiate --nd-inline-calls --nd-expand-control-flow --nd-outline-control --split-input-file --verify-diagnostics

func.func @steps(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %by = arith.constant -1 : index
  // expected-error @below {{expected a positive step, got -1; count up, and derive a descending counter from it}}
  %y = scf.for %i = %c0 to %c9 step %by iter_args(%s = %x) -> (!nd.tensor<f32>) {
    scf.yield %s : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}

// -----

func.func @while(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // expected-error @below {{expected conditions, bounds and other scalars to come from nd.item, or to be constants, got one from 'arith.xori'; compute it as a tensor without names, and read that by nd.item}}
  %y = scf.while (%s = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    %both = arith.andi %c, %c : i1
    // expected-note @below {{the scalar is computed here}}
    %not = arith.xori %both, %c : i1
    scf.condition(%not) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    scf.yield %s : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}

// -----

func.func @scalar(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // expected-error @below {{expected named tensors to be carried, got 'i1'; carry a tensor without names instead}}
  %y:2 = scf.while (%s = %x, %d = %c) : (!nd.tensor<f32>, i1) -> (!nd.tensor<f32>, i1) {
    scf.condition(%c) %s, %d : !nd.tensor<f32>, i1
  } do {
  ^bb0(%s: !nd.tensor<f32>, %d: i1):
    scf.yield %s, %d : !nd.tensor<f32>, i1
  }
  return %y#0 : !nd.tensor<f32>
}

// -----

func.func private @loop(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // expected-error @below {{cannot be differentiated backwards: the number of its steps is not known, so the values that they need can't be saved; use scf.for}}
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
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // expected-error @below {{cannot be lifted over {a: 3}; expected nd and nest ops, scf.if, scf.for and scf.while}}
  %d = arith.xori %c, %c : i1
  %y = scf.if %d -> (!nd.tensor<f32>) {
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
