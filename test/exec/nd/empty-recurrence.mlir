// A recurrence of no steps whose body branches: its states are what they were, and nothing is read.
// RUN: heddle-run %s --compare

func.func @main(%x: !nd.tensor<f32, d: 0> {nd.name = "x"}, %s: !nd.tensor<i32, row: 4> {nd.name = "s"}) -> (!nd.tensor<i32, row: 4> {nd.name = "y"}, !nd.tensor<i32, d: 0, row: 4> {nd.name = "z"}) {
  %y:2 = nest.scan along <d: 0> init(%s) reads(%x) : (!nd.tensor<i32, row: 4>, !nd.tensor<f32, d: 0>) -> (!nd.tensor<i32, row: 4>, !nd.tensor<i32, d: 0, row: 4>) {
  ^bb0(%state: !nd.tensor<i32, row: 4>, %read: !nd.tensor<f32>):
    %asked = nd.pointwise %read : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%a: f32):
      %zero = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %a, %zero : f32
      nd.yield %c : i1
    }
    %condition = nd.item %asked : !nd.tensor<i1> -> i1
    %next = scf.if %condition -> (!nd.tensor<i32, row: 4>) {
      %sorted = nd.sort %state along row : (!nd.tensor<i32, row: 4>) -> !nd.tensor<i32, row: 4>
      scf.yield %sorted : !nd.tensor<i32, row: 4>
    } else {
      scf.yield %state : !nd.tensor<i32, row: 4>
    }
    nest.yield %next, %next : !nd.tensor<i32, row: 4>, !nd.tensor<i32, row: 4>
  }
  return %y#0, %y#1 : !nd.tensor<i32, row: 4>, !nd.tensor<i32, d: 0, row: 4>
}
