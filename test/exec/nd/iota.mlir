// The coordinate along one name, in any element type; integers wrap around.
// RUN: heddle-run %s --compare

func.func @coordinates() {
  %a = nd.iota row : !nd.tensor<i64, row: 5>
  check.expect_eq_const %a is dense<[0, 1, 2, 3, 4]> : tensor<5xi64> by [row] : !nd.tensor<i64, row: 5>
  %b = nd.iota row : !nd.tensor<bf16, row: 3>
  check.expect_eq_const %b is dense<[0.0, 1.0, 2.0]> : tensor<3xbf16> by [row] : !nd.tensor<bf16, row: 3>
  %c = nd.iota row : !nd.tensor<i1, row: 4>
  check.expect_eq_const %c is dense<[false, true, false, true]> : tensor<4xi1> by [row] : !nd.tensor<i1, row: 4>
  return
}

func.func @types() -> (!nd.tensor<f64, n: 17>, !nd.tensor<f32, n: 17>, !nd.tensor<f16, n: 17>, !nd.tensor<i8, n: 259>, !nd.tensor<ui8, n: 259>,
                       !nd.tensor<i16, n: 1>, !nd.tensor<ui32, n: 7>, !nd.tensor<i32, n: 0>) {
  %0 = nd.iota n : !nd.tensor<f64, n: 17>
  %1 = nd.iota n : !nd.tensor<f32, n: 17>
  %2 = nd.iota n : !nd.tensor<f16, n: 17>
  %3 = nd.iota n : !nd.tensor<i8, n: 259>
  %4 = nd.iota n : !nd.tensor<ui8, n: 259>
  %5 = nd.iota n : !nd.tensor<i16, n: 1>
  %6 = nd.iota n : !nd.tensor<ui32, n: 7>
  %7 = nd.iota n : !nd.tensor<i32, n: 0>
  return %0, %1, %2, %3, %4, %5, %6, %7 : !nd.tensor<f64, n: 17>, !nd.tensor<f32, n: 17>, !nd.tensor<f16, n: 17>, !nd.tensor<i8, n: 259>,
    !nd.tensor<ui8, n: 259>, !nd.tensor<i16, n: 1>, !nd.tensor<ui32, n: 7>, !nd.tensor<i32, n: 0>
}
