// Recurrences, loops and branches are equal up to names in them and around them, the order of ops, and unused values.
// RUN: heddle-opt %s --nd-cse | FileCheck %s
// RUN: heddle-run %s --compare --no-cache

// The same recurrence along another name, of a state under another name; its sum is written the other way round and something is
// computed that nothing uses. Backwards it is another one.
// CHECK-LABEL: @recurrences
// CHECK: %[[A:.*]]:2 = nest.scan along <t: 3>
// CHECK: %[[L:.*]] = nd.rename %[[A]]#0 [a] to [b]
// CHECK: %[[S:.*]] = nd.rename %[[A]]#1 [a, t] to [b, s]
// CHECK: %[[B:.*]]:2 = nest.scan along <t: 3> reverse
// CHECK-NOT: nest.scan
// CHECK: return %[[A]]#1, %[[L]], %[[S]], %[[B]]#1
!H = !nd.tensor<f32, a: 4>
!X = !nd.tensor<f32, a: 4, t: 3>
!G = !nd.tensor<f32, b: 4>
!Y = !nd.tensor<f32, b: 4, s: 3>
func.func @recurrences(%h: !H, %x: !X) -> (!X, !G, !Y, !X) {
  %0:2 = nest.scan along <t: 3> init(%h) reads(%x) : (!H, !X) -> (!H, !X) {
  ^bb0(%u: !H, %v: !H):
    %n = nd.pointwise %u : (!H) -> !H {
    ^bb0(%p: f32):
      %r = math.tanh %p : f32
      nd.yield %r : f32
    }
    %w = nd.pointwise %n, %v : (!H, !H) -> !H {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      nd.yield %r : f32
    }
    nest.yield %w, %w : !H, !H
  }
  %g = nd.rename %h [a] to [b] : !H -> !G
  %y = nd.rename %x [a, t] to [b, s] : !X -> !Y
  %1:2 = nest.scan along <s: 3> init(%g) reads(%y) : (!G, !Y) -> (!G, !Y) {
  ^bb0(%u: !G, %v: !G):
    %k = nd.pointwise %v : (!G) -> !G {
    ^bb0(%p: f32):
      %r = math.sin %p : f32
      nd.yield %r : f32
    }
    %n = nd.pointwise %u : (!G) -> !G {
    ^bb0(%p: f32):
      %r = math.tanh %p : f32
      nd.yield %r : f32
    }
    %w = nd.pointwise %v, %n : (!G, !G) -> !G {
    ^bb0(%q: f32, %p: f32):
      %r = arith.addf %q, %p : f32
      nd.yield %r : f32
    }
    nest.yield %w, %w : !G, !G
  }
  %2:2 = nest.scan along <t: 3> reverse init(%h) reads(%x) : (!H, !X) -> (!H, !X) {
  ^bb0(%u: !H, %v: !H):
    %n = nd.pointwise %u : (!H) -> !H {
    ^bb0(%p: f32):
      %r = math.tanh %p : f32
      nd.yield %r : f32
    }
    %w = nd.pointwise %n, %v : (!H, !H) -> !H {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      nd.yield %r : f32
    }
    nest.yield %w, %w : !H, !H
  }
  return %0#1, %1#0, %1#1, %2#1 : !X, !G, !Y, !X
}

