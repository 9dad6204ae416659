// RUN: heddle-opt %s --mesh-partition --mesh-roles | FileCheck %s
// RUN: heddle-opt %s --mesh-partition --mesh-roles --mesh-simulate | FileCheck %s --check-prefix=MERGED

// Two micro-batches: stage 0 computes %h1 while it waits for the gradient %g0, and stage 1 has %h1 when it needs it. The
// steps of the first one come first where both could run. Messages take longer than the nests.
!t = !nd.tensor<f32, a: 6>
module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
// CHECK-LABEL: func.func @"step.stage=0"
// CHECK: %[[H0:.*]] = nest.compute
// CHECK: mesh.send %[[H0]] to [stage] = 1 channel 0
// CHECK: %[[H1:.*]] = nest.compute
// CHECK: mesh.send %[[H1]] to [stage] = 1 channel 1
// CHECK: %[[G0:.*]] = mesh.receive from [stage] = 1 channel 2
// CHECK: %[[G1:.*]] = mesh.receive from [stage] = 1 channel 3
// CHECK: %[[D0:.*]] = nest.compute (a: 6) reads %[[G0]][], %[[H0]][]
// CHECK: %[[D1:.*]] = nest.compute (a: 6) reads %[[G1]][], %[[H1]][]
// CHECK: nest.compute (a: 6) reads %[[D0]][], %[[D1]][]
// CHECK-LABEL: func.func @"step.stage=1"
// CHECK: %[[R0:.*]] = mesh.receive from [stage] = 0 channel 0
// CHECK: %[[R1:.*]] = mesh.receive from [stage] = 0 channel 1
// CHECK: nest.compute (a: 6) reads %[[R0]]
// CHECK: mesh.send %{{.*}} to [stage] = 0 channel 2
// CHECK: nest.compute (a: 6) reads %[[R1]]
// CHECK: mesh.send %{{.*}} to [stage] = 0 channel 3
// MERGED-LABEL: @step(
// MERGED-COUNT-8: nest.compute
func.func @step(%x0: !t, %x1: !t, %w: !t {heddle.donate = 0 : i64}, %v: !t {mesh.sharding = #mesh.sharding<{}, at (stage = 1)>}) -> (!t, !t)
    attributes {heddle.symbols = ["mesh.stage"]} {
  %h0 = nest.compute (a: 6) reads %x0[], %w[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %y0 = nest.compute (a: 6) reads %h0[], %v[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %g0 = nest.compute (a: 6) reads %y0[], %v[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %d0 = nest.compute (a: 6) reads %g0[], %h0[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %h1 = nest.compute (a: 6) reads %x1[], %w[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %y1 = nest.compute (a: 6) reads %h1[], %v[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %g1 = nest.compute (a: 6) reads %y1[], %v[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %d1 = nest.compute (a: 6) reads %g1[], %h1[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %d = nest.compute (a: 6) reads %d0[], %d1[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  %w2 = nest.compute (a: 6) reads %w[], %d[] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.subf %p, %q : f32
    nest.yield %s : f32
  } : (!t, !t) -> !t
  return %w2, %y1 : !t, !t
}
}
