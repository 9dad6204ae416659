// RUN: heddle-opt %s --mesh-partition --mesh-roles | FileCheck %s
// RUN: sed 's/3.0e+11/1.0e+30/; s/1.0e-06/0.0/' %s | heddle-opt --mesh-partition --mesh-roles | FileCheck %s --check-prefix=INSTANT
// RUN: sed 's/3.0e+11/7.0e+9/' %s | heddle-opt --mesh-partition --mesh-roles | FileCheck %s --check-prefix=SLOW

// Five micro-batches on two stages. Each forward or backward pass takes 165 us on each stage, a message 15 us. Stage 0 runs
// forward passes until the first gradient is there, 525 us after it began; from then on it alternates.
// CHECK-LABEL: func.func @"step.stage=0"
// CHECK: heddle.name = "F0"
// CHECK: heddle.name = "F1"
// CHECK: heddle.name = "F2"
// CHECK: heddle.name = "F3"
// CHECK: heddle.name = "B0"
// CHECK: heddle.name = "F4"
// CHECK: heddle.name = "B1"
// CHECK: heddle.name = "B2"
// CHECK: heddle.name = "B3"
// CHECK: heddle.name = "B4"
// CHECK-LABEL: func.func @"step.stage=1"
// Without the time of messages, the gradient is there before the fourth forward pass, and the stage holds one value less.
// INSTANT-LABEL: func.func @"step.stage=0"
// INSTANT: heddle.name = "F0"
// INSTANT: heddle.name = "F1"
// INSTANT: heddle.name = "F2"
// INSTANT: heddle.name = "B0"
// INSTANT: heddle.name = "F3"
// INSTANT: heddle.name = "B1"
// INSTANT: heddle.name = "F4"
// INSTANT: heddle.name = "B2"
// INSTANT: heddle.name = "B3"
// INSTANT: heddle.name = "B4"
// INSTANT-LABEL: func.func @"step.stage=1"
// If messages take 600 us, which is longer than all forward passes, these come first.
// SLOW-LABEL: func.func @"step.stage=0"
// SLOW: heddle.name = "F0"
// SLOW: heddle.name = "F1"
// SLOW: heddle.name = "F2"
// SLOW: heddle.name = "F3"
// SLOW: heddle.name = "F4"
// SLOW: heddle.name = "B0"
// SLOW: heddle.name = "B1"
// SLOW: heddle.name = "B2"
// SLOW: heddle.name = "B3"
// SLOW: heddle.name = "B4"
// SLOW-LABEL: func.func @"step.stage=1"
!t = !nd.tensor<f32, a: 1048576>
module attributes {mesh.mesh = #mesh.mesh<stage: 2>, heddle.machine = #nest.machine<{link_bytes_per_second = 3.0e+11, link_start_seconds = 1.0e-06}>} {
func.func @step(%x0: !t, %x1: !t, %x2: !t, %x3: !t, %x4: !t, %w: !t {heddle.donate = 0 : i64}, %v: !t {mesh.sharding = #mesh.sharding<{}, at (stage = 1)>}) -> (!t, !t)
    attributes {heddle.symbols = ["mesh.stage"]} {
  %h0 = nest.compute (a: 1048576) reads %x0[], %w[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "F0"} : (!t, !t) -> !t
  %y0 = nest.compute (a: 1048576) reads %h0[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "loss0"} : (!t, !t) -> !t
  %g0 = nest.compute (a: 1048576) reads %y0[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "slope0"} : (!t, !t) -> !t
  %d0 = nest.compute (a: 1048576) reads %g0[], %h0[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "B0"} : (!t, !t) -> !t
  %h1 = nest.compute (a: 1048576) reads %x1[], %w[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "F1"} : (!t, !t) -> !t
  %y1 = nest.compute (a: 1048576) reads %h1[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "loss1"} : (!t, !t) -> !t
  %g1 = nest.compute (a: 1048576) reads %y1[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "slope1"} : (!t, !t) -> !t
  %d1 = nest.compute (a: 1048576) reads %g1[], %h1[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "B1"} : (!t, !t) -> !t
  %h2 = nest.compute (a: 1048576) reads %x2[], %w[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "F2"} : (!t, !t) -> !t
  %y2 = nest.compute (a: 1048576) reads %h2[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "loss2"} : (!t, !t) -> !t
  %g2 = nest.compute (a: 1048576) reads %y2[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "slope2"} : (!t, !t) -> !t
  %d2 = nest.compute (a: 1048576) reads %g2[], %h2[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "B2"} : (!t, !t) -> !t
  %h3 = nest.compute (a: 1048576) reads %x3[], %w[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "F3"} : (!t, !t) -> !t
  %y3 = nest.compute (a: 1048576) reads %h3[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "loss3"} : (!t, !t) -> !t
  %g3 = nest.compute (a: 1048576) reads %y3[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "slope3"} : (!t, !t) -> !t
  %d3 = nest.compute (a: 1048576) reads %g3[], %h3[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "B3"} : (!t, !t) -> !t
  %h4 = nest.compute (a: 1048576) reads %x4[], %w[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "F4"} : (!t, !t) -> !t
  %y4 = nest.compute (a: 1048576) reads %h4[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "loss4"} : (!t, !t) -> !t
  %g4 = nest.compute (a: 1048576) reads %y4[], %v[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "slope4"} : (!t, !t) -> !t
  %d4 = nest.compute (a: 1048576) reads %g4[], %h4[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "B4"} : (!t, !t) -> !t
  %s1 = nest.compute (a: 1048576) reads %d0[], %d1[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "sum1"} : (!t, !t) -> !t
  %s2 = nest.compute (a: 1048576) reads %s1[], %d2[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "sum2"} : (!t, !t) -> !t
  %s3 = nest.compute (a: 1048576) reads %s2[], %d3[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "sum3"} : (!t, !t) -> !t
  %s4 = nest.compute (a: 1048576) reads %s3[], %d4[] { ^bb0(%p: f32, %q: f32): %s = arith.mulf %p, %q : f32 nest.yield %s : f32 } {heddle.name = "sum4"} : (!t, !t) -> !t
  return %s4, %y4 : !t, !t
}
}
