// Ranges that begin at computed indices, which are clamped so that the whole range lies inside; and their update.
// RUN: heddle-run %s --compare

!row_column = !nd.tensor<f32, row: 37, column: 19>
!i32_column_row = !nd.tensor<i32, column: 3, row: 4>

func.func @reads() {
  %x = nd.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]> : tensor<4x3xi32> by [row, column] : !i32_column_row
  %one = nd.constant dense<1> : tensor<i64> by [] : !nd.tensor<i64>
  %a = nd.dynamic_slice %x row from %one size 2 : (!i32_column_row, !nd.tensor<i64>) -> !nd.tensor<i32, column: 3, row: 2>
  check.expect_eq_const %a is dense<[[4, 5, 6], [7, 8, 9]]> : tensor<2x3xi32> by [row, column] : !nd.tensor<i32, column: 3, row: 2>
  // Clamped; a name that both have is zipped, one that the input lacks is crossed.
  %s = nd.constant dense<[[-5, 1, 9], [2, 0, 1]]> : tensor<2x3xi8> by [k, column] : !nd.tensor<i8, column: 3, k: 2>
  %b = nd.dynamic_slice %x row from %s size 2 : (!i32_column_row, !nd.tensor<i8, column: 3, k: 2>) -> !nd.tensor<i32, column: 3, k: 2, row: 2>
  check.expect_eq_const %b is dense<[[[1, 4], [5, 8], [9, 12]], [[7, 10], [2, 5], [6, 9]]]> : tensor<2x3x2xi32> by [k, column, row] : !nd.tensor<i32, column: 3, k: 2, row: 2>
  return
}

func.func @writes() {
  %x = nd.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]> : tensor<4x3xi32> by [row, column] : !i32_column_row
  %p = nd.constant dense<[[0, -1, -2], [-3, -4, -5]]> : tensor<2x3xi32> by [row, column] : !nd.tensor<i32, column: 3, row: 2>
  %s = nd.constant dense<[-5, 1, 9]> : tensor<3xi32> by [column] : !nd.tensor<i32, column: 3>
  %a = nd.update_slice %p into %x row from %s : (!nd.tensor<i32, column: 3, row: 2>, !i32_column_row, !nd.tensor<i32, column: 3>) -> !i32_column_row
  check.expect_eq_const %a is dense<[[0, 2, 3], [-3, -1, 6], [7, -4, -2], [10, 11, -5]]> : tensor<4x3xi32> by [row, column] : !i32_column_row
  return
}

func.func @random(%x: !row_column, %s: !nd.tensor<i32>, %t: !nd.tensor<ui64, column: 19>, %p: !nd.tensor<f32, row: 5, column: 19>)
    -> (!nd.tensor<f32, row: 11, column: 19>, !nd.tensor<f32, row: 1, column: 19>, !row_column, !row_column, !nd.tensor<f32, row: 0, column: 19>) {
  %0 = nd.dynamic_slice %x row from %s size 11 : (!row_column, !nd.tensor<i32>) -> !nd.tensor<f32, row: 11, column: 19>
  %1 = nd.dynamic_slice %x row from %t size 1 : (!row_column, !nd.tensor<ui64, column: 19>) -> !nd.tensor<f32, row: 1, column: 19>
  %2 = nd.update_slice %p into %x row from %s : (!nd.tensor<f32, row: 5, column: 19>, !row_column, !nd.tensor<i32>) -> !row_column
  %3 = nd.update_slice %p into %x row from %t : (!nd.tensor<f32, row: 5, column: 19>, !row_column, !nd.tensor<ui64, column: 19>) -> !row_column
  %4 = nd.dynamic_slice %x row from %s size 0 : (!row_column, !nd.tensor<i32>) -> !nd.tensor<f32, row: 0, column: 19>
  return %0, %1, %2, %3, %4 : !nd.tensor<f32, row: 11, column: 19>, !nd.tensor<f32, row: 1, column: 19>, !row_column, !row_column, !nd.tensor<f32, row: 0, column: 19>
}
