// Loops of unknown trip count inside recurrences, loops with computed steps, and expensive recurrences: values, tangents,
// gradients, lifted.
// RUN: heddle-run %s --compare --size N=0,1,5
// RUN: heddle-run %s --compare --managed --row-major --threads 2 --size N=3

// Each number is halved until it is at most what is carried, which grows.
!f64_k_m_t = !nd.tensor<f64, k: 3, m: 2, t: N>
!f64_t = !nd.tensor<f64, t: N>
!a = !nd.tensor<f32, a: 40>
!a_b = !nd.tensor<f32, a: 40, b: 2000>
!a_t = !nd.tensor<f32, a: 40, t: N>

func.func private @halvings(%h: !nd.tensor<f64>, %x: !f64_t) -> (!nd.tensor<f64>, !f64_t) {
  %r:2 = nest.scan along <t: N> init(%h) reads(%x) : (!nd.tensor<f64>, !f64_t) -> (!nd.tensor<f64>, !f64_t) {
  ^bb0(%s: !nd.tensor<f64>, %v: !nd.tensor<f64>):
    %y = scf.while (%w = %v) : (!nd.tensor<f64>) -> !nd.tensor<f64> {
      %large = nd.pointwise %w, %s : (!nd.tensor<f64>, !nd.tensor<f64>) -> !nd.tensor<i1> {
      ^bb0(%a: f64, %b: f64):
        %c = arith.cmpf ogt, %a, %b : f64
        nd.yield %c : i1
      }
      %c = nd.item %large : !nd.tensor<i1> -> i1
      scf.condition(%c) %w : !nd.tensor<f64>
    } do {
    ^bb0(%w: !nd.tensor<f64>):
      %half = nd.pointwise %w : (!nd.tensor<f64>) -> !nd.tensor<f64> {
      ^bb0(%a: f64):
        %two = arith.constant 2.0 : f64
        %c = arith.divf %a, %two : f64
        nd.yield %c : f64
      }
      scf.yield %half : !nd.tensor<f64>
    }
    %n = nd.pointwise %s, %y : (!nd.tensor<f64>, !nd.tensor<f64>) -> !nd.tensor<f64> {
    ^bb0(%a: f64, %b: f64):
      %c = arith.addf %a, %b : f64
      nd.yield %c : f64
    }
    nest.yield %n, %y : !nd.tensor<f64>, !nd.tensor<f64>
  }
  return %r#0, %r#1 : !nd.tensor<f64>, !f64_t
}
func.func @known() {
  %h = nd.constant dense<1.0> : tensor<f64> by [] : !nd.tensor<f64>
  %x = nd.constant dense<[8.0, 3.0, 13.0]> : tensor<3xf64> by [t] : !nd.tensor<f64, t: 3>
  %0:2 = nd.call @halvings(%h, %x) : (!nd.tensor<f64>, !nd.tensor<f64, t: 3>) -> (!nd.tensor<f64>, !nd.tensor<f64, t: 3>)
  check.expect_eq_const %0#0 is dense<6.75> : tensor<f64> by [] : !nd.tensor<f64>
  check.expect_eq_const %0#1 is dense<[1.0, 1.5, 3.25]> : tensor<3xf64> by [t] : !nd.tensor<f64, t: 3>
  return
}
func.func private @both(%h: !nd.tensor<f64>, %x: !f64_t) -> (!nd.tensor<f64>, !f64_t, !nd.tensor<f64>, !f64_t) {
  %p = nd.pointwise %h : (!nd.tensor<f64>) -> !nd.tensor<f64> {
  ^bb0(%a: f64):
    %b = math.absf %a : f64
    %one = arith.constant 1.0 : f64
    %c = arith.addf %b, %one : f64
    nd.yield %c : f64
  }
  %q = nd.pointwise %x : (!f64_t) -> !f64_t {
  ^bb0(%a: f64):
    %b = math.absf %a : f64
    nd.yield %b : f64
  }
  %r:4 = nd.jvp @halvings(%p, %q) tangents(%h, %x) wrt [0, 1] : (!nd.tensor<f64>, !f64_t, !nd.tensor<f64>, !f64_t) -> (!nd.tensor<f64>, !f64_t, !nd.tensor<f64>, !f64_t)
  return %r#0, %r#1, %r#2, %r#3 : !nd.tensor<f64>, !f64_t, !nd.tensor<f64>, !f64_t
}
func.func @lifted(%h: !nd.tensor<f64, k: 3>, %x: !nd.tensor<f64, t: N, m: 2>) -> (!nd.tensor<f64, k: 3, m: 2>, !f64_k_m_t, !nd.tensor<f64, k: 3, m: 2>, !f64_k_m_t) {
  %r:4 = nd.call @both(%h, %x) : (!nd.tensor<f64, k: 3>, !nd.tensor<f64, t: N, m: 2>) -> (!nd.tensor<f64, k: 3, m: 2>, !f64_k_m_t, !nd.tensor<f64, k: 3, m: 2>, !f64_k_m_t)
  return %r#0, %r#1, %r#2, %r#3 : !nd.tensor<f64, k: 3, m: 2>, !f64_k_m_t, !nd.tensor<f64, k: 3, m: 2>, !f64_k_m_t
}

