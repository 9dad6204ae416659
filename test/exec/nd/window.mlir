// A view of a sliding window: result[name = o, tap = k] = input[name = o * stride + k * dilation - low].
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --products bf16

!i32_k_n = !nd.tensor<i32, k: 3, n: 3>

func.func @taps() {
  %x = nd.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32> by [n] : !nd.tensor<i32, n: 5>
  %a = nd.window %x n -> k size 3 : !nd.tensor<i32, n: 5> -> !i32_k_n
  check.expect_eq_const %a is dense<[[1, 2, 3], [2, 3, 4], [3, 4, 5]]> : tensor<3x3xi32> by [n, k] : !i32_k_n
  %b = nd.window %x n -> k size 3 stride 2 pad 1, 1 value 0 : i32 : !nd.tensor<i32, n: 5> -> !i32_k_n
  check.expect_eq_const %b is dense<[[0, 1, 2], [2, 3, 4], [4, 5, 0]]> : tensor<3x3xi32> by [n, k] : !i32_k_n
  %c = nd.window %x n -> k size 2 dilation 3 pad 2, 0 value 7 : i32 : !nd.tensor<i32, n: 5> -> !nd.tensor<i32, k: 2, n: 4>
  check.expect_eq_const %c is dense<[[7, 2], [7, 3], [1, 4], [2, 5]]> : tensor<4x2xi32> by [n, k] : !nd.tensor<i32, k: 2, n: 4>
  return
}

// Excluded taps take no part in the reduction that follows, even where the neutral element would win.
func.func @excluded() {
  %x = nd.constant dense<[-5, -1, -3]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  %w = nd.window %x n -> k size 3 pad 1, 1 exclude : !nd.tensor<i32, n: 3> -> !i32_k_n
  %max = nd.reduce %w over [k] neutral [-2147483648 : i32] : (!i32_k_n) -> !nd.tensor<i32, n: 3> {
  ^bb0(%a: i32, %e: i32):
    %r = arith.maxsi %a, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %max is dense<[-1, -1, -1]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  %one = nd.pointwise %w : (!i32_k_n) -> !i32_k_n {
  ^bb0(%e: i32):
    %c = arith.constant 1 : i32
    nd.yield %c : i32
  }
  %count = nd.reduce %one over [k] neutral [0 : i32] : (!i32_k_n) -> !nd.tensor<i32, n: 3> {
  ^bb0(%a: i32, %e: i32):
    %r = arith.addi %a, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %count is dense<[2, 3, 2]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  return
}

// A convolution and a pooling of primes, with more names around.
func.func @convolve(%x: !nd.tensor<f32, b: 2, ci: 5, column: 11, row: 13>, %w: !nd.tensor<f32, ci: 5, co: 7, kx: 3, ky: 2>)
    -> (!nd.tensor<f32, b: 2, co: 7, column: 6, row: 12>, !nd.tensor<f32, b: 2, ci: 5, column: 6, row: 7>) {
  %wy = nd.window %x row -> ky size 2 : !nd.tensor<f32, b: 2, ci: 5, column: 11, row: 13> -> !nd.tensor<f32, b: 2, ci: 5, column: 11, ky: 2, row: 12>
  %wx = nd.window %wy column -> kx size 3 stride 2 pad 1, 1 value 0.0 : f32
      : !nd.tensor<f32, b: 2, ci: 5, column: 11, ky: 2, row: 12> -> !nd.tensor<f32, b: 2, ci: 5, column: 6, kx: 3, ky: 2, row: 12>
  %p = nd.pointwise %wx, %w : (!nd.tensor<f32, b: 2, ci: 5, column: 6, kx: 3, ky: 2, row: 12>, !nd.tensor<f32, ci: 5, co: 7, kx: 3, ky: 2>)
      -> !nd.tensor<f32, b: 2, ci: 5, co: 7, column: 6, kx: 3, ky: 2, row: 12> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  %y = nd.reduce %p over [ci, kx, ky] neutral [0.0 : f32] : (!nd.tensor<f32, b: 2, ci: 5, co: 7, column: 6, kx: 3, ky: 2, row: 12>) -> !nd.tensor<f32, b: 2, co: 7, column: 6, row: 12> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.addf %a, %e : f32
    nd.yield %r : f32
  }
  %ey = nd.window %x row -> ky size 3 stride 2 pad 1, 1 exclude : !nd.tensor<f32, b: 2, ci: 5, column: 11, row: 13> -> !nd.tensor<f32, b: 2, ci: 5, column: 11, ky: 3, row: 7>
  %ex = nd.window %ey column -> kx size 3 stride 2 pad 1, 1 exclude : !nd.tensor<f32, b: 2, ci: 5, column: 11, ky: 3, row: 7> -> !nd.tensor<f32, b: 2, ci: 5, column: 6, kx: 3, ky: 3, row: 7>
  %z = nd.reduce %ex over [kx, ky] neutral [0xFF800000 : f32] : (!nd.tensor<f32, b: 2, ci: 5, column: 6, kx: 3, ky: 3, row: 7>) -> !nd.tensor<f32, b: 2, ci: 5, column: 6, row: 7> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.maximumf %a, %e : f32
    nd.yield %r : f32
  }
  return %y, %z : !nd.tensor<f32, b: 2, co: 7, column: 6, row: 12>, !nd.tensor<f32, b: 2, ci: 5, column: 6, row: 7>
}

