// Branches and loops over tensors: values, gradients, lifting.
// RUN: heddle-run %s --compare

!a = !nd.tensor<f32, a: 3>

func.func private @half_or_square(%x: !a, %c: !nd.tensor<i1>) -> !a {
  %i = nd.item %c : !nd.tensor<i1> -> i1
  %y = scf.if %i -> (!a) {
    %0 = nd.pointwise %x : (!a) -> !a {
    ^bb0(%v: f32):
      %h = arith.constant 0.5 : f32
      %r = arith.mulf %v, %h : f32
      nd.yield %r : f32
    }
    scf.yield %0 : !a
  } else {
    %0 = nd.pointwise %x : (!a) -> !a {
    ^bb0(%v: f32):
      %r = arith.mulf %v, %v : f32
      nd.yield %r : f32
    }
    scf.yield %0 : !a
  }
  return %y : !a
}
func.func @branches() {
  %x = nd.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [a] : !a
  %g = nd.constant dense<1.0> : tensor<3xf32> by [a] : !a
  %yes = nd.constant dense<true> : tensor<i1> by [] : !nd.tensor<i1>
  %no = nd.constant dense<false> : tensor<i1> by [] : !nd.tensor<i1>
  %0:2 = nd.vjp @half_or_square(%x, %yes) cotangents(%g) wrt [0] : (!a, !nd.tensor<i1>, !a) -> (!a, !a)
  check.expect_eq_const %0#0 is dense<[0.5, 1.0, 1.5]> : tensor<3xf32> by [a] : !a
  check.expect_eq_const %0#1 is dense<[0.5, 0.5, 0.5]> : tensor<3xf32> by [a] : !a
  %1:2 = nd.vjp @half_or_square(%x, %no) cotangents(%g) wrt [0] : (!a, !nd.tensor<i1>, !a) -> (!a, !a)
  check.expect_eq_const %1#1 is dense<[2.0, 4.0, 6.0]> : tensor<3xf32> by [a] : !a
  %2:2 = nd.jvp @half_or_square(%x, %no) tangents(%x) wrt [0] : (!a, !nd.tensor<i1>, !a) -> (!a, !a)
  check.expect_eq_const %2#0 is dense<[1.0, 4.0, 9.0]> : tensor<3xf32> by [a] : !a
  check.expect_eq_const %2#1 is dense<[2.0, 8.0, 18.0]> : tensor<3xf32> by [a] : !a
  return
}

// y <- y * x + i, for i = 1, 3, 5: y = ((1 x + 1) x + 3) x + 5 for y0 = 1.
func.func private @horner(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %y = scf.for %i = %c1 to %c6 step %c2 iter_args(%s = %one) -> (!nd.tensor<f32>) {
    %n = nd.from_item %i : index -> !nd.tensor<i64>
    %t = nd.pointwise %s, %x, %n : (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<i64>) -> !nd.tensor<f32> {
    ^bb0(%v: f32, %w: f32, %k: i64):
      %m = arith.mulf %v, %w : f32
      %f = arith.sitofp %k : i64 to f32
      %r = arith.addf %m, %f : f32
      nd.yield %r : f32
    }
    scf.yield %t : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
// The derivative of x^3 + x^2 + 3 x + 5, at 2; and lifted.
func.func @loops() {
  %x = nd.constant dense<2.0> : tensor<f32> by [] : !nd.tensor<f32>
  %d = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:2 = nd.vjp @horner(%x) cotangents(%d) wrt [0] : (!nd.tensor<f32>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  check.expect_eq_const %0#0 is dense<23.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %0#1 is dense<19.0> : tensor<f32> by [] : !nd.tensor<f32>
  %1:2 = nd.jvp @horner(%x) tangents(%d) wrt [0] : (!nd.tensor<f32>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  check.expect_eq_const %1#1 is dense<19.0> : tensor<f32> by [] : !nd.tensor<f32>
  %many = nd.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32> by [a] : !a
  %2 = nd.call @horner(%many) : (!a) -> !a
  check.expect_eq_const %2 is dense<[5.0, 10.0, 23.0]> : tensor<3xf32> by [a] : !a
  return
}

// The largest power of x below a bound, with a bounded number of steps.
func.func private @power(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %y = scf.for %i = %c0 to %c20 step %c1 iter_args(%s = %x) -> (!nd.tensor<f32>) {
    %t = nd.pointwise %s, %x : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%v: f32, %w: f32):
      %r = arith.mulf %v, %w : f32
      nd.yield %r : f32
    }
    %small = nd.pointwise %t : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%v: f32):
      %b = arith.constant 100.0 : f32
      %r = arith.cmpf olt, %v, %b : f32
      nd.yield %r : i1
    }
    %c = nd.item %small : !nd.tensor<i1> -> i1
    %u = scf.if %c -> (!nd.tensor<f32>) {
      scf.yield %t : !nd.tensor<f32>
    } else {
      scf.yield %s : !nd.tensor<f32>
    }
    scf.yield %u : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
// 3^4 = 81, whose derivative is 4 * 27.
func.func @bounded() {
  %x = nd.constant dense<3.0> : tensor<f32> by [] : !nd.tensor<f32>
  %d = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:2 = nd.vjp @power(%x) cotangents(%d) wrt [0] : (!nd.tensor<f32>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  check.expect_eq_const %0#0 is dense<81.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %0#1 is dense<108.0> : tensor<f32> by [] : !nd.tensor<f32>
  return
}

// The gradient of a loop that captures a value goes on to what follows the loop.
func.func private @followed(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %0 = nd.call @horner(%x) : (!nd.tensor<f32>) -> !nd.tensor<f32>
  %1 = nd.pointwise %0 : (!nd.tensor<f32>) -> !nd.tensor<f32> {
  ^bb0(%v: f32):
    %r = arith.mulf %v, %v : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32>
}
func.func @followed_by_more() {
  %x = nd.constant dense<2.0> : tensor<f32> by [] : !nd.tensor<f32>
  %d = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:2 = nd.vjp @followed(%x) cotangents(%d) wrt [0] : (!nd.tensor<f32>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  check.expect_eq_const %0#1 is dense<874.0> : tensor<f32> by [] : !nd.tensor<f32>
  return
}

// A loop of one step, whose counter is a constant.
func.func @one_step() {
  %x = nd.constant dense<[1, 2]> : tensor<2xi64> by [a] : !nd.tensor<i64, a: 2>
  %low = arith.constant 2 : index
  %high = arith.constant 3 : index
  %step = arith.constant 2 : index
  %y = scf.for %i = %low to %high step %step iter_args(%s = %x) -> (!nd.tensor<i64, a: 2>) {
    %n = nd.from_item %i : index -> !nd.tensor<i64>
    %0 = nd.pointwise %s, %n : (!nd.tensor<i64, a: 2>, !nd.tensor<i64>) -> !nd.tensor<i64, a: 2> {
    ^bb0(%v: i64, %k: i64):
      %r = arith.addi %v, %k : i64
      nd.yield %r : i64
    }
    scf.yield %0 : !nd.tensor<i64, a: 2>
  }
  check.expect_eq_const %y is dense<[3, 4]> : tensor<2xi64> by [a] : !nd.tensor<i64, a: 2>
  return
}