// A computed step; without a positive one there are no steps.
func.func private @strides(%by: !nd.tensor<i64>) -> !nd.tensor<i64> {
  %zero = nd.constant dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %low = arith.constant 1 : index
  %high = arith.constant 12 : index
  %step = nd.item %by : !nd.tensor<i64> -> index
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
func.func @steps() {
  %five = nd.constant dense<5> : tensor<i64> by [] : !nd.tensor<i64>
  %0 = nd.call @strides(%five) : (!nd.tensor<i64>) -> !nd.tensor<i64>
  check.expect_eq_const %0 is dense<18> : tensor<i64> by [] : !nd.tensor<i64>
  %no = nd.constant dense<-1> : tensor<i64> by [] : !nd.tensor<i64>
  %1 = nd.call @strides(%no) : (!nd.tensor<i64>) -> !nd.tensor<i64>
  check.expect_eq_const %1 is dense<0> : tensor<i64> by [] : !nd.tensor<i64>
  %many = nd.constant dense<[1, 0, 4, 11, 40]> : tensor<5xi64> by [a] : !nd.tensor<i64, a: 5>
  %2 = nd.call @strides(%many) : (!nd.tensor<i64, a: 5>) -> !nd.tensor<i64, a: 5>
  check.expect_eq_const %2 is dense<[66, 0, 15, 1, 1]> : tensor<5xi64> by [a] : !nd.tensor<i64, a: 5>
  return
}

// Much work in each step: forward, backward and second steps are loops. A constant stands in the region.
func.func private @recurrence(%h: !a, %w: !a_b, %x: !nd.tensor<f32, b: 2000, t: N>) -> (!a, !a_t) {
  %r:2 = nest.scan along <t: N> reverse init(%h) reads(%x) : (!a, !nd.tensor<f32, b: 2000, t: N>) -> (!a, !a_t) {
  ^bb0(%s: !a, %v: !nd.tensor<f32, b: 2000>):
    %c = arith.constant 2 : i64
    %two = nd.from_item %c : i64 -> !nd.tensor<i64>
    %m = nd.pointwise %w, %v, %s : (!a_b, !nd.tensor<f32, b: 2000>, !a) -> !a_b {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %k = arith.constant 0.001 : f32
      %0 = arith.mulf %p, %q : f32
      %1 = arith.mulf %0, %u : f32
      %2 = arith.mulf %1, %k : f32
      nd.yield %2 : f32
    }
    %n = nd.reduce %m over [b] neutral [0.0 : f32] : (!a_b) -> !a {
    ^bb0(%p: f32, %q: f32):
      %0 = arith.addf %p, %q : f32
      nd.yield %0 : f32
    }
    %e = nd.pointwise %n, %s, %two : (!a, !a, !nd.tensor<i64>) -> !a {
    ^bb0(%p: f32, %q: f32, %u: i64):
      %k = arith.sitofp %u : i64 to f32
      %0 = arith.divf %q, %k : f32
      %1 = arith.addf %p, %0 : f32
      %2 = math.tanh %1 : f32
      nd.yield %2 : f32
    }
    nest.yield %e, %n : !a, !a
  }
  return %r#0, %r#1 : !a, !a_t
}
func.func @gradients(%h: !a, %w: !a_b, %x: !nd.tensor<f32, b: 2000, t: N>, %g: !a_t) -> (!a_t, !a, !a_b, !nd.tensor<f32, b: 2000, t: N>) {
  %r:5 = nd.vjp @recurrence(%h, %w, %x) cotangents(%h, %g) wrt [0, 1, 2] : (!a, !a_b, !nd.tensor<f32, b: 2000, t: N>, !a, !a_t) -> (!a, !a_t, !a, !a_b, !nd.tensor<f32, b: 2000, t: N>)
  return %r#1, %r#2, %r#3, %r#4 : !a_t, !a, !a_b, !nd.tensor<f32, b: 2000, t: N>
}
