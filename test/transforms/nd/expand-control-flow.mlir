// RUN: heddle-opt %s --nd-expand-control-flow --nd-simplify | FileCheck %s
// RUN: heddle-opt %s --nd-expand-control-flow --nd-outline-control --nd-simplify | FileCheck %s --check-prefix=OUT

// A loop carries its tensors through a scan along a name of its own.
// CHECK-LABEL: @loop
// CHECK: %[[R:.*]] = nest.scan along <step$1: 9> init(%arg0) reads()
// CHECK: ^bb0(%[[S:.*]]: !nd.tensor<f32, a: 4>):
// CHECK: nd.pointwise %[[S]]
// CHECK: nest.yield
// CHECK: return %[[R]]
!a_t = !nd.tensor<f32, a: 100000, t: 4>
!a4 = !nd.tensor<f32, a: 4>
!a100000 = !nd.tensor<f32, a: 100000>
!a4000 = !nd.tensor<f32, a: 4000>

func.func @loop(%x: !a4) -> !a4 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> (!a4) {
    %t = nd.pointwise %s : (!a4) -> !a4 {
    ^bb0(%v: f32):
      %e = math.exp %v : f32
      nd.yield %e : f32
    }
    scf.yield %t : !a4
  }
  return %y : !a4
}

// A branch computes both sides.
// CHECK-LABEL: @branch
// CHECK-NOT: scf.if
// CHECK: %[[E:.*]] = nd.pointwise %arg0
// CHECK: nd.pointwise %arg1, %[[E]], %arg0
// CHECK: arith.select
func.func @branch(%x: !a4, %b: !nd.tensor<i1>) -> !a4 {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %y = scf.if %c -> (!a4) {
    %t = nd.pointwise %x : (!a4) -> !a4 {
    ^bb0(%v: f32):
      %e = math.exp %v : f32
      nd.yield %e : f32
    }
    scf.yield %t : !a4
  } else {
    scf.yield %x : !a4
  }
  return %y : !a4
}

// A loop of unknown length stays, and becomes a function of what it carries and captures: its condition is computed
// before it and in each step.
// CHECK-LABEL: @until
// CHECK: scf.while
// OUT-LABEL: func.func @until(
// OUT: %[[C:.*]] = nd.pointwise %arg0, %arg1
// OUT: arith.cmpf olt
// OUT: %[[R:.*]]:2 = nest.control [@until.loop] %[[C]], %arg0, %arg1
// OUT: return %[[R]]#1
// OUT-LABEL: func.func private @until.loop(
// OUT-SAME: %[[OLD:.*]]: !nd.tensor<i1> {heddle.donate = 0 : i64, nd.layout = "any"}, %[[S:.*]]: !nd.tensor<f32> {heddle.donate = 1 : i64, nd.layout = "any"}, %[[B:.*]]: !nd.tensor<f32> {nd.layout = "any"}
// OUT: %[[T:.*]] = nd.pointwise %[[S]]
// OUT: %[[NEW:.*]] = nd.pointwise %[[T]], %[[B]]
// OUT: return %[[NEW]], %[[T]]
func.func @until(%x: !nd.tensor<f32>, %b: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %y = scf.while (%s = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    %small = nd.pointwise %s, %b : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%v: f32, %w: f32):
      %r = arith.cmpf olt, %v, %w : f32
      nd.yield %r : i1
    }
    %c = nd.item %small : !nd.tensor<i1> -> i1
    scf.condition(%c) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    %t = nd.pointwise %s : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%v: f32):
      %r = math.exp %v : f32
      nd.yield %r : f32
    }
    scf.yield %t : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}

// A branch that is much work runs the side that is taken.
// CHECK-LABEL: @heavy
// CHECK: scf.if
// OUT-LABEL: func.func @heavy(
// OUT: nest.control [@heavy.then, @heavy.else] %arg1, %arg0
// OUT-LABEL: func.func private @heavy.then(
// OUT: math.exp
// OUT-LABEL: func.func private @heavy.else(
// OUT-NEXT: return %arg0
func.func @heavy(%x: !a100000, %b: !nd.tensor<i1>) -> !a100000 {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %y = scf.if %c -> (!a100000) {
    %t = nd.pointwise %x : (!a100000) -> !a100000 {
    ^bb0(%v: f32):
      %e = math.exp %v : f32
      nd.yield %e : f32
    }
    scf.yield %t : !a100000
  } else {
    scf.yield %x : !a100000
  }
  return %y : !a100000
}

