// RUN: heddle-opt %s --nd-outline-control --verify-diagnostics

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
