// The programs of several roles together give the values of the whole program.
// RUN: heddle-run %s --interpret --seed 5 --print-limit 200 > %t.whole
// RUN: heddle-run %s --simulate --mesh stage=2 --shard net.last@stage=1 --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh stage=3 --shard net.last@stage=2 --shard net.first@stage=1 --seed 5 --print-limit 200 | diff - %t.whole
// Back again: the first layer is at the last stage.
// RUN: heddle-run %s --simulate --mesh stage=2 --shard net.first@stage=1 --seed 5 --print-limit 200 | diff - %t.whole
// Compiled, the ranks are threads of a process. With data in two parts, each device sends to the one of its part.
// RUN: heddle-run %s --compare --mesh stage=2 --shard net.last@stage=1 --seed 5 | FileCheck %s
// RUN: heddle-run %s --compare --mesh stage=3 --shard net.last@stage=2 --shard net.first@stage=1 --seed 5 --engine net | FileCheck %s
// RUN: heddle-run %s --compare --mesh data=2,stage=2 --shard net.last@stage=1 --shard batch:data --seed 5 | FileCheck %s
// RUN: heddle-run %s --compare --mesh stage=2,data=2 --shard net.last@stage=1 --shard batch:data --shard mid:data --seed 5 | FileCheck %s
// Three steps, whose states stay with their ranks.
// RUN: heddle-run %s --seed 5 --repeat 3 --entry step --carry | grep steps: > %t.three
// RUN: heddle-run %s --mesh stage=2 --shard net.last@stage=1 --seed 5 --repeat 3 --entry step --carry | grep steps: | diff - %t.three
// The devices of a part of an axis, whose rest splits the batch; several axes; four and eight ranks.
// RUN: heddle-run %s --simulate --mesh d=4 --shard 'net.last@d(1)2=1' --shard 'batch:d(2)2' --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --compare --mesh d=4 --shard 'net.last@d(1)2=1' --shard 'batch:d(2)2' --seed 5 | FileCheck %s
// RUN: heddle-run %s --simulate --mesh stage=2,d=4 --shard net.first@stage=1 --shard 'net.last@d(2)2=1' --shard 'mid:d(1)2' --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --compare --mesh stage=2,d=4 --shard net.first@stage=1 --shard 'net.last@d(2)2=1' --shard 'mid:d(1)2' --seed 5 --engine net | FileCheck %s
// RUN: heddle-run %s --mesh d=4 --shard 'net.last@d(1)2=1' --shard 'batch:d(2)2' --seed 5 --repeat 3 --entry step --carry | grep steps: | diff - %t.three
// CHECK: @infer: 10 elements agree
// CHECK: @step: {{[0-9]+}} elements agree

!x = !nd.tensor<f32, batch: 5, in: 4>
!h = !nd.tensor<f32, batch: 5, mid: 3>
!y = !nd.tensor<f32, batch: 5, out: 2>
!w = !nd.tensor<f32, in: 4, mid: 3>
!v = !nd.tensor<f32, mid: 3, out: 2>

func.func private @net(%x: !x, %w: !w, %v: !v) -> !y {
  %products = nd.pointwise %x, %w : (!x, !w) -> !nd.tensor<f32, batch: 5, in: 4, mid: 3> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %sum = nd.reduce %products over [in] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 5, in: 4, mid: 3>) -> !h {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %h = nd.pointwise %sum : (!h) -> !h {
  ^bb0(%a: f32):
    %c = math.tanh %a : f32
    nd.yield %c : f32
  }
  %more = nd.pointwise %h, %v : (!h, !v) -> !nd.tensor<f32, batch: 5, mid: 3, out: 2> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.reduce %more over [mid] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 5, mid: 3, out: 2>) -> !y {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %y : !y
}

