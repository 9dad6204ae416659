// Indices far out of bounds, signed and unsigned: reads are clamped, writes dropped, ranges moved inside. Indices are numbers of 64
// bits with a sign: unsigned ones that do not fit become negative.
// RUN: heddle-run %s --compare

!i32_n = !nd.tensor<i32, n: 3>

func.func @signed() {
  %x = nd.constant dense<[10, 20, 30]> : tensor<3xi32> by [n] : !i32_n
  %one = nd.constant dense<1> : tensor<i32> by [p] : !nd.tensor<i32, p: 5>
  %i = nd.constant dense<[1, -9223372036854775808, 9223372036854775807, 4294967297, -4294967295]> : tensor<5xi64> by [p] : !nd.tensor<i64, p: 5>
  %g = nd.gather %x [n] at %i : (!i32_n, !nd.tensor<i64, p: 5>) -> !nd.tensor<i32, p: 5>
  check.expect_eq_const %g is dense<[20, 10, 30, 30, 10]> : tensor<5xi32> by [p] : !nd.tensor<i32, p: 5>
  %s = nd.scatter %one into %x [n] at %i : (!i32_n, !nd.tensor<i32, p: 5>, !nd.tensor<i64, p: 5>) -> !i32_n {
  ^bb0(%old: i32, %new: i32):
    %r = arith.addi %old, %new : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %s is dense<[10, 21, 30]> : tensor<3xi32> by [n] : !i32_n
  %d = nd.dynamic_slice %x n from %i size 2 : (!i32_n, !nd.tensor<i64, p: 5>) -> !nd.tensor<i32, n: 2, p: 5>
  check.expect_eq_const %d is dense<[[20, 30], [10, 20], [20, 30], [20, 30], [10, 20]]> : tensor<5x2xi32> by [p, n] : !nd.tensor<i32, n: 2, p: 5>
  return
}

func.func @unsigned() {
  %x = nd.constant dense<[10, 20, 30]> : tensor<3xi32> by [n] : !i32_n
  %one = nd.constant dense<1> : tensor<i32> by [p] : !nd.tensor<i32, p: 4>
  %i = nd.constant dense<[1, -9223372036854775808, -1, 4294967296]> : tensor<4xi64> by [p] : !nd.tensor<ui64, p: 4>
  %g = nd.gather %x [n] at %i : (!i32_n, !nd.tensor<ui64, p: 4>) -> !nd.tensor<i32, p: 4>
  check.expect_eq_const %g is dense<[20, 10, 10, 30]> : tensor<4xi32> by [p] : !nd.tensor<i32, p: 4>
  %s = nd.scatter %one into %x [n] at %i : (!i32_n, !nd.tensor<i32, p: 4>, !nd.tensor<ui64, p: 4>) -> !i32_n {
  ^bb0(%old: i32, %new: i32):
    %r = arith.addi %old, %new : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %s is dense<[10, 21, 30]> : tensor<3xi32> by [n] : !i32_n
  %d = nd.dynamic_slice %x n from %i size 2 : (!i32_n, !nd.tensor<ui64, p: 4>) -> !nd.tensor<i32, n: 2, p: 4>
  check.expect_eq_const %d is dense<[[20, 30], [10, 20], [10, 20], [20, 30]]> : tensor<4x2xi32> by [p, n] : !nd.tensor<i32, n: 2, p: 4>
  return
}
