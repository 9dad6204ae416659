// The value of a function and gradients of some of its arguments.
// RUN: heddle-run %s --compare

!f64_b_r_c = !nd.tensor<f64, b: 2, r: 9, c: 7>
!f64_kr_kc_o = !nd.tensor<f64, kr: 3, kc: 2, o: 5>
!k = !nd.tensor<f32, k: 3>
!f64_o = !nd.tensor<f64, o: 5>
!f64_o_y = !nd.tensor<f64, o: 5, y: 3>
!f64_b_y = !nd.tensor<f64, b: 2, y: 3>
!f64_n = !nd.tensor<f64, n: 4>
!a = !nd.tensor<f32, a: 3>
!i = !nd.tensor<f32, i: 5>

func.func private @loss(%w: !k, %x: !k) -> !nd.tensor<f32> {
  %p = nd.pointwise %w, %x : (!k, !k) -> !k {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.mulf %m, %a : f32
    nd.yield %r : f32
  }
  %s = nd.reduce %p over [k] neutral [0.0 : f32] : (!k) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32>
}

// sum of w^2 x: 2 w x by w, w^2 by x; cotangent 2.
func.func @squares() {
  %w = nd.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [k] : !k
  %x = nd.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32> by [k] : !k
  %g = nd.constant dense<2.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:3 = nd.vjp @loss(%w, %x) cotangents(%g) wrt [1, 0] : (!k, !k, !nd.tensor<f32>) -> (!nd.tensor<f32>, !k, !k)
  check.expect_eq_const %0#0 is dense<78.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %0#1 is dense<[2.0, 8.0, 18.0]> : tensor<3xf32> by [k] : !k
  check.expect_eq_const %0#2 is dense<[16.0, 40.0, 72.0]> : tensor<3xf32> by [k] : !k
  return
}

