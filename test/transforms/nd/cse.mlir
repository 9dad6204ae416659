// RUN: heddle-opt %s --nd-cse --split-input-file | FileCheck %s

// A product and its transpose, written with other names and in another order: one product.
// CHECK-LABEL: @transposed
func.func @transposed(%x: !nd.tensor<f32, m: 4, k: 4>, %y: !nd.tensor<f32, k: 4, n: 4>) -> (!nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, p: 4, q: 4>) {
  // CHECK: %[[P:.*]] = nd.pointwise %arg0, %arg1
  // CHECK: %[[R:.*]] = nd.reduce %[[P]] over [k]
  // CHECK-NOT: nd.pointwise
  // CHECK-NOT: nd.reduce
  // CHECK: %[[S:.*]] = nd.rename %[[R]] [n, m] to [p, q] : !nd.tensor<f32, m: 4, n: 4> -> !nd.tensor<f32, p: 4, q: 4>
  // CHECK: return %[[R]], %[[S]]
  %p = nd.pointwise %x, %y : (!nd.tensor<f32, m: 4, k: 4>, !nd.tensor<f32, k: 4, n: 4>) -> !nd.tensor<f32, m: 4, n: 4, k: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f32] : (!nd.tensor<f32, m: 4, n: 4, k: 4>) -> !nd.tensor<f32, m: 4, n: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  %x2 = nd.rename %x [m, k] to [q, c] : !nd.tensor<f32, m: 4, k: 4> -> !nd.tensor<f32, q: 4, c: 4>
  %y2 = nd.rename %y [k, n] to [c, p] : !nd.tensor<f32, k: 4, n: 4> -> !nd.tensor<f32, c: 4, p: 4>
  %p2 = nd.pointwise %y2, %x2 : (!nd.tensor<f32, c: 4, p: 4>, !nd.tensor<f32, q: 4, c: 4>) -> !nd.tensor<f32, p: 4, q: 4, c: 4> {
  ^bb0(%b: f32, %a: f32):
    %0 = arith.mulf %b, %a : f32
    nd.yield %0 : f32
  }
  %r2 = nd.reduce %p2 over [c] neutral [0.0 : f32] : (!nd.tensor<f32, p: 4, q: 4, c: 4>) -> !nd.tensor<f32, p: 4, q: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %b, %a : f32
    nd.yield %0 : f32
  }
  return %r, %r2 : !nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, p: 4, q: 4>
}

// -----

// x x^T is its own transpose.
// CHECK-LABEL: @gram
func.func @gram(%x: !nd.tensor<f32, m: 4, k: 4>) -> (!nd.tensor<f32, m: 4, n: 4, k: 4>, !nd.tensor<f32, n: 4, m: 4, k: 4>) {
  // CHECK: %[[P:.*]] = nd.pointwise
  // CHECK-NOT: nd.pointwise
  // CHECK: return %[[P]], %[[P]]
  %x2 = nd.rename %x [m] to [n] : !nd.tensor<f32, m: 4, k: 4> -> !nd.tensor<f32, n: 4, k: 4>
  %p = nd.pointwise %x, %x2 : (!nd.tensor<f32, m: 4, k: 4>, !nd.tensor<f32, k: 4, n: 4>) -> !nd.tensor<f32, m: 4, n: 4, k: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nd.yield %0 : f32
  }
  %p2 = nd.pointwise %x2, %x : (!nd.tensor<f32, k: 4, n: 4>, !nd.tensor<f32, m: 4, k: 4>) -> !nd.tensor<f32, m: 4, n: 4, k: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nd.yield %0 : f32
  }
  return %p, %p2 : !nd.tensor<f32, m: 4, n: 4, k: 4>, !nd.tensor<f32, n: 4, m: 4, k: 4>
}

// -----

