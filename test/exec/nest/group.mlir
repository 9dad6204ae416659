// Nests that run together, point by point of the group's names; inner values are local to a point.
// RUN: heddle-run %s --compare

!i_j_k = !nd.tensor<f32, i: 3, j: 4, k: 7>

func.func @local() {
  %x = nd.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [n, k] : !nd.tensor<i32, k: 3, n: 2>
  %a = nest.group (n: 2) {
    %sum = nest.compute () reduce (k: 3) reads %x[n = n] {
    ^bb0(%v: i32):
      nest.yield %v : i32
    } combine add [0 : i32] : (!nd.tensor<i32, k: 3, n: 2>) -> !nd.tensor<i32>
    %share = nest.compute (k: 3) reads %x[n = n], %sum[] {
    ^bb0(%v: i32, %s: i32):
      %r = arith.subi %s, %v : i32
      nest.yield %r : i32
    } : (!nd.tensor<i32, k: 3, n: 2>, !nd.tensor<i32>) -> !nd.tensor<i32, k: 3>
    nest.yield %share : !nd.tensor<i32, k: 3>
  } : !nd.tensor<i32, k: 3, n: 2>
  check.expect_eq_const %a is dense<[[5, 4, 3], [11, 10, 9]]> : tensor<2x3xi32> by [n, k] : !nd.tensor<i32, k: 3, n: 2>
  return
}

// Softmax in one group, with several results.
func.func @softmax(%x: !nd.tensor<f32, b: 5, c: 13>) -> (!nd.tensor<f32, b: 5, c: 13>, !nd.tensor<f32, b: 5>) {
  %a:2 = nest.group (b: 5) {
    %m = nest.compute () reduce (c: 13) reads %x[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine max [0xFF800000 : f32] : (!nd.tensor<f32, b: 5, c: 13>) -> !nd.tensor<f32>
    %e = nest.compute (c: 13) reads %x[], %m[] {
    ^bb0(%v: f32, %w: f32):
      %d = arith.subf %v, %w : f32
      %r = math.exp %d : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, b: 5, c: 13>, !nd.tensor<f32>) -> !nd.tensor<f32, c: 13>
    %s = nest.compute () reduce (c: 13) reads %e[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, c: 13>) -> !nd.tensor<f32>
    %p = nest.compute (c: 13) reads %e[], %s[] {
    ^bb0(%v: f32, %w: f32):
      %r = arith.divf %v, %w : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, c: 13>, !nd.tensor<f32>) -> !nd.tensor<f32, c: 13>
    nest.yield %p, %s : !nd.tensor<f32, c: 13>, !nd.tensor<f32>
  } : !nd.tensor<f32, b: 5, c: 13>, !nd.tensor<f32, b: 5>
  return %a#0, %a#1 : !nd.tensor<f32, b: 5, c: 13>, !nd.tensor<f32, b: 5>
}

// Groups nest; maps, guards and nest.index see the names of all groups around.
func.func @nested(%x: !i_j_k) -> !i_j_k {
  %a = nest.group (i: 3) {
    %row = nest.compute (k: 7) reduce (l: 4) reads %x[i = i, j = l] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!i_j_k) -> !nd.tensor<f32, k: 7>
    %b = nest.group (j: 4) {
      %c = nest.compute (k: 7) reads %x[i = i, j = j, k = k + i - 1] if [k + i - 1 >= 0, 7 - k - i >= 0] else 0.5 : f32, %row[] {
      ^bb0(%v: f32, %w: f32):
        %n = nest.index i
        %m = nest.index j
        %s = arith.addi %n, %m : index
        %t = arith.index_cast %s : index to i32
        %u = arith.sitofp %t : i32 to f32
        %p = arith.mulf %v, %u : f32
        %r = arith.addf %p, %w : f32
        nest.yield %r : f32
      } : (!i_j_k, !nd.tensor<f32, k: 7>) -> !nd.tensor<f32, k: 7>
      nest.yield %c : !nd.tensor<f32, k: 7>
    } : !nd.tensor<f32, j: 4, k: 7>
    nest.yield %b : !nd.tensor<f32, j: 4, k: 7>
  } : !i_j_k
  return %a : !i_j_k
}