// A small network: convolution, bias, relu, max-pooling, linear. Its slope in a direction, by gradients of everything and by
// tangents, is that of a difference.
func.func private @network(%x: !f64_b_r_c, %w: !f64_kr_kc_o, %bias: !f64_o, %v: !f64_o_y) -> !f64_b_y {
  %a = nd.window %x r -> kr size 3 pad 1, 1 value 0.0 : f64 : !f64_b_r_c -> !nd.tensor<f64, b: 2, r: 9, c: 7, kr: 3>
  %e = nd.window %a c -> kc size 2 : !nd.tensor<f64, b: 2, r: 9, c: 7, kr: 3> -> !nd.tensor<f64, b: 2, r: 9, c: 6, kr: 3, kc: 2>
  %p = nd.pointwise %e, %w : (!nd.tensor<f64, b: 2, r: 9, c: 6, kr: 3, kc: 2>, !f64_kr_kc_o) -> !nd.tensor<f64, b: 2, r: 9, c: 6, kr: 3, kc: 2, o: 5> {
  ^bb0(%s: f64, %t: f64):
    %m = arith.mulf %s, %t : f64
    nd.yield %m : f64
  }
  %q = nd.reduce %p over [kr, kc] neutral [0.0 : f64] : (!nd.tensor<f64, b: 2, r: 9, c: 6, kr: 3, kc: 2, o: 5>) -> !nd.tensor<f64, b: 2, r: 9, c: 6, o: 5> {
  ^bb0(%s: f64, %t: f64):
    %m = arith.addf %s, %t : f64
    nd.yield %m : f64
  }
  %h = nd.pointwise %q, %bias : (!nd.tensor<f64, b: 2, r: 9, c: 6, o: 5>, !f64_o) -> !nd.tensor<f64, b: 2, r: 9, c: 6, o: 5> {
  ^bb0(%s: f64, %t: f64):
    %u = arith.addf %s, %t : f64
    %z = arith.constant 0.0 : f64
    %m = arith.maximumf %u, %z : f64
    nd.yield %m : f64
  }
  %i = nd.window %h r -> pr size 3 stride 2 pad 1, 1 exclude : !nd.tensor<f64, b: 2, r: 9, c: 6, o: 5> -> !nd.tensor<f64, b: 2, r: 5, c: 6, o: 5, pr: 3>
  %j = nd.reduce %i over [pr] neutral [0xFFF0000000000000 : f64] : (!nd.tensor<f64, b: 2, r: 5, c: 6, o: 5, pr: 3>) -> !nd.tensor<f64, b: 2, r: 5, c: 6, o: 5> {
  ^bb0(%s: f64, %t: f64):
    %m = arith.maximumf %s, %t : f64
    nd.yield %m : f64
  }
  %l = nd.pointwise %j, %v : (!nd.tensor<f64, b: 2, r: 5, c: 6, o: 5>, !f64_o_y) -> !nd.tensor<f64, b: 2, r: 5, c: 6, o: 5, y: 3> {
  ^bb0(%s: f64, %t: f64):
    %m = arith.mulf %s, %t : f64
    nd.yield %m : f64
  }
  %k = nd.reduce %l over [r, c, o] neutral [0.0 : f64] : (!nd.tensor<f64, b: 2, r: 5, c: 6, o: 5, y: 3>) -> !f64_b_y {
  ^bb0(%s: f64, %t: f64):
    %m = arith.addf %s, %t : f64
    nd.yield %m : f64
  }
  return %k : !f64_b_y
}
func.func @differences(%x: !f64_b_r_c, %w: !f64_kr_kc_o, %bias: !f64_o, %v: !f64_o_y, %g: !f64_b_y) {
  %dx = nd.pointwise %x : (!f64_b_r_c) -> !f64_b_r_c {
  ^bb0(%s0: f64):
    %one = arith.constant 1.0 : f64
    %q = arith.mulf %s0, %s0 : f64
    %r = arith.subf %one, %q : f64
    nd.yield %r : f64
  }
  %up_x = nd.pointwise %x, %dx : (!f64_b_r_c, !f64_b_r_c) -> !f64_b_r_c {
  ^bb0(%s0: f64, %s1: f64):
    %h = arith.constant 1.0e-6 : f64
    %r = math.fma %s1, %h, %s0 : f64
    nd.yield %r : f64
  }
  %down_x = nd.pointwise %x, %dx : (!f64_b_r_c, !f64_b_r_c) -> !f64_b_r_c {
  ^bb0(%s0: f64, %s1: f64):
    %h = arith.constant -1.0e-6 : f64
    %r = math.fma %s1, %h, %s0 : f64
    nd.yield %r : f64
  }
  %dw = nd.pointwise %w : (!f64_kr_kc_o) -> !f64_kr_kc_o {
  ^bb0(%s0: f64):
    %one = arith.constant 1.0 : f64
    %q = arith.mulf %s0, %s0 : f64
    %r = arith.subf %one, %q : f64
    nd.yield %r : f64
  }
  %up_w = nd.pointwise %w, %dw : (!f64_kr_kc_o, !f64_kr_kc_o) -> !f64_kr_kc_o {
  ^bb0(%s0: f64, %s1: f64):
    %h = arith.constant 1.0e-6 : f64
    %r = math.fma %s1, %h, %s0 : f64
    nd.yield %r : f64
  }
  %down_w = nd.pointwise %w, %dw : (!f64_kr_kc_o, !f64_kr_kc_o) -> !f64_kr_kc_o {
  ^bb0(%s0: f64, %s1: f64):
    %h = arith.constant -1.0e-6 : f64
    %r = math.fma %s1, %h, %s0 : f64
    nd.yield %r : f64
  }
  %dbias = nd.pointwise %bias : (!f64_o) -> !f64_o {
  ^bb0(%s0: f64):
    %one = arith.constant 1.0 : f64
    %q = arith.mulf %s0, %s0 : f64
    %r = arith.subf %one, %q : f64
    nd.yield %r : f64
  }
  %up_bias = nd.pointwise %bias, %dbias : (!f64_o, !f64_o) -> !f64_o {
  ^bb0(%s0: f64, %s1: f64):
    %h = arith.constant 1.0e-6 : f64
    %r = math.fma %s1, %h, %s0 : f64
    nd.yield %r : f64
  }
  %down_bias = nd.pointwise %bias, %dbias : (!f64_o, !f64_o) -> !f64_o {
  ^bb0(%s0: f64, %s1: f64):
    %h = arith.constant -1.0e-6 : f64
    %r = math.fma %s1, %h, %s0 : f64
    nd.yield %r : f64
  }
  %dv = nd.pointwise %v : (!f64_o_y) -> !f64_o_y {
  ^bb0(%s0: f64):
    %one = arith.constant 1.0 : f64
    %q = arith.mulf %s0, %s0 : f64
    %r = arith.subf %one, %q : f64
    nd.yield %r : f64
  }
  %up_v = nd.pointwise %v, %dv : (!f64_o_y, !f64_o_y) -> !f64_o_y {
  ^bb0(%s0: f64, %s1: f64):
    %h = arith.constant 1.0e-6 : f64
    %r = math.fma %s1, %h, %s0 : f64
    nd.yield %r : f64
  }
  %down_v = nd.pointwise %v, %dv : (!f64_o_y, !f64_o_y) -> !f64_o_y {
  ^bb0(%s0: f64, %s1: f64):
    %h = arith.constant -1.0e-6 : f64
    %r = math.fma %s1, %h, %s0 : f64
    nd.yield %r : f64
  }
  %up = nd.call @network(%up_x, %up_w, %up_bias, %up_v) : (!f64_b_r_c, !f64_kr_kc_o, !f64_o, !f64_o_y) -> !f64_b_y
  %down = nd.call @network(%down_x, %down_w, %down_bias, %down_v) : (!f64_b_r_c, !f64_kr_kc_o, !f64_o, !f64_o_y) -> !f64_b_y
  %difference = nd.pointwise %up, %down : (!f64_b_y, !f64_b_y) -> !f64_b_y {
  ^bb0(%s0: f64, %s1: f64):
    %half = arith.constant 5.0e5 : f64
    %m = arith.subf %s0, %s1 : f64
    %r = arith.mulf %m, %half : f64
    nd.yield %r : f64
  }
  %slope_p = nd.pointwise %difference, %g : (!f64_b_y, !f64_b_y) -> !f64_b_y {
  ^bb0(%s0: f64, %s1: f64):
    %r = arith.mulf %s0, %s1 : f64
    nd.yield %r : f64
  }
  %slope = nd.reduce %slope_p over [b, y] neutral [0.0 : f64] : (!f64_b_y) -> !nd.tensor<f64> {
  ^bb0(%s: f64, %t: f64):
    %r = arith.addf %s, %t : f64
    nd.yield %r : f64
  }
  %0:5 = nd.vjp @network(%x, %w, %bias, %v) cotangents(%g) wrt [0, 1, 2, 3] : (!f64_b_r_c, !f64_kr_kc_o, !f64_o, !f64_o_y, !f64_b_y) -> (!f64_b_y, !f64_b_r_c, !f64_kr_kc_o, !f64_o, !f64_o_y)
  %by_x_p = nd.pointwise %0#1, %dx : (!f64_b_r_c, !f64_b_r_c) -> !f64_b_r_c {
  ^bb0(%s0: f64, %s1: f64):
    %r = arith.mulf %s0, %s1 : f64
    nd.yield %r : f64
  }
  %by_x = nd.reduce %by_x_p over [b, c, r] neutral [0.0 : f64] : (!f64_b_r_c) -> !nd.tensor<f64> {
  ^bb0(%s: f64, %t: f64):
    %r = arith.addf %s, %t : f64
    nd.yield %r : f64
  }
  %by_w_p = nd.pointwise %0#2, %dw : (!f64_kr_kc_o, !f64_kr_kc_o) -> !f64_kr_kc_o {
  ^bb0(%s0: f64, %s1: f64):
    %r = arith.mulf %s0, %s1 : f64
    nd.yield %r : f64
  }
  %by_w = nd.reduce %by_w_p over [kc, kr, o] neutral [0.0 : f64] : (!f64_kr_kc_o) -> !nd.tensor<f64> {
  ^bb0(%s: f64, %t: f64):
    %r = arith.addf %s, %t : f64
    nd.yield %r : f64
  }
  %by_bias_p = nd.pointwise %0#3, %dbias : (!f64_o, !f64_o) -> !f64_o {
  ^bb0(%s0: f64, %s1: f64):
    %r = arith.mulf %s0, %s1 : f64
    nd.yield %r : f64
  }
  %by_bias = nd.reduce %by_bias_p over [o] neutral [0.0 : f64] : (!f64_o) -> !nd.tensor<f64> {
  ^bb0(%s: f64, %t: f64):
    %r = arith.addf %s, %t : f64
    nd.yield %r : f64
  }
  %by_v_p = nd.pointwise %0#4, %dv : (!f64_o_y, !f64_o_y) -> !f64_o_y {
  ^bb0(%s0: f64, %s1: f64):
    %r = arith.mulf %s0, %s1 : f64
    nd.yield %r : f64
  }
  %by_v = nd.reduce %by_v_p over [o, y] neutral [0.0 : f64] : (!f64_o_y) -> !nd.tensor<f64> {
  ^bb0(%s: f64, %t: f64):
    %r = arith.addf %s, %t : f64
    nd.yield %r : f64
  }
  %gradient = nd.pointwise %by_x, %by_w, %by_bias, %by_v : (!nd.tensor<f64>, !nd.tensor<f64>, !nd.tensor<f64>, !nd.tensor<f64>) -> !nd.tensor<f64> {
  ^bb0(%s0: f64, %s1: f64, %s2: f64, %s3: f64):
    %p = arith.addf %s0, %s1 : f64
    %q = arith.addf %s2, %s3 : f64
    %r = arith.addf %p, %q : f64
    nd.yield %r : f64
  }
  check.expect_close %gradient, %slope {atol = 1.0e-6 : f64, rtol = 1.0e-6 : f64} : !nd.tensor<f64>
  %1:2 = nd.jvp @network(%x, %w, %bias, %v) tangents(%dx, %dw, %dbias, %dv) wrt [0, 1, 2, 3] : (!f64_b_r_c, !f64_kr_kc_o, !f64_o, !f64_o_y, !f64_b_r_c, !f64_kr_kc_o, !f64_o, !f64_o_y) -> (!f64_b_y, !f64_b_y)
  %tangent_p = nd.pointwise %1#1, %g : (!f64_b_y, !f64_b_y) -> !f64_b_y {
  ^bb0(%s0: f64, %s1: f64):
    %r = arith.mulf %s0, %s1 : f64
    nd.yield %r : f64
  }
  %tangent = nd.reduce %tangent_p over [b, y] neutral [0.0 : f64] : (!f64_b_y) -> !nd.tensor<f64> {
  ^bb0(%s: f64, %t: f64):
    %r = arith.addf %s, %t : f64
    nd.yield %r : f64
  }
  check.expect_close %tangent, %slope {atol = 1.0e-6 : f64, rtol = 1.0e-6 : f64} : !nd.tensor<f64>
  return
}