// A difference is not symmetric: the transpose is a value of its own, unlike the same difference renamed.
// CHECK-LABEL: @difference
func.func @difference(%x: !nd.tensor<f32, m: 4>) -> (!nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, p: 4, q: 4>) {
  // CHECK: %[[D:.*]] = nd.pointwise
  // CHECK: %[[E:.*]] = nd.rename %[[D]] [n, m] to [m, n]
  // CHECK-NOT: nd.pointwise
  // CHECK: %[[F:.*]] = nd.rename %[[D]] [n, m] to [p, q]
  // CHECK: return %[[D]], %[[E]], %[[F]]
  %y = nd.rename %x [m] to [n] : !nd.tensor<f32, m: 4> -> !nd.tensor<f32, n: 4>
  %d = nd.pointwise %x, %y crossed : (!nd.tensor<f32, m: 4>, !nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 4, n: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    nd.yield %0 : f32
  }
  %e = nd.pointwise %x, %y crossed : (!nd.tensor<f32, m: 4>, !nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 4, n: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %b, %a : f32
    nd.yield %0 : f32
  }
  %p = nd.rename %x [m] to [p] : !nd.tensor<f32, m: 4> -> !nd.tensor<f32, p: 4>
  %q = nd.rename %x [m] to [q] : !nd.tensor<f32, m: 4> -> !nd.tensor<f32, q: 4>
  %f = nd.pointwise %p, %q crossed : (!nd.tensor<f32, p: 4>, !nd.tensor<f32, q: 4>) -> !nd.tensor<f32, p: 4, q: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %b, %a : f32
    nd.yield %0 : f32
  }
  return %d, %e, %f : !nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, p: 4, q: 4>
}

// -----

// Different ops stay: another reduced name, another stride, another order of random bits.
// CHECK-LABEL: @different
func.func @different(%x: !nd.tensor<f32, m: 4, k: 4>, %key: !nd.tensor<ui64>) -> (!nd.tensor<f32, k: 4>, !nd.tensor<f32, m: 4>, !nd.tensor<f32, m: 2, k: 4>, !nd.tensor<f32, m: 2, k: 4>, !nd.tensor<ui32, a: 4, b: 4>, !nd.tensor<ui32, a: 4, b: 4>) {
  // CHECK: nd.reduce %arg0 over [m]
  // CHECK: nd.reduce %arg0 over [k]
  // CHECK: nd.slice %arg0 m from 0 size 2 :
  // CHECK: nd.slice %arg0 m from 0 size 2 stride 2 :
  // CHECK: nd.random %arg1 by [a, b]
  // CHECK-NOT: nd.random
  // CHECK: nd.rename {{.*}} [b, a] to [a, b]
  %0 = nd.reduce %x over [m] neutral [0.0 : f32] : (!nd.tensor<f32, m: 4, k: 4>) -> !nd.tensor<f32, k: 4> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %1 = nd.reduce %x over [k] neutral [0.0 : f32] : (!nd.tensor<f32, m: 4, k: 4>) -> !nd.tensor<f32, m: 4> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %2 = nd.slice %x m from 0 size 2 : !nd.tensor<f32, m: 4, k: 4> -> !nd.tensor<f32, m: 2, k: 4>
  %3 = nd.slice %x m from 0 size 2 stride 2 : !nd.tensor<f32, m: 4, k: 4> -> !nd.tensor<f32, m: 2, k: 4>
  %4 = nd.random %key by [a, b] : !nd.tensor<ui64> -> !nd.tensor<ui32, a: 4, b: 4>
  %5 = nd.random %key by [b, a] : !nd.tensor<ui64> -> !nd.tensor<ui32, a: 4, b: 4>
  return %0, %1, %2, %3, %4, %5 : !nd.tensor<f32, k: 4>, !nd.tensor<f32, m: 4>, !nd.tensor<f32, m: 2, k: 4>, !nd.tensor<f32, m: 2, k: 4>, !nd.tensor<ui32, a: 4, b: 4>, !nd.tensor<ui32, a: 4, b: 4>
}

// -----

// Nests: other iteration names, operands listed in another order.
// CHECK-LABEL: @nests
func.func @nests(%x: !nd.tensor<f32, row: 10>, %w: !nd.tensor<f32, tap: 3>) -> (!nd.tensor<f32, row: 4>, !nd.tensor<f32, r: 4>, !nd.tensor<f32, row: 4>) {
  // CHECK: %[[A:.*]] = nest.compute (row: 4) reduce (tap: 3)
  // CHECK: %[[B:.*]] = nd.rename %[[A]] [row] to [r]
  // CHECK: %[[C:.*]] = nest.compute (row: 4) reduce (tap: 3)
  // CHECK: return %[[A]], %[[B]], %[[C]]
  %0 = nest.compute (row: 4) reduce (tap: 3) reads %x[row = 2 * row + tap], %w[] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, row: 10>, !nd.tensor<f32, tap: 3>) -> !nd.tensor<f32, row: 4>
  %1 = nest.compute (r: 4) reduce (k: 3) reads %w[tap = k], %x[row = k + 2 * r] {
  ^bb0(%b: f32, %a: f32):
    %m = arith.mulf %a, %b : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, tap: 3>, !nd.tensor<f32, row: 10>) -> !nd.tensor<f32, r: 4>
  %2 = nest.compute (row: 4) reduce (tap: 3) reads %x[row = 2 * row + tap + 1], %w[] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, row: 10>, !nd.tensor<f32, tap: 3>) -> !nd.tensor<f32, row: 4>
  return %0, %1, %2 : !nd.tensor<f32, row: 4>, !nd.tensor<f32, r: 4>, !nd.tensor<f32, row: 4>
}

