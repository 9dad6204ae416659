// RUN: heddle-opt %s --nd-hoist --nd-cse | FileCheck %s

!a = !nd.tensor<f32, a: 4>

// The sum of w squared is invariant and hoisted out of both loops, with its operands; a broadcast and variant ops stay.
// CHECK-LABEL: @nested
// CHECK: %[[SQUARE:.*]] = nd.pointwise %arg1
// CHECK: %[[SUM:.*]] = nd.reduce %[[SQUARE]] over [b]
// CHECK: scf.for
// CHECK: nest.scan
// CHECK: nd.broadcast %[[SUM]]
// CHECK: nd.pointwise
// CHECK: nest.yield
func.func @nested(%x: !a, %w: !nd.tensor<f32, b: 8>) -> !a {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> (!a) {
    %t = nest.scan along <t: 3> init(%s) reads() : (!a) -> !a {
    ^bb0(%u: !a):
      %p = nd.pointwise %w : (!nd.tensor<f32, b: 8>) -> !nd.tensor<f32, b: 8> {
      ^bb0(%v: f32):
        %m = arith.mulf %v, %v : f32
        nd.yield %m : f32
      }
      %q = nd.reduce %p over [b] neutral [0.0 : f32] : (!nd.tensor<f32, b: 8>) -> !nd.tensor<f32> {
      ^bb0(%v: f32, %z: f32):
        %m = arith.addf %v, %z : f32
        nd.yield %m : f32
      }
      %wide = nd.broadcast %q : !nd.tensor<f32> -> !a
      %n = nd.pointwise %u, %wide : (!a, !a) -> !a {
      ^bb0(%v: f32, %z: f32):
        %m = arith.mulf %v, %z : f32
        nd.yield %m : f32
      }
      nest.yield %n : !a
    }
    scf.yield %t : !a
  }
  return %r : !a
}

// An outer product is larger than what it is made from: it is computed where it is used. What both regions of a loop
// compute leaves it; a loop without a known end stays.
// CHECK-LABEL: @until
// CHECK: %[[E:.*]] = nd.pointwise %arg1
// CHECK: math.exp
// CHECK-NOT: arith.mulf
// CHECK: scf.while
// CHECK: nd.pointwise %{{.*}}, %[[E]]
// CHECK: scf.while
// CHECK: nd.pointwise %arg1, %arg2
// CHECK: arith.mulf
func.func @until(%x: !nd.tensor<f32>, %v: !nd.tensor<f32, a: 40>, %w: !nd.tensor<f32, b: 8>, %go: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %g = nd.item %go : !nd.tensor<i1> -> i1
  %r = scf.while (%s = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    %e = nd.pointwise %v : (!nd.tensor<f32, a: 40>) -> !nd.tensor<f32, a: 40> {
    ^bb0(%0: f32):
      %1 = math.exp %0 : f32
      nd.yield %1 : f32
    }
    %d = nd.pointwise %s, %e : (!nd.tensor<f32>, !nd.tensor<f32, a: 40>) -> !nd.tensor<i1, a: 40> {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.cmpf olt, %0, %1 : f32
      nd.yield %2 : i1
    }
    %any = nd.reduce %d over [a] neutral [false] : (!nd.tensor<i1, a: 40>) -> !nd.tensor<i1> {
    ^bb0(%0: i1, %1: i1):
      %2 = arith.ori %0, %1 : i1
      nd.yield %2 : i1
    }
    %c = nd.item %any : !nd.tensor<i1> -> i1
    scf.condition(%c) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    %same = scf.while (%k = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
      scf.condition(%g) %k : !nd.tensor<f32>
    } do {
    ^bb0(%k: !nd.tensor<f32>):
      scf.yield %k : !nd.tensor<f32>
    }
    %outer = nd.pointwise %v, %w crossed : (!nd.tensor<f32, a: 40>, !nd.tensor<f32, b: 8>) -> !nd.tensor<f32, a: 40, b: 8> {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      nd.yield %2 : f32
    }
    %sum = nd.pointwise %outer, %s, %same : (!nd.tensor<f32, a: 40, b: 8>, !nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32, a: 40, b: 8> {
    ^bb0(%0: f32, %1: f32, %2: f32):
      %3 = arith.addf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      nd.yield %4 : f32
    }
    %t = nd.reduce %sum over [a, b] neutral [0.0 : f32] : (!nd.tensor<f32, a: 40, b: 8>) -> !nd.tensor<f32> {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      nd.yield %2 : f32
    }
    scf.yield %t : !nd.tensor<f32>
  }
  return %r : !nd.tensor<f32>
}
