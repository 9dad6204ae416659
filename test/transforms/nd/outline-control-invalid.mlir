// RUN: heddle-opt %s --nd-outline-control --split-input-file --verify-diagnostics

func.func @in_scan(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %y = nest.scan along <t: 3> init(%x) reads() : (!nd.tensor<f32>) -> !nd.tensor<f32> {
  ^bb0(%a: !nd.tensor<f32>):
    // expected-error @below {{cannot be inside of 'nest.scan'; run nd-expand-control-flow, which converts the scan to a loop}}
    %z = scf.while (%s = %a) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
      scf.condition(%c) %s : !nd.tensor<f32>
    } do {
    ^bb0(%s: !nd.tensor<f32>):
      scf.yield %s : !nd.tensor<f32>
    }
    nest.yield %z : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}

// -----

func.func @scalar_result(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // expected-error @below {{expected named tensors to be carried, got 'i1'; carry a tensor without names instead}}
  %y:2 = scf.if %c -> (!nd.tensor<f32>, i1) {
    scf.yield %x, %c : !nd.tensor<f32>, i1
  } else {
    scf.yield %x, %c : !nd.tensor<f32>, i1
  }
  return %y#0 : !nd.tensor<f32>
}

// -----

func.func @computed_condition(%x: !nd.tensor<f32>, %y: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %true = arith.constant true
  // expected-note @below {{the scalar is computed here}}
  %not = arith.xori %c, %true : i1
  // expected-error @below {{expected conditions, bounds and other scalars to come from nd.item, or to be constants, got one from 'arith.xori'; compute it as a tensor without names, and read that by nd.item}}
  %z = scf.if %not -> (!nd.tensor<f32>) {
    scf.yield %x : !nd.tensor<f32>
  } else {
    scf.yield %y : !nd.tensor<f32>
  }
  return %z : !nd.tensor<f32>
}
