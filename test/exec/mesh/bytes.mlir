// Bytes that a device of four sends in a step of training, beside the formulas of each strategy. P, the bytes of the
// parameters, is 2048: 512 of net.first, 1024 of net.middle, 512 of net.last. The loss adds 6.
// There are so many samples that no activation has fewer bytes than the parameter that it meets (wide.mlir).
// REQUIRES: heddle-translate
// RUN: echo 's=0; while read -r a n b; do s=$((s + n)); done; echo sends $s' > %t.sum

// Data parallel: 2P(n-1)/n = 3072.
// RUN: heddlec %s --mesh d=4 --shard batch:d -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=DATA
// DATA: sends 3078

// ZeRO 1: gradients are scattered, and parameters gathered, P(n-1)/n each.
// RUN: heddlec %s --mesh d=4 --shard batch:d --shard momentum.first/mid:d --shard momentum.middle/more:d --shard momentum.last/more:d \
// RUN:   --shard net.first/mid: --shard net.middle/more: --shard net.last/more: -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=DATA

// ZeRO 3 where links are fast: gradients are scattered, and parameters gathered for the forward pass and again for the
// backward pass, 3P(n-1)/n = 4608. But the backward pass does not read net.first, and begins with net.last: 384 less each.
// RUN: sed 's/links = 1/link_bytes_per_second = 1.0e+30, link_start_seconds = 0.0/' %s > %t.fast.mlir
// RUN: heddlec %t.fast.mlir --mesh d=4 --shard batch:d --shard first/mid:d --shard middle/more:d --shard last/more:d -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=AGAIN
// AGAIN: sends 3846

// Where links are slow, they are gathered once.
// RUN: sed 's/links = 1/link_bytes_per_second = 1.0/' %s > %t.slow.mlir
// RUN: heddlec %t.slow.mlir --mesh d=4 --shard batch:d --shard first/mid:d --shard middle/more:d --shard last/more:d -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=DATA

// The values are those of the whole program.
// RUN: heddle-run %t.fast.mlir --compare --mesh d=4 --shard batch:d --shard first/mid:d --shard middle/more:d --shard last/more:d --seed 3 | FileCheck %s --check-prefix=AGREE
// Also where parts of the axis split two names of net.middle, or only one of two axes splits a parameter.
// RUN: heddle-run %t.fast.mlir --compare --mesh d=4 --shard batch:d --shard 'middle/mid:d(1)2' --shard 'middle/more:d(2)2' --seed 3 | FileCheck %s --check-prefix=AGREE
// RUN: heddle-run %t.fast.mlir --compare --mesh d=2,m=2 --shard batch:d+m --shard first/mid:d --shard middle/more:m --seed 3 | FileCheck %s --check-prefix=AGREE
// AGREE: @step: {{[0-9]+}} elements agree

!x = !nd.tensor<f32, batch: 32, in: 8>
!h = !nd.tensor<f32, batch: 32, mid: 16>
!k = !nd.tensor<f32, batch: 32, more: 16>
!y = !nd.tensor<f32, batch: 32, out: 8>
!u = !nd.tensor<f32, in: 8, mid: 16>
!v = !nd.tensor<f32, mid: 16, more: 16>
!w = !nd.tensor<f32, more: 16, out: 8>

module attributes {heddle.machine = #nest.machine<{links = 1}>} {
func.func private @loss(%x: !x, %t: !y, %u: !u, %v: !v, %w: !w) -> !nd.tensor<f32> {
  %ph0 = nd.pointwise %x, %u : (!x, !u) -> !nd.tensor<f32, batch: 32, in: 8, mid: 16> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %h0 = nd.reduce %ph0 over [in] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 32, in: 8, mid: 16>) -> !h {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %h = nd.pointwise %h0 : (!h) -> !h {
  ^bb0(%a: f32):
    %c = math.tanh %a : f32
    nd.yield %c : f32
  }
  %pk0 = nd.pointwise %h, %v : (!h, !v) -> !nd.tensor<f32, batch: 32, mid: 16, more: 16> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %k0 = nd.reduce %pk0 over [mid] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 32, mid: 16, more: 16>) -> !k {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %k = nd.pointwise %k0 : (!k) -> !k {
  ^bb0(%a: f32):
    %c = math.tanh %a : f32
    nd.yield %c : f32
  }
  %py = nd.pointwise %k, %w : (!k, !w) -> !nd.tensor<f32, batch: 32, more: 16, out: 8> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.reduce %py over [more] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 32, more: 16, out: 8>) -> !y {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %d = nd.pointwise %y, %t : (!y, !y) -> !y {
  ^bb0(%a: f32, %b: f32):
    %e = arith.subf %a, %b : f32
    %c = arith.mulf %e, %e : f32
    nd.yield %c : f32
  }
  %loss = nd.reduce %d over [batch, out] neutral [0.0 : f32] : (!y) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %loss : !nd.tensor<f32>
}

func.func @step(%x: !x {nd.name = "x"}, %t: !y {nd.name = "t"},
    %u: !u {nd.name = "net.first", heddle.donate = 1 : i64}, %v: !v {nd.name = "net.middle", heddle.donate = 2 : i64},
    %w: !w {nd.name = "net.last", heddle.donate = 3 : i64}, %mu: !u {nd.name = "momentum.first", heddle.donate = 4 : i64},
    %mv: !v {nd.name = "momentum.middle", heddle.donate = 5 : i64}, %mw: !w {nd.name = "momentum.last", heddle.donate = 6 : i64})
    -> (!nd.tensor<f32> {nd.name = "loss"}, !u {nd.name = "net.first"}, !v {nd.name = "net.middle"}, !w {nd.name = "net.last"},
        !u {nd.name = "momentum.first"}, !v {nd.name = "momentum.middle"}, !w {nd.name = "momentum.last"}) {
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %l, %du, %dv, %dw = nd.vjp @loss(%x, %t, %u, %v, %w) cotangents(%one) wrt [2, 3, 4] : (!x, !y, !u, !v, !w, !nd.tensor<f32>) -> (!nd.tensor<f32>, !u, !v, !w)
  %mu2 = nd.pointwise %mu, %du : (!u, !u) -> !u {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.5 : f32
    %e = arith.mulf %a, %h : f32
    %c = arith.addf %e, %b : f32
    nd.yield %c : f32
  }
  %u2 = nd.pointwise %u, %mu2 : (!u, !u) -> !u {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.01 : f32
    %e = arith.mulf %b, %h : f32
    %c = arith.subf %a, %e : f32
    nd.yield %c : f32
  }
  %mv2 = nd.pointwise %mv, %dv : (!v, !v) -> !v {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.5 : f32
    %e = arith.mulf %a, %h : f32
    %c = arith.addf %e, %b : f32
    nd.yield %c : f32
  }
  %v2 = nd.pointwise %v, %mv2 : (!v, !v) -> !v {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.01 : f32
    %e = arith.mulf %b, %h : f32
    %c = arith.subf %a, %e : f32
    nd.yield %c : f32
  }
  %mw2 = nd.pointwise %mw, %dw : (!w, !w) -> !w {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.5 : f32
    %e = arith.mulf %a, %h : f32
    %c = arith.addf %e, %b : f32
    nd.yield %c : f32
  }
  %w2 = nd.pointwise %w, %mw2 : (!w, !w) -> !w {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.01 : f32
    %e = arith.mulf %b, %h : f32
    %c = arith.subf %a, %e : f32
    nd.yield %c : f32
  }
  return %l, %u2, %v2, %w2, %mu2, %mv2, %mw2 : !nd.tensor<f32>, !u, !v, !w, !u, !v, !w
}
}
