// RUN: heddle-opt %s --nd-outline-control | FileCheck %s

!a_t = !nd.tensor<f32, a: 4>
!flag = !nd.tensor<i1>

// Each side of a branch becomes a function of what the sides capture. The condition stays a tensor.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, a: 4>, %[[Y:.*]]: !nd.tensor<f32, a: 4>, %[[B:.*]]: !nd.tensor<i1>)
// CHECK-NEXT: %[[Z:.*]] = nest.control [@branch.then, @branch.else] %[[B]], %[[X]], %[[Y]]
// CHECK-NEXT: return %[[Z]]
// CHECK-LABEL: func.func private @branch.then(
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, a: 4> {nd.layout = "any"}, %{{.*}}: !nd.tensor<f32, a: 4> {nd.layout = "any"})
// CHECK-NEXT: %[[E:.*]] = nd.pointwise %[[X]]
// CHECK: return %[[E]]
// CHECK-LABEL: func.func private @branch.else(
// CHECK-SAME: %{{.*}}: !nd.tensor<f32, a: 4> {nd.layout = "any"}, %[[Y:.*]]: !nd.tensor<f32, a: 4> {nd.layout = "any"})
// CHECK-NEXT: return %[[Y]]
func.func @branch(%x: !a_t, %y: !a_t, %b: !flag) -> !a_t {
  %c = nd.item %b : !flag -> i1
  %z = scf.if %c -> (!a_t) {
    %t = nd.pointwise %x : (!a_t) -> !a_t {
    ^bb0(%v: f32):
      %e = math.exp %v : f32
      nd.yield %e : f32
    }
    scf.yield %t : !a_t
  } else {
    scf.yield %y : !a_t
  }
  return %z : !a_t
}

// A literal is part of the side that uses it; no argument passes it.
// CHECK-LABEL: func.func @literal(
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, a: 4>, %[[B:.*]]: !nd.tensor<i1>)
// CHECK: nest.control [@literal.then, @literal.else] %[[B]], %[[X]] :
// CHECK-LABEL: func.func private @literal.then(
// CHECK-NEXT: %[[ONE:.*]] = nd.constant dense<1.000000e+00>
// CHECK-NEXT: return %[[ONE]]
// CHECK-LABEL: func.func private @literal.else(
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, a: 4> {nd.layout = "any"})
// CHECK-NEXT: return %[[X]]
func.func @literal(%x: !a_t, %b: !flag) -> !a_t {
  %one = nd.constant dense<1.0> : tensor<f32> by [a] : !a_t
  %c = nd.item %b : !flag -> i1
  %z = scf.if %c -> (!a_t) {
    scf.yield %one : !a_t
  } else {
    scf.yield %x : !a_t
  }
  return %z : !a_t
}

// A branch within a branch becomes functions that the outer function calls.
// CHECK-LABEL: func.func @nested(
// CHECK: nest.control [@nested.then, @nested.else]
// CHECK-LABEL: func.func private @nested.then(
// CHECK-SAME: %[[D:.*]]: !nd.tensor<i1> {nd.layout = "any"}, %[[X:.*]]: !nd.tensor<f32, a: 4> {nd.layout = "any"}, %[[Y:.*]]: !nd.tensor<f32, a: 4>
// CHECK-NEXT: %[[W:.*]] = nest.control [@nested.then.then, @nested.then.else] %[[D]], %[[X]], %[[Y]]
// CHECK-NEXT: return %[[W]]
// CHECK-LABEL: func.func private @nested.then.then(
// CHECK-LABEL: func.func private @nested.then.else(
// CHECK-LABEL: func.func private @nested.else(
// CHECK-NOT: scf
func.func @nested(%x: !a_t, %y: !a_t, %b: !flag, %d: !flag) -> !a_t {
  %c = nd.item %b : !flag -> i1
  %e = nd.item %d : !flag -> i1
  %z = scf.if %c -> (!a_t) {
    %w = scf.if %e -> (!a_t) {
      scf.yield %x : !a_t
    } else {
      scf.yield %y : !a_t
    }
    scf.yield %w : !a_t
  } else {
    scf.yield %y : !a_t
  }
  return %z : !a_t
}

// The condition of a loop is computed before it, and by the body for the next step. %k, which no step changes, is an
// argument that is not donated, as what the body captures.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, a: 4>, %[[K:.*]]: !nd.tensor<f32, a: 4>, %[[C:.*]]: !nd.tensor<i1>)
// CHECK-NEXT: %[[R:.*]]:2 = nest.control [@loop.loop] %[[C]], %[[X]], %[[K]], %[[C]] :
// CHECK-NEXT: return %[[R]]#1, %[[K]]
// CHECK-LABEL: func.func private @loop.loop(
// CHECK-SAME: {heddle.donate = 0 : i64, nd.layout = "any"}, %[[S:.*]]: !nd.tensor<f32, a: 4> {heddle.donate = 1 : i64, nd.layout = "any"}, %[[K:.*]]: !nd.tensor<f32, a: 4> {nd.layout = "any"}, %[[C:.*]]: !nd.tensor<i1> {nd.layout = "any"})
// CHECK-NEXT: %[[T:.*]] = nd.pointwise %[[S]], %[[K]]
// CHECK: return %[[C]], %[[T]]
func.func @loop(%x: !a_t, %k: !a_t, %stop: !flag) -> (!a_t, !a_t) {
  %c = nd.item %stop : !flag -> i1
  %z:2 = scf.while (%s = %x, %kept = %k) : (!a_t, !a_t) -> (!a_t, !a_t) {
    scf.condition(%c) %s, %kept : !a_t, !a_t
  } do {
  ^bb0(%s: !a_t, %kept: !a_t):
    %t = nd.pointwise %s, %kept : (!a_t, !a_t) -> !a_t {
    ^bb0(%v: f32, %w: f32):
      %m = arith.mulf %v, %w : f32
      nd.yield %m : f32
    }
    scf.yield %t, %kept : !a_t, !a_t
  }
  return %z#0, %z#1 : !a_t, !a_t
}

// A function without branches and loops stays.
// CHECK-LABEL: func.func @straight(
// CHECK-NEXT: return
func.func @straight(%x: !a_t) -> !a_t {
  return %x : !a_t
}
