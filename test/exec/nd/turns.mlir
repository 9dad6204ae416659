// A carried value of which steps read neighbours alternates between two buffers: odd and even trip counts, beside values
// updated in place, swapped values, values of a branch, and in nested loops.
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --managed --threads 2
// RUN: heddle-run %s --compare --row-major --threads 2

!I64_a = !nd.tensor<i64, a: 5>
!i64_a4 = !nd.tensor<i64, a: 4>
!i64_a1 = !nd.tensor<i64, a: 1>
!i64_a_m = !nd.tensor<i64, a: 5, m: 3>

// x[a] <- x[a + 1], around, and the number of steps.
func.func private @shift(%x: !I64_a, %n: !nd.tensor<i64>) -> (!I64_a, !nd.tensor<i64>) {
  %zero = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %one = nd.constant dense<1> : tensor<i64> by [] : !nd.tensor<i64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %high = nd.item %n : !nd.tensor<i64> -> index
  %r:2 = scf.for %i = %c0 to %high step %c1 iter_args(%s = %x, %k = %zero) -> (!I64_a, !nd.tensor<i64>) {
    %q0 = nd.slice %s a from 1 size 4 : !I64_a -> !i64_a4
    %q1 = nd.slice %s a from 0 size 1 : !I64_a -> !i64_a1
    %q = nd.concat %q0, %q1 along a : (!i64_a4, !i64_a1) -> !I64_a
    %more = nd.pointwise %k, %one : (!nd.tensor<i64>, !nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%v: i64, %w: i64):
      %t = arith.addi %v, %w : i64
      nd.yield %t : i64
    }
    scf.yield %q, %more : !I64_a, !nd.tensor<i64>
  }
  return %r#0, %r#1 : !I64_a, !nd.tensor<i64>
}

// Two states of which each is made from its neighbours and from the other one; they are swapped.
func.func private @swap(%x: !I64_a, %y: !I64_a, %n: !nd.tensor<i64>) -> (!I64_a, !I64_a) {
  %zero = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %one = nd.constant dense<1> : tensor<i64> by [] : !nd.tensor<i64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %high = nd.item %n : !nd.tensor<i64> -> index
  %r:2 = scf.for %i = %c0 to %high step %c1 iter_args(%s = %x, %u = %y) -> (!I64_a, !I64_a) {
    %q0 = nd.slice %s a from 1 size 4 : !I64_a -> !i64_a4
    %q1 = nd.slice %s a from 0 size 1 : !I64_a -> !i64_a1
    %q = nd.concat %q0, %q1 along a : (!i64_a4, !i64_a1) -> !I64_a
    %p0 = nd.slice %u a from 1 size 4 : !I64_a -> !i64_a4
    %p1 = nd.slice %u a from 0 size 1 : !I64_a -> !i64_a1
    %p = nd.concat %p0, %p1 along a : (!i64_a4, !i64_a1) -> !I64_a
    %z = nd.pointwise %p, %s : (!I64_a, !I64_a) -> !I64_a {
    ^bb0(%v: i64, %w: i64):
      %t = arith.addi %v, %w : i64
      nd.yield %t : i64
    }
    scf.yield %z, %q : !I64_a, !I64_a
  }
  return %r#0, %r#1 : !I64_a, !I64_a
}

