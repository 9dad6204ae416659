// A rank sends a value, and then runs a loop: what it sends is awaited behind the loop.
// RUN: heddle-run %s --interpret --seed 5 > %t.whole
// RUN: heddle-run %s --simulate --mesh stage=2 --shard net.v@stage=1 --seed 5 | diff - %t.whole
// RUN: heddle-run %s --compare --mesh stage=2 --shard net.v@stage=1 --seed 5 | FileCheck %s
// CHECK: @f: 6 elements agree

!x = !nd.tensor<f32, a: 5>
!s = !nd.tensor<f32>
!n = !nd.tensor<i64>
func.func @f(%x: !x {nd.name = "x"}, %w: !x {nd.name = "net.w"}, %v: !x {nd.name = "net.v"}, %n: !n {nd.name = "n"}) -> (!x, !s) {
  %m = nd.pointwise %x, %w : (!x, !x) -> !x {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %p = nd.reduce %m over [a] neutral [0.0 : f32] : (!x) -> !s {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %q = nd.pointwise %p, %v : (!s, !x) -> !x {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %zero = nd.constant dense<0> : tensor<i64> by [] : !n
  %r:2 = scf.while (%s = %p, %t = %zero) : (!s, !n) -> (!s, !n) {
    %more = nd.pointwise %t, %n : (!n, !n) -> !nd.tensor<i1> {
    ^bb0(%a: i64, %b: i64):
      %seven = arith.constant 7 : i64
      %steps = arith.remui %b, %seven : i64
      %c = arith.cmpi slt, %a, %steps : i64
      nd.yield %c : i1
    }
    %c = nd.item %more : !nd.tensor<i1> -> i1
    scf.condition(%c) %s, %t : !s, !n
  } do {
  ^bb0(%s: !s, %t: !n):
    %y = nd.pointwise %s : (!s) -> !s {
    ^bb0(%a: f32):
      %c = math.tanh %a : f32
      nd.yield %c : f32
    }
    %next = nd.pointwise %t : (!n) -> !n {
    ^bb0(%a: i64):
      %one = arith.constant 1 : i64
      %c = arith.addi %a, %one : i64
      nd.yield %c : i64
    }
    scf.yield %y, %next : !s, !n
  }
  return %q, %r#0 : !x, !s
}
