// A loop nest: reads by maps, a body, a combiner over reduced names, an epilogue.
// RUN: heddle-run %s --compare

!i32_n = !nd.tensor<i32, n: 3>
!i32_m = !nd.tensor<i32, m: 2>

// Maps: strides, sums of names, floordiv and mod, constants.
func.func @maps() {
  %x = nd.iota n : !nd.tensor<i32, n: 12>
  %a = nest.compute (i: 3, j: 2) reads %x[n = 4 * i + j + 1] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } : (!nd.tensor<i32, n: 12>) -> !nd.tensor<i32, i: 3, j: 2>
  check.expect_eq_const %a is dense<[[1, 2], [5, 6], [9, 10]]> : tensor<3x2xi32> by [i, j] : !nd.tensor<i32, i: 3, j: 2>
  %b = nest.compute (n: 12) reads %a[i = n floordiv 4, j = n mod 2] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } : (!nd.tensor<i32, i: 3, j: 2>) -> !nd.tensor<i32, n: 12>
  check.expect_eq_const %b is dense<[1, 2, 1, 2, 5, 6, 5, 6, 9, 10, 9, 10]> : tensor<12xi32> by [n] : !nd.tensor<i32, n: 12>
  %c = nest.compute (k: 2) reads %a[i = 2, j = 1 - k] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } : (!nd.tensor<i32, i: 3, j: 2>) -> !nd.tensor<i32, k: 2>
  check.expect_eq_const %c is dense<[10, 9]> : tensor<2xi32> by [k] : !nd.tensor<i32, k: 2>
  return
}

// A guard reads a stated value where it fails; all its conditions must hold.
func.func @guards() {
  %x = nd.constant dense<[1, 2, 3]> : tensor<3xi32> by [n] : !i32_n
  %a = nest.compute (n: 6) reads %x[n = n - 2] if [n - 2 >= 0, 4 - n >= 0] else 9 : i32 {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } : (!i32_n) -> !nd.tensor<i32, n: 6>
  check.expect_eq_const %a is dense<[9, 9, 1, 2, 3, 9]> : tensor<6xi32> by [n] : !nd.tensor<i32, n: 6>
  %b = nest.compute (n: 5) reads %x[n = n floordiv 2] if [n mod 2 == 0] else 0 : i32 {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } : (!i32_n) -> !nd.tensor<i32, n: 5>
  check.expect_eq_const %b is dense<[1, 0, 2, 0, 3]> : tensor<5xi32> by [n] : !nd.tensor<i32, n: 5>
  return
}

// A guard without `else` leaves the point out, even where the neutral element would win.
func.func @excluded() {
  %x = nd.constant dense<[-5, -1, -3]> : tensor<3xi32> by [n] : !i32_n
  %a = nest.compute (n: 3) reduce (k: 3) reads %x[n = n + k - 1] if [n + k - 1 >= 0, 3 - n - k >= 0] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } combine max [-2147483648 : i32] : (!i32_n) -> !i32_n
  check.expect_eq_const %a is dense<[-1, -1, -1]> : tensor<3xi32> by [n] : !i32_n
  return
}

// The epilogue sees each accumulator once, with reads of its own.
func.func @finish() {
  %x = nd.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [m, k] : !nd.tensor<i32, k: 3, m: 2>
  %y = nd.constant dense<[100, 200]> : tensor<2xi32> by [m] : !i32_m
  %a = nest.compute (m: 2) reduce (k: 3) reads %x[] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } combine add [0 : i32] finish reads %y[m = 1 - m] {
  ^bb0(%sum: i32, %w: i32):
    %r = arith.subi %w, %sum : i32
    nest.yield %r : i32
  } : (!nd.tensor<i32, k: 3, m: 2>, !i32_m) -> !i32_m
  check.expect_eq_const %a is dense<[194, 85]> : tensor<2xi32> by [m] : !i32_m
  return
}

// The coordinate of a name, in the body and in the epilogue.
func.func @index() {
  %a = nest.compute (m: 3) reduce (k: 4) {
    %i = nest.index k
    %v = arith.index_cast %i : index to i32
    nest.yield %v : i32
  } combine add [0 : i32] finish {
  ^bb0(%sum: i32):
    %i = nest.index m
    %v = arith.index_cast %i : index to i32
    %r = arith.muli %sum, %v : i32
    nest.yield %r : i32
  } : () -> !nd.tensor<i32, m: 3>
  check.expect_eq_const %a is dense<[0, 6, 12]> : tensor<3xi32> by [m] : !nd.tensor<i32, m: 3>
  return
}