// Slopes by hand: of a remainder by a divisor that moves, and of powers.
func.func private @remainder(%x: !f64_n, %y: !f64_n) -> !f64_n {
  %0 = nd.pointwise %x, %y : (!f64_n, !f64_n) -> !f64_n {
  ^bb0(%a: f64, %b: f64):
    %r = arith.remf %a, %b : f64
    nd.yield %r : f64
  }
  return %0 : !f64_n
}
func.func private @power(%x: !f64_n, %y: !f64_n) -> !f64_n {
  %0 = nd.pointwise %x, %y : (!f64_n, !f64_n) -> !f64_n {
  ^bb0(%a: f64, %b: f64):
    %r = math.powf %a, %b : f64
    nd.yield %r : f64
  }
  return %0 : !f64_n
}
func.func @by_hand() {
  %g = nd.constant dense<[1.0, 2.0, 1.0, 1.0]> : tensor<4xf64> by [n] : !f64_n
  %x = nd.constant dense<[7.5, -7.5, 0.5, 9.0]> : tensor<4xf64> by [n] : !f64_n
  %y = nd.constant dense<[2.0, 2.0, 2.0, -4.0]> : tensor<4xf64> by [n] : !f64_n
  %0:3 = nd.vjp @remainder(%x, %y) cotangents(%g) wrt [0, 1] : (!f64_n, !f64_n, !f64_n) -> (!f64_n, !f64_n, !f64_n)
  check.expect_eq_const %0#0 is dense<[1.5, -1.5, 0.5, 1.0]> : tensor<4xf64> by [n] : !f64_n
  check.expect_eq_const %0#1 is dense<[1.0, 2.0, 1.0, 1.0]> : tensor<4xf64> by [n] : !f64_n
  check.expect_close_const %0#2 is dense<[-3.0, 6.0, 0.0, 2.0]> : tensor<4xf64> by [n] : !f64_n
  %p = nd.constant dense<[2.0, 0.0, 0.0, 1.0]> : tensor<4xf64> by [n] : !f64_n
  %q = nd.constant dense<[3.0, 0.0, 2.0, 5.0]> : tensor<4xf64> by [n] : !f64_n
  %1:3 = nd.vjp @power(%p, %q) cotangents(%g) wrt [0, 1] : (!f64_n, !f64_n, !f64_n) -> (!f64_n, !f64_n, !f64_n)
  check.expect_close_const %1#0 is dense<[8.0, 1.0, 0.0, 1.0]> : tensor<4xf64> by [n] : !f64_n
  check.expect_close_const %1#1 is dense<[12.0, 0.0, 0.0, 5.0]> : tensor<4xf64> by [n] : !f64_n
  check.expect_close_const %1#2 is dense<[5.545177444479562, 0.0, 0.0, 0.0]> : tensor<4xf64> by [n] : !f64_n
  return
}

