// Rounds to a narrower type and back, to nearest, ties to even.
// RUN: heddle-run %s --compare

!f64_row_column = !nd.tensor<f64, row: 7, column: 3>
!n = !nd.tensor<f32, n: 6>

func.func @ties() {
  // bf16 keeps 8 bits: 1 + 1/256 lies between 1 and 1 + 1/128, 1 + 3/256 between 1 + 1/128 and 1 + 2/128.
  %a = nd.constant dense<[1.00390625, 1.01171875, -1.00390625, 3.4e38, 0.0, -0.0]> : tensor<6xf32> by [n] : !n
  %b = nd.round %a to bf16 : !n -> !n
  check.expect_eq_const %b is dense<[1.0, 1.015625, -1.0, 0x7F800000, 0.0, -0.0]> : tensor<6xf32> by [n] : !n
  %c = nd.constant dense<[2049.0, 2051.0, 65519.0, 65520.0, 1.0e-8, 0x7FC00000]> : tensor<6xf32> by [n] : !n
  %d = nd.round %c to f16 : !n -> !n
  check.expect_eq_const %d is dense<[2048.0, 2052.0, 65504.0, 0x7F800000, 0.0, 0x7FC00000]> : tensor<6xf32> by [n] : !n
  return
}

func.func @types(%x: !f64_row_column, %y: !nd.tensor<f32, n: 37>, %z: !nd.tensor<bf16, n: 5>, %e: !nd.tensor<f32, n: 0>)
    -> (!f64_row_column, !f64_row_column, !nd.tensor<f32, n: 37>, !nd.tensor<bf16, n: 5>, !nd.tensor<f32, n: 0>) {
  %0 = nd.round %x to f32 : !f64_row_column -> !f64_row_column
  %1 = nd.round %x to f16 : !f64_row_column -> !f64_row_column
  %2 = nd.round %y to bf16 : !nd.tensor<f32, n: 37> -> !nd.tensor<f32, n: 37>
  %3 = nd.round %z to bf16 : !nd.tensor<bf16, n: 5> -> !nd.tensor<bf16, n: 5>
  %4 = nd.round %e to f16 : !nd.tensor<f32, n: 0> -> !nd.tensor<f32, n: 0>
  return %0, %1, %2, %3, %4 : !f64_row_column, !f64_row_column, !nd.tensor<f32, n: 37>, !nd.tensor<bf16, n: 5>, !nd.tensor<f32, n: 0>
}