// A loop with a largest number of steps ends where its condition fails.
// CHECK-LABEL: @bounded
// CHECK: scf.while
// CHECK: arith.cmpi slt
// CHECK: arith.cmpf olt
// CHECK: arith.andi
// CHECK: scf.condition
// CHECK: math.exp
// CHECK-NOT: arith.select
// CHECK: scf.yield
func.func @bounded(%x: !a4000) -> !a4000 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %y = scf.for %i = %c0 to %c20 step %c1 iter_args(%s = %x) -> (!a4000) {
    %m = nd.reduce %s over [a] neutral [0.0 : f32] : (!a4000) -> !nd.tensor<f32> {
    ^bb0(%v: f32, %w: f32):
      %q = arith.addf %v, %w : f32
      nd.yield %q : f32
    }
    %small = nd.pointwise %m : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%v: f32):
      %l = arith.constant 10000.0 : f32
      %p = arith.cmpf olt, %v, %l : f32
      nd.yield %p : i1
    }
    %c = nd.item %small : !nd.tensor<i1> -> i1
    %u = scf.if %c -> (!a4000) {
      %t = nd.pointwise %s : (!a4000) -> !a4000 {
      ^bb0(%v: f32):
        %e = math.exp %v : f32
        nd.yield %e : f32
      }
      scf.yield %t : !a4000
    } else {
      scf.yield %s : !a4000
    }
    scf.yield %u : !a4000
  }
  return %y : !a4000
}

// A scan whose steps are much work is a loop, and so is one that holds a loop: it reads slices at its counter and puts outputs there.
// CHECK-LABEL: @heavy_scan
// CHECK: scf.while (%[[K:.*]] = %{{.*}}, %[[H:.*]] = %arg0, %[[ALL:.*]] = %{{.*}}) :
// CHECK: scf.condition
// CHECK: %[[X:.*]] = nd.gather %arg1 [t] at %{{.*}} : (!nd.tensor<f32, a: 100000, t: 4>, !nd.tensor<i64>)
// CHECK: %[[N:.*]] = nd.pointwise %{{.*}}, %[[X]]
// CHECK: %[[PUT:.*]] = nd.scatter %[[N]] into %{{.*}} [t] at %{{.*}} unique
// CHECK: scf.yield %{{.*}}, %[[N]], %[[PUT]]
func.func @heavy_scan(%h: !a100000, %x: !a_t) -> (!a100000, !a_t) {
  %r:2 = nest.scan along <t: 4> reverse init(%h) reads(%x) : (!a100000, !a_t) -> (!a100000, !a_t) {
  ^bb0(%s: !a100000, %v: !a100000):
    %n = nd.pointwise %s, %v : (!a100000, !a100000) -> !a100000 {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %q : f32
      nd.yield %m : f32
    }
    nest.yield %n, %n : !a100000, !a100000
  }
  return %r#0, %r#1 : !a100000, !a_t
}

// On a mesh it stays a scan, which may be split, and is marked, also where a tensor that it carries is not used.
// CHECK-LABEL: @heavy_scan_on_mesh
// CHECK: nest.scan along <t: 4> init(%arg0) reads(%arg1) {nest.heavy} :
func.func @heavy_scan_on_mesh(%h: !a100000, %x: !a_t) -> !a100000 attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  %r:2 = nest.scan along <t: 4> init(%h, %h) reads(%x) : (!a100000, !a100000, !a_t) -> (!a100000, !a100000) {
  ^bb0(%s: !a100000, %u: !a100000, %v: !a100000):
    %n = nd.pointwise %s, %v : (!a100000, !a100000) -> !a100000 {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %q : f32
      nd.yield %m : f32
    }
    nest.yield %n, %v : !a100000, !a100000
  }
  return %r#0 : !a100000
}
