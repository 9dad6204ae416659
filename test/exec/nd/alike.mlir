// Ops on the same operand that differ in one attribute, and rewrites that would be right but for one attribute: each has
// its own values.
// RUN: heddle-run %s --compare

!a_b_t = !nd.tensor<f32, a: 9, b: 20, t: 3>
!a = !nd.tensor<f32, a: 3>
!a7_b3 = !nd.tensor<f32, a: 7, b: 3>
!i32_n = !nd.tensor<i32, n: 9>
!a9_b20 = !nd.tensor<f32, a: 9, b: 20>

func.func @sorts() {
  %x = nd.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32> by [a] : !a
  %0 = nd.sort %x along a : (!a) -> !a
  %1 = nd.sort %x along a descending : (!a) -> !a
  check.expect_eq_const %0 is dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [a] : !a
  check.expect_eq_const %1 is dense<[3.0, 2.0, 1.0]> : tensor<3xf32> by [a] : !a
  return
}

// The operand is an argument, so that nothing is constant.
func.func @sorts_of_argument(%x: !a7_b3) -> (!a7_b3, !a7_b3) {
  %0 = nd.sort %x along a : (!a7_b3) -> !a7_b3
  %1 = nd.sort %x along a descending : (!a7_b3) -> !a7_b3
  return %0, %1 : !a7_b3, !a7_b3
}

// Excluded taps never count, even if the other elements are repeated: each sum counts taps in bounds.
func.func @repeated_window() {
  %x = nd.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32> by [a] : !a
  %0 = nd.window %x a -> k size 3 pad 1, 1 exclude : !a -> !nd.tensor<f32, a: 3, k: 3>
  %1 = nd.broadcast %0 : !nd.tensor<f32, a: 3, k: 3> -> !nd.tensor<f32, a: 3, b: 2, k: 3>
  %2 = nd.reduce %1 over [b, k] neutral [0.0 : f32] : (!nd.tensor<f32, a: 3, b: 2, k: 3>) -> !a {
  ^bb0(%s: f32, %t: f32):
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  check.expect_eq_const %2 is dense<[6.0, 14.0, 12.0]> : tensor<3xf32> by [a] : !a
  return
}

// The consumer of a nest reads it under a guard.
func.func @guarded_end() {
  %x = nd.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> by [n] : !nd.tensor<f32, n: 4>
  %0 = nest.compute (n: 4) reads %x[] {
  ^bb0(%v: f32):
    %w = arith.addf %v, %v : f32
    nest.yield %w : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  %1 = nest.compute (n: 4) reads %0[] if [n - 1 >= 0, 2 - n >= 0] else -5.0 : f32 {
  ^bb0(%v: f32):
    %w = arith.negf %v : f32
    nest.yield %w : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  check.expect_eq_const %1 is dense<[5.0, -4.0, -6.0, 5.0]> : tensor<4xf32> by [n] : !nd.tensor<f32, n: 4>
  return
}

// A factor that two products share is taken out: what is left are the others, in their order.
func.func @common_factor(%x: !i32_n, %y: !i32_n, %w: !i32_n) -> !i32_n {
  %0 = nd.pointwise %x, %y, %w : (!i32_n, !i32_n, !i32_n) -> !i32_n {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %p = arith.muli %a, %c : i32
    %q = arith.muli %b, %c : i32
    %r = arith.subi %p, %q : i32
    nd.yield %r : i32
  }
  return %0 : !i32_n
}

// Padding with a value counts: it is not dropped as zeros of a sum of products may be.
func.func @outside(%x: !a9_b20, %k: !nd.tensor<f32, t: 3>) -> (!a9_b20, !a9_b20, !a9_b20) {
  %0 = nd.window %x a -> t size 3 pad 1, 1 value 5.0 : f32 : !a9_b20 -> !a_b_t
  %1 = nd.reduce %0 over [t] neutral [0xFF800000 : f32] : (!a_b_t) -> !a9_b20 {
  ^bb0(%s: f32, %t: f32):
    %r = arith.maximumf %s, %t : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %0 over [t] neutral [0.0 : f32] : (!a_b_t) -> !a9_b20 {
  ^bb0(%s: f32, %t: f32):
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  %3 = nd.pointwise %0, %k : (!a_b_t, !nd.tensor<f32, t: 3>) -> !a_b_t {
  ^bb0(%s: f32, %t: f32):
    %r = arith.mulf %s, %t : f32
    nd.yield %r : f32
  }
  %4 = nd.reduce %3 over [t] neutral [0.0 : f32] : (!a_b_t) -> !a9_b20 {
  ^bb0(%s: f32, %t: f32):
    %r = arith.addf %s, %t : f32
    nd.yield %r : f32
  }
  return %1, %2, %4 : !a9_b20, !a9_b20, !a9_b20
}

// A factor of two is no sign.
func.func @doubled(%x: !nd.tensor<f32, n: 9>) -> !nd.tensor<f32, n: 9> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, n: 9>) -> !nd.tensor<f32, n: 9> {
  ^bb0(%a: f32):
    %two = arith.constant 2.0 : f32
    %r = arith.mulf %a, %two : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, n: 9>
}
