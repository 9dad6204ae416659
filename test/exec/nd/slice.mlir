// Every stride-th element of a range.
// RUN: heddle-run %s --compare

func.func @range() {
  %x = nd.constant dense<[[0, 1, 2, 3, 4, 5, 6], [10, 11, 12, 13, 14, 15, 16]]> : tensor<2x7xi32> by [row, column] : !nd.tensor<i32, column: 7, row: 2>
  %a = nd.slice %x column from 1 size 3 stride 2 : !nd.tensor<i32, column: 7, row: 2> -> !nd.tensor<i32, column: 3, row: 2>
  check.expect_eq_const %a is dense<[[1, 3, 5], [11, 13, 15]]> : tensor<2x3xi32> by [row, column] : !nd.tensor<i32, column: 3, row: 2>
  %b = nd.slice %x row from 1 size 1 : !nd.tensor<i32, column: 7, row: 2> -> !nd.tensor<i32, column: 7, row: 1>
  check.expect_eq_const %b is dense<[[10, 11, 12, 13, 14, 15, 16]]> : tensor<1x7xi32> by [row, column] : !nd.tensor<i32, column: 7, row: 1>
  return
}

func.func @types(%f: !nd.tensor<f32, row: 31, column: 5>, %h: !nd.tensor<bf16, row: 31, column: 5>, %b: !nd.tensor<i8, row: 31>, %o: !nd.tensor<i1, row: 31, z: 3>,
                 %l: !nd.tensor<i64, a: 1, row: 31>, %d: !nd.tensor<f64, row: 31>, %e: !nd.tensor<f32, row: 31, column: 0>)
    -> (!nd.tensor<f32, row: 7, column: 5>, !nd.tensor<bf16, row: 29, column: 5>, !nd.tensor<i8, row: 31>, !nd.tensor<i1, row: 1, z: 3>,
        !nd.tensor<i64, a: 1, row: 11>, !nd.tensor<f64, row: 0>, !nd.tensor<f32, row: 3, column: 0>) {
  %0 = nd.slice %f row from 2 size 7 stride 4 : !nd.tensor<f32, row: 31, column: 5> -> !nd.tensor<f32, row: 7, column: 5>
  %1 = nd.slice %h row from 2 size 29 : !nd.tensor<bf16, row: 31, column: 5> -> !nd.tensor<bf16, row: 29, column: 5>
  %2 = nd.slice %b row from 0 size 31 : !nd.tensor<i8, row: 31> -> !nd.tensor<i8, row: 31>
  %3 = nd.slice %o row from 30 size 1 stride 5 : !nd.tensor<i1, row: 31, z: 3> -> !nd.tensor<i1, row: 1, z: 3>
  %4 = nd.slice %l row from 0 size 11 stride 3 : !nd.tensor<i64, a: 1, row: 31> -> !nd.tensor<i64, a: 1, row: 11>
  %5 = nd.slice %d row from 31 size 0 : !nd.tensor<f64, row: 31> -> !nd.tensor<f64, row: 0>
  %6 = nd.slice %e row from 0 size 3 stride 13 : !nd.tensor<f32, row: 31, column: 0> -> !nd.tensor<f32, row: 3, column: 0>
  return %0, %1, %2, %3, %4, %5, %6 : !nd.tensor<f32, row: 7, column: 5>, !nd.tensor<bf16, row: 29, column: 5>, !nd.tensor<i8, row: 31>,
    !nd.tensor<i1, row: 1, z: 3>, !nd.tensor<i64, a: 1, row: 11>, !nd.tensor<f64, row: 0>, !nd.tensor<f32, row: 3, column: 0>
}

func.func @backwards() {
  %x = nd.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32> by [row] : !nd.tensor<i32, row: 8>
  %a = nd.slice %x row from 7 size 8 stride -1 : !nd.tensor<i32, row: 8> -> !nd.tensor<i32, row: 8>
  check.expect_eq_const %a is dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi32> by [row] : !nd.tensor<i32, row: 8>
  // Of that again: 5, 2.
  %b = nd.slice %a row from 2 size 2 stride 3 : !nd.tensor<i32, row: 8> -> !nd.tensor<i32, row: 2>
  check.expect_eq_const %b is dense<[5, 2]> : tensor<2xi32> by [row] : !nd.tensor<i32, row: 2>
  return
}