// -----

!i_z = !nd.tensor<f32, i: 4, z: 9>
!i = !nd.tensor<f32, i: 4>

// In a branch and a loop: a sum that was computed before is read, also after the branch, a broadcast is made again, and what one
// side computes the other one does not see.
// CHECK-LABEL: @regions
// CHECK: %[[S:.*]] = nd.reduce %arg0 over [j]
// CHECK: %[[W:.*]] = nd.broadcast %[[S]]
// CHECK: scf.if
// CHECK-NOT: nd.reduce
// CHECK: %[[K:.*]] = nd.rename %[[S]] [i] to [k]
// CHECK: %[[I:.*]] = nd.rename %[[K]] [k] to [i]
// CHECK: %[[V:.*]] = nd.broadcast %[[I]]
// CHECK-NOT: nd.broadcast
// CHECK: %[[E:.*]] = nd.pointwise %[[V]], %[[V]]
// CHECK: scf.yield %[[E]]
// CHECK: else
// CHECK: nd.broadcast %[[S]]
// CHECK: math.exp
// CHECK: scf.yield
// CHECK-NOT: nd.reduce
// CHECK: return %[[W]], {{.*}}, %[[S]]
func.func @regions(%x: !nd.tensor<f32, i: 4, j: 4>, %c: !nd.tensor<i1>) -> (!i_z, !i_z, !i) {
  %a = nd.reduce %x over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: 4, j: 4>) -> !i {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  %w = nd.broadcast %a : !i -> !i_z
  %g = nd.item %c : !nd.tensor<i1> -> i1
  %r = scf.if %g -> !i_z {
    %y = nd.rename %x [i, j] to [k, l] : !nd.tensor<f32, i: 4, j: 4> -> !nd.tensor<f32, k: 4, l: 4>
    %b = nd.reduce %y over [l] neutral [0.0 : f32] : (!nd.tensor<f32, k: 4, l: 4>) -> !nd.tensor<f32, k: 4> {
    ^bb0(%p: f32, %q: f32):
      %m = arith.addf %q, %p : f32
      nd.yield %m : f32
    }
    %z = nd.rename %b [k] to [i] : !nd.tensor<f32, k: 4> -> !i
    %v = nd.broadcast %z : !i -> !i_z
    %u = nd.broadcast %a : !i -> !i_z
    %e = nd.pointwise %v, %u : (!i_z, !i_z) -> !i_z {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %q : f32
      %n = math.exp %m : f32
      nd.yield %n : f32
    }
    scf.yield %e : !i_z
  } else {
    %v = nd.broadcast %a : !i -> !i_z
    %e = nd.pointwise %v, %v : (!i_z, !i_z) -> !i_z {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %q : f32
      %n = math.exp %m : f32
      nd.yield %n : f32
    }
    scf.yield %e : !i_z
  }
  %s = nd.reduce %x over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: 4, j: 4>) -> !i {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  return %w, %r, %s : !i_z, !i_z, !i
}

// -----

!i = !nd.tensor<f32, i: 4>

// Loops that are written alike, of the same tensors: one; another start is another loop.
// CHECK-LABEL: @loops
// CHECK: %[[A:.*]] = scf.for
// CHECK: %[[B:.*]] = scf.for
// CHECK-NOT: scf.for
// CHECK: return %[[A]], %[[A]], %[[B]]
func.func @loops(%x: !i, %y: !i) -> (!i, !i, !i) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %k = %c0 to %c9 step %c1 iter_args(%s = %x) -> (!i) {
    %t = nd.pointwise %s, %y : (!i, !i) -> !i {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %q : f32
      nd.yield %m : f32
    }
    scf.yield %t : !i
  }
  %1 = scf.for %k = %c0 to %c9 step %c1 iter_args(%s = %x) -> (!i) {
    %t = nd.pointwise %s, %y : (!i, !i) -> !i {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %q : f32
      nd.yield %m : f32
    }
    scf.yield %t : !i
  }
  %2 = scf.for %k = %c0 to %c9 step %c1 iter_args(%s = %y) -> (!i) {
    %t = nd.pointwise %s, %y : (!i, !i) -> !i {
    ^bb0(%p: f32, %q: f32):
      %m = arith.mulf %p, %q : f32
      nd.yield %m : f32
    }
    scf.yield %t : !i
  }
  return %0, %1, %2 : !i, !i, !i
}

