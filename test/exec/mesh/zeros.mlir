// A destination's -0.0 stays one where devices add no element to it, as 1 / x shows.
// RUN: heddle-run %s --interpret --seed 3 > %t.whole
// RUN: FileCheck %s < %t.whole
// CHECK: -inf
// RUN: heddle-run %s --simulate --mesh d=2 --shard row:d --seed 3 | diff - %t.whole
// RUN: heddle-run %s --mesh d=2 --shard row:d --seed 3 | diff - %t.whole

!i = !nd.tensor<f32, i: 8>

func.func @added(%d: !i {nd.name = "d"}, %x: !nd.tensor<f32, row: 3> {nd.name = "x"}) -> !i {
  %zeros = nd.pointwise %d : (!i) -> !i {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    %r = arith.mulf %v, %z : f32
    nd.yield %r : f32
  }
  %at = nd.iota row : !nd.tensor<i32, row: 3>
  %sums = nd.scatter %x into %zeros [i] at %at : (!i, !nd.tensor<f32, row: 3>, !nd.tensor<i32, row: 3>) -> !i {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %r = nd.pointwise %sums : (!i) -> !i {
  ^bb0(%v: f32):
    %one = arith.constant 1.0 : f32
    %q = arith.divf %one, %v : f32
    nd.yield %q : f32
  }
  return %r : !i
}
