// Other names for the same elements, and names along which a tensor repeats.
// RUN: heddle-run %s --compare

!n_m = !nd.tensor<f32, n: 13, m: 3>

func.func @swap() {
  %x = nd.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [i, j] : !nd.tensor<i32, i: 2, j: 3>
  %a = nd.rename %x [i, j] to [j, i] : !nd.tensor<i32, i: 2, j: 3> -> !nd.tensor<i32, i: 3, j: 2>
  check.expect_eq_const %a is dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [j, i] : !nd.tensor<i32, i: 3, j: 2>
  %b = nd.rename %x [i] to [z$1] : !nd.tensor<i32, i: 2, j: 3> -> !nd.tensor<i32, j: 3, z$1: 2>
  check.expect_eq_const %b is dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [z$1, j] : !nd.tensor<i32, j: 3, z$1: 2>
  return
}

func.func @repeat() {
  %x = nd.constant dense<[1, 2]> : tensor<2xi32> by [n] : !nd.tensor<i32, n: 2>
  %a = nd.broadcast %x : !nd.tensor<i32, n: 2> -> !nd.tensor<i32, a: 3, n: 2>
  check.expect_eq_const %a is dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32> by [a, n] : !nd.tensor<i32, a: 3, n: 2>
  return
}

func.func @types(%a: !n_m, %b: !nd.tensor<i8>, %c: !nd.tensor<f64, n: 1>, %d: !nd.tensor<i1, n: 0>, %e: !nd.tensor<bf16, b: 5>)
    -> (!nd.tensor<f32, n: 3, m: 13, z: 2>, !nd.tensor<i8, x: 7, y: 11>, !nd.tensor<f64, m: 0, n: 1>, !nd.tensor<i1, n: 0, m: 2>, !nd.tensor<bf16, a: 3, b: 5, c: 2>) {
  %r = nd.rename %a [m, n] to [n, m] : !n_m -> !nd.tensor<f32, n: 3, m: 13>
  %0 = nd.broadcast %r : !nd.tensor<f32, n: 3, m: 13> -> !nd.tensor<f32, n: 3, m: 13, z: 2>
  %1 = nd.broadcast %b : !nd.tensor<i8> -> !nd.tensor<i8, x: 7, y: 11>
  %2 = nd.broadcast %c : !nd.tensor<f64, n: 1> -> !nd.tensor<f64, m: 0, n: 1>
  %3 = nd.broadcast %d : !nd.tensor<i1, n: 0> -> !nd.tensor<i1, n: 0, m: 2>
  %4 = nd.broadcast %e : !nd.tensor<bf16, b: 5> -> !nd.tensor<bf16, a: 3, b: 5, c: 2>
  return %0, %1, %2, %3, %4 : !nd.tensor<f32, n: 3, m: 13, z: 2>, !nd.tensor<i8, x: 7, y: 11>, !nd.tensor<f64, m: 0, n: 1>, !nd.tensor<i1, n: 0, m: 2>, !nd.tensor<bf16, a: 3, b: 5, c: 2>
}

// Arguments and renamed arguments as results: nothing is computed, and yet every result is a value.
func.func @pass_through(%a: !n_m) -> (!n_m, !nd.tensor<f32, n: 3, m: 13>, !n_m) {
  %r = nd.rename %a [m, n] to [n, m] : !n_m -> !nd.tensor<f32, n: 3, m: 13>
  return %a, %r, %a : !n_m, !nd.tensor<f32, n: 3, m: 13>, !n_m
}