func.func private @loss(%x: !x, %t: !y, %w: !w, %v: !v) -> !nd.tensor<f32> {
  %y = nd.call @net(%x, %w, %v) : (!x, !w, !v) -> !y
  %d = nd.pointwise %y, %t : (!y, !y) -> !y {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    %e = arith.mulf %c, %c : f32
    nd.yield %e : f32
  }
  %loss = nd.reduce %d over [batch, out] neutral [0.0 : f32] : (!y) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %loss : !nd.tensor<f32>
}

func.func @infer(%x: !x {nd.name = "x"}, %w: !w {nd.name = "net.first.w"}, %v: !v {nd.name = "net.last.w"}) -> (!y {nd.name = "y"}) {
  %y = nd.call @net(%x, %w, %v) : (!x, !w, !v) -> !y
  return %y : !y
}

// A step of training with momentum, a count of steps that both roles read, and a result that no role computes.
func.func @step(%x: !x {nd.name = "x"}, %t: !y {nd.name = "t"}, %w: !w {nd.name = "net.first.w", heddle.donate = 1 : i64}, %v: !v {nd.name = "net.last.w", heddle.donate = 2 : i64},
    %mw: !w {nd.name = "momentum.net.first.w", heddle.donate = 3 : i64}, %mv: !v {nd.name = "momentum.net.last.w", heddle.donate = 4 : i64},
    %n: !nd.tensor<i32> {nd.name = "steps", heddle.donate = 5 : i64})
    -> (!nd.tensor<f32> {nd.name = "loss"}, !w {nd.name = "net.first.w"}, !v {nd.name = "net.last.w"}, !w {nd.name = "momentum.net.first.w"}, !v {nd.name = "momentum.net.last.w"},
        !nd.tensor<i32> {nd.name = "steps"}, !x {nd.name = "same"}) {
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %l, %dw, %dv = nd.vjp @loss(%x, %t, %w, %v) cotangents(%one) wrt [2, 3] : (!x, !y, !w, !v, !nd.tensor<f32>) -> (!nd.tensor<f32>, !w, !v)
  %more = nd.pointwise %n : (!nd.tensor<i32>) -> !nd.tensor<i32> {
  ^bb0(%a: i32):
    %1 = arith.constant 1 : i32
    %c = arith.addi %a, %1 : i32
    nd.yield %c : i32
  }
  %rate = nd.pointwise %more : (!nd.tensor<i32>) -> !nd.tensor<f32> {
  ^bb0(%a: i32):
    %1 = arith.sitofp %a : i32 to f32
    %s = math.absf %1 : f32
    %2 = arith.constant 1.0 : f32
    %d = arith.addf %s, %2 : f32
    %c = arith.divf %2, %d : f32
    nd.yield %c : f32
  }
  %mw2 = nd.pointwise %mw, %dw : (!w, !w) -> !w {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.constant 0.5 : f32
    %c = arith.mulf %a, %2 : f32
    %d = arith.addf %c, %b : f32
    nd.yield %d : f32
  }
  %mv2 = nd.pointwise %mv, %dv : (!v, !v) -> !v {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.constant 0.5 : f32
    %c = arith.mulf %a, %2 : f32
    %d = arith.addf %c, %b : f32
    nd.yield %d : f32
  }
  %w2 = nd.pointwise %w, %mw2, %rate : (!w, !w, !nd.tensor<f32>) -> !w {
  ^bb0(%a: f32, %b: f32, %r: f32):
    %c = arith.mulf %b, %r : f32
    %d = arith.subf %a, %c : f32
    nd.yield %d : f32
  }
  %v2 = nd.pointwise %v, %mv2, %rate : (!v, !v, !nd.tensor<f32>) -> !v {
  ^bb0(%a: f32, %b: f32, %r: f32):
    %c = arith.mulf %b, %r : f32
    %d = arith.subf %a, %c : f32
    nd.yield %d : f32
  }
  return %l, %w2, %v2, %mw2, %mv2, %more, %x : !nd.tensor<f32>, !w, !v, !w, !v, !nd.tensor<i32>, !x
}
