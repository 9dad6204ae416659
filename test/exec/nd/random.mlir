// Random bits by key and stated order. The literals are Philox4x32-10 as published: the known answers of its
// authors' library for the counter 0 and the key 0.
// RUN: heddle-run %s --compare

!ui32_column_row = !nd.tensor<ui32, column: 3, row: 2>

func.func @known_answers() {
  %key = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<ui64>
  %bits = nd.random %key by [n] : !nd.tensor<ui64> -> !nd.tensor<ui32, n: 4>
  check.expect_eq_const %bits is dense<[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]> : tensor<4xi32> by [n] : !nd.tensor<ui32, n: 4>
  return
}

// The order says which name runs fastest, whatever the names are.
func.func @order() {
  %key = nd.constant dense<1234567890123456789> : tensor<i64> by [] : !nd.tensor<ui64>
  %flat = nd.random %key by [n] : !nd.tensor<ui64> -> !nd.tensor<ui32, n: 6>
  %grid = nd.random %key by [row, column] : !nd.tensor<ui64> -> !ui32_column_row
  %split = nd.split %flat n into [row, column] : !nd.tensor<ui32, n: 6> -> !ui32_column_row
  check.expect_eq %grid, %split : !ui32_column_row
  %other = nd.random %key by [column, row] : !nd.tensor<ui64> -> !ui32_column_row
  %turned = nd.split %flat n into [column, row] : !nd.tensor<ui32, n: 6> -> !ui32_column_row
  check.expect_eq %other, %turned : !ui32_column_row
  return
}

// Each key has bits of its own; a name that the key lacks and the order does not list does not exist here.
func.func @keys() {
  %keys = nd.constant dense<[0, 7, 0]> : tensor<3xi64> by [step] : !nd.tensor<ui64, step: 3>
  %bits = nd.random %keys by [n] : !nd.tensor<ui64, step: 3> -> !nd.tensor<ui32, n: 5, step: 3>
  %first = nd.slice %bits step from 0 size 1 : !nd.tensor<ui32, n: 5, step: 3> -> !nd.tensor<ui32, n: 5, step: 1>
  %third = nd.slice %bits step from 2 size 1 : !nd.tensor<ui32, n: 5, step: 3> -> !nd.tensor<ui32, n: 5, step: 1>
  check.expect_eq %first, %third : !nd.tensor<ui32, n: 5, step: 1>
  return
}

func.func @sizes(%key: !nd.tensor<ui64>, %keys: !nd.tensor<ui64, a: 3, b: 1>)
    -> (!nd.tensor<ui32, n: 61>, !nd.tensor<ui32>, !nd.tensor<ui32, n: 0>, !nd.tensor<ui32, a: 3, b: 1, m: 5, n: 7>) {
  %0 = nd.random %key by [n] : !nd.tensor<ui64> -> !nd.tensor<ui32, n: 61>
  %1 = nd.random %key by [] : !nd.tensor<ui64> -> !nd.tensor<ui32>
  %2 = nd.random %key by [n] : !nd.tensor<ui64> -> !nd.tensor<ui32, n: 0>
  %3 = nd.random %keys by [n, m] : !nd.tensor<ui64, a: 3, b: 1> -> !nd.tensor<ui32, a: 3, b: 1, m: 5, n: 7>
  return %0, %1, %2, %3 : !nd.tensor<ui32, n: 61>, !nd.tensor<ui32>, !nd.tensor<ui32, n: 0>, !nd.tensor<ui32, a: 3, b: 1, m: 5, n: 7>
}
