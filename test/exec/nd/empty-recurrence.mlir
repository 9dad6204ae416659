// A zero-trip recurrence whose steps are so expensive that it is a loop: its states do not change, and nothing is read.
// RUN: heddle-run %s --compare

func.func @main(%x: !nd.tensor<i32, d: 0> {nd.name = "x"}, %w: !nd.tensor<i32, b: 100000> {nd.name = "w"}, %s: !nd.tensor<i32, row: 4> {nd.name = "s"}) -> (!nd.tensor<i32, row: 4> {nd.name = "y"}, !nd.tensor<i32, d: 0, row: 4> {nd.name = "z"}) {
  %y:2 = nest.scan along <d: 0> init(%s) reads(%x) : (!nd.tensor<i32, row: 4>, !nd.tensor<i32, d: 0>) -> (!nd.tensor<i32, row: 4>, !nd.tensor<i32, d: 0, row: 4>) {
  ^bb0(%state: !nd.tensor<i32, row: 4>, %read: !nd.tensor<i32>):
    %part = nd.pointwise %w, %state, %read crossed : (!nd.tensor<i32, b: 100000>, !nd.tensor<i32, row: 4>, !nd.tensor<i32>) -> !nd.tensor<i32, b: 100000, row: 4> {
    ^bb0(%a: i32, %b: i32, %c: i32):
      %0 = arith.muli %a, %b : i32
      %1 = arith.addi %0, %c : i32
      nd.yield %1 : i32
    }
    %next = nd.reduce %part over [b] neutral [2147483647 : i32] : (!nd.tensor<i32, b: 100000, row: 4>) -> !nd.tensor<i32, row: 4> {
    ^bb0(%a: i32, %b: i32):
      %m = arith.minsi %a, %b : i32
      nd.yield %m : i32
    }
    nest.yield %next, %next : !nd.tensor<i32, row: 4>, !nd.tensor<i32, row: 4>
  }
  return %y#0, %y#1 : !nd.tensor<i32, row: 4>, !nd.tensor<i32, d: 0, row: 4>
}
