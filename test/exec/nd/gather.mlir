// Reads at computed coordinates: shared names are zipped, the others are crossed; coordinates outside are clamped.
// RUN: heddle-run %s --compare

func.func @crossed() {
  %table = nd.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32> by [word, feature] : !nd.tensor<i32, feature: 2, word: 3>
  %at = nd.constant dense<[2, 0, 2, 1]> : tensor<4xi32> by [p] : !nd.tensor<i32, p: 4>
  %a = nd.gather %table [word] at %at : (!nd.tensor<i32, feature: 2, word: 3>, !nd.tensor<i32, p: 4>) -> !nd.tensor<i32, feature: 2, p: 4>
  check.expect_eq_const %a is dense<[[5, 6], [1, 2], [5, 6], [3, 4]]> : tensor<4x2xi32> by [p, feature] : !nd.tensor<i32, feature: 2, p: 4>
  return
}

func.func @zipped() {
  %table = nd.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32> by [word, feature] : !nd.tensor<i32, feature: 2, word: 3>
  %at = nd.constant dense<[2, 1]> : tensor<2xi64> by [feature] : !nd.tensor<i64, feature: 2>
  %a = nd.gather %table [word] at %at : (!nd.tensor<i32, feature: 2, word: 3>, !nd.tensor<i64, feature: 2>) -> !nd.tensor<i32, feature: 2>
  check.expect_eq_const %a is dense<[5, 4]> : tensor<2xi32> by [feature] : !nd.tensor<i32, feature: 2>
  return
}

func.func @clamped() {
  %x = nd.constant dense<[10, 20, 30]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  %at = nd.constant dense<[-1, -128, 127, 3, 2]> : tensor<5xi8> by [p] : !nd.tensor<i8, p: 5>
  %a = nd.gather %x [n] at %at : (!nd.tensor<i32, n: 3>, !nd.tensor<i8, p: 5>) -> !nd.tensor<i32, p: 5>
  check.expect_eq_const %a is dense<[10, 10, 30, 30, 30]> : tensor<5xi32> by [p] : !nd.tensor<i32, p: 5>
  %u = nd.constant dense<[255, 0]> : tensor<2xi8> by [p] : !nd.tensor<ui8, p: 2>
  %b = nd.gather %x [n] at %u : (!nd.tensor<i32, n: 3>, !nd.tensor<ui8, p: 2>) -> !nd.tensor<i32, p: 2>
  check.expect_eq_const %b is dense<[30, 10]> : tensor<2xi32> by [p] : !nd.tensor<i32, p: 2>
  return
}

// Two names by two index tensors: one is crossed with the other, and a gathered name may come back.
func.func @two_names() {
  %x = nd.constant dense<[[0, 1, 2], [10, 11, 12]]> : tensor<2x3xi32> by [row, column] : !nd.tensor<i32, column: 3, row: 2>
  %r = nd.constant dense<[1, 0]> : tensor<2xi32> by [p] : !nd.tensor<i32, p: 2>
  %c = nd.constant dense<[2, 1, 0]> : tensor<3xi32> by [q] : !nd.tensor<i32, q: 3>
  %a = nd.gather %x [row, column] at %r, %c : (!nd.tensor<i32, column: 3, row: 2>, !nd.tensor<i32, p: 2>, !nd.tensor<i32, q: 3>) -> !nd.tensor<i32, p: 2, q: 3>
  check.expect_eq_const %a is dense<[[12, 11, 10], [2, 1, 0]]> : tensor<2x3xi32> by [p, q] : !nd.tensor<i32, p: 2, q: 3>
  %s = nd.constant dense<[1, 1, 0]> : tensor<3xi32> by [row] : !nd.tensor<i32, row: 3>
  %b = nd.gather %x [row] at %s : (!nd.tensor<i32, column: 3, row: 2>, !nd.tensor<i32, row: 3>) -> !nd.tensor<i32, column: 3, row: 3>
  check.expect_eq_const %b is dense<[[10, 11, 12], [10, 11, 12], [0, 1, 2]]> : tensor<3x3xi32> by [row, column] : !nd.tensor<i32, column: 3, row: 3>
  return
}

