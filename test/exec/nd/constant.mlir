// A literal lists its elements in the order of names in `by`.
// RUN: heddle-run %s --compare

func.func @order() {
  %a = nd.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [row, column] : !nd.tensor<i32, column: 3, row: 2>
  %b = nd.constant dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32> by [column, row] : !nd.tensor<i32, column: 3, row: 2>
  check.expect_eq %a, %b : !nd.tensor<i32, column: 3, row: 2>
  check.expect_eq_const %a is dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [row, column] : !nd.tensor<i32, column: 3, row: 2>
  return
}

func.func @three_names() -> !nd.tensor<i8, c: 2, a: 2, b: 1> {
  %a = nd.constant dense<[[[-128, 127]], [[0, 5]]]> : tensor<2x1x2xi8> by [c, b, a] : !nd.tensor<i8, a: 2, b: 1, c: 2>
  check.expect_eq_const %a is dense<[[[-128], [127]], [[0], [5]]]> : tensor<2x2x1xi8> by [c, a, b] : !nd.tensor<i8, a: 2, b: 1, c: 2>
  return %a : !nd.tensor<i8, a: 2, b: 1, c: 2>
}

func.func @splat() -> (!nd.tensor<f64, row: 3>, !nd.tensor<f64>) {
  %a = nd.constant dense<-0.125> : tensor<f64> by [row] : !nd.tensor<f64, row: 3>
  %b = nd.constant dense<1.0e300> : tensor<f64> by [] : !nd.tensor<f64>
  check.expect_eq_const %a is dense<[-0.125, -0.125, -0.125]> : tensor<3xf64> by [row] : !nd.tensor<f64, row: 3>
  return %a, %b : !nd.tensor<f64, row: 3>, !nd.tensor<f64>
}

// Every element type; values at the ends of the range.
func.func @types() -> (!nd.tensor<i1, n: 3>, !nd.tensor<i8, n: 3>, !nd.tensor<ui8, n: 3>, !nd.tensor<i16, n: 3>, !nd.tensor<ui16, n: 3>,
    !nd.tensor<i32, n: 3>, !nd.tensor<ui32, n: 3>, !nd.tensor<i64, n: 3>, !nd.tensor<ui64, n: 3>,
    !nd.tensor<f16, n: 3>, !nd.tensor<bf16, n: 3>, !nd.tensor<f32, n: 3>, !nd.tensor<f64, n: 3>) {
  %0 = nd.constant dense<[true, false, true]> : tensor<3xi1> by [n] : !nd.tensor<i1, n: 3>
  %1 = nd.constant dense<[-128, 0, 127]> : tensor<3xi8> by [n] : !nd.tensor<i8, n: 3>
  %2 = nd.constant dense<[0, 128, 255]> : tensor<3xi8> by [n] : !nd.tensor<ui8, n: 3>
  %3 = nd.constant dense<[-32768, 0, 32767]> : tensor<3xi16> by [n] : !nd.tensor<i16, n: 3>
  %4 = nd.constant dense<[0, 1, 65535]> : tensor<3xi16> by [n] : !nd.tensor<ui16, n: 3>
  %5 = nd.constant dense<[-2147483648, 0, 2147483647]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  %6 = nd.constant dense<[0, 1, 4294967295]> : tensor<3xi32> by [n] : !nd.tensor<ui32, n: 3>
  %7 = nd.constant dense<[-9223372036854775808, 0, 9223372036854775807]> : tensor<3xi64> by [n] : !nd.tensor<i64, n: 3>
  %8 = nd.constant dense<[0, 1, 18446744073709551615]> : tensor<3xi64> by [n] : !nd.tensor<ui64, n: 3>
  %9 = nd.constant dense<[6.0e-08, 1.5, 65504.0]> : tensor<3xf16> by [n] : !nd.tensor<f16, n: 3>
  %10 = nd.constant dense<[0x7F80, 1.5, 0xFF80]> : tensor<3xbf16> by [n] : !nd.tensor<bf16, n: 3>
  %11 = nd.constant dense<[0x7F800000, -0.0, 0x7FC00000]> : tensor<3xf32> by [n] : !nd.tensor<f32, n: 3>
  %12 = nd.constant dense<[1.0e-300, -2.5, 1.0e300]> : tensor<3xf64> by [n] : !nd.tensor<f64, n: 3>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : !nd.tensor<i1, n: 3>, !nd.tensor<i8, n: 3>, !nd.tensor<ui8, n: 3>,
    !nd.tensor<i16, n: 3>, !nd.tensor<ui16, n: 3>, !nd.tensor<i32, n: 3>, !nd.tensor<ui32, n: 3>, !nd.tensor<i64, n: 3>, !nd.tensor<ui64, n: 3>,
    !nd.tensor<f16, n: 3>, !nd.tensor<bf16, n: 3>, !nd.tensor<f32, n: 3>, !nd.tensor<f64, n: 3>
}

func.func @empty() -> (!nd.tensor<f32, column: 3, row: 0>, !nd.tensor<i64, row: 0>) {
  %a = nd.constant dense<1.0> : tensor<f32> by [row, column] : !nd.tensor<f32, column: 3, row: 0>
  %b = nd.constant dense<> : tensor<0xi64> by [row] : !nd.tensor<i64, row: 0>
  return %a, %b : !nd.tensor<f32, column: 3, row: 0>, !nd.tensor<i64, row: 0>
}