// Updates of one element share the gradient of a maximum where they are equal; of a product each gets the
// product of all others, whether or not some are zero.
func.func private @largest(%x: !a, %u: !i) -> !a {
  %k = nd.constant dense<[0, 0, 1, 1, 9]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %0 = nd.scatter %u into %x [a] at %k : (!a, !i, !nd.tensor<i32, i: 5>) -> !a {
  ^bb0(%p: f32, %q: f32):
    %1 = arith.maximumf %p, %q : f32
    nd.yield %1 : f32
  }
  return %0 : !a
}
func.func private @multiplied(%x: !a, %u: !i) -> !a {
  %k = nd.constant dense<[0, 0, 1, 1, 9]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %0 = nd.scatter %u into %x [a] at %k : (!a, !i, !nd.tensor<i32, i: 5>) -> !a {
  ^bb0(%p: f32, %q: f32):
    %1 = arith.mulf %p, %q : f32
    nd.yield %1 : f32
  }
  return %0 : !a
}
func.func @meeting() {
  %x = nd.constant dense<[2.0, 5.0, 7.0]> : tensor<3xf32> by [a] : !a
  %u = nd.constant dense<[3.0, 3.0, 5.0, 1.0, 8.0]> : tensor<5xf32> by [i] : !i
  %g = nd.constant dense<[4.0, 6.0, 8.0]> : tensor<3xf32> by [a] : !a
  %0:3 = nd.vjp @largest(%x, %u) cotangents(%g) wrt [0, 1] : (!a, !i, !a) -> (!a, !a, !i)
  check.expect_eq_const %0#1 is dense<[0.0, 3.0, 8.0]> : tensor<3xf32> by [a] : !a
  check.expect_eq_const %0#2 is dense<[2.0, 2.0, 3.0, 0.0, 0.0]> : tensor<5xf32> by [i] : !i
  %v = nd.constant dense<[3.0, 5.0, 0.0, 4.0, 8.0]> : tensor<5xf32> by [i] : !i
  %1:3 = nd.vjp @multiplied(%x, %v) cotangents(%g) wrt [0, 1] : (!a, !i, !a) -> (!a, !a, !i)
  check.expect_eq_const %1#1 is dense<[60.0, 0.0, 8.0]> : tensor<3xf32> by [a] : !a
  check.expect_eq_const %1#2 is dense<[40.0, 24.0, 120.0, 0.0, 0.0]> : tensor<5xf32> by [i] : !i
  return
}
