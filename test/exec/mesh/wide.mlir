// A wide layer, whose weight has 16384 bytes and is split over the axis that also splits the batch, of which the layer reads
// 1024 bytes. Devices do not gather the weight and scatter its gradient, 8192 bytes each: they gather the input, compute the
// features of their own for the whole batch, and sum over features what the next layer makes of them. Only bytes count here,
// as for larger layers: messages take no time to start.
// REQUIRES: heddle-translate
// RUN: echo 's=0; while read -r a n b; do s=$((s + n)); done; echo sends $s' > %t.sum
// RUN: heddlec %s --mesh d=2 --shard batch:d --shard wide/hidden:d -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=WIDE
// 512 of the input, 64 of the output to sum it and 64 of its gradient, 1024 of the gradient of `last`, and 4 of the loss:
// WIDE: sends 1668

// With more samples the weight has fewer bytes than the input: 8192 of the weight and of its gradient, 2048 of `last`, 4.
// RUN: sed 's/batch: 4/batch: 512/g' %s > %t.batch.mlir
// RUN: heddlec %t.batch.mlir --mesh d=2 --shard batch:d --shard wide/hidden:d -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=BATCH
// BATCH: sends 18436

// The values are those of the whole program, also where three devices do not divide 4 samples and 64 features.
// RUN: heddle-run %s --compare --mesh d=2 --shard batch:d --shard wide/hidden:d --seed 3 | FileCheck %s --check-prefix=AGREE
// RUN: heddle-run %s --compare --mesh d=3 --shard batch:d --shard wide/hidden:d --seed 3 | FileCheck %s --check-prefix=AGREE
// AGREE: @step: {{[0-9]+}} elements agree

!x = !nd.tensor<f32, batch: 4, in: 64>
!h = !nd.tensor<f32, batch: 4, hidden: 64>
!y = !nd.tensor<f32, batch: 4, out: 8>
!u = !nd.tensor<f32, in: 64, hidden: 64>
!v = !nd.tensor<f32, hidden: 64, out: 8>

module attributes {heddle.machine = #nest.machine<{link_start_seconds = 0.0}>} {
func.func private @loss(%x: !x, %t: !y, %u: !u, %v: !v) -> !nd.tensor<f32> {
  %ph = nd.pointwise %x, %u : (!x, !u) -> !nd.tensor<f32, batch: 4, in: 64, hidden: 64> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %s = nd.reduce %ph over [in] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 4, in: 64, hidden: 64>) -> !h {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %h = nd.pointwise %s : (!h) -> !h {
  ^bb0(%a: f32):
    %c = math.tanh %a : f32
    nd.yield %c : f32
  }
  %py = nd.pointwise %h, %v : (!h, !v) -> !nd.tensor<f32, batch: 4, hidden: 64, out: 8> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %y = nd.reduce %py over [hidden] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 4, hidden: 64, out: 8>) -> !y {
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
    %u: !u {nd.name = "wide", heddle.donate = 1 : i64}, %v: !v {nd.name = "last", heddle.donate = 2 : i64})
    -> (!nd.tensor<f32> {nd.name = "loss"}, !u {nd.name = "wide"}, !v {nd.name = "last"}) {
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %l, %du, %dv = nd.vjp @loss(%x, %t, %u, %v) cotangents(%one) wrt [2, 3] : (!x, !y, !u, !v, !nd.tensor<f32>) -> (!nd.tensor<f32>, !u, !v)
  %u2 = nd.pointwise %u, %du : (!u, !u) -> !u {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.01 : f32
    %e = arith.mulf %b, %h : f32
    %c = arith.subf %a, %e : f32
    nd.yield %c : f32
  }
  %v2 = nd.pointwise %v, %dv : (!v, !v) -> !v {
  ^bb0(%a: f32, %b: f32):
    %h = arith.constant 0.01 : f32
    %e = arith.mulf %b, %h : f32
    %c = arith.subf %a, %e : f32
    nd.yield %c : f32
  }
  return %l, %u2, %v2 : !nd.tensor<f32>, !u, !v
}
}