// A map may use the value of an earlier read: a gather is a read like any other.
func.func @gathered() {
  %x = nd.constant dense<[10, 20, 30]> : tensor<3xi32> by [n] : !i32_n
  %at = nd.constant dense<[2, 0, 1, 2]> : tensor<4xi32> by [p] : !nd.tensor<i32, p: 4>
  %a = nest.compute (p: 4) reads %at[], %x[n = read(0)] {
  ^bb0(%i: i32, %v: i32):
    %r = arith.addi %i, %v : i32
    nest.yield %r : i32
  } : (!nd.tensor<i32, p: 4>, !i32_n) -> !nd.tensor<i32, p: 4>
  check.expect_eq_const %a is dense<[32, 10, 21, 32]> : tensor<4xi32> by [p] : !nd.tensor<i32, p: 4>
  // A guard on the gathered coordinate.
  %far = nd.constant dense<[2, -7, 5, 1]> : tensor<4xi8> by [p] : !nd.tensor<i8, p: 4>
  %b = nest.compute (p: 4) reads %far[], %x[n = read(0)] if [read(0) >= 0, 2 - read(0) >= 0] else 0 : i32 {
  ^bb0(%i: i8, %v: i32):
    nest.yield %v : i32
  } : (!nd.tensor<i8, p: 4>, !i32_n) -> !nd.tensor<i32, p: 4>
  check.expect_eq_const %b is dense<[30, 0, 0, 20]> : tensor<4xi32> by [p] : !nd.tensor<i32, p: 4>
  return
}

// Several results, of which one is an accumulator with a combiner of its own.
func.func @results() {
  %x = nd.constant dense<[[3, 1, 2], [7, 9, 8]]> : tensor<2x3xi32> by [m, k] : !nd.tensor<i32, k: 3, m: 2>
  %a:2 = nest.compute (m: 2) reduce (k: 3) reads %x[] {
  ^bb0(%v: i32):
    nest.yield %v, %v : i32, i32
  } combine [0 : i32, -2147483648 : i32] {
  ^bb0(%s: i32, %m: i32, %es: i32, %em: i32):
    %r = arith.addi %s, %es : i32
    %t = arith.maxsi %m, %em : i32
    nest.yield %r, %t : i32, i32
  } : (!nd.tensor<i32, k: 3, m: 2>) -> (!i32_m, !i32_m)
  check.expect_eq_const %a#0 is dense<[6, 24]> : tensor<2xi32> by [m] : !i32_m
  check.expect_eq_const %a#1 is dense<[3, 9]> : tensor<2xi32> by [m] : !i32_m
  return
}

// An empty reduction gives the neutral element; an empty produced space gives an empty result.
func.func @empty(%x: !nd.tensor<f32, k: 0, m: 3>) -> (!nd.tensor<f32, m: 3>, !nd.tensor<f32, k: 0>, !nd.tensor<f32>) {
  %a = nest.compute (m: 3) reduce (k: 0) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, k: 0, m: 3>) -> !nd.tensor<f32, m: 3>
  %b = nest.compute (k: 0) reduce (m: 3) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 0, m: 3>) -> !nd.tensor<f32, k: 0>
  %c = nest.compute () reduce (k: 0, m: 3) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine mul [1.0 : f32] finish {
  ^bb0(%p: f32):
    %r = arith.addf %p, %p : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, k: 0, m: 3>) -> !nd.tensor<f32>
  return %a, %b, %c : !nd.tensor<f32, m: 3>, !nd.tensor<f32, k: 0>, !nd.tensor<f32>
}