// The window itself as a result, in several types; a window as large as its input and one that fits nowhere.
func.func @types(%h: !nd.tensor<bf16, n: 9, z: 5>, %b: !nd.tensor<i8, n: 9>, %d: !nd.tensor<f64, n: 9>, %o: !nd.tensor<i1, n: 5>, %e: !nd.tensor<f32, n: 4, z: 0>, %s: !nd.tensor<f32, n: 2>)
    -> (!nd.tensor<bf16, k: 3, n: 4, z: 5>, !nd.tensor<i8, k: 9, n: 1>, !nd.tensor<f64, k: 1, n: 9>, !nd.tensor<i1, k: 2, n: 6>, !nd.tensor<f32, k: 2, n: 3, z: 0>, !nd.tensor<f32, k: 3, n: 0>) {
  %0 = nd.window %h n -> k size 3 stride 2 : !nd.tensor<bf16, n: 9, z: 5> -> !nd.tensor<bf16, k: 3, n: 4, z: 5>
  %1 = nd.window %b n -> k size 9 : !nd.tensor<i8, n: 9> -> !nd.tensor<i8, k: 9, n: 1>
  %2 = nd.window %d n -> k size 1 : !nd.tensor<f64, n: 9> -> !nd.tensor<f64, k: 1, n: 9>
  %3 = nd.window %o n -> k size 2 pad 1, 1 value true : !nd.tensor<i1, n: 5> -> !nd.tensor<i1, k: 2, n: 6>
  %4 = nd.window %e n -> k size 2 : !nd.tensor<f32, n: 4, z: 0> -> !nd.tensor<f32, k: 2, n: 3, z: 0>
  %5 = nd.window %s n -> k size 3 : !nd.tensor<f32, n: 2> -> !nd.tensor<f32, k: 3, n: 0>
  return %0, %1, %2, %3, %4, %5 : !nd.tensor<bf16, k: 3, n: 4, z: 5>, !nd.tensor<i8, k: 9, n: 1>, !nd.tensor<f64, k: 1, n: 9>, !nd.tensor<i1, k: 2, n: 6>, !nd.tensor<f32, k: 2, n: 3, z: 0>, !nd.tensor<f32, k: 3, n: 0>
}

// Ops between a window with excluded taps and its reduction: every second window from the second one, windows in two
// dimensions, two dimensions in one, the taps in two.
func.func @moved(%x: !nd.tensor<f32, b: 2, n: 12>) -> (!nd.tensor<f32, b: 2, n: 6>, !nd.tensor<f32, b: 2, p: 3, q: 4>, !nd.tensor<f32, m: 24>, !nd.tensor<f32, b: 2, n: 13>) {
  %w = nd.window %x n -> k size 3 pad 1, 1 exclude : !nd.tensor<f32, b: 2, n: 12> -> !nd.tensor<f32, b: 2, k: 3, n: 12>
  %0 = nd.slice %w n from 1 size 6 stride 2 : !nd.tensor<f32, b: 2, k: 3, n: 12> -> !nd.tensor<f32, b: 2, k: 3, n: 6>
  %r0 = nd.reduce %0 over [k] neutral [0xFF800000 : f32] : (!nd.tensor<f32, b: 2, k: 3, n: 6>) -> !nd.tensor<f32, b: 2, n: 6> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.maximumf %a, %e : f32
    nd.yield %r : f32
  }
  %1 = nd.split %w n into [p, q] : !nd.tensor<f32, b: 2, k: 3, n: 12> -> !nd.tensor<f32, b: 2, k: 3, p: 3, q: 4>
  %r1 = nd.reduce %1 over [k] neutral [0xFF800000 : f32] : (!nd.tensor<f32, b: 2, k: 3, p: 3, q: 4>) -> !nd.tensor<f32, b: 2, p: 3, q: 4> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.maximumf %a, %e : f32
    nd.yield %r : f32
  }
  %2 = nd.merge %w [n, b] into m : !nd.tensor<f32, b: 2, k: 3, n: 12> -> !nd.tensor<f32, k: 3, m: 24>
  %r2 = nd.reduce %2 over [k] neutral [1.0 : f32] : (!nd.tensor<f32, k: 3, m: 24>) -> !nd.tensor<f32, m: 24> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.mulf %a, %e : f32
    nd.yield %r : f32
  }
  %v = nd.window %x n -> k size 4 pad 2, 2 exclude : !nd.tensor<f32, b: 2, n: 12> -> !nd.tensor<f32, b: 2, k: 4, n: 13>
  %3 = nd.split %v k into [s, t] : !nd.tensor<f32, b: 2, k: 4, n: 13> -> !nd.tensor<f32, b: 2, n: 13, s: 2, t: 2>
  %r3 = nd.reduce %3 over [s, t] neutral [0x7F800000 : f32] : (!nd.tensor<f32, b: 2, n: 13, s: 2, t: 2>) -> !nd.tensor<f32, b: 2, n: 13> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.minimumf %a, %e : f32
    nd.yield %r : f32
  }
  return %r0, %r1, %r2, %r3 : !nd.tensor<f32, b: 2, n: 6>, !nd.tensor<f32, b: 2, p: 3, q: 4>, !nd.tensor<f32, m: 24>, !nd.tensor<f32, b: 2, n: 13>
}
