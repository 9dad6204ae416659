// Values whose padding is promised to be zero, with sizes that no block divides.
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --managed

!i32_m_n = !nd.tensor<i32, m: 3, n: 5>

// A step clears the value before its nest writes it.
// RUN: sed "/^func.func @blocks/,/^}/d" %s > %t.mlir
// RUN: heddlec %t.mlir -o %t.heddle --no-cache --dump-dir %t.dump
// RUN: FileCheck %s < %t.dump/4-manifest.json
// CHECK: "zero"
func.func @blocks() {
  %d = nd.constant dense<[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]> : tensor<3x5xi32> by [m, n] : !i32_m_n
  %u = nd.constant dense<[10, 20, 30]> : tensor<3xi32> by [p] : !nd.tensor<i32, p: 3>
  // Read by its neighbours, so that it lies in memory.
  %t = nest.compute (m: 3, n: 5) reads %d[m = 2 - m, n = 4 - n] {
  ^bb0(%a: i32):
    %r = arith.addi %a, %a : i32
    nest.yield %r : i32
  } {heddle.materialize, layouts = [#nest.layout<[m floordiv 2, n floordiv 4, m mod 2, n mod 4], zero_padded>]} : (!i32_m_n) -> !i32_m_n
  // In the same place; its padding is clear already.
  %v = nest.update (p: 3) %t[m = p, n = 2 * p] unique reads %u[] {
  ^bb0(%a: i32):
    nest.yield %a : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    nest.yield %new : i32
  } {layouts = [#nest.layout<[m floordiv 2, n floordiv 4, m mod 2, n mod 4], zero_padded>]} : (!i32_m_n, !nd.tensor<i32, p: 3>) -> !i32_m_n
  %w = nest.compute (m: 3, n: 5) reads %v[m = 2 - m, n = 4 - n] {
  ^bb0(%a: i32):
    nest.yield %a : i32
  } : (!i32_m_n) -> !i32_m_n
  check.expect_eq_const %w is dense<[[30, 4, 6, 8, 10], [12, 14, 20, 18, 20], [22, 24, 26, 28, 10]]> : tensor<3x5xi32> by [m, n] : !i32_m_n
  return
}

// Borders are padding, too, and a value may lie in merged blocks.
func.func @borders(%x: !nd.tensor<f32, m: 7, n: 5> {nd.name = "x"}) -> (!nd.tensor<f32, m: 7, n: 5> {nd.name = "y", nd.layout = #nest.layout<[(m, n) floordiv 8, (m, n) mod 8], zero_padded>}) {
  %t = nest.compute (m: 7, n: 5) reads %x[m = 6 - m] {
  ^bb0(%a: f32):
    %r = arith.mulf %a, %a : f32
    nest.yield %r : f32
  } {heddle.materialize, layouts = [#nest.layout<[m pad(1, 1), n pad(2, 1)], zero_padded>]} : (!nd.tensor<f32, m: 7, n: 5>) -> !nd.tensor<f32, m: 7, n: 5>
  %y = nest.compute (m: 7, n: 5) reads %t[m = 6 - m, n = 4 - n] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, m: 7, n: 5>) -> !nd.tensor<f32, m: 7, n: 5>
  return %y : !nd.tensor<f32, m: 7, n: 5>
}
