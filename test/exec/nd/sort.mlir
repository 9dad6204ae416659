// Sorts along one name, stable, NaN last in either direction; the other operands are carried along; only the first elements.
// RUN: heddle-run %s --compare

!i32_column_row = !nd.tensor<i32, column: 3, row: 2>
!i32_n = !nd.tensor<i32, n: 7>

func.func @rising() {
  %x = nd.constant dense<[[3, -1, 2], [0, 5, 0]]> : tensor<2x3xi32> by [row, column] : !i32_column_row
  %a = nd.sort %x along column : (!i32_column_row) -> !i32_column_row
  check.expect_eq_const %a is dense<[[-1, 2, 3], [0, 0, 5]]> : tensor<2x3xi32> by [row, column] : !i32_column_row
  %b = nd.sort %x along row descending : (!i32_column_row) -> !i32_column_row
  check.expect_eq_const %b is dense<[[3, 5, 2], [0, -1, 0]]> : tensor<2x3xi32> by [row, column] : !i32_column_row
  return
}

// Equal keys keep their order, also where they fall.
func.func @stable() {
  %x = nd.constant dense<[2, 1, 2, 1, 2, 3]> : tensor<6xi8> by [n] : !nd.tensor<i8, n: 6>
  %i = nd.iota n : !nd.tensor<i64, n: 6>
  %a, %p = nd.sort %x, %i along n : (!nd.tensor<i8, n: 6>, !nd.tensor<i64, n: 6>) -> (!nd.tensor<i8, n: 6>, !nd.tensor<i64, n: 6>)
  check.expect_eq_const %a is dense<[1, 1, 2, 2, 2, 3]> : tensor<6xi8> by [n] : !nd.tensor<i8, n: 6>
  check.expect_eq_const %p is dense<[1, 3, 0, 2, 4, 5]> : tensor<6xi64> by [n] : !nd.tensor<i64, n: 6>
  %b, %q = nd.sort %x, %i along n descending : (!nd.tensor<i8, n: 6>, !nd.tensor<i64, n: 6>) -> (!nd.tensor<i8, n: 6>, !nd.tensor<i64, n: 6>)
  check.expect_eq_const %q is dense<[5, 0, 2, 4, 1, 3]> : tensor<6xi64> by [n] : !nd.tensor<i64, n: 6>
  return
}

func.func @not_a_number() {
  %x = nd.constant dense<[1.0, 0x7FC00000, -0.0, 0xFF800000, 0.0, 0x7F800000, 0xFFC00000]> : tensor<7xf32> by [n] : !nd.tensor<f32, n: 7>
  %i = nd.iota n : !i32_n
  %a, %p = nd.sort %x, %i along n : (!nd.tensor<f32, n: 7>, !i32_n) -> (!nd.tensor<f32, n: 7>, !i32_n)
  check.expect_eq_const %p is dense<[3, 2, 4, 0, 5, 1, 6]> : tensor<7xi32> by [n] : !i32_n
  %b, %q = nd.sort %x, %i along n descending : (!nd.tensor<f32, n: 7>, !i32_n) -> (!nd.tensor<f32, n: 7>, !i32_n)
  check.expect_eq_const %q is dense<[5, 0, 2, 4, 3, 1, 6]> : tensor<7xi32> by [n] : !i32_n
  return
}

func.func @unsigned() {
  %x = nd.constant dense<[1, -1, 0]> : tensor<3xi64> by [n] : !nd.tensor<ui64, n: 3>
  %a = nd.sort %x along n : (!nd.tensor<ui64, n: 3>) -> !nd.tensor<ui64, n: 3>
  check.expect_eq_const %a is dense<[0, 1, -1]> : tensor<3xi64> by [n] : !nd.tensor<ui64, n: 3>
  %t = nd.constant dense<[true, false, true]> : tensor<3xi1> by [n] : !nd.tensor<i1, n: 3>
  %b = nd.sort %t along n : (!nd.tensor<i1, n: 3>) -> !nd.tensor<i1, n: 3>
  check.expect_eq_const %b is dense<[false, true, true]> : tensor<3xi1> by [n] : !nd.tensor<i1, n: 3>
  return
}

