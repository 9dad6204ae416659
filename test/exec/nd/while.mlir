// Loops of unknown trip count and branches that run one side: values, tangents, compiled with the arena and
// buffer by buffer.
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --managed --threads 2

!a3 = !nd.tensor<f32, a: 3>
!i64_r = !nd.tensor<i64, r: 2>
!a2 = !nd.tensor<f32, a: 2>
!a6000 = !nd.tensor<f32, a: 6000>
!a_b = !nd.tensor<f32, a: 300, b: 300>

// The first power of x that is at least 100.
func.func private @power(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %y = scf.while (%s = %x) : (!nd.tensor<f32>) -> !nd.tensor<f32> {
    %small = nd.pointwise %s : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%v: f32):
      %b = arith.constant 100.0 : f32
      %r = arith.cmpf olt, %v, %b : f32
      nd.yield %r : i1
    }
    %c = nd.item %small : !nd.tensor<i1> -> i1
    scf.condition(%c) %s : !nd.tensor<f32>
  } do {
  ^bb0(%s: !nd.tensor<f32>):
    %t = nd.pointwise %s, %x : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
    ^bb0(%v: f32, %w: f32):
      %r = arith.mulf %v, %w : f32
      nd.yield %r : f32
    }
    scf.yield %t : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
func.func @unbounded() {
  %x = nd.constant dense<3.0> : tensor<f32> by [] : !nd.tensor<f32>
  %d = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %0:2 = nd.jvp @power(%x) tangents(%d) wrt [0] : (!nd.tensor<f32>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  check.expect_eq_const %0#0 is dense<243.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %0#1 is dense<405.0> : tensor<f32> by [] : !nd.tensor<f32>
  return
}

// Lifted: it goes on until all have ended. 2^7, 3^5, 1000.
func.func @lifted() {
  %x = nd.constant dense<[2.0, 3.0, 1000.0]> : tensor<3xf32> by [a] : !a3
  %y = nd.call @power(%x) : (!a3) -> !a3
  check.expect_eq_const %y is dense<[128.0, 243.0, 1000.0]> : tensor<3xf32> by [a] : !a3
  return
}

// A callee that calls in a branch, itself called by a callee: lifted, the loop must not wait for 0.5, whose powers stay small.
func.func private @guarded(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %large = nd.pointwise %x : (!nd.tensor<f32>) -> !nd.tensor<i1> {
  ^bb0(%v: f32):
    %b = arith.constant 1.0 : f32
    %r = arith.cmpf ogt, %v, %b : f32
    nd.yield %r : i1
  }
  %c = nd.item %large : !nd.tensor<i1> -> i1
  %y = scf.if %c -> (!nd.tensor<f32>) {
    %p = nd.call @power(%x) : (!nd.tensor<f32>) -> !nd.tensor<f32>
    scf.yield %p : !nd.tensor<f32>
  } else {
    scf.yield %x : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
func.func private @outer(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %y = nd.call @guarded(%x) : (!nd.tensor<f32>) -> !nd.tensor<f32>
  return %y : !nd.tensor<f32>
}
func.func @masked() {
  %x = nd.constant dense<[2.0, 0.5, 3.0]> : tensor<3xf32> by [a] : !a3
  %y = nd.call @outer(%x) : (!a3) -> !a3
  check.expect_eq_const %y is dense<[128.0, 0.5, 243.0]> : tensor<3xf32> by [a] : !a3
  return
}

// Carried values are swapped: (a, b) <- (b, a + b) while a < 50.
func.func @fibonacci() {
  %x = nd.constant dense<[0, 1]> : tensor<2xi64> by [r] : !i64_r
  %z = nd.constant dense<[1, 2]> : tensor<2xi64> by [r] : !i64_r
  %y:2 = scf.while (%a = %x, %b = %z) : (!i64_r, !i64_r) -> (!i64_r, !i64_r) {
    %most = nd.reduce %a over [r] neutral [0 : i64] : (!i64_r) -> !nd.tensor<i64> {
    ^bb0(%v: i64, %w: i64):
      %r = arith.maxsi %v, %w : i64
      nd.yield %r : i64
    }
    %small = nd.pointwise %most : (!nd.tensor<i64>) -> !nd.tensor<i1> {
    ^bb0(%v: i64):
      %l = arith.constant 50 : i64
      %r = arith.cmpi slt, %v, %l : i64
      nd.yield %r : i1
    }
    %c = nd.item %small : !nd.tensor<i1> -> i1
    scf.condition(%c) %a, %b : !i64_r, !i64_r
  } do {
  ^bb0(%a: !i64_r, %b: !i64_r):
    %t = nd.pointwise %a, %b : (!i64_r, !i64_r) -> !i64_r {
    ^bb0(%v: i64, %w: i64):
      %r = arith.addi %v, %w : i64
      nd.yield %r : i64
    }
    scf.yield %b, %t : !i64_r, !i64_r
  }
  check.expect_eq_const %y#0 is dense<[21, 55]> : tensor<2xi64> by [r] : !i64_r
  check.expect_eq_const %y#1 is dense<[34, 89]> : tensor<2xi64> by [r] : !i64_r
  return
}

// Bounds that are values: the sum of 2, 5, 8, ... below n.
func.func private @sum_below(%n: !nd.tensor<i64>) -> !nd.tensor<i64> {
  %zero = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %low = arith.constant 2 : index
  %high = nd.item %n : !nd.tensor<i64> -> index
  %step = arith.constant 3 : index
  %y = scf.for %i = %low to %high step %step iter_args(%s = %zero) -> (!nd.tensor<i64>) {
    %k = nd.from_item %i : index -> !nd.tensor<i64>
    %t = nd.pointwise %s, %k : (!nd.tensor<i64>, !nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%v: i64, %w: i64):
      %r = arith.addi %v, %w : i64
      nd.yield %r : i64
    }
    scf.yield %t : !nd.tensor<i64>
  }
  return %y : !nd.tensor<i64>
}
func.func @counted() {
  %n = nd.constant dense<9> : tensor<i64> by [] : !nd.tensor<i64>
  %y = nd.call @sum_below(%n) : (!nd.tensor<i64>) -> !nd.tensor<i64>
  check.expect_eq_const %y is dense<15> : tensor<i64> by [] : !nd.tensor<i64>
  %many = nd.constant dense<[-4, 2, 3, 8, 20]> : tensor<5xi64> by [a] : !nd.tensor<i64, a: 5>
  %z = nd.call @sum_below(%many) : (!nd.tensor<i64, a: 5>) -> !nd.tensor<i64, a: 5>
  check.expect_eq_const %z is dense<[0, 0, 2, 7, 57]> : tensor<5xi64> by [a] : !nd.tensor<i64, a: 5>
  return
}

// A branch that holds a loop runs one side: the other one has no end.
func.func private @halve(%x: !a2, %c: !nd.tensor<i1>) -> !a2 {
  %i = nd.item %c : !nd.tensor<i1> -> i1
  %y = scf.if %i -> (!a2) {
    %r = scf.while (%s = %x) : (!a2) -> !a2 {
      scf.condition(%i) %s : !a2
    } do {
    ^bb0(%s: !a2):
      scf.yield %s : !a2
    }
    scf.yield %r : !a2
  } else {
    %r = scf.while (%s = %x) : (!a2) -> !a2 {
      %m = nd.reduce %s over [a] neutral [0xFF800000 : f32] : (!a2) -> !nd.tensor<f32> {
      ^bb0(%v: f32, %w: f32):
        %q = arith.maximumf %v, %w : f32
        nd.yield %q : f32
      }
      %large = nd.pointwise %m : (!nd.tensor<f32>) -> !nd.tensor<i1> {
      ^bb0(%v: f32):
        %l = arith.constant 1.0 : f32
        %q = arith.cmpf ogt, %v, %l : f32
        nd.yield %q : i1
      }
      %j = nd.item %large : !nd.tensor<i1> -> i1
      scf.condition(%j) %s : !a2
    } do {
    ^bb0(%s: !a2):
      %t = nd.pointwise %s : (!a2) -> !a2 {
      ^bb0(%v: f32):
        %h = arith.constant 0.5 : f32
        %q = arith.mulf %v, %h : f32
        nd.yield %q : f32
      }
      scf.yield %t : !a2
    }
    scf.yield %r : !a2
  }
  return %y : !a2
}
func.func @one_side() {
  %x = nd.constant dense<[6.0, 3.0]> : tensor<2xf32> by [a] : !a2
  %no = nd.constant dense<false> : tensor<i1> by [] : !nd.tensor<i1>
  %y = nd.call @halve(%x, %no) : (!a2, !nd.tensor<i1>) -> !a2
  check.expect_eq_const %y is dense<[0.75, 0.375]> : tensor<2xf32> by [a] : !a2
  // Lifted over its condition, both sides are computed, and neither loop runs where it is not asked for.
  %none = nd.constant dense<[false, false]> : tensor<2xi1> by [b] : !nd.tensor<i1, b: 2>
  %z = nd.call @halve(%x, %none) : (!a2, !nd.tensor<i1, b: 2>) -> !nd.tensor<f32, a: 2, b: 2>
  check.expect_eq_const %z is dense<[[0.75, 0.75], [0.375, 0.375]]> : tensor<2x2xf32> by [a, b] : !nd.tensor<f32, a: 2, b: 2>
  return
}

// A largest number of steps: it ends where its condition fails, or after 20 steps.
func.func @bounded(%x: !a6000, %by: !nd.tensor<f32>) -> !a6000 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %y = scf.for %i = %c0 to %c20 step %c1 iter_args(%s = %x) -> (!a6000) {
    %m = nd.reduce %s over [a] neutral [0.0 : f32] : (!a6000) -> !nd.tensor<f32> {
    ^bb0(%v: f32, %w: f32):
      %q = arith.maximumf %v, %w : f32
      nd.yield %q : f32
    }
    %small = nd.pointwise %m : (!nd.tensor<f32>) -> !nd.tensor<i1> {
    ^bb0(%v: f32):
      %l = arith.constant 5.0 : f32
      %p = arith.cmpf olt, %v, %l : f32
      nd.yield %p : i1
    }
    %c = nd.item %small : !nd.tensor<i1> -> i1
    %u = scf.if %c -> (!a6000) {
      %n = nd.from_item %i : index -> !nd.tensor<i64>
      %t = nd.pointwise %s, %by, %n : (!a6000, !nd.tensor<f32>, !nd.tensor<i64>) -> !a6000 {
      ^bb0(%v: f32, %w: f32, %z: i64):
        %k = arith.sitofp %z : i64 to f32
        %e = arith.mulf %w, %w : f32
        %f = arith.addf %e, %v : f32
        %g = arith.mulf %k, %f : f32
        %l = arith.constant 0.1 : f32
        %h = arith.mulf %g, %l : f32
        %j = arith.addf %h, %f : f32
        nd.yield %j : f32
      }
      scf.yield %t : !a6000
    } else {
      scf.yield %s : !a6000
    }
    scf.yield %u : !a6000
  }
  return %y : !a6000
}

// A loop in a loop, of steps that are shared by all threads: x <- 2 x, i times, for i = 0, 1, 2, ... until x is large.
func.func @nested(%x: !a_b) -> (!a_b, !nd.tensor<i64>) {
  %zero = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y:2 = scf.while (%s = %x, %i = %zero) : (!a_b, !nd.tensor<i64>) -> (!a_b, !nd.tensor<i64>) {
    %m = nd.reduce %s over [a, b] neutral [0xFF800000 : f32] : (!a_b) -> !nd.tensor<f32> {
    ^bb0(%v: f32, %w: f32):
      %q = arith.maximumf %v, %w : f32
      nd.yield %q : f32
    }
    %small = nd.pointwise %m, %i : (!nd.tensor<f32>, !nd.tensor<i64>) -> !nd.tensor<i1> {
    ^bb0(%v: f32, %k: i64):
      %l = arith.constant 1000.0 : f32
      %n = arith.constant 6 : i64
      %p = arith.cmpf olt, %v, %l : f32
      %q = arith.cmpi slt, %k, %n : i64
      %r = arith.andi %p, %q : i1
      nd.yield %r : i1
    }
    %j = nd.item %small : !nd.tensor<i1> -> i1
    scf.condition(%j) %s, %i : !a_b, !nd.tensor<i64>
  } do {
  ^bb0(%s: !a_b, %i: !nd.tensor<i64>):
    %to = nd.item %i : !nd.tensor<i64> -> index
    %t = scf.for %k = %c0 to %to step %c1 iter_args(%r = %s) -> (!a_b) {
      %u = nd.pointwise %r : (!a_b) -> !a_b {
      ^bb0(%v: f32):
        %q = arith.addf %v, %v : f32
        nd.yield %q : f32
      }
      scf.yield %u : !a_b
    }
    %next = nd.pointwise %i : (!nd.tensor<i64>) -> !nd.tensor<i64> {
    ^bb0(%v: i64):
      %one = arith.constant 1 : i64
      %q = arith.addi %v, %one : i64
      nd.yield %q : i64
    }
    scf.yield %t, %next : !a_b, !nd.tensor<i64>
  }
  return %y#0, %y#1 : !a_b, !nd.tensor<i64>
}