// A convolution with padding, bias and relu in one nest; primes, sizes of 1, several element types.
func.func @convolution(%x: !nd.tensor<f32, b: 2, ci: 3, r: 11, c: 7>, %w: !nd.tensor<f32, ci: 3, kr: 3, kc: 2, co: 17>, %bias: !nd.tensor<f32, co: 17>) -> !nd.tensor<f32, b: 2, co: 17, r: 6, c: 7> {
  %a = nest.compute (b: 2, co: 17, r: 6, c: 7) reduce (ci: 3, kr: 3, kc: 2)
      reads %x[r = 2 * r + kr - 1, c = c + kc] if [2 * r + kr - 1 >= 0, 11 - 2 * r - kr >= 0, 6 - c - kc >= 0] else 0.0 : f32, %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] finish reads %bias[] {
  ^bb0(%sum: f32, %v: f32):
    %s = arith.addf %sum, %v : f32
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %s, %zero : f32
    nest.yield %m : f32
  } : (!nd.tensor<f32, b: 2, ci: 3, r: 11, c: 7>, !nd.tensor<f32, ci: 3, kr: 3, kc: 2, co: 17>, !nd.tensor<f32, co: 17>) -> !nd.tensor<f32, b: 2, co: 17, r: 6, c: 7>
  return %a : !nd.tensor<f32, b: 2, co: 17, r: 6, c: 7>
}
func.func @product_bf16(%x: !nd.tensor<bf16, k: 37, m: 19>, %y: !nd.tensor<bf16, n: 23, k: 37>) -> !nd.tensor<bf16, m: 19, n: 23> {
  %a = nest.compute (m: 19, n: 23) reduce (k: 37) reads %x[], %y[] {
  ^bb0(%u: bf16, %v: bf16):
    %s = arith.extf %u : bf16 to f32
    %t = arith.extf %v : bf16 to f32
    %p = arith.mulf %s, %t : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: 37, m: 19>, !nd.tensor<bf16, n: 23, k: 37>) -> !nd.tensor<bf16, m: 19, n: 23>
  return %a : !nd.tensor<bf16, m: 19, n: 23>
}
func.func @product_i8(%x: !nd.tensor<i8, k: 37, m: 1>, %y: !nd.tensor<ui8, n: 23, k: 37>) -> !nd.tensor<i32, m: 1, n: 23> {
  %a = nest.compute (m: 1, n: 23) reduce (k: 37) reads %x[], %y[] {
  ^bb0(%u: i8, %v: i8):
    %s = arith.extsi %u : i8 to i32
    %t = arith.extui %v : i8 to i32
    %p = arith.muli %s, %t : i32
    nest.yield %p : i32
  } combine add [0 : i32] : (!nd.tensor<i8, k: 37, m: 1>, !nd.tensor<ui8, n: 23, k: 37>) -> !nd.tensor<i32, m: 1, n: 23>
  return %a : !nd.tensor<i32, m: 1, n: 23>
}
func.func @product_f64(%x: !nd.tensor<f64, z: 1, k: 5, m: 13>, %y: !nd.tensor<f64, n: 3, k: 5, z: 1>) -> !nd.tensor<f64, m: 13, n: 3, z: 1> {
  %a = nest.compute (m: 13, n: 3, z: 1) reduce (k: 5) reads %x[], %y[] {
  ^bb0(%u: f64, %v: f64):
    %p = arith.mulf %u, %v : f64
    nest.yield %p : f64
  } combine add [0.0 : f64] : (!nd.tensor<f64, z: 1, k: 5, m: 13>, !nd.tensor<f64, n: 3, k: 5, z: 1>) -> !nd.tensor<f64, m: 13, n: 3, z: 1>
  return %a : !nd.tensor<f64, m: 13, n: 3, z: 1>
}
func.func @any_i1(%x: !nd.tensor<i1, k: 19, m: 5>) -> (!nd.tensor<i1, m: 5>, !nd.tensor<f16, m: 5>) {
  %a = nest.compute (m: 5) reduce (k: 19) reads %x[] {
  ^bb0(%u: i1):
    nest.yield %u : i1
  } combine or [false] : (!nd.tensor<i1, k: 19, m: 5>) -> !nd.tensor<i1, m: 5>
  %b = nest.compute (m: 5) reduce (k: 19) reads %x[] {
  ^bb0(%u: i1):
    %v = arith.uitofp %u : i1 to f32
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!nd.tensor<i1, k: 19, m: 5>) -> !nd.tensor<f16, m: 5>
  return %a, %b : !nd.tensor<i1, m: 5>, !nd.tensor<f16, m: 5>
}
