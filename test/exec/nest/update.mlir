// Writes through maps into a value that it consumes.
// RUN: heddle-run %s --compare

// Elements that are not written stay; writes out of bounds are dropped.
!b_ky_row = !nd.tensor<f32, b: 2, ky: 3, row: 6>
!i32_n5 = !nd.tensor<i32, n: 5>
!i32_n4 = !nd.tensor<i32, n: 4>
!n_m = !nd.tensor<f32, n: 6, m: 9>

func.func @places() {
  %d = nd.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32> by [n] : !i32_n5
  %u = nd.constant dense<[10, 20, 30]> : tensor<3xi32> by [p] : !nd.tensor<i32, p: 3>
  %a = nest.update (p: 3) %d[n = 2 * p + 1] unique reads %u[] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    nest.yield %new : i32
  } : (!i32_n5, !nd.tensor<i32, p: 3>) -> !i32_n5
  check.expect_eq_const %a is dense<[1, 10, 3, 20, 5]> : tensor<5xi32> by [n] : !i32_n5
  return
}

// Elements that are written several times accumulate.
func.func @accumulates() {
  %d = nd.constant dense<[1, 2, 3]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  %u = nd.constant dense<[[1, 2], [4, 8], [16, 32]]> : tensor<3x2xi32> by [p, q] : !nd.tensor<i32, p: 3, q: 2>
  %a = nest.update (p: 3, q: 2) %d[n = p + q - 1] reads %u[] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    %r = arith.addi %old, %new : i32
    nest.yield %r : i32
  } : (!nd.tensor<i32, n: 3>, !nd.tensor<i32, p: 3, q: 2>) -> !nd.tensor<i32, n: 3>
  // (0, 0) falls out.
  check.expect_eq_const %a is dense<[7, 26, 35]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  return
}

// A gathered target, and a guard without `else` that leaves points out.
func.func @gathered() {
  %d = nd.constant dense<0> : tensor<i32> by [n] : !i32_n4
  %at = nd.constant dense<[3, 1, 3, -1, 9]> : tensor<5xi32> by [p] : !nd.tensor<i32, p: 5>
  %u = nd.constant dense<[1, 2, 4, 8, 16]> : tensor<5xi32> by [p] : !nd.tensor<i32, p: 5>
  %a = nest.update (p: 5) %d[n = read(0)] reads %at[], %u[] {
  ^bb0(%i: i32, %v: i32):
    nest.yield %v : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    %r = arith.addi %old, %new : i32
    nest.yield %r : i32
  } : (!i32_n4, !nd.tensor<i32, p: 5>, !nd.tensor<i32, p: 5>) -> !i32_n4
  check.expect_eq_const %a is dense<[0, 2, 0, 5]> : tensor<4xi32> by [n] : !i32_n4
  %b = nest.update (p: 5) %a[n = p mod 2] reads %u[] if [p - 2 >= 0] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    %r = arith.maxsi %old, %new : i32
    nest.yield %r : i32
  } : (!i32_n4, !nd.tensor<i32, p: 5>) -> !i32_n4
  check.expect_eq_const %b is dense<[16, 8, 0, 5]> : tensor<4xi32> by [n] : !i32_n4
  // The value before both updates is still there.
  check.expect_eq_const %d is dense<0> : tensor<i32> by [n] : !i32_n4
  return
}

