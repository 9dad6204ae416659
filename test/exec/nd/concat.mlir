// Joins operands in their order.
// RUN: heddle-run %s --compare

!i32_column_row = !nd.tensor<i32, column: 2, row: 2>

func.func @order() {
  %x = nd.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> by [row, column] : !i32_column_row
  %y = nd.constant dense<[[5], [6]]> : tensor<2x1xi32> by [row, column] : !nd.tensor<i32, column: 1, row: 2>
  %a = nd.concat %y, %x along column : (!nd.tensor<i32, column: 1, row: 2>, !i32_column_row) -> !nd.tensor<i32, column: 3, row: 2>
  check.expect_eq_const %a is dense<[[5, 1, 2], [6, 3, 4]]> : tensor<2x3xi32> by [row, column] : !nd.tensor<i32, column: 3, row: 2>
  // The same tensor twice, and one alone.
  %b = nd.concat %x, %x along row : (!i32_column_row, !i32_column_row) -> !nd.tensor<i32, column: 2, row: 4>
  check.expect_eq_const %b is dense<[[1, 2], [3, 4], [1, 2], [3, 4]]> : tensor<4x2xi32> by [row, column] : !nd.tensor<i32, column: 2, row: 4>
  %c = nd.concat %x along row : (!i32_column_row) -> !i32_column_row
  check.expect_eq %c, %x : !i32_column_row
  return
}

func.func @types(%a: !nd.tensor<f32, n: 5, m: 13>, %b: !nd.tensor<f32, n: 1, m: 13>, %c: !nd.tensor<f32, n: 0, m: 13>, %d: !nd.tensor<bf16, n: 3>, %e: !nd.tensor<bf16, n: 17>,
                 %f: !nd.tensor<i8, n: 3, z: 2>, %g: !nd.tensor<i8, n: 2, z: 2>, %h: !nd.tensor<i1, n: 2>, %i: !nd.tensor<f64, n: 2, z: 0>)
    -> (!nd.tensor<f32, n: 11, m: 13>, !nd.tensor<bf16, n: 20>, !nd.tensor<i8, n: 8, z: 2>, !nd.tensor<i1, n: 4>, !nd.tensor<f64, n: 4, z: 0>) {
  %0 = nd.concat %a, %c, %b, %a along n : (!nd.tensor<f32, n: 5, m: 13>, !nd.tensor<f32, n: 0, m: 13>, !nd.tensor<f32, n: 1, m: 13>, !nd.tensor<f32, n: 5, m: 13>) -> !nd.tensor<f32, n: 11, m: 13>
  %1 = nd.concat %d, %e along n : (!nd.tensor<bf16, n: 3>, !nd.tensor<bf16, n: 17>) -> !nd.tensor<bf16, n: 20>
  %2 = nd.concat %f, %g, %f along n : (!nd.tensor<i8, n: 3, z: 2>, !nd.tensor<i8, n: 2, z: 2>, !nd.tensor<i8, n: 3, z: 2>) -> !nd.tensor<i8, n: 8, z: 2>
  %3 = nd.concat %h, %h along n : (!nd.tensor<i1, n: 2>, !nd.tensor<i1, n: 2>) -> !nd.tensor<i1, n: 4>
  %4 = nd.concat %i, %i along n : (!nd.tensor<f64, n: 2, z: 0>, !nd.tensor<f64, n: 2, z: 0>) -> !nd.tensor<f64, n: 4, z: 0>
  return %0, %1, %2, %3, %4 : !nd.tensor<f32, n: 11, m: 13>, !nd.tensor<bf16, n: 20>, !nd.tensor<i8, n: 8, z: 2>, !nd.tensor<i1, n: 4>, !nd.tensor<f64, n: 4, z: 0>
}
