// A zero-trip recurrence whose steps are so expensive that it is a loop: its states do not change, and nothing is read.
// RUN: heddle-run %s --compare

!i32_row = !nd.tensor<i32, row: 4>

func.func @main(%x: !nd.tensor<i32, d: 0> {nd.name = "x"}, %w: !nd.tensor<i32, b: 100000> {nd.name = "w"}, %s: !i32_row {nd.name = "s"}) -> (!i32_row {nd.name = "y"}, !nd.tensor<i32, d: 0, row: 4> {nd.name = "z"}) {
  %y:2 = nest.scan along <d: 0> init(%s) reads(%x) : (!i32_row, !nd.tensor<i32, d: 0>) -> (!i32_row, !nd.tensor<i32, d: 0, row: 4>) {
  ^bb0(%state: !i32_row, %read: !nd.tensor<i32>):
    %part = nd.pointwise %w, %state, %read crossed : (!nd.tensor<i32, b: 100000>, !i32_row, !nd.tensor<i32>) -> !nd.tensor<i32, b: 100000, row: 4> {
    ^bb0(%a: i32, %b: i32, %c: i32):
      %0 = arith.muli %a, %b : i32
      %1 = arith.addi %0, %c : i32
      nd.yield %1 : i32
    }
    %next = nd.reduce %part over [b] neutral [2147483647 : i32] : (!nd.tensor<i32, b: 100000, row: 4>) -> !i32_row {
    ^bb0(%a: i32, %b: i32):
      %m = arith.minsi %a, %b : i32
      nd.yield %m : i32
    }
    nest.yield %next, %next : !i32_row, !i32_row
  }
  return %y#0, %y#1 : !i32_row, !nd.tensor<i32, d: 0, row: 4>
}