func.func @types(%x0: !nd.tensor<f32, v: 11, f: 13>, %i0: !nd.tensor<i32, p: 7>, %x1: !nd.tensor<bf16, v: 11, f: 3>, %i1: !nd.tensor<i64, p: 7, q: 2>, %x2: !nd.tensor<i8, v: 5>, %i2: !nd.tensor<i8, p: 19>, %x3: !nd.tensor<f64, v: 17, f: 1>, %i3: !nd.tensor<ui8, f: 1, p: 5>, %x4: !nd.tensor<i1, a: 2, v: 1>, %i4: !nd.tensor<i16, p: 3>, %x5: !nd.tensor<i64, v: 9, z: 0>, %i5: !nd.tensor<i32, p: 3>, %x6: !nd.tensor<f16, v: 9>, %i6: !nd.tensor<i32, p: 0>, %x7: !nd.tensor<f32, v: 2, f: 17>, %i7: !nd.tensor<i1, f: 17>, %x8: !nd.tensor<i32, v: 7>, %i8: !nd.tensor<ui32>)
    -> (!nd.tensor<f32, f: 13, p: 7>, !nd.tensor<bf16, f: 3, p: 7, q: 2>, !nd.tensor<i8, p: 19>, !nd.tensor<f64, f: 1, p: 5>, !nd.tensor<i1, a: 2, p: 3>, !nd.tensor<i64, p: 3, z: 0>, !nd.tensor<f16, p: 0>, !nd.tensor<f32, f: 17>, !nd.tensor<i32>) {
  %0 = nd.gather %x0 [v] at %i0 : (!nd.tensor<f32, v: 11, f: 13>, !nd.tensor<i32, p: 7>) -> !nd.tensor<f32, f: 13, p: 7>
  %1 = nd.gather %x1 [v] at %i1 : (!nd.tensor<bf16, v: 11, f: 3>, !nd.tensor<i64, p: 7, q: 2>) -> !nd.tensor<bf16, f: 3, p: 7, q: 2>
  %2 = nd.gather %x2 [v] at %i2 : (!nd.tensor<i8, v: 5>, !nd.tensor<i8, p: 19>) -> !nd.tensor<i8, p: 19>
  %3 = nd.gather %x3 [v] at %i3 : (!nd.tensor<f64, v: 17, f: 1>, !nd.tensor<ui8, f: 1, p: 5>) -> !nd.tensor<f64, f: 1, p: 5>
  %4 = nd.gather %x4 [v] at %i4 : (!nd.tensor<i1, a: 2, v: 1>, !nd.tensor<i16, p: 3>) -> !nd.tensor<i1, a: 2, p: 3>
  %5 = nd.gather %x5 [v] at %i5 : (!nd.tensor<i64, v: 9, z: 0>, !nd.tensor<i32, p: 3>) -> !nd.tensor<i64, p: 3, z: 0>
  %6 = nd.gather %x6 [v] at %i6 : (!nd.tensor<f16, v: 9>, !nd.tensor<i32, p: 0>) -> !nd.tensor<f16, p: 0>
  %7 = nd.gather %x7 [v] at %i7 : (!nd.tensor<f32, v: 2, f: 17>, !nd.tensor<i1, f: 17>) -> !nd.tensor<f32, f: 17>
  %8 = nd.gather %x8 [v] at %i8 : (!nd.tensor<i32, v: 7>, !nd.tensor<ui32>) -> !nd.tensor<i32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : !nd.tensor<f32, f: 13, p: 7>, !nd.tensor<bf16, f: 3, p: 7, q: 2>, !nd.tensor<i8, p: 19>, !nd.tensor<f64, f: 1, p: 5>, !nd.tensor<i1, a: 2, p: 3>, !nd.tensor<i64, p: 3, z: 0>, !nd.tensor<f16, p: 0>, !nd.tensor<f32, f: 17>, !nd.tensor<i32>
}

// An index is clamped to the slice, not to what the slice is taken from.
func.func @of_a_slice() {
  %a = nd.constant dense<[5, 7, 9]> : tensor<3xi32> by [k] : !nd.tensor<i32, k: 3>
  %i = nd.constant dense<[0, 1, 2, -4]> : tensor<4xi32> by [n] : !nd.tensor<i32, n: 4>
  %s = nd.slice %a k from 0 size 2 : !nd.tensor<i32, k: 3> -> !nd.tensor<i32, k: 2>
  %g = nd.gather %s [k] at %i : (!nd.tensor<i32, k: 2>, !nd.tensor<i32, n: 4>) -> !nd.tensor<i32, n: 4>
  check.expect_eq_const %g is dense<[5, 7, 7, 5]> : tensor<4xi32> by [n] : !nd.tensor<i32, n: 4>
  return
}
