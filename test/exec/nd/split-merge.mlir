// One name becomes several and several become one; the last varies fastest.
// RUN: heddle-run %s --compare

func.func @fastest() {
  %x = nd.iota n : !nd.tensor<i32, n: 6>
  %a = nd.split %x n into [slow, fast] : !nd.tensor<i32, n: 6> -> !nd.tensor<i32, fast: 3, slow: 2>
  check.expect_eq_const %a is dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32> by [slow, fast] : !nd.tensor<i32, fast: 3, slow: 2>
  %b = nd.merge %a [slow, fast] into n : !nd.tensor<i32, fast: 3, slow: 2> -> !nd.tensor<i32, n: 6>
  check.expect_eq %b, %x : !nd.tensor<i32, n: 6>
  %c = nd.merge %a [fast, slow] into n : !nd.tensor<i32, fast: 3, slow: 2> -> !nd.tensor<i32, n: 6>
  check.expect_eq_const %c is dense<[0, 3, 1, 4, 2, 5]> : tensor<6xi32> by [n] : !nd.tensor<i32, n: 6>
  // A name may be its own part.
  %d = nd.split %x n into [n, m] : !nd.tensor<i32, n: 6> -> !nd.tensor<i32, m: 2, n: 3>
  check.expect_eq_const %d is dense<[[0, 1], [2, 3], [4, 5]]> : tensor<3x2xi32> by [n, m] : !nd.tensor<i32, m: 2, n: 3>
  return
}

func.func @types(%a: !nd.tensor<f32, n: 105, z: 2>, %b: !nd.tensor<bf16, a: 3, b: 1, c: 5, d: 7>, %c: !nd.tensor<i8, n: 1>, %d: !nd.tensor<f64, n: 0, z: 2>, %e: !nd.tensor<i64, a: 2, b: 3>,
                 %f: !nd.tensor<i1, a: 0, b: 5>)
    -> (!nd.tensor<f32, a: 7, b: 3, c: 5, z: 2>, !nd.tensor<bf16, c: 5, n: 21>, !nd.tensor<i8, p: 1, q: 1>, !nd.tensor<f64, a: 3, b: 0, z: 2>, !nd.tensor<i64, a: 6>, !nd.tensor<i1, n: 0>) {
  %0 = nd.split %a n into [b, c, a] : !nd.tensor<f32, n: 105, z: 2> -> !nd.tensor<f32, a: 7, b: 3, c: 5, z: 2>
  %1 = nd.merge %b [d, b, a] into n : !nd.tensor<bf16, a: 3, b: 1, c: 5, d: 7> -> !nd.tensor<bf16, c: 5, n: 21>
  %2 = nd.split %c n into [p, q] : !nd.tensor<i8, n: 1> -> !nd.tensor<i8, p: 1, q: 1>
  %3 = nd.split %d n into [a, b] : !nd.tensor<f64, n: 0, z: 2> -> !nd.tensor<f64, a: 3, b: 0, z: 2>
  %4 = nd.merge %e [b, a] into a : !nd.tensor<i64, a: 2, b: 3> -> !nd.tensor<i64, a: 6>
  %5 = nd.merge %f [b, a] into n : !nd.tensor<i1, a: 0, b: 5> -> !nd.tensor<i1, n: 0>
  return %0, %1, %2, %3, %4, %5 : !nd.tensor<f32, a: 7, b: 3, c: 5, z: 2>, !nd.tensor<bf16, c: 5, n: 21>, !nd.tensor<i8, p: 1, q: 1>,
    !nd.tensor<f64, a: 3, b: 0, z: 2>, !nd.tensor<i64, a: 6>, !nd.tensor<i1, n: 0>
}
