// Combines updates into a tensor at computed coordinates; coordinates outside are dropped.
// RUN: heddle-run %s --compare

!i32_p = !nd.tensor<i32, p: 4>

func.func @adds() {
  %d = nd.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32> by [word, feature] : !nd.tensor<i32, feature: 2, word: 3>
  %u = nd.constant dense<[[10, 20], [30, 40], [50, 60], [70, 80]]> : tensor<4x2xi32> by [p, feature] : !nd.tensor<i32, feature: 2, p: 4>
  %at = nd.constant dense<[2, 0, 2, 3]> : tensor<4xi32> by [p] : !i32_p
  %a = nd.scatter %u into %d [word] at %at : (!nd.tensor<i32, feature: 2, word: 3>, !nd.tensor<i32, feature: 2, p: 4>, !i32_p) -> !nd.tensor<i32, feature: 2, word: 3> {
  ^bb0(%old: i32, %new: i32):
    %r = arith.addi %old, %new : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %a is dense<[[31, 42], [3, 4], [65, 86]]> : tensor<3x2xi32> by [word, feature] : !nd.tensor<i32, feature: 2, word: 3>
  return
}

func.func @unique() {
  %d = nd.constant dense<[1, 2, 3, 4]> : tensor<4xi32> by [n] : !nd.tensor<i32, n: 4>
  %u = nd.constant dense<[10, 20, 30]> : tensor<3xi32> by [p] : !nd.tensor<i32, p: 3>
  %at = nd.constant dense<[3, -1, 0]> : tensor<3xi64> by [p] : !nd.tensor<i64, p: 3>
  %a = nd.scatter %u into %d [n] at %at unique : (!nd.tensor<i32, n: 4>, !nd.tensor<i32, p: 3>, !nd.tensor<i64, p: 3>) -> !nd.tensor<i32, n: 4> {
  ^bb0(%old: i32, %new: i32):
    nd.yield %new : i32
  }
  check.expect_eq_const %a is dense<[30, 2, 3, 10]> : tensor<4xi32> by [n] : !nd.tensor<i32, n: 4>
  return
}

func.func @two_names() {
  %d = nd.constant dense<0> : tensor<i32> by [row, column] : !nd.tensor<i32, column: 2, row: 2>
  %u = nd.constant dense<[1, 2, 4, 8]> : tensor<4xi32> by [p] : !i32_p
  %r = nd.constant dense<[0, 1, 1, 1]> : tensor<4xi32> by [p] : !i32_p
  %c = nd.constant dense<[1, 0, 0, 2]> : tensor<4xi32> by [p] : !i32_p
  %a = nd.scatter %u into %d [row, column] at %r, %c : (!nd.tensor<i32, column: 2, row: 2>, !i32_p, !i32_p, !i32_p) -> !nd.tensor<i32, column: 2, row: 2> {
  ^bb0(%old: i32, %new: i32):
    %s = arith.addi %old, %new : i32
    nd.yield %s : i32
  }
  check.expect_eq_const %a is dense<[[0, 1], [6, 0]]> : tensor<2x2xi32> by [row, column] : !nd.tensor<i32, column: 2, row: 2>
  return
}

func.func @types(%d0: !nd.tensor<f32, v: 5, f: 13>, %u0: !nd.tensor<f32, f: 13, p: 23>, %i0: !nd.tensor<i32, p: 23>, %d1: !nd.tensor<bf16, v: 5, f: 3>, %u1: !nd.tensor<bf16, f: 3, p: 7>, %i1: !nd.tensor<i64, p: 7>, %d2: !nd.tensor<i8, v: 3>, %u2: !nd.tensor<i8, p: 40>, %i2: !nd.tensor<i8, p: 40>, %d3: !nd.tensor<f64, f: 2, v: 7>, %u3: !nd.tensor<f64, f: 2, p: 11, q: 3>, %i3: !nd.tensor<i32, p: 11, q: 3>, %d4: !nd.tensor<ui8, v: 4>, %u4: !nd.tensor<ui8, p: 9>, %i4: !nd.tensor<ui8, p: 9>, %d5: !nd.tensor<i64, v: 4, z: 0>, %u5: !nd.tensor<i64, p: 3, z: 0>, %i5: !nd.tensor<i32, p: 3>, %d6: !nd.tensor<f32, v: 4>, %u6: !nd.tensor<f32, p: 0>, %i6: !nd.tensor<i32, p: 0>, %d7: !nd.tensor<f32, f: 5, v: 3>, %u7: !nd.tensor<f32, f: 5>, %i7: !nd.tensor<i32, f: 5>, %d8: !nd.tensor<i1, v: 16>, %u8: !nd.tensor<i1, p: 6>, %i8: !nd.tensor<i32, p: 6>)
    -> (!nd.tensor<f32, v: 5, f: 13>, !nd.tensor<bf16, v: 5, f: 3>, !nd.tensor<i8, v: 3>, !nd.tensor<f64, f: 2, v: 7>, !nd.tensor<ui8, v: 4>, !nd.tensor<i64, v: 4, z: 0>, !nd.tensor<f32, v: 4>, !nd.tensor<f32, f: 5, v: 3>, !nd.tensor<i1, v: 16>) {
  %0 = nd.scatter %u0 into %d0 [v] at %i0 : (!nd.tensor<f32, v: 5, f: 13>, !nd.tensor<f32, f: 13, p: 23>, !nd.tensor<i32, p: 23>) -> !nd.tensor<f32, v: 5, f: 13> {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nd.yield %r : f32
  }
  %1 = nd.scatter %u1 into %d1 [v] at %i1 : (!nd.tensor<bf16, v: 5, f: 3>, !nd.tensor<bf16, f: 3, p: 7>, !nd.tensor<i64, p: 7>) -> !nd.tensor<bf16, v: 5, f: 3> {
  ^bb0(%old: bf16, %new: bf16):
    %r = arith.addf %old, %new : bf16
    nd.yield %r : bf16
  }
  %2 = nd.scatter %u2 into %d2 [v] at %i2 : (!nd.tensor<i8, v: 3>, !nd.tensor<i8, p: 40>, !nd.tensor<i8, p: 40>) -> !nd.tensor<i8, v: 3> {
  ^bb0(%old: i8, %new: i8):
    %r = arith.addi %old, %new : i8
    nd.yield %r : i8
  }
  %3 = nd.scatter %u3 into %d3 [v] at %i3 : (!nd.tensor<f64, f: 2, v: 7>, !nd.tensor<f64, f: 2, p: 11, q: 3>, !nd.tensor<i32, p: 11, q: 3>) -> !nd.tensor<f64, f: 2, v: 7> {
  ^bb0(%old: f64, %new: f64):
    %r = arith.maximumf %old, %new : f64
    nd.yield %r : f64
  }
  %4 = nd.scatter %u4 into %d4 [v] at %i4 : (!nd.tensor<ui8, v: 4>, !nd.tensor<ui8, p: 9>, !nd.tensor<ui8, p: 9>) -> !nd.tensor<ui8, v: 4> {
  ^bb0(%old: i8, %new: i8):
    %r = arith.maxui %old, %new : i8
    nd.yield %r : i8
  }
  %5 = nd.scatter %u5 into %d5 [v] at %i5 : (!nd.tensor<i64, v: 4, z: 0>, !nd.tensor<i64, p: 3, z: 0>, !nd.tensor<i32, p: 3>) -> !nd.tensor<i64, v: 4, z: 0> {
  ^bb0(%old: i64, %new: i64):
    %r = arith.addi %old, %new : i64
    nd.yield %r : i64
  }
  %6 = nd.scatter %u6 into %d6 [v] at %i6 : (!nd.tensor<f32, v: 4>, !nd.tensor<f32, p: 0>, !nd.tensor<i32, p: 0>) -> !nd.tensor<f32, v: 4> {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nd.yield %r : f32
  }
  %7 = nd.scatter %u7 into %d7 [v] at %i7 : (!nd.tensor<f32, f: 5, v: 3>, !nd.tensor<f32, f: 5>, !nd.tensor<i32, f: 5>) -> !nd.tensor<f32, f: 5, v: 3> {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nd.yield %r : f32
  }
  %8 = nd.scatter %u8 into %d8 [v] at %i8 : (!nd.tensor<i1, v: 16>, !nd.tensor<i1, p: 6>, !nd.tensor<i32, p: 6>) -> !nd.tensor<i1, v: 16> {
  ^bb0(%old: i1, %new: i1):
    %r = arith.ori %old, %new : i1
    nd.yield %r : i1
  }
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : !nd.tensor<f32, v: 5, f: 13>, !nd.tensor<bf16, v: 5, f: 3>, !nd.tensor<i8, v: 3>, !nd.tensor<f64, f: 2, v: 7>, !nd.tensor<ui8, v: 4>, !nd.tensor<i64, v: 4, z: 0>, !nd.tensor<f32, v: 4>, !nd.tensor<f32, f: 5, v: 3>, !nd.tensor<i1, v: 16>
}
