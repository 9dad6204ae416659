// Gradients and tangents of scatters with a combiner of one's own: several updates of one element, whose number is known when
// the program is called, along several names, and inside of recurrences.
// RUN: heddle-run %s --compare --size N=0,1,2,9 --size M=3,1,0,2
// RUN: heddle-run %s --compare --managed --row-major --threads 2 --size N=7 --size M=3

!a_b_j = !nd.tensor<f32, a: N, b: 2, j: M>
!F64_a = !nd.tensor<f64, a: 4>
!f64_i = !nd.tensor<f64, i: N>
!i32_i = !nd.tensor<i32, i: N>
!a_b = !nd.tensor<f32, a: 4, b: 2>

// (1 + x) (1 + y) - 1
func.func private @combine(%d: !F64_a, %u: !f64_i, %k: !i32_i) -> !F64_a {
  %0 = nd.scatter %u into %d [a] at %k : (!F64_a, !f64_i, !i32_i) -> !F64_a {
  ^bb0(%p: f64, %q: f64):
    %m = arith.mulf %p, %q : f64
    %n = arith.addf %p, %q : f64
    %o = arith.addf %m, %n : f64
    nd.yield %o : f64
  }
  return %0 : !F64_a
}
func.func private @slopes(%d: !F64_a, %u: !f64_i, %k: !i32_i, %g: !F64_a) -> (!F64_a, !F64_a, !f64_i) {
  %r:3 = nd.vjp @combine(%d, %u, %k) cotangents(%g) wrt [0, 1] : (!F64_a, !f64_i, !i32_i, !F64_a) -> (!F64_a, !F64_a, !f64_i)
  return %r#0, %r#1, %r#2 : !F64_a, !F64_a, !f64_i
}
func.func @known() {
  %d = nd.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf64> by [a] : !F64_a
  %u = nd.constant dense<[1.0, 2.0, 3.0, 5.0, 7.0]> : tensor<5xf64> by [i] : !nd.tensor<f64, i: 5>
  %k = nd.constant dense<[3, 1, 3, 9, 3]> : tensor<5xi32> by [i] : !nd.tensor<i32, i: 5>
  %g = nd.constant dense<1.0> : tensor<f64> by [a] : !F64_a
  %r:3 = nd.call @slopes(%d, %u, %k, %g) : (!F64_a, !nd.tensor<f64, i: 5>, !nd.tensor<i32, i: 5>, !F64_a) -> (!F64_a, !F64_a, !nd.tensor<f64, i: 5>)
  check.expect_eq_const %r#0 is dense<[0.0, 5.0, 2.0, 255.0]> : tensor<4xf64> by [a] : !F64_a
  check.expect_eq_const %r#1 is dense<[1.0, 3.0, 1.0, 64.0]> : tensor<4xf64> by [a] : !F64_a
  check.expect_eq_const %r#2 is dense<[128.0, 2.0, 64.0, 0.0, 32.0]> : tensor<5xf64> by [i] : !nd.tensor<f64, i: 5>
  return
}
func.func @any_number(%d: !F64_a, %u: !f64_i, %k: !i32_i, %g: !F64_a, %e: !f64_i) -> (!F64_a, !f64_i, !F64_a) {
  %c = nd.pointwise %k : (!i32_i) -> !i32_i {
  ^bb0(%v: i32):
    %five = arith.constant 5 : i32
    %r = arith.remsi %v, %five : i32
    nd.yield %r : i32
  }
  %r:3 = nd.vjp @combine(%d, %u, %c) cotangents(%g) wrt [0, 1] : (!F64_a, !f64_i, !i32_i, !F64_a) -> (!F64_a, !F64_a, !f64_i)
  %t:2 = nd.jvp @combine(%d, %u, %c) tangents(%g, %e) wrt [0, 1] : (!F64_a, !f64_i, !i32_i, !F64_a, !f64_i) -> (!F64_a, !F64_a)
  return %r#1, %r#2, %t#1 : !F64_a, !f64_i, !F64_a
}

// Updates along two names, one of which the destination has as well, and as a row of its own.
func.func private @two(%d: !a_b, %u: !a_b_j, %k: !nd.tensor<i32, a: N, j: M>) -> !a_b {
  %0 = nd.scatter %u into %d [a] at %k : (!a_b, !a_b_j, !nd.tensor<i32, a: N, j: M>) -> !a_b {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %p : f32
    %n = arith.mulf %q, %q : f32
    %s = arith.addf %m, %n : f32
    %r = math.sqrt %s : f32
    nd.yield %r : f32
  }
  return %0 : !a_b
}
func.func @two_names(%d: !a_b, %u: !a_b_j, %k: !nd.tensor<i32, a: N, j: M>) -> (!a_b, !a_b_j) {
  %c = nd.pointwise %k : (!nd.tensor<i32, a: N, j: M>) -> !nd.tensor<i32, a: N, j: M> {
  ^bb0(%v: i32):
    %four = arith.constant 4 : i32
    %r = arith.remsi %v, %four : i32
    nd.yield %r : i32
  }
  %r:3 = nd.vjp @two(%d, %u, %c) cotangents(%d) wrt [0, 1] : (!a_b, !a_b_j, !nd.tensor<i32, a: N, j: M>, !a_b) -> (!a_b, !a_b, !a_b_j)
  return %r#1, %r#2 : !a_b, !a_b_j
}

// In a recurrence: what is combined is carried, and read anew at each step.
func.func private @steps(%d: !F64_a, %u: !nd.tensor<f64, i: N, t: M>, %k: !i32_i) -> !F64_a {
  %r = nest.scan along <t: M> init(%d) reads(%u) : (!F64_a, !nd.tensor<f64, i: N, t: M>) -> !F64_a {
  ^bb0(%s: !F64_a, %v: !f64_i):
    %n = nd.call @combine(%s, %v, %k) : (!F64_a, !f64_i, !i32_i) -> !F64_a
    %t = nd.pointwise %n : (!F64_a) -> !F64_a {
    ^bb0(%x: f64):
      %y = math.sin %x : f64
      nd.yield %y : f64
    }
    nest.yield %t : !F64_a
  }
  return %r : !F64_a
}
func.func @in_recurrence(%d: !F64_a, %u: !nd.tensor<f64, i: N, t: M>) -> (!F64_a, !nd.tensor<f64, i: N, t: M>) {
  %i = nd.iota i : !nd.tensor<i64, i: N>
  %k = nd.pointwise %i : (!nd.tensor<i64, i: N>) -> !i32_i {
  ^bb0(%v: i64):
    %three = arith.constant 3 : i64
    %m = arith.remsi %v, %three : i64
    %r = arith.trunci %m : i64 to i32
    nd.yield %r : i32
  }
  %r:3 = nd.vjp @steps(%d, %u, %k) cotangents(%d) wrt [0, 1] : (!F64_a, !nd.tensor<f64, i: N, t: M>, !i32_i, !F64_a) -> (!F64_a, !F64_a, !nd.tensor<f64, i: N, t: M>)
  return %r#1, %r#2 : !F64_a, !nd.tensor<f64, i: N, t: M>
}
