// Floats of 8 bits: stored as such, computed in f32.
// RUN: heddle-run %s --compare

!n = !nd.tensor<f32, n: 33>

// To the nearest, ties to even; subnormal numbers, the smallest of which is 2^-9 or 2^-16; zeros keep their sign.
func.func @rounds() {
  %a = nd.constant dense<[1.0, 1.0625, 1.1875, -1.1875, 448.0, 0.001953125, 0.00097, 0.0029, -0.0146484375, 3.0e-5, -0.0, 17.0, 19.0]> : tensor<13xf32> by [n] : !nd.tensor<f32, n: 13>
  %0 = nd.pointwise %a : (!nd.tensor<f32, n: 13>) -> !nd.tensor<f8E4M3FN, n: 13> {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f8E4M3FN
    nd.yield %y : f8E4M3FN
  }
  check.expect_eq_const %0 is dense<[1.0, 1.0, 1.25, -1.25, 448.0, 0.001953125, 0.0, 0.001953125, -0.015625, 0.0, -0.0, 16.0, 20.0]> : tensor<13xf8E4M3FN> by [n] : !nd.tensor<f8E4M3FN, n: 13>
  %1 = nd.pointwise %a : (!nd.tensor<f32, n: 13>) -> !nd.tensor<f8E5M2, n: 13> {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f8E5M2
    nd.yield %y : f8E5M2
  }
  check.expect_eq_const %1 is dense<[1.0, 1.0, 1.25, -1.25, 448.0, 0.001953125, 9.765625e-04, 0.0029296875, -0.015625, 3.0517578125e-05, -0.0, 16.0, 20.0]> : tensor<13xf8E5M2> by [n] : !nd.tensor<f8E5M2, n: 13>
  return
}

// A product, accumulated in f32 and stored in f8.
func.func @matmul(%a: !nd.tensor<f8E4M3FN, k: 37, m: 19>, %b: !nd.tensor<f8E4M3FN, k: 37, n: 21>) -> (!nd.tensor<f32, m: 19, n: 21>, !nd.tensor<f8E5M2, m: 19, n: 21>) {
  %0 = nd.pointwise %a, %b : (!nd.tensor<f8E4M3FN, k: 37, m: 19>, !nd.tensor<f8E4M3FN, k: 37, n: 21>) -> !nd.tensor<f32, k: 37, m: 19, n: 21> {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN):
    %p = arith.extf %x : f8E4M3FN to f32
    %q = arith.extf %y : f8E4M3FN to f32
    %r = arith.mulf %p, %q : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %0 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 37, m: 19, n: 21>) -> !nd.tensor<f32, m: 19, n: 21> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!nd.tensor<f32, m: 19, n: 21>) -> !nd.tensor<f8E5M2, m: 19, n: 21> {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f8E5M2
    nd.yield %y : f8E5M2
  }
  return %1, %2 : !nd.tensor<f32, m: 19, n: 21>, !nd.tensor<f8E5M2, m: 19, n: 21>
}

// Elements that are only moved keep their bits; the largest of a window is one of its elements.
func.func @moved(%a: !nd.tensor<f8E5M2, column: 9, row: 14>, %i: !nd.tensor<i32, p: 5>) -> (!nd.tensor<f8E5M2, column: 9, p: 5>, !nd.tensor<f8E5M2, column: 9, row: 7>, !nd.tensor<f8E5M2, column: 9, row: 28>) {
  %0 = nd.gather %a [row] at %i : (!nd.tensor<f8E5M2, column: 9, row: 14>, !nd.tensor<i32, p: 5>) -> !nd.tensor<f8E5M2, column: 9, p: 5>
  %1 = nd.window %a row -> k size 2 stride 2 : !nd.tensor<f8E5M2, column: 9, row: 14> -> !nd.tensor<f8E5M2, column: 9, k: 2, row: 7>
  %2 = nd.reduce %1 over [k] neutral [0xFC : f8E5M2] : (!nd.tensor<f8E5M2, column: 9, k: 2, row: 7>) -> !nd.tensor<f8E5M2, column: 9, row: 7> {
  ^bb0(%x: f8E5M2, %y: f8E5M2):
    %s = arith.maximumf %x, %y : f8E5M2
    nd.yield %s : f8E5M2
  }
  %3 = nd.concat %a, %a along row : (!nd.tensor<f8E5M2, column: 9, row: 14>, !nd.tensor<f8E5M2, column: 9, row: 14>) -> !nd.tensor<f8E5M2, column: 9, row: 28>
  return %0, %2, %3 : !nd.tensor<f8E5M2, column: 9, p: 5>, !nd.tensor<f8E5M2, column: 9, row: 7>, !nd.tensor<f8E5M2, column: 9, row: 28>
}

// Forced to 8 bits within an f32, and a gradient through both types.
func.func @forced(%a: !n) -> (!n, !n) {
  %0 = nd.round %a to f8E4M3FN : !n -> !n
  %1 = nd.round %a to f8E5M2 : !n -> !n
  return %0, %1 : !n, !n
}

func.func private @square(%x: !nd.tensor<f8E4M3FN, n: 33> {nd.name = "x"}) -> (!nd.tensor<f32> {nd.name = "y"}) {
  %0 = nd.pointwise %x : (!nd.tensor<f8E4M3FN, n: 33>) -> !n {
  ^bb0(%a: f8E4M3FN):
    %w = arith.extf %a : f8E4M3FN to f32
    %p = arith.mulf %w, %w : f32
    nd.yield %p : f32
  }
  %1 = nd.reduce %0 over [n] neutral [0.0 : f32] : (!n) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  return %1 : !nd.tensor<f32>
}
func.func @gradient(%x: !nd.tensor<f8E4M3FN, n: 33>) -> !nd.tensor<f8E4M3FN, n: 33> {
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:2 = nd.vjp @square(%x) cotangents(%one) wrt [0] : (!nd.tensor<f8E4M3FN, n: 33>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f8E4M3FN, n: 33>)
  return %0#1 : !nd.tensor<f8E4M3FN, n: 33>
}
