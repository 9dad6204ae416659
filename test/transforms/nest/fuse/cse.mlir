// RUN: heddle-opt %s --nest-cse --split-input-file | FileCheck %s

// A product and its transpose under other names: one product, read under two sets of names.
// CHECK-LABEL: @transposed
// CHECK-NEXT: %[[C:.*]] = nest.compute (m: 4, n: 4) reduce (k: 3)
// CHECK-NOT: reduce
// CHECK: %[[R:.*]] = nest.compute (p: 4, q: 4) reads %[[C]][m = q, n = p] {
// CHECK: return %[[C]], %[[R]]
func.func @transposed(%x: !nd.tensor<f32, k: 3, m: 4>, %y: !nd.tensor<f32, k: 3, n: 4>) -> (!nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, p: 4, q: 4>) {
  %c = nest.compute (m: 4, n: 4) reduce (k: 3) reads %x[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 3, m: 4>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 4, n: 4>
  %d = nest.compute (p: 4, q: 4) reduce (c: 3) reads %y[k = c, n = p], %x[k = c, m = q] {
  ^bb0(%b: f32, %a: f32):
    %0 = arith.mulf %b, %a : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 3, n: 4>, !nd.tensor<f32, k: 3, m: 4>) -> !nd.tensor<f32, p: 4, q: 4>
  return %c, %d : !nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, p: 4, q: 4>
}

// -----

// Different guards: two values.
// CHECK-LABEL: @guards
// CHECK-COUNT-2: nest.compute
func.func @guards(%x: !nd.tensor<f32, n: 4>) -> (!nd.tensor<f32, n: 5>, !nd.tensor<f32, n: 5>) {
  %a = nest.compute (n: 5) reads %x[n = n] if [3 - n >= 0] else 0.0 : f32 {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 5>
  %b = nest.compute (n: 5) reads %x[n = n] if [3 - n >= 0] else 1.0 : f32 {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 5>
  return %a, %b : !nd.tensor<f32, n: 5>, !nd.tensor<f32, n: 5>
}

// -----

!n = !nd.tensor<f32, n: 4>

// Nests marked for recomputation are not merged.
// CHECK-LABEL: @again
// CHECK-COUNT-2: nest.compute
func.func @again(%x: !n) -> (!n, !n) {
  %a = nest.compute (n: 4) reads %x[] {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    nest.yield %0 : f32
  } : (!n) -> !n
  %b = nest.compute (n: 4) reads %x[] {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    nest.yield %0 : f32
  } {heddle.recompute} : (!n) -> !n
  return %a, %b : !n, !n
}

// -----

// Recurrences and groups are one up to the names along which they run, and of what they carry.
// CHECK-LABEL: @whole
// CHECK: %[[A:.*]]:2 = nest.scan along <t: 3>
// CHECK: %[[G:.*]] = nest.group (t: 3)
// CHECK-NOT: nest.scan
// CHECK-NOT: nest.group
// CHECK: %[[R:.*]] = nest.compute (b: 4, s: 3) reads %[[A]]#1[a = b, t = s]
// CHECK: %[[H:.*]] = nest.compute (a: 4, s: 3) reads %[[G]][t = s]
// CHECK: %[[D:.*]] = nest.group (t: 3)
// CHECK: return %[[G]], %[[R]], %[[H]], %[[D]]
!X = !nd.tensor<f32, a: 4, t: 3>
!Y = !nd.tensor<f32, b: 4, s: 3>
!a = !nd.tensor<f32, a: 4>
!b = !nd.tensor<f32, b: 4>
func.func @whole(%h: !a, %x: !X, %g: !b) -> (!X, !Y, !nd.tensor<f32, a: 4, s: 3>, !X) {
  %0:2 = nest.scan along <t: 3> init(%h) reads(%x) : (!a, !X) -> (!a, !X) {
  ^bb0(%u: !a, %v: !a):
    %n = nest.compute (a: 4) reads %u[], %v[] {
    ^bb0(%p: f32, %q: f32):
      %r = arith.subf %p, %q : f32
      nest.yield %r : f32
    } : (!a, !a) -> !a
    nest.yield %n, %n : !a, !a
  }
  %1 = nest.group (t: 3) {
    %n = nest.compute () reduce (k: 4) reads %x[a = k, t = t] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } combine add [0.0 : f32] : (!X) -> !nd.tensor<f32>
    %m = nest.compute (a: 4) reads %x[t = t], %n[] {
    ^bb0(%p: f32, %q: f32):
      %r = arith.subf %p, %q : f32
      nest.yield %r : f32
    } : (!X, !nd.tensor<f32>) -> !a
    nest.yield %m : !a
  } : !X
  %i = nest.compute (b: 4) reads %h[a = b] {
  ^bb0(%p: f32):
    nest.yield %p : f32
  } : (!a) -> !b
  %y = nest.compute (b: 4, s: 3) reads %x[a = b, t = s] {
  ^bb0(%p: f32):
    nest.yield %p : f32
  } : (!X) -> !Y
  %2:2 = nest.scan along <s: 3> init(%i) reads(%y) : (!b, !Y) -> (!b, !Y) {
  ^bb0(%u: !b, %v: !b):
    %n = nest.compute (k: 4) reads %v[b = k], %u[b = k] {
    ^bb0(%q: f32, %p: f32):
      %r = arith.subf %p, %q : f32
      nest.yield %r : f32
    } : (!b, !b) -> !nd.tensor<f32, k: 4>
    %m = nest.compute (b: 4) reads %n[k = b] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } : (!nd.tensor<f32, k: 4>) -> !b
    nest.yield %m, %m : !b, !b
  }
  %3 = nest.group (s: 3) {
    %n = nest.compute () reduce (l: 4) reads %y[b = l, s = s] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } combine add [0.0 : f32] : (!Y) -> !nd.tensor<f32>
    %m = nest.compute (a: 4) reads %n[], %y[b = a, s = s] {
    ^bb0(%q: f32, %p: f32):
      %r = arith.subf %p, %q : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32>, !Y) -> !a
    nest.yield %m : !a
  } : !nd.tensor<f32, a: 4, s: 3>
  %4 = nest.group (t: 3) {
    %n = nest.compute () reduce (k: 4) reads %x[a = k, t = 2 - t] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } combine add [0.0 : f32] : (!X) -> !nd.tensor<f32>
    %m = nest.compute (a: 4) reads %x[t = t], %n[] {
    ^bb0(%p: f32, %q: f32):
      %r = arith.subf %p, %q : f32
      nest.yield %r : f32
    } : (!X, !nd.tensor<f32>) -> !a
    nest.yield %m : !a
  } : !X
  return %1, %2#1, %3, %4 : !X, !Y, !nd.tensor<f32, a: 4, s: 3>, !X
}