func.func @types(%d: !nd.tensor<f32, n: 31, z: 5>, %u: !nd.tensor<f32, p: 13, z: 5>, %at: !nd.tensor<i64, p: 13>, %h: !nd.tensor<bf16, n: 7>, %v: !nd.tensor<bf16, p: 13>,
                 %b: !nd.tensor<i8, n: 1>, %w: !nd.tensor<i8, p: 3>, %e: !nd.tensor<f64, n: 4>, %f: !nd.tensor<f64, p: 0>, %g: !nd.tensor<f64, n: 0>, %k: !nd.tensor<f64, p: 3>)
    -> (!nd.tensor<f32, n: 31, z: 5>, !nd.tensor<bf16, n: 7>, !nd.tensor<i8, n: 1>, !nd.tensor<f64, n: 4>, !nd.tensor<f64, n: 0>) {
  %0 = nest.update (p: 13, z: 5) %d[n = read(0) + 8] reads %at[], %u[] {
  ^bb0(%i: i64, %x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, n: 31, z: 5>, !nd.tensor<i64, p: 13>, !nd.tensor<f32, p: 13, z: 5>) -> !nd.tensor<f32, n: 31, z: 5>
  %1 = nest.update (p: 13) %h[n = p floordiv 2] reads %v[] {
  ^bb0(%x: bf16):
    nest.yield %x : bf16
  } combine {
  ^bb0(%old: bf16, %new: bf16):
    %r = arith.maximumf %old, %new : bf16
    nest.yield %r : bf16
  } : (!nd.tensor<bf16, n: 7>, !nd.tensor<bf16, p: 13>) -> !nd.tensor<bf16, n: 7>
  %2 = nest.update (p: 3) %b[n = 0] reads %w[] {
  ^bb0(%x: i8):
    nest.yield %x : i8
  } combine {
  ^bb0(%old: i8, %new: i8):
    %r = arith.addi %old, %new : i8
    nest.yield %r : i8
  } : (!nd.tensor<i8, n: 1>, !nd.tensor<i8, p: 3>) -> !nd.tensor<i8, n: 1>
  %3 = nest.update (p: 0) %e[n = p] reads %f[] {
  ^bb0(%x: f64):
    nest.yield %x : f64
  } combine {
  ^bb0(%old: f64, %new: f64):
    nest.yield %new : f64
  } : (!nd.tensor<f64, n: 4>, !nd.tensor<f64, p: 0>) -> !nd.tensor<f64, n: 4>
  %4 = nest.update (p: 3) %g[n = p] reads %k[] {
  ^bb0(%x: f64):
    nest.yield %x : f64
  } combine {
  ^bb0(%old: f64, %new: f64):
    %r = arith.addf %old, %new : f64
    nest.yield %r : f64
  } : (!nd.tensor<f64, n: 0>, !nd.tensor<f64, p: 3>) -> !nd.tensor<f64, n: 0>
  return %0, %1, %2, %3, %4 : !nd.tensor<f32, n: 31, z: 5>, !nd.tensor<bf16, n: 7>, !nd.tensor<i8, n: 1>, !nd.tensor<f64, n: 4>, !nd.tensor<f64, n: 0>
}

// A schedule is kept: threads over what they own, a vector over what is a coordinate, any order of the rest.
func.func @scheduled(%d: !n_m, %u: !nd.tensor<f32, p: 6, q: 9, s: 4>, %at: !nd.tensor<i32, s: 4>) -> (!n_m, !n_m) {
  %a = nest.update (p: 6, q: 9, s: 4) %d[n = p, m = q] reads %u[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[thread p by 2, loop s by 2, register p by 1, loop s by 1, vector q by 1]>}
    : (!n_m, !nd.tensor<f32, p: 6, q: 9, s: 4>) -> !n_m
  // The destination lies across the vector; a gathered coordinate is met one after another.
  %b = nest.update (p: 6, s: 4) %d[n = 5 - p, m = read(0)] reads %at[], %u[q = 2 * s] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[cache s by 3, loop s by 1, vector p by 1]>}
    : (!n_m, !nd.tensor<i32, s: 4>, !nd.tensor<f32, p: 6, q: 9, s: 4>) -> !n_m
  return %a, %b : !n_m, !n_m
}

// One name gives two coordinates, and owns one of them: what it does not reach along the other stays.
func.func @diagonal(%d: !b_ky_row) -> !b_ky_row {
  %0 = nest.update (a: 5, d: 2, k: 2) %d[b = d, ky = d, row = a mod 6] reads %d[b = k, ky = 2 - d, row = 0] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.mulf %old, %new : f32
    nest.yield %r : f32
  } : (!b_ky_row, !b_ky_row) -> !b_ky_row
  return %0 : !b_ky_row
}

// Rows of 17 narrow elements: the last vector of a row holds one of them, and stores no part of the next row.
func.func @narrow_tails(%d: !nd.tensor<bf16, b: 6, row: 17> {nd.layout = #nest.layout<[b, row]>}, %u: !nd.tensor<bf16, k: 2>)
    -> (!nd.tensor<bf16, b: 6, row: 17> {nd.layout = #nest.layout<[b, row]>}) {
  %same = nest.compute (b: 6, row: 17) reads %d[] {
  ^bb0(%v: bf16):
    nest.yield %v : bf16
  } {layouts = [#nest.layout<[b, row]>]} : (!nd.tensor<bf16, b: 6, row: 17>) -> !nd.tensor<bf16, b: 6, row: 17>
  %0 = nest.update (b: 6, k: 2, row: 17) %same[] reads %u[] {
  ^bb0(%v: bf16):
    nest.yield %v : bf16
  } combine {
  ^bb0(%old: bf16, %new: bf16):
    %s = arith.addf %old, %new : bf16
    nest.yield %s : bf16
  } : (!nd.tensor<bf16, b: 6, row: 17>, !nd.tensor<bf16, k: 2>) -> !nd.tensor<bf16, b: 6, row: 17>
  return %0 : !nd.tensor<bf16, b: 6, row: 17>
}

// Threads share parts of the destination, the last of which is short; the argument of a function stays as it is.
func.func @parts() {
  %d = nd.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32> by [n] : !i32_n5
  %u = nd.constant dense<[10, 20, 30, 40, 50]> : tensor<5xi32> by [p] : !nd.tensor<i32, p: 5>
  %a = nest.update (p: 5) %d[n = p] unique reads %u[] {
  ^bb0(%v: i32):
    nest.yield %v : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    %r = arith.addi %old, %new : i32
    nest.yield %r : i32
  } {schedule = #nest.schedule<[thread p by 3, loop p by 1]>}
    : (!i32_n5, !nd.tensor<i32, p: 5>) -> !i32_n5
  check.expect_eq_const %a is dense<[11, 22, 33, 44, 55]> : tensor<5xi32> by [n] : !i32_n5
  check.expect_eq_const %d is dense<[1, 2, 3, 4, 5]> : tensor<5xi32> by [n] : !i32_n5
  return
}
