// The value of a function and gradients of some of its arguments.
// RUN: heddle-run %s --compare

func.func private @loss(%w: !nd.tensor<f32, k: 3>, %x: !nd.tensor<f32, k: 3>) -> !nd.tensor<f32> {
  %p = nd.pointwise %w, %x : (!nd.tensor<f32, k: 3>, !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.mulf %m, %a : f32
    nd.yield %r : f32
  }
  %s = nd.reduce %p over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32>
}

// sum of w^2 x: 2 w x by w, w^2 by x; cotangent 2.
func.func @squares() {
  %w = nd.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [k] : !nd.tensor<f32, k: 3>
  %x = nd.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32> by [k] : !nd.tensor<f32, k: 3>
  %g = nd.constant dense<2.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:3 = nd.vjp @loss(%w, %x) cotangents(%g) wrt [1, 0] : (!nd.tensor<f32, k: 3>, !nd.tensor<f32, k: 3>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, k: 3>, !nd.tensor<f32, k: 3>)
  check.expect_eq_const %0#0 is dense<78.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %0#1 is dense<[2.0, 8.0, 18.0]> : tensor<3xf32> by [k] : !nd.tensor<f32, k: 3>
  check.expect_eq_const %0#2 is dense<[16.0, 40.0, 72.0]> : tensor<3xf32> by [k] : !nd.tensor<f32, k: 3>
  return
}

