// RUN: heddle-opt %s --nd-differentiate --nd-simplify --nd-cse --symbol-dce --split-input-file --verify-diagnostics | FileCheck %s

// The gradients of a convolution are index maps and sums of products: dw sums window(x) * dy over the points, dx applies the
// adjoint of the window to the sum of dy * w over the outputs. The value is removed, nothing is broadcast.
!n_row_ci = !nd.tensor<f32, n: 2, row: 8, ci: 3>
!ky_ci_co = !nd.tensor<f32, ky: 3, ci: 3, co: 4>
!n_row_co = !nd.tensor<f32, n: 2, row: 4, co: 4>

func.func private @convolve(%x: !n_row_ci, %w: !ky_ci_co) -> !n_row_co {
  %xw = nd.window %x row -> ky size 3 stride 2 pad 1, 1 value 0.0 : f32 : !n_row_ci -> !nd.tensor<f32, n: 2, row: 4, ky: 3, ci: 3>
  %p = nd.pointwise %xw, %w : (!nd.tensor<f32, n: 2, row: 4, ky: 3, ci: 3>, !ky_ci_co) -> !nd.tensor<f32, n: 2, row: 4, ky: 3, ci: 3, co: 4> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    nd.yield %m : f32
  }
  %y = nd.reduce %p over [ky, ci] neutral [0.0 : f32] : (!nd.tensor<f32, n: 2, row: 4, ky: 3, ci: 3, co: 4>) -> !n_row_co {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    nd.yield %m : f32
  }
  return %y : !n_row_co
}
// CHECK-LABEL: @convolution
// CHECK-NEXT: %[[XW:.*]] = nd.window %arg0 row -> ky size 3 stride 2 pad 1, 1 value 0
// CHECK-NEXT: %[[PX:.*]] = nd.pointwise %arg1, %arg2 : (!nd.tensor<f32, ci: 3, co: 4, ky: 3>, !nd.tensor<f32, co: 4, n: 2, row: 4>)
// CHECK: %[[SX:.*]] = nd.reduce %[[PX]] over [co]
// CHECK: %[[PW:.*]] = nd.pointwise %[[XW]], %arg2 :
// CHECK: %[[DW:.*]] = nd.reduce %[[PW]] over [n, row]
// CHECK: %[[DX:.*]] = nd.unwindow %[[SX]] row -> ky size 3 stride 2 pad 1, 1
// CHECK-NEXT: return %[[DX]], %[[DW]]
func.func @convolution(%x: !n_row_ci, %w: !ky_ci_co, %dy: !n_row_co) -> (!n_row_ci, !ky_ci_co) {
  %y, %dx, %dw = nd.vjp @convolve (%x, %w) cotangents(%dy) wrt [0, 1] : (!n_row_ci, !ky_ci_co, !n_row_co) -> (!n_row_co, !n_row_ci, !ky_ci_co)
  return %dx, %dw : !n_row_ci, !ky_ci_co
}

// -----

// Max-pooling: the position of the maximum is carried by a reduction, and decides by equality of integers.
func.func private @pool(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 4> {
  %0 = nd.window %x row -> ky size 3 stride 2 pad 1, 0 exclude : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 4, ky: 3>
  %1 = nd.reduce %0 over [ky] neutral [0xFF800000 : f32] : (!nd.tensor<f32, row: 4, ky: 3>) -> !nd.tensor<f32, row: 4> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    nd.yield %m : f32
  }
  return %1 : !nd.tensor<f32, row: 4>
}
// CHECK-LABEL: @pooling
// CHECK: %[[W:.*]] = nd.window %arg0 row -> ky size 3 stride 2 pad 1, 0 exclude
// CHECK: %[[I:.*]] = nd.iota ky : !nd.tensor<i32, ky: 3>
// CHECK: %[[R:.*]]:2 = nd.reduce %[[W]], %{{.*}} over [ky] neutral [0xFF800000 : f32, 2147483647 : i32]
// CHECK: %[[S:.*]] = nd.pointwise %[[I]], %[[R]]#1, %arg1 crossed
// CHECK: arith.cmpi eq
// CHECK-NOT: cmpf
// CHECK: nd.unwindow %[[S]] row -> ky size 3 stride 2 pad 1, 0
func.func @pooling(%x: !nd.tensor<f32, row: 8>, %dy: !nd.tensor<f32, row: 4>) -> !nd.tensor<f32, row: 8> {
  %y, %dx = nd.vjp @pool(%x) cotangents(%dy) wrt [0] : (!nd.tensor<f32, row: 8>, !nd.tensor<f32, row: 4>) -> (!nd.tensor<f32, row: 4>, !nd.tensor<f32, row: 8>)
  return %dx : !nd.tensor<f32, row: 8>
}