func.func @first() {
  %x = nd.constant dense<[3, 9, 2, 9, 7, 1, 8]> : tensor<7xi32> by [n] : !i32_n
  %i = nd.iota n : !nd.tensor<i64, n: 7>
  %a, %p = nd.sort %x, %i along n descending : (!i32_n, !nd.tensor<i64, n: 7>) -> (!nd.tensor<i32, n: 3>, !nd.tensor<i64, n: 3>)
  check.expect_eq_const %a is dense<[9, 9, 8]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  check.expect_eq_const %p is dense<[1, 3, 6]> : tensor<3xi64> by [n] : !nd.tensor<i64, n: 3>
  return
}

func.func @types(%a: !nd.tensor<f32, n: 100, m: 7>, %b: !nd.tensor<f64, n: 33>, %c: !nd.tensor<bf16, n: 64, m: 2, k: 3>, %d: !nd.tensor<f16, n: 5>,
                 %e: !nd.tensor<ui8, n: 300>, %f: !nd.tensor<i64, n: 17, m: 600>, %g: !nd.tensor<f8E4M3FN, n: 20>, %h: !nd.tensor<f32, n: 1, m: 3>,
                 %i: !nd.tensor<f32, n: 0>, %j: !nd.tensor<f32, n: 4, m: 0>, %k: !nd.tensor<i16, n: 1025>)
    -> (!nd.tensor<f32, n: 100, m: 7>, !nd.tensor<f64, n: 5>, !nd.tensor<bf16, n: 64, m: 2, k: 3>, !nd.tensor<f16, n: 5>, !nd.tensor<ui8, n: 7>,
        !nd.tensor<i64, n: 16, m: 600>, !nd.tensor<f8E4M3FN, n: 20>, !nd.tensor<f32, n: 1, m: 3>, !nd.tensor<f32, n: 0>, !nd.tensor<f32, n: 4, m: 0>, !nd.tensor<i16, n: 1024>) {
  %0 = nd.sort %a along n : (!nd.tensor<f32, n: 100, m: 7>) -> !nd.tensor<f32, n: 100, m: 7>
  %1 = nd.sort %b along n descending : (!nd.tensor<f64, n: 33>) -> !nd.tensor<f64, n: 5>
  %2 = nd.sort %c along n : (!nd.tensor<bf16, n: 64, m: 2, k: 3>) -> !nd.tensor<bf16, n: 64, m: 2, k: 3>
  %3 = nd.sort %d along n descending : (!nd.tensor<f16, n: 5>) -> !nd.tensor<f16, n: 5>
  %4 = nd.sort %e along n : (!nd.tensor<ui8, n: 300>) -> !nd.tensor<ui8, n: 7>
  %5 = nd.sort %f along n : (!nd.tensor<i64, n: 17, m: 600>) -> !nd.tensor<i64, n: 16, m: 600>
  %6 = nd.sort %g along n descending : (!nd.tensor<f8E4M3FN, n: 20>) -> !nd.tensor<f8E4M3FN, n: 20>
  %7 = nd.sort %h along n : (!nd.tensor<f32, n: 1, m: 3>) -> !nd.tensor<f32, n: 1, m: 3>
  %8 = nd.sort %i along n : (!nd.tensor<f32, n: 0>) -> !nd.tensor<f32, n: 0>
  %9 = nd.sort %j along n : (!nd.tensor<f32, n: 4, m: 0>) -> !nd.tensor<f32, n: 4, m: 0>
  %10 = nd.sort %k along n : (!nd.tensor<i16, n: 1025>) -> !nd.tensor<i16, n: 1024>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10
      : !nd.tensor<f32, n: 100, m: 7>, !nd.tensor<f64, n: 5>, !nd.tensor<bf16, n: 64, m: 2, k: 3>, !nd.tensor<f16, n: 5>, !nd.tensor<ui8, n: 7>,
        !nd.tensor<i64, n: 16, m: 600>, !nd.tensor<f8E4M3FN, n: 20>, !nd.tensor<f32, n: 1, m: 3>, !nd.tensor<f32, n: 0>, !nd.tensor<f32, n: 4, m: 0>, !nd.tensor<i16, n: 1024>
}