// A small network: convolution, bias, relu, max-pooling, linear; gradients of everything.
func.func private @network(%x: !nd.tensor<f32, b: 2, r: 9, c: 7>, %w: !nd.tensor<f32, kr: 3, kc: 2, o: 5>, %bias: !nd.tensor<f32, o: 5>, %v: !nd.tensor<f32, o: 5, y: 3>) -> !nd.tensor<f32, b: 2, y: 3> {
  %a = nd.window %x r -> kr size 3 pad 1, 1 value 0.0 : f32 : !nd.tensor<f32, b: 2, r: 9, c: 7> -> !nd.tensor<f32, b: 2, r: 9, c: 7, kr: 3>
  %e = nd.window %a c -> kc size 2 : !nd.tensor<f32, b: 2, r: 9, c: 7, kr: 3> -> !nd.tensor<f32, b: 2, r: 9, c: 6, kr: 3, kc: 2>
  %p = nd.pointwise %e, %w : (!nd.tensor<f32, b: 2, r: 9, c: 6, kr: 3, kc: 2>, !nd.tensor<f32, kr: 3, kc: 2, o: 5>) -> !nd.tensor<f32, b: 2, r: 9, c: 6, kr: 3, kc: 2, o: 5> {
  ^bb0(%s: f32, %t: f32):
    %m = arith.mulf %s, %t : f32
    nd.yield %m : f32
  }
  %q = nd.reduce %p over [kr, kc] neutral [0.0 : f32] : (!nd.tensor<f32, b: 2, r: 9, c: 6, kr: 3, kc: 2, o: 5>) -> !nd.tensor<f32, b: 2, r: 9, c: 6, o: 5> {
  ^bb0(%s: f32, %t: f32):
    %m = arith.addf %s, %t : f32
    nd.yield %m : f32
  }
  %h = nd.pointwise %q, %bias : (!nd.tensor<f32, b: 2, r: 9, c: 6, o: 5>, !nd.tensor<f32, o: 5>) -> !nd.tensor<f32, b: 2, r: 9, c: 6, o: 5> {
  ^bb0(%s: f32, %t: f32):
    %u = arith.addf %s, %t : f32
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %u, %z : f32
    nd.yield %m : f32
  }
  %i = nd.window %h r -> pr size 3 stride 2 pad 1, 1 exclude : !nd.tensor<f32, b: 2, r: 9, c: 6, o: 5> -> !nd.tensor<f32, b: 2, r: 5, c: 6, o: 5, pr: 3>
  %j = nd.reduce %i over [pr] neutral [0xFF800000 : f32] : (!nd.tensor<f32, b: 2, r: 5, c: 6, o: 5, pr: 3>) -> !nd.tensor<f32, b: 2, r: 5, c: 6, o: 5> {
  ^bb0(%s: f32, %t: f32):
    %m = arith.maximumf %s, %t : f32
    nd.yield %m : f32
  }
  %l = nd.pointwise %j, %v : (!nd.tensor<f32, b: 2, r: 5, c: 6, o: 5>, !nd.tensor<f32, o: 5, y: 3>) -> !nd.tensor<f32, b: 2, r: 5, c: 6, o: 5, y: 3> {
  ^bb0(%s: f32, %t: f32):
    %m = arith.mulf %s, %t : f32
    nd.yield %m : f32
  }
  %k = nd.reduce %l over [r, c, o] neutral [0.0 : f32] : (!nd.tensor<f32, b: 2, r: 5, c: 6, o: 5, y: 3>) -> !nd.tensor<f32, b: 2, y: 3> {
  ^bb0(%s: f32, %t: f32):
    %m = arith.addf %s, %t : f32
    nd.yield %m : f32
  }
  return %k : !nd.tensor<f32, b: 2, y: 3>
}
func.func @gradients(%x: !nd.tensor<f32, b: 2, r: 9, c: 7>, %w: !nd.tensor<f32, kr: 3, kc: 2, o: 5>, %bias: !nd.tensor<f32, o: 5>, %v: !nd.tensor<f32, o: 5, y: 3>, %g: !nd.tensor<f32, b: 2, y: 3>)
    -> (!nd.tensor<f32, b: 2, y: 3>, !nd.tensor<f32, b: 2, r: 9, c: 7>, !nd.tensor<f32, kr: 3, kc: 2, o: 5>, !nd.tensor<f32, o: 5>, !nd.tensor<f32, o: 5, y: 3>) {
  %0:5 = nd.vjp @network(%x, %w, %bias, %v) cotangents(%g) wrt [0, 1, 2, 3]
    : (!nd.tensor<f32, b: 2, r: 9, c: 7>, !nd.tensor<f32, kr: 3, kc: 2, o: 5>, !nd.tensor<f32, o: 5>, !nd.tensor<f32, o: 5, y: 3>, !nd.tensor<f32, b: 2, y: 3>)
    -> (!nd.tensor<f32, b: 2, y: 3>, !nd.tensor<f32, b: 2, r: 9, c: 7>, !nd.tensor<f32, kr: 3, kc: 2, o: 5>, !nd.tensor<f32, o: 5>, !nd.tensor<f32, o: 5, y: 3>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : !nd.tensor<f32, b: 2, y: 3>, !nd.tensor<f32, b: 2, r: 9, c: 7>, !nd.tensor<f32, kr: 3, kc: 2, o: 5>, !nd.tensor<f32, o: 5>, !nd.tensor<f32, o: 5, y: 3>
}

// Updates that meet at a place share the gradient of a maximum where they are equal; of a product each gets the
// product of all others, whether or not some are zero.
func.func private @largest(%x: !nd.tensor<f32, a: 3>, %u: !nd.tensor<f32, i: 5>) -> !nd.tensor<f32, a: 3> {
  %k = nd.constant dense<[0, 0, 1, 1, 9]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %0 = nd.scatter %u into %x [a] at %k : (!nd.tensor<f32, a: 3>, !nd.tensor<f32, i: 5>, !nd.tensor<i32, i: 5>) -> !nd.tensor<f32, a: 3> {
  ^bb0(%p: f32, %q: f32):
    %1 = arith.maximumf %p, %q : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, a: 3>
}
func.func private @multiplied(%x: !nd.tensor<f32, a: 3>, %u: !nd.tensor<f32, i: 5>) -> !nd.tensor<f32, a: 3> {
  %k = nd.constant dense<[0, 0, 1, 1, 9]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %0 = nd.scatter %u into %x [a] at %k : (!nd.tensor<f32, a: 3>, !nd.tensor<f32, i: 5>, !nd.tensor<i32, i: 5>) -> !nd.tensor<f32, a: 3> {
  ^bb0(%p: f32, %q: f32):
    %1 = arith.mulf %p, %q : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, a: 3>
}
func.func @meeting() {
  %x = nd.constant dense<[2.0, 5.0, 7.0]> : tensor<3xf32> by [a] : !nd.tensor<f32, a: 3>
  %u = nd.constant dense<[3.0, 3.0, 5.0, 1.0, 8.0]> : tensor<5xf32> by [i] : !nd.tensor<f32, i: 5>
  %g = nd.constant dense<[4.0, 6.0, 8.0]> : tensor<3xf32> by [a] : !nd.tensor<f32, a: 3>
  %0:3 = nd.vjp @largest(%x, %u) cotangents(%g) wrt [0, 1] : (!nd.tensor<f32, a: 3>, !nd.tensor<f32, i: 5>, !nd.tensor<f32, a: 3>) -> (!nd.tensor<f32, a: 3>, !nd.tensor<f32, a: 3>, !nd.tensor<f32, i: 5>)
  check.expect_eq_const %0#1 is dense<[0.0, 3.0, 8.0]> : tensor<3xf32> by [a] : !nd.tensor<f32, a: 3>
  check.expect_eq_const %0#2 is dense<[2.0, 2.0, 3.0, 0.0, 0.0]> : tensor<5xf32> by [i] : !nd.tensor<f32, i: 5>
  %v = nd.constant dense<[3.0, 5.0, 0.0, 4.0, 8.0]> : tensor<5xf32> by [i] : !nd.tensor<f32, i: 5>
  %1:3 = nd.vjp @multiplied(%x, %v) cotangents(%g) wrt [0, 1] : (!nd.tensor<f32, a: 3>, !nd.tensor<f32, i: 5>, !nd.tensor<f32, a: 3>) -> (!nd.tensor<f32, a: 3>, !nd.tensor<f32, a: 3>, !nd.tensor<f32, i: 5>)
  check.expect_eq_const %1#1 is dense<[60.0, 0.0, 8.0]> : tensor<3xf32> by [a] : !nd.tensor<f32, a: 3>
  check.expect_eq_const %1#2 is dense<[40.0, 24.0, 120.0, 0.0, 0.0]> : tensor<5xf32> by [i] : !nd.tensor<f32, i: 5>
  return
}
