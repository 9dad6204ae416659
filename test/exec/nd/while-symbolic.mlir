// One program for every size: loops and branches whose tensors have size symbols; the runtime plans the arena.
// RUN: heddle-run %s --compare --size N=0,1,7,60 --size M=5
// RUN: heddle-run %s --compare --managed --threads 2 --size N=1,60 --size M=100

!i_b = !nd.tensor<f32, i: N, b: M>

// x <- w x, as many times as n says; every other time it is scaled, by a branch.
func.func @power_iteration(%w: !nd.tensor<f32, i: N, k: N>, %x: !i_b, %n: !nd.tensor<i64>) -> (!i_b, !nd.tensor<i64>) {
  %zero = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %y:2 = scf.while (%s = %x, %t = %zero) : (!i_b, !nd.tensor<i64>) -> (!i_b, !nd.tensor<i64>) {
    %more = nd.pointwise %t, %n : (!nd.tensor<i64>, !nd.tensor<i64>) -> !nd.tensor<i1> {
    ^bb0(%v: i64, %u: i64):
      %seven = arith.constant 7 : i64
      %r = arith.remui %u, %seven : i64
      %c = arith.cmpi slt, %v, %r : i64
      nd.yield %c : i1
    }
    %c = nd.item %more : !nd.tensor<i1> -> i1
    scf.condition(%c) %s, %t : !i_b, !nd.tensor<i64>
  } do {
  ^bb0(%s: !i_b, %t: !nd.tensor<i64>):
    %k = nd.rename %s [i] to [k] : !i_b -> !nd.tensor<f32, k: N, b: M>
    %p = nd.pointwise %w, %k : (!nd.tensor<f32, i: N, k: N>, !nd.tensor<f32, k: N, b: M>) -> !nd.tensor<f32, i: N, k: N, b: M> {
    ^bb0(%a: f32, %e: f32):
      %q = arith.mulf %a, %e : f32
      nd.yield %q : f32
    }
    %z = nd.reduce %p over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, k: N, b: M>) -> !i_b {
    ^bb0(%a: f32, %e: f32):
      %q = arith.addf %a, %e : f32
      nd.yield %q : f32
    }
    %square = nd.pointwise %z : (!i_b) -> !i_b {
    ^bb0(%a: f32):
      %q = arith.mulf %a, %a : f32
      nd.yield %q : f32
    }
    %length = nd.reduce %square over [i, b] neutral [1.0 : f32] : (!i_b) -> !nd.tensor<f32> {
    ^bb0(%a: f32, %e: f32):
      %q = arith.maximumf %a, %e : f32
      nd.yield %q : f32
    }
    %odd = nd.pointwise %t : (!nd.tensor<i64>) -> !nd.tensor<i1> {
    ^bb0(%v: i64):
      %r = arith.trunci %v : i64 to i1
      nd.yield %r : i1
    }
    %c = nd.item %odd : !nd.tensor<i1> -> i1
    %next = scf.if %c -> (!i_b) {
      %r = nd.pointwise %z, %length : (!i_b, !nd.tensor<f32>) -> !i_b {
      ^bb0(%a: f32, %e: f32):
        %q = arith.divf %a, %e : f32
        nd.yield %q : f32
      }
      %bb = nd.rename %r [i] to [j] : !i_b -> !nd.tensor<f32, j: N, b: M>
      %o = nd.pointwise %r, %bb : (!i_b, !nd.tensor<f32, j: N, b: M>) -> !nd.tensor<f32, i: N, j: N, b: M> {
      ^bb0(%a: f32, %e: f32):
        %q = arith.mulf %a, %e : f32
        nd.yield %q : f32
      }
      %g = nd.reduce %o over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: N, j: N, b: M>) -> !i_b {
      ^bb0(%a: f32, %e: f32):
        %q = arith.addf %a, %e : f32
        nd.yield %q : f32
      }
      scf.yield %g : !i_b
    } else {
      scf.yield %z : !i_b
    }
    %up = nd.pointwise %t : (!nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%v: i64):
      %one = arith.constant 1 : i64
      %q = arith.addi %v, %one : i64
      nd.yield %q : i64
    }
    scf.yield %next, %up : !i_b, !nd.tensor<i64>
  }
  return %y#0, %y#1 : !i_b, !nd.tensor<i64>
}
