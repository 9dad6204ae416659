// nest-prepare-steps: each op becomes a step, each result a buffer of its own.
// RUN: heddle-opt %s --nest-prepare-steps | FileCheck %s
// RUN: heddle-opt %s --nest-prepare-steps --nest-prepare-steps | FileCheck %s
// RUN: heddle-opt %s --step-pipeline | FileCheck %s

!n = !nd.tensor<f32, n: 4>

// An argument that is returned, and a value that is returned twice, are copied.
// CHECK-LABEL: func.func @copies
// CHECK: %[[Y:.*]] = nest.compute
// CHECK: %[[X:.*]] = nest.compute (n: 4) reads %arg0[]
// CHECK: heddle.name = "copy"
// CHECK: %[[AGAIN:.*]] = nest.compute (n: 4) reads %[[Y]][]
// CHECK: return %[[X]], %[[Y]], %[[AGAIN]]
func.func @copies(%x: !n) -> (!n, !n, !n) {
  %y = nest.compute (n: 4) reads %x[] {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    nest.yield %r : f32
  } : (!n) -> !n
  return %x, %y, %y : !n, !n, !n
}

// A group or scan copies what its nests do not make, what it yields twice, and the result of an update.
// CHECK-LABEL: func.func @yields
// CHECK: nest.scan
// CHECK: ^bb0(%[[STATE:.*]]: !nd.tensor<f32, n: 4>, %{{.*}}: !nd.tensor<f32>):
// CHECK: %[[NEXT:.*]] = nest.compute
// CHECK: %[[OLD:.*]] = nest.compute (n: 4) reads %[[STATE]][]
// CHECK: %[[TWICE:.*]] = nest.compute (n: 4) reads %[[NEXT]][]
// CHECK: nest.yield %[[NEXT]], %[[OLD]], %[[TWICE]]
// CHECK: nest.group
// CHECK: %[[UPDATE:.*]] = nest.update
// CHECK: %[[COPY:.*]] = nest.compute () reads %[[UPDATE]][]
// CHECK: nest.yield %[[COPY]]
func.func @yields(%s: !n, %x: !nd.tensor<f32, t: 3>)
    -> (!n, !nd.tensor<f32, n: 4, t: 3>, !nd.tensor<f32, n: 4, t: 3>, !nd.tensor<f32, t: 3>) {
  %0:3 = nest.scan along <t: 3> init(%s) reads(%x) : (!n, !nd.tensor<f32, t: 3>)
      -> (!n, !nd.tensor<f32, n: 4, t: 3>, !nd.tensor<f32, n: 4, t: 3>) {
  ^bb0(%state: !n, %each: !nd.tensor<f32>):
    %1 = nest.compute (n: 4) reads %state[], %each[] {
    ^bb0(%p: f32, %q: f32):
      %2 = arith.addf %p, %q : f32
      nest.yield %2 : f32
    } : (!n, !nd.tensor<f32>) -> !n
    nest.yield %1, %state, %1 : !n, !n, !n
  }
  %3 = nest.group (t: 3) {
    %4 = nest.compute () reads %x[t = t] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } : (!nd.tensor<f32, t: 3>) -> !nd.tensor<f32>
    %5 = nest.update (n: 4) %4[] reads %s[] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } combine {
    ^bb0(%old: f32, %new: f32):
      %6 = arith.addf %old, %new : f32
      nest.yield %6 : f32
    } : (!nd.tensor<f32>, !n) -> !nd.tensor<f32>
    nest.yield %5 : !nd.tensor<f32>
  } : !nd.tensor<f32, t: 3>
  return %0#0, %0#1, %0#2, %3 : !n, !nd.tensor<f32, n: 4, t: 3>, !nd.tensor<f32, n: 4, t: 3>, !nd.tensor<f32, t: 3>
}

// A large constant of one value is filled in.
// CHECK-LABEL: func.func @fills
// CHECK-NOT: nd.constant
// CHECK: nest.compute (n: 4096) {
func.func @fills(%x: !nd.tensor<f32, n: 4096>) -> !nd.tensor<f32, n: 4096> {
  %c = nd.constant dense<2.0> : tensor<4096xf32> by [n] : !nd.tensor<f32, n: 4096>
  return %c : !nd.tensor<f32, n: 4096>
}

// The op that overwrites a donated argument comes after other readers of the argument.
// CHECK-LABEL: func.func @delays
// CHECK: reduce (n: 4) reads %arg0[]
// CHECK: nest.compute (n: 4) reads %arg0[], %arg1[]
func.func @delays(%x: !n {heddle.donate = 0}, %w: !nd.tensor<f32>) -> (!n, !nd.tensor<f32>) {
  %y = nest.compute (n: 4) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nest.yield %r : f32
  } : (!n, !nd.tensor<f32>) -> !n
  %s = nest.compute () reduce (n: 4) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!n) -> !nd.tensor<f32>
  return %y, %s : !n, !nd.tensor<f32>
}

// Two loops with one body get one each; what they return is copied, unless it can be made there at once.
// CHECK-LABEL: func.func @own
// CHECK: nest.control [@[[STEP:step[_0-9]*]]]
// CHECK-NOT: nest.control [@[[STEP]]]
// CHECK: nest.control [@step
// CHECK: heddle.phi_copy
func.func private @step(%c: !nd.tensor<i1>, %x: !n) -> (!nd.tensor<i1>, !n) {
  return %c, %x : !nd.tensor<i1>, !n
}
func.func @own(%c: !nd.tensor<i1>, %x: !n) -> !n {
  %0:2 = nest.control [@step] %c, %x : (!nd.tensor<i1>, !n) -> (!nd.tensor<i1>, !n)
  %1:2 = nest.control [@step] %c, %0#1 : (!nd.tensor<i1>, !n) -> (!nd.tensor<i1>, !n)
  return %1#1 : !n
}