// -----

// Other numbers are read outside.
// CHECK-LABEL: @otherwise
// CHECK-COUNT-2: nest.compute
func.func @otherwise(%x: !nd.tensor<f32, n: 4>) -> (!nd.tensor<f32, n: 5>, !nd.tensor<f32, n: 5>) {
  %a = nest.compute (n: 5) reads %x[n = n] if [3 - n >= 0] else 0.0 : f32 {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 5>
  %b = nest.compute (n: 5) reads %x[n = n] if [3 - n >= 0] else 1.0 : f32 {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 5>
  return %a, %b : !nd.tensor<f32, n: 5>, !nd.tensor<f32, n: 5>
}

// -----

// The carried values start with other numbers: both are neutral to a choice by the first of two accumulators.
// CHECK-LABEL: @neutral
// CHECK-COUNT-2: nest.compute
func.func @neutral(%x: !nd.tensor<f32, n: 4>) -> (!nd.tensor<f32>, !nd.tensor<i32>, !nd.tensor<f32>, !nd.tensor<i32>) {
  %a:2 = nest.compute () reduce (n: 4) reads %x[] {
  ^bb0(%v: f32):
    %i = arith.constant 3 : i32
    nest.yield %v, %i : f32, i32
  } combine [0xFF800000 : f32, 7 : i32] {
  ^bb0(%p: f32, %i: i32, %q: f32, %j: i32):
    %c = arith.cmpf ogt, %q, %p : f32
    %m = arith.select %c, %q, %p : f32
    %k = arith.select %c, %j, %i : i32
    nest.yield %m, %k : f32, i32
  } : (!nd.tensor<f32, n: 4>) -> (!nd.tensor<f32>, !nd.tensor<i32>)
  %b:2 = nest.compute () reduce (n: 4) reads %x[] {
  ^bb0(%v: f32):
    %i = arith.constant 3 : i32
    nest.yield %v, %i : f32, i32
  } combine [0xFF800000 : f32, 8 : i32] {
  ^bb0(%p: f32, %i: i32, %q: f32, %j: i32):
    %c = arith.cmpf ogt, %q, %p : f32
    %m = arith.select %c, %q, %p : f32
    %k = arith.select %c, %j, %i : i32
    nest.yield %m, %k : f32, i32
  } : (!nd.tensor<f32, n: 4>) -> (!nd.tensor<f32>, !nd.tensor<i32>)
  return %a#0, %a#1, %b#0, %b#1 : !nd.tensor<f32>, !nd.tensor<i32>, !nd.tensor<f32>, !nd.tensor<i32>
}

// -----

// The condition of a loop in a recurrence is not a tensor; equal recurrences are merged.
// CHECK-LABEL: @steered
// CHECK: nest.scan
// CHECK-NOT: nest.scan
func.func @steered(%x: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %y = nest.scan along <t: 3> init(%x) reads() : (!nd.tensor<f32>) -> !nd.tensor<f32> {
  ^bb0(%a: !nd.tensor<f32>):
    %w = scf.while (%s = %a) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
      scf.condition(%c) %s : !nd.tensor<f32>
    } do {
    ^bb0(%s: !nd.tensor<f32>):
      scf.yield %s : !nd.tensor<f32>
    }
    nest.yield %w : !nd.tensor<f32>
  }
  %z = nest.scan along <t: 3> init(%x) reads() : (!nd.tensor<f32>) -> !nd.tensor<f32> {
  ^bb0(%a: !nd.tensor<f32>):
    %w = scf.while (%s = %a) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
      scf.condition(%c) %s : !nd.tensor<f32>
    } do {
    ^bb0(%s: !nd.tensor<f32>):
      scf.yield %s : !nd.tensor<f32>
    }
    nest.yield %w : !nd.tensor<f32>
  }
  return %y, %z : !nd.tensor<f32>, !nd.tensor<f32>
}