// -----

!a = !nd.tensor<f32, a: 2>

// A value with two uses gets the sum of two cotangents; an argument that does not matter gets a zero.
func.func private @twice(%x: !a, %unused: !nd.tensor<f32, b: 3>) -> (!a, !a) {
  %0 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%a: f32):
    %m = math.exp %a : f32
    nd.yield %m : f32
  }
  return %0, %x : !a, !a
}
// CHECK-LABEL: @two_uses
// CHECK: %[[G:.*]] = nd.pointwise %arg0, %arg2
// CHECK: %[[S:.*]] = nd.pointwise %arg3, %[[G]]
// CHECK: arith.addf
// CHECK: %[[Z:.*]] = nd.constant dense<0.000000e+00> : tensor<f32> by [b]
// CHECK: return %[[S]], %[[Z]]
func.func @two_uses(%x: !a, %u: !nd.tensor<f32, b: 3>, %g: !a, %h: !a) -> (!a, !nd.tensor<f32, b: 3>) {
  %r:4 = nd.vjp @twice(%x, %u) cotangents(%g, %h) wrt [0, 1] : (!a, !nd.tensor<f32, b: 3>, !a, !a) -> (!a, !a, !a, !nd.tensor<f32, b: 3>)
  return %r#2, %r#3 : !a, !nd.tensor<f32, b: 3>
}

// -----

// A user's kernel with stride: the map is inverted, so that the gradient gathers. Where taps tile the range nothing is left to sum.
func.func private @kernel(%x: !nd.tensor<f32, row: 9>, %w: !nd.tensor<f32, tap: 3>) -> !nd.tensor<f32, row: 4> {
  %0 = nest.compute (row: 4) reduce (tap: 3) reads %x[row = 2 * row + tap], %w[] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, row: 9>, !nd.tensor<f32, tap: 3>) -> !nd.tensor<f32, row: 4>
  return %0 : !nd.tensor<f32, row: 4>
}
// CHECK-LABEL: @kernels
// CHECK: nest.compute (row: 9) reduce (tap: 3) reads %arg1[]{{.*}}, %arg2[row = -tap + (row + tap) floordiv 2] if [(row + tap) mod 2 == 0
// CHECK: nest.compute (tap: 3) reduce (row: 4) reads %arg0[row = 2 * row + tap], %arg2[]
// CHECK-NOT: nest.update
func.func @kernels(%x: !nd.tensor<f32, row: 9>, %w: !nd.tensor<f32, tap: 3>, %dy: !nd.tensor<f32, row: 4>) -> (!nd.tensor<f32, row: 9>, !nd.tensor<f32, tap: 3>) {
  %y, %dx, %dw = nd.vjp @kernel(%x, %w) cotangents(%dy) wrt [0, 1] : (!nd.tensor<f32, row: 9>, !nd.tensor<f32, tap: 3>, !nd.tensor<f32, row: 4>) -> (!nd.tensor<f32, row: 4>, !nd.tensor<f32, row: 9>, !nd.tensor<f32, tap: 3>)
  return %dx, %dw : !nd.tensor<f32, row: 9>, !nd.tensor<f32, tap: 3>
}

// -----