// A branch that is taken every other time makes the state. The sides hold loops, so that they stay branches.
func.func private @branch(%x: !I64_a, %n: !nd.tensor<i64>) -> (!I64_a) {
  %zero = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %one = nd.constant dense<1> : tensor<i64> by [] : !nd.tensor<i64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %high = nd.item %n : !nd.tensor<i64> -> index
  %r:1 = scf.for %i = %c0 to %high step %c1 iter_args(%s = %x) -> (!I64_a) {
    %k = nd.from_item %i : index -> !nd.tensor<i64>
    %odd = nd.pointwise %k : (!nd.tensor<i64>) -> !nd.tensor<i1> {
    ^bb0(%v: i64):
      %t = arith.trunci %v : i64 to i1
      nd.yield %t : i1
    }
    %o = nd.item %odd : !nd.tensor<i1> -> i1
    %b = scf.if %o -> (!I64_a) {
      %w:2 = nd.call @shift(%s, %one) : (!I64_a, !nd.tensor<i64>) -> (!I64_a, !nd.tensor<i64>)
      scf.yield %w#0 : !I64_a
    } else {
      %q0 = nd.slice %s a from 1 size 4 : !I64_a -> !i64_a4
      %q1 = nd.slice %s a from 0 size 1 : !I64_a -> !i64_a1
      %q = nd.concat %q0, %q1 along a : (!i64_a4, !i64_a1) -> !I64_a
      %d = scf.while (%e = %q) : (!I64_a) -> !I64_a {
        %no = arith.constant false
        scf.condition(%no) %e : !I64_a
      } do {
      ^bb0(%e: !I64_a):
        scf.yield %e : !I64_a
      }
      %f = nd.pointwise %d, %s : (!I64_a, !I64_a) -> !I64_a {
      ^bb0(%v: i64, %w: i64):
        %t = arith.addi %v, %w : i64
        nd.yield %t : i64
      }
      scf.yield %f : !I64_a
    }
    scf.yield %b : !I64_a
  }
  return %r#0 : !I64_a
}