// -----

!i = !nd.tensor<f32, i: 4>

// The name along which a recurrence runs is its own.
// CHECK-LABEL: @recurrences
// CHECK: %[[A:.*]] = nest.scan
// CHECK: %[[B:.*]] = nest.scan
// CHECK-NOT: nest.scan
// CHECK: return %[[A]], %[[A]], %[[B]]
func.func @recurrences(%x: !i) -> (!i, !i, !i) {
  %0 = nest.scan along <s: 9> init(%x) reads() : (!i) -> !i {
  ^bb0(%a: !i):
    %t = nd.pointwise %a : (!i) -> !i {
    ^bb0(%p: f32):
      %m = math.sin %p : f32
      nd.yield %m : f32
    }
    nest.yield %t : !i
  }
  %1 = nest.scan along <t: 9> init(%x) reads() : (!i) -> !i {
  ^bb0(%a: !i):
    %t = nd.pointwise %a : (!i) -> !i {
    ^bb0(%p: f32):
      %m = math.sin %p : f32
      nd.yield %m : f32
    }
    nest.yield %t : !i
  }
  %2 = nest.scan along <t: 8> init(%x) reads() : (!i) -> !i {
  ^bb0(%a: !i):
    %t = nd.pointwise %a : (!i) -> !i {
    ^bb0(%p: f32):
      %m = math.sin %p : f32
      nd.yield %m : f32
    }
    nest.yield %t : !i
  }
  return %0, %1, %2 : !i, !i, !i
}

// -----

!a = !nd.tensor<f32, a: 4>

// One attribute tells them apart.
// CHECK-LABEL: @sorts
// CHECK: nd.sort %arg0 along a :
// CHECK: nd.sort %arg0 along a descending
func.func @sorts(%x: !a) -> (!a, !a) {
  %0 = nd.sort %x along a : (!a) -> !a
  %1 = nd.sort %x along a descending : (!a) -> !a
  return %0, %1 : !a, !a
}

// -----

!a = !nd.tensor<f32, a: 4>

// CHECK-LABEL: @scans
// CHECK-COUNT-3: nd.scan
func.func @scans(%x: !a) -> (!a, !a, !a) {
  %0 = nd.scan %x along a neutral [0.0 : f32] : (!a) -> !a {
  ^bb0(%s: f32, %t: f32):
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  %1 = nd.scan %x along a exclusive neutral [0.0 : f32] : (!a) -> !a {
  ^bb0(%s: f32, %t: f32):
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  %2 = nd.scan %x along a reverse neutral [0.0 : f32] : (!a) -> !a {
  ^bb0(%s: f32, %t: f32):
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  return %0, %1, %2 : !a, !a, !a
}

// -----

// Which of the two coordinates counts first.
// CHECK-LABEL: @merges
// CHECK-COUNT-2: nd.merge
func.func @merges(%x: !nd.tensor<f32, a: 4, b: 4>) -> (!nd.tensor<f32, c: 16>, !nd.tensor<f32, c: 16>) {
  %y = nd.pointwise %x : (!nd.tensor<f32, a: 4, b: 4>) -> !nd.tensor<f32, a: 4, b: 4> {
  ^bb0(%s: f32):
    %r = arith.negf %s : f32
    nd.yield %r : f32
  }
  %0 = nd.merge %y [a, b] into c : !nd.tensor<f32, a: 4, b: 4> -> !nd.tensor<f32, c: 16>
  %1 = nd.merge %y [b, a] into c : !nd.tensor<f32, a: 4, b: 4> -> !nd.tensor<f32, c: 16>
  return %0, %1 : !nd.tensor<f32, c: 16>, !nd.tensor<f32, c: 16>
}

// -----

// Which of two names that look alike becomes which is open: those that both have stay.
// CHECK-LABEL: @alike
// CHECK: nd.rename %{{.*}} [d, a] to [a, d]
!i64_a_b_d = !nd.tensor<i64, a: 2, b: 2, d: 2>

func.func @alike() -> (!i64_a_b_d, !i64_a_b_d) {
  %0 = nd.iota a : !nd.tensor<i64, a: 2>
  %1 = nd.broadcast %0 : !nd.tensor<i64, a: 2> -> !i64_a_b_d
  %2 = nd.iota d : !nd.tensor<i64, d: 2>
  %3 = nd.broadcast %2 : !nd.tensor<i64, d: 2> -> !i64_a_b_d
  return %1, %3 : !i64_a_b_d, !i64_a_b_d
}