// Loops within loops, of bounds that are counted twice. The inner one reads the outer one's state: with what it carries changed for what the
// outer one carries it is another loop.
// CHECK-LABEL: @loops
// CHECK: %[[A:.*]] = scf.for
// CHECK: scf.for
// CHECK: %[[R:.*]] = nd.rename %[[A]] [a] to [b]
// CHECK: %[[B:.*]] = scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: return %[[A]], %[[R]], %[[B]]
!A = !nd.tensor<f32, a: 4>
!B = !nd.tensor<f32, b: 4>
!C = !nd.tensor<f32, c: 4>
func.func @loops(%x: !A, %h: !nd.tensor<i64>) -> (!A, !B, !A) {
  %n = nd.pointwise %h : (!nd.tensor<i64>) -> !nd.tensor<i64> {
  ^bb0(%p: i64):
    %seven = arith.constant 7 : i64
    %r = arith.andi %p, %seven : i64
    nd.yield %r : i64
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = nd.item %n : !nd.tensor<i64> -> index
  %0 = scf.for %k = %c0 to %i0 step %c1 iter_args(%s = %x) -> (!A) {
    %1 = scf.for %l = %c0 to %i0 step %c1 iter_args(%t = %x) -> (!A) {
      %u = nd.pointwise %s, %t : (!A, !A) -> !A {
      ^bb0(%p: f32, %q: f32):
        %r = arith.subf %p, %q : f32
        nd.yield %r : f32
      }
      scf.yield %u : !A
    }
    scf.yield %1 : !A
  }
  %y = nd.rename %x [a] to [b] : !A -> !B
  %d0 = arith.constant 0 : index
  %d1 = arith.constant 1 : index
  %i1 = nd.item %n : !nd.tensor<i64> -> index
  %2 = scf.for %k = %d0 to %i1 step %d1 iter_args(%s = %y) -> (!B) {
    %z = nd.rename %y [b] to [c] : !B -> !C
    %3 = scf.for %l = %d0 to %i1 step %d1 iter_args(%t = %z) -> (!C) {
      %v = nd.rename %s [b] to [c] : !B -> !C
      %u = nd.pointwise %v, %t : (!C, !C) -> !C {
      ^bb0(%p: f32, %q: f32):
        %r = arith.subf %p, %q : f32
        nd.yield %r : f32
      }
      scf.yield %u : !C
    }
    %w = nd.rename %3 [c] to [b] : !C -> !B
    scf.yield %w : !B
  }
  %4 = scf.for %k = %c0 to %i0 step %c1 iter_args(%s = %x) -> (!A) {
    %1 = scf.for %l = %c0 to %i0 step %c1 iter_args(%t = %x) -> (!A) {
      %u = nd.pointwise %t, %s : (!A, !A) -> !A {
      ^bb0(%p: f32, %q: f32):
        %r = arith.subf %p, %q : f32
        nd.yield %r : f32
      }
      scf.yield %u : !A
    }
    scf.yield %1 : !A
  }
  return %0, %2, %4 : !A, !B, !A
}

// A transposed state is another state, unlike one that is read and yielded under changed names.
// CHECK-LABEL: @transposed
// CHECK: nest.scan
// CHECK: %[[S:.*]] = nest.scan
// CHECK-NOT: nest.scan
// CHECK: nd.rename %[[S]] [n, m] to [m, n]
!M = !nd.tensor<f32, m: 4, n: 4>
func.func @transposed(%x: !M) -> (!M, !M, !M) {
  %0 = nest.scan along <t: 3> init(%x) reads() : (!M) -> !M {
  ^bb0(%u: !M):
    %v = nd.rename %u [m, n] to [n, m] : !M -> !M
    %w = nd.pointwise %u, %v : (!M, !M) -> !M {
    ^bb0(%p: f32, %q: f32):
      %r = arith.subf %p, %q : f32
      nd.yield %r : f32
    }
    nest.yield %w : !M
  }
  %y = nd.rename %x [m, n] to [n, m] : !M -> !M
  %1 = nest.scan along <t: 3> init(%y) reads() : (!M) -> !M {
  ^bb0(%u: !M):
    %v = nd.rename %u [m, n] to [n, m] : !M -> !M
    %w = nd.pointwise %v, %u : (!M, !M) -> !M {
    ^bb0(%p: f32, %q: f32):
      %r = arith.subf %p, %q : f32
      nd.yield %r : f32
    }
    nest.yield %w : !M
  }
  %2 = nest.scan along <t: 3> init(%x) reads() : (!M) -> !M {
  ^bb0(%u: !M):
    %v = nd.rename %u [m, n] to [n, m] : !M -> !M
    %w = nd.pointwise %v, %u : (!M, !M) -> !M {
    ^bb0(%p: f32, %q: f32):
      %r = arith.subf %p, %q : f32
      nd.yield %r : f32
    }
    nest.yield %w : !M
  }
  return %0, %1, %2 : !M, !M, !M
}

// Deeper ones are compared as they are written.
// CHECK-LABEL: @deep
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// CHECK: return %[[D:[0-9]+]], %[[D]]
func.func @deep(%x: !A) -> (!A, !A) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> (!A) {
    %1 = scf.for %j = %c0 to %c3 step %c1 iter_args(%t = %s) -> (!A) {
      %2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%u = %t) -> (!A) {
        %v = nd.pointwise %u, %x : (!A, !A) -> !A {
        ^bb0(%p: f32, %q: f32):
          %r = arith.mulf %p, %q : f32
          nd.yield %r : f32
        }
        scf.yield %v : !A
      }
      scf.yield %2 : !A
    }
    scf.yield %1 : !A
  }
  %b = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> (!A) {
    %1 = scf.for %j = %c0 to %c3 step %c1 iter_args(%t = %s) -> (!A) {
      %2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%u = %t) -> (!A) {
        %v = nd.pointwise %u, %x : (!A, !A) -> !A {
        ^bb0(%p: f32, %q: f32):
          %r = arith.mulf %p, %q : f32
          nd.yield %r : f32
        }
        scf.yield %v : !A
      }
      scf.yield %2 : !A
    }
    scf.yield %1 : !A
  }
  return %a, %b : !A, !A
}