func.func @known() {
  %x = nd.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi64> by [a] : !I64_a
  %y = nd.constant dense<[0, 0, 1, 0, 0]> : tensor<5xi64> by [a] : !I64_a
  %n0 = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %a0:2 = nd.call @shift(%x, %n0) : (!I64_a, !nd.tensor<i64>) -> (!I64_a, !nd.tensor<i64>)
  check.expect_eq_const %a0#0 is dense<[1, 2, 3, 4, 5]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %a0#1 is dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %b0:2 = nd.call @swap(%x, %y, %n0) : (!I64_a, !I64_a, !nd.tensor<i64>) -> (!I64_a, !I64_a)
  check.expect_eq_const %b0#0 is dense<[1, 2, 3, 4, 5]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %b0#1 is dense<[0, 0, 1, 0, 0]> : tensor<5xi64> by [a] : !I64_a
  %d0 = nd.call @branch(%x, %n0) : (!I64_a, !nd.tensor<i64>) -> !I64_a
  check.expect_eq_const %d0 is dense<[1, 2, 3, 4, 5]> : tensor<5xi64> by [a] : !I64_a
  %n1 = nd.constant dense<1> : tensor<i64> by [] : !nd.tensor<i64>
  %a1:2 = nd.call @shift(%x, %n1) : (!I64_a, !nd.tensor<i64>) -> (!I64_a, !nd.tensor<i64>)
  check.expect_eq_const %a1#0 is dense<[2, 3, 4, 5, 1]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %a1#1 is dense<1> : tensor<i64> by [] : !nd.tensor<i64>
  %b1:2 = nd.call @swap(%x, %y, %n1) : (!I64_a, !I64_a, !nd.tensor<i64>) -> (!I64_a, !I64_a)
  check.expect_eq_const %b1#0 is dense<[1, 3, 3, 4, 5]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %b1#1 is dense<[2, 3, 4, 5, 1]> : tensor<5xi64> by [a] : !I64_a
  %d1 = nd.call @branch(%x, %n1) : (!I64_a, !nd.tensor<i64>) -> !I64_a
  check.expect_eq_const %d1 is dense<[3, 5, 7, 9, 6]> : tensor<5xi64> by [a] : !I64_a
  %n2 = nd.constant dense<2> : tensor<i64> by [] : !nd.tensor<i64>
  %a2:2 = nd.call @shift(%x, %n2) : (!I64_a, !nd.tensor<i64>) -> (!I64_a, !nd.tensor<i64>)
  check.expect_eq_const %a2#0 is dense<[3, 4, 5, 1, 2]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %a2#1 is dense<2> : tensor<i64> by [] : !nd.tensor<i64>
  %b2:2 = nd.call @swap(%x, %y, %n2) : (!I64_a, !I64_a, !nd.tensor<i64>) -> (!I64_a, !I64_a)
  check.expect_eq_const %b2#0 is dense<[4, 7, 8, 5, 7]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %b2#1 is dense<[3, 3, 4, 5, 1]> : tensor<5xi64> by [a] : !I64_a
  %d2 = nd.call @branch(%x, %n2) : (!I64_a, !nd.tensor<i64>) -> !I64_a
  check.expect_eq_const %d2 is dense<[5, 7, 9, 6, 3]> : tensor<5xi64> by [a] : !I64_a
  %n3 = nd.constant dense<3> : tensor<i64> by [] : !nd.tensor<i64>
  %a3:2 = nd.call @shift(%x, %n3) : (!I64_a, !nd.tensor<i64>) -> (!I64_a, !nd.tensor<i64>)
  check.expect_eq_const %a3#0 is dense<[4, 5, 1, 2, 3]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %a3#1 is dense<3> : tensor<i64> by [] : !nd.tensor<i64>
  %b3:2 = nd.call @swap(%x, %y, %n3) : (!I64_a, !I64_a, !nd.tensor<i64>) -> (!I64_a, !I64_a)
  check.expect_eq_const %b3#0 is dense<[7, 11, 13, 6, 10]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %b3#1 is dense<[7, 8, 5, 7, 4]> : tensor<5xi64> by [a] : !I64_a
  %d3 = nd.call @branch(%x, %n3) : (!I64_a, !nd.tensor<i64>) -> !I64_a
  check.expect_eq_const %d3 is dense<[12, 16, 15, 9, 8]> : tensor<5xi64> by [a] : !I64_a
  %n6 = nd.constant dense<6> : tensor<i64> by [] : !nd.tensor<i64>
  %a6:2 = nd.call @shift(%x, %n6) : (!I64_a, !nd.tensor<i64>) -> (!I64_a, !nd.tensor<i64>)
  check.expect_eq_const %a6#0 is dense<[2, 3, 4, 5, 1]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %a6#1 is dense<6> : tensor<i64> by [] : !nd.tensor<i64>
  %b6:2 = nd.call @swap(%x, %y, %n6) : (!I64_a, !I64_a, !nd.tensor<i64>) -> (!I64_a, !I64_a)
  check.expect_eq_const %b6#0 is dense<[48, 32, 47, 32, 44]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %b6#1 is dense<[22, 30, 17, 28, 28]> : tensor<5xi64> by [a] : !I64_a
  %d6 = nd.call @branch(%x, %n6) : (!I64_a, !nd.tensor<i64>) -> !I64_a
  check.expect_eq_const %d6 is dense<[24, 17, 20, 28, 31]> : tensor<5xi64> by [a] : !I64_a
  %n7 = nd.constant dense<7> : tensor<i64> by [] : !nd.tensor<i64>
  %a7:2 = nd.call @shift(%x, %n7) : (!I64_a, !nd.tensor<i64>) -> (!I64_a, !nd.tensor<i64>)
  check.expect_eq_const %a7#0 is dense<[3, 4, 5, 1, 2]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %a7#1 is dense<7> : tensor<i64> by [] : !nd.tensor<i64>
  %b7:2 = nd.call @swap(%x, %y, %n7) : (!I64_a, !I64_a, !nd.tensor<i64>) -> (!I64_a, !I64_a)
  check.expect_eq_const %b7#0 is dense<[78, 49, 75, 60, 66]> : tensor<5xi64> by [a] : !I64_a
  check.expect_eq_const %b7#1 is dense<[32, 47, 32, 44, 48]> : tensor<5xi64> by [a] : !I64_a
  %d7 = nd.call @branch(%x, %n7) : (!I64_a, !nd.tensor<i64>) -> !I64_a
  check.expect_eq_const %d7 is dense<[41, 37, 48, 59, 55]> : tensor<5xi64> by [a] : !I64_a
  return
}

// The same lifted: numbers of steps differ from point to point.
func.func @lifted(%x: !i64_a_m, %y: !I64_a) -> (!i64_a_m, !i64_a_m) {
  %n = nd.constant dense<[4, 0, 3]> : tensor<3xi64> by [m] : !nd.tensor<i64, m: 3>
  %r:2 = nd.call @swap(%x, %y, %n) : (!i64_a_m, !I64_a, !nd.tensor<i64, m: 3>) -> (!i64_a_m, !i64_a_m)
  return %r#0, %r#1 : !i64_a_m, !i64_a_m
}