// A gathered read cannot be inverted: its gradient accumulates.
func.func private @lookup(%x: !nd.tensor<f32, a: 4>, %i: !nd.tensor<i32, b: 3>) -> !nd.tensor<f32, b: 3> {
  %0 = nest.compute (b: 3) reads %i[], %x[a = read(0)] {
  ^bb0(%k: i32, %a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<i32, b: 3>, !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, b: 3>
  return %0 : !nd.tensor<f32, b: 3>
}
// CHECK-LABEL: @lookups
// CHECK: nest.update (b: 3) %{{.*}}[a = min(3, max(0, read(0)))] reads %arg1[], %arg2[]
func.func @lookups(%x: !nd.tensor<f32, a: 4>, %i: !nd.tensor<i32, b: 3>, %dy: !nd.tensor<f32, b: 3>) -> !nd.tensor<f32, a: 4> {
  %y, %dx = nd.vjp @lookup(%x, %i) cotangents(%dy) wrt [0] : (!nd.tensor<f32, a: 4>, !nd.tensor<i32, b: 3>, !nd.tensor<f32, b: 3>) -> (!nd.tensor<f32, b: 3>, !nd.tensor<f32, a: 4>)
  return %dx : !nd.tensor<f32, a: 4>
}

// -----

!a = !nd.tensor<f32, a: 2>

// The gradient of a gradient: the inner request is expanded first.
func.func private @cube(%x: !a) -> !a {
  %0 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    %m = arith.mulf %s, %a : f32
    nd.yield %m : f32
  }
  return %0 : !a
}
func.func private @slope(%x: !a) -> !a {
  %one = nd.constant dense<1.0> : tensor<f32> by [a] : !a
  %y, %dx = nd.vjp @cube(%x) cotangents(%one) wrt [0] : (!a, !a) -> (!a, !a)
  return %dx : !a
}
// CHECK-LABEL: @curvature
// CHECK: nd.pointwise %arg0
// CHECK-NOT: nd.vjp
func.func @curvature(%x: !a) -> !a {
  %one = nd.constant dense<1.0> : tensor<f32> by [a] : !a
  %y, %dx = nd.vjp @slope(%x) cotangents(%one) wrt [0] : (!a, !a) -> (!a, !a)
  return %dx : !a
}

// -----

!a = !nd.tensor<f32, a: 4>

func.func private @combine_at(%d: !a, %u: !nd.tensor<f32, i: N>, %k: !nd.tensor<i32, i: N>) -> !a {
  %0 = nd.scatter %u into %d [a] at %k : (!a, !nd.tensor<f32, i: N>, !nd.tensor<i32, i: N>) -> !a {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    %n = arith.addf %p, %q : f32
    %o = arith.addf %m, %n : f32
    nd.yield %o : f32
  }
  return %0 : !a
}
// Updates are combined one after the other, then back: the size need not be known.
// CHECK-LABEL: @combined
// CHECK: %[[FORTH:.*]]:2 = nest.scan along <i: N> init(%arg0) reads(%arg1, %arg2)
// CHECK: nest.scan along <i: N> reverse init(%arg0) reads(%arg1, %arg2, %[[FORTH]]#1)
func.func @combined(%d: !a, %u: !nd.tensor<f32, i: N>, %k: !nd.tensor<i32, i: N>) -> !nd.tensor<f32, i: N> {
  %r:2 = nd.vjp @combine_at(%d, %u, %k) cotangents(%d) wrt [1] : (!a, !nd.tensor<f32, i: N>, !nd.tensor<i32, i: N>, !a) -> (!a, !nd.tensor<f32, i: N>)
  return %r#1 : !nd.tensor<f32, i: N>
}

// -----

!i = !nd.tensor<f32, i: 4>

// Only what is asked for: of a * b * c by a, one product of b and c and one with the cotangent; the value is not computed, nor
// anything by b and c.
func.func private @product(%a: !i, %b: !i, %c: !i) -> !i {
  %ab = nd.pointwise %a, %b : (!i, !i) -> !i {
  ^bb0(%x: f32, %y: f32):
    %m = arith.mulf %x, %y : f32
    nd.yield %m : f32
  }
  %e = nd.pointwise %c : (!i) -> !i {
  ^bb0(%x: f32):
    %m = math.exp %x : f32
    nd.yield %m : f32
  }
  %p = nd.pointwise %ab, %e : (!i, !i) -> !i {
  ^bb0(%x: f32, %y: f32):
    %m = arith.mulf %x, %y : f32
    nd.yield %m : f32
  }
  return %p : !i
}
// CHECK-LABEL: @asked
// CHECK-COUNT-1: math.exp
// CHECK-COUNT-2: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK-NOT: math.exp
// CHECK: return
func.func @asked(%a: !i, %b: !i, %c: !i, %g: !i) -> !i {
  %y, %da = nd.vjp @product(%a, %b, %c) cotangents(%g) wrt [0] : (!i, !i, !i, !i) -> (!i, !i)
  return %da : !i
}

// -----

// The tangent of a window is a window; nothing of the transposition remains.
func.func private @windows(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 4> {
  %w = nd.window %x row -> ky size 3 stride 2 pad 1, 1 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 4, ky: 3>
  %y = nd.reduce %w over [ky] neutral [0.0 : f32] : (!nd.tensor<f32, row: 4, ky: 3>) -> !nd.tensor<f32, row: 4> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    nd.yield %m : f32
  }
  return %y : !nd.tensor<f32, row: 4>
}
// CHECK-LABEL: @tangent
// CHECK-NEXT: %[[W:.*]] = nd.window %arg1 row -> ky size 3 stride 2 pad 1, 1 value 0
// CHECK-NEXT: %[[S:.*]] = nd.reduce %[[W]] over [ky]
// CHECK: return %[[S]]
func.func @tangent(%x: !nd.tensor<f32, row: 8>, %v: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 4> {
  %y, %dy = nd.jvp @windows(%x) tangents(%v) wrt [0] : (!nd.tensor<f32, row: 8>, !nd.tensor<f32, row: 8>) -> (!nd.tensor<f32, row: 4>, !nd.tensor<f32, row: 4>)
  return %dy : !nd.tensor<f32, row: 4>
}

// -----

!i = !nd.tensor<f32, i: 4>

// A checkpoint is computed again, behind the cotangent, and not merged with the first time.
func.func private @block(%x: !i) -> !i {
  %e = nd.pointwise %x : (!i) -> !i {
  ^bb0(%v: f32):
    %m = math.exp %v : f32
    nd.yield %m : f32
  }
  %s = nd.pointwise %e : (!i) -> !i {
  ^bb0(%v: f32):
    %m = math.sin %v : f32
    nd.yield %m : f32
  }
  return %s : !i
}
func.func private @checkpointed(%x: !i) -> !i {
  %0 = nd.call @block(%x) checkpoint : (!i) -> !i
  return %0 : !i
}
// CHECK-LABEL: func.func private @block.gradient
// CHECK: %[[X:.*]] = nd.after %arg0, %arg1
// CHECK: nd.pointwise %[[X]]
// CHECK: math.exp
// CHECK: math.cos
// CHECK-LABEL: @again
// CHECK: %[[Y:.*]] = nd.call @block(%arg0) gradient @block.gradient
// CHECK: %[[DX:.*]] = nd.call @block.gradient(%arg0, %arg1)
// CHECK: return %[[Y]], %[[DX]]
func.func @again(%x: !i, %g: !i) -> (!i, !i) {
  %y, %dx = nd.vjp @checkpointed(%x) cotangents(%g) wrt [0] : (!i, !i) -> (!i, !i)
  return %y, %dx : !i, !i
}

// -----

!a = !nd.tensor<f32, a: 8>
!a_b = !nd.tensor<f32, a: 8, b: 8>

// A recurrence of which both the value and the gradient are asked makes its steps once, and keeps the small results of its sums of
// products beside what it carries.
func.func private @recurrence(%h: !a, %w: !a_b) -> !a {
  %r = nest.scan along <t: 5> init(%h) reads() : (!a) -> !a {
  ^bb0(%s: !a):
    %o = nd.rename %s [a] to [b] : !a -> !nd.tensor<f32, b: 8>
    %p = nd.pointwise %w, %o : (!a_b, !nd.tensor<f32, b: 8>) -> !a_b {
    ^bb0(%x: f32, %y: f32):
      %m = arith.mulf %x, %y : f32
      nd.yield %m : f32
    }
    %q = nd.reduce %p over [b] neutral [0.0 : f32] : (!a_b) -> !a {
    ^bb0(%x: f32, %y: f32):
      %m = arith.addf %x, %y : f32
      nd.yield %m : f32
    }
    %n = nd.pointwise %q : (!a) -> !a {
    ^bb0(%x: f32):
      %m = math.sin %x : f32
      nd.yield %m : f32
    }
    nest.yield %n : !a
  }
  return %r : !a
}
// CHECK-LABEL: @once
// CHECK: %[[F:.*]]:3 = nest.scan along <t: 5> init(%arg0) reads()
// CHECK: %[[SUM:.*]] = nd.reduce
// CHECK: nest.yield %{{.*}}, %{{.*}}, %[[SUM]]
// CHECK: %[[B:.*]]:2 = nest.scan along <t: 5> reverse init(%arg2, %{{.*}}) reads(%[[F]]#1, %[[F]]#2)
// CHECK: math.cos
// CHECK: nd.reduce %{{.*}} over [a]
// CHECK-NOT: nd.reduce
// CHECK-NOT: nest.scan
// CHECK: return %[[F]]#0, %[[B]]#0, %[[B]]#1
func.func @once(%h: !a, %w: !a_b, %g: !a) -> (!a, !a, !a_b) {
  %r:3 = nd.vjp @recurrence(%h, %w) cotangents(%g) wrt [0, 1] : (!a, !a_b, !a) -> (!a, !a, !a_b)
  return %r#0, %r#1, %r#2 : !a, !a, !a_b
}
