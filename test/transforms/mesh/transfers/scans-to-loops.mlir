// A kernel can't communicate, so a recurrence that does becomes a loop of steps.
// RUN: heddle-opt %s --mesh-scan-loops | FileCheck %s

!state = !nd.tensor<f32, k: 3>
!states = !nd.tensor<f32, k: 3, t: 7>

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// The condition, the coordinate and the state are carried.
// CHECK-LABEL: func.func @sends
// CHECK: %[[first:.*]] = nest.compute () {
// CHECK-NEXT: arith.constant 0 : index
// CHECK: %[[runs:.*]] = nest.compute () reads %[[first]][] if [6 >= 0]
// CHECK: %[[last:.*]]:3 = nest.control [@sends.scan] %[[runs]], %[[first]], %arg0, %arg1
// CHECK: return %[[last]]#2
// CHECK-LABEL: func.func private @sends.scan
// CHECK: %[[now:.*]] = nest.compute (k: 3) reads %arg1[], %arg3[t = max(0, min(6, read(0)))]
// CHECK: %[[sum:.*]] = mesh.all_reduce %arg2 over [d]
// CHECK: %[[next:.*]] = nest.compute (k: 3) reads %[[sum]][], %[[now]][]
// CHECK: %[[at:.*]] = nest.compute () reads %arg1[]
// CHECK: %[[more:.*]] = nest.compute () reads %[[at]][]
// CHECK: arith.constant 7 : index
// CHECK: arith.cmpi slt
// CHECK: return %[[more]], %[[at]], %[[next]]
func.func @sends(%h: !state, %x: !states) -> !state {
  %last = nest.scan along <t: 7> init(%h) reads(%x) : (!state, !states) -> !state {
  ^bb0(%before: !state, %now: !state):
    %s = mesh.all_reduce %before over [d] combine add [0.0 : f32] : (!state) -> !state
    %next = nest.compute (k: 3) reads %s[], %now[] {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      nest.yield %r : f32
    } : (!state, !state) -> !state
    nest.yield %next : !state
  }
  return %last : !state
}

// One that is cheap and sends nothing stays a kernel.
// CHECK-LABEL: func.func @computes
// CHECK-NOT: nest.control
// CHECK: nest.scan along <t: 7>
func.func @computes(%h: !state, %x: !states) -> !state {
  %last = nest.scan along <t: 7> init(%h) reads(%x) : (!state, !states) -> !state {
  ^bb0(%before: !state, %now: !state):
    %next = nest.compute (k: 3) reads %before[], %now[] {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      nest.yield %r : f32
    } : (!state, !state) -> !state
    nest.yield %next : !state
  }
  return %last : !state
}
}