// A matrix product and what follows it, for a tile's worth of rows; other element types; a group without points.
func.func @types(%x: !nd.tensor<bf16, g: 3, k: 5, m: 4>, %w: !nd.tensor<bf16, k: 5, n: 17>, %d: !nd.tensor<f64, g: 1, k: 5>, %b: !nd.tensor<i8, g: 7, k: 2>, %e: !nd.tensor<f32, g: 0, k: 5>)
    -> (!nd.tensor<bf16, g: 3, m: 4, n: 17>, !nd.tensor<f64, g: 1>, !nd.tensor<i8, g: 7, k: 2>, !nd.tensor<f32, g: 0>) {
  %0 = nest.group (g: 3) {
    %p = nest.compute (m: 4, n: 17) reduce (k: 5) reads %x[g = g], %w[] {
    ^bb0(%u: bf16, %v: bf16):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %q = arith.mulf %s, %t : f32
      nest.yield %q : f32
    } combine add [0.0 : f32] : (!nd.tensor<bf16, g: 3, k: 5, m: 4>, !nd.tensor<bf16, k: 5, n: 17>) -> !nd.tensor<f32, m: 4, n: 17>
    %m = nest.compute (m: 4) reduce (n: 17) reads %p[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine max [0xFF800000 : f32] : (!nd.tensor<f32, m: 4, n: 17>) -> !nd.tensor<f32, m: 4>
    %r = nest.compute (m: 4, n: 17) reads %p[], %m[] {
    ^bb0(%v: f32, %t: f32):
      %s = arith.subf %v, %t : f32
      %q = arith.truncf %s : f32 to bf16
      nest.yield %q : bf16
    } : (!nd.tensor<f32, m: 4, n: 17>, !nd.tensor<f32, m: 4>) -> !nd.tensor<bf16, m: 4, n: 17>
    nest.yield %r : !nd.tensor<bf16, m: 4, n: 17>
  } : !nd.tensor<bf16, g: 3, m: 4, n: 17>
  %1 = nest.group (g: 1) {
    %p = nest.compute () reduce (k: 5) reads %d[] {
    ^bb0(%v: f64):
      nest.yield %v : f64
    } combine mul [1.0 : f64] : (!nd.tensor<f64, g: 1, k: 5>) -> !nd.tensor<f64>
    nest.yield %p : !nd.tensor<f64>
  } : !nd.tensor<f64, g: 1>
  %2 = nest.group (g: 7) {
    %p = nest.compute (k: 2) reads %b[] {
    ^bb0(%v: i8):
      %q = arith.muli %v, %v : i8
      nest.yield %q : i8
    } : (!nd.tensor<i8, g: 7, k: 2>) -> !nd.tensor<i8, k: 2>
    %q = nest.compute (k: 2) reads %p[k = 1 - k] {
    ^bb0(%v: i8):
      nest.yield %v : i8
    } : (!nd.tensor<i8, k: 2>) -> !nd.tensor<i8, k: 2>
    nest.yield %q : !nd.tensor<i8, k: 2>
  } : !nd.tensor<i8, g: 7, k: 2>
  %3 = nest.group (g: 0) {
    %p = nest.compute () reduce (k: 5) reads %e[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, g: 0, k: 5>) -> !nd.tensor<f32>
    nest.yield %p : !nd.tensor<f32>
  } : !nd.tensor<f32, g: 0>
  return %0, %1, %2, %3 : !nd.tensor<bf16, g: 3, m: 4, n: 17>, !nd.tensor<f64, g: 1>, !nd.tensor<i8, g: 7, k: 2>, !nd.tensor<f32, g: 0>
}
