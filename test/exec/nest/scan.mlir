// One ordered name, carried state.
// RUN: heddle-run %s --compare

!b_i = !nd.tensor<f32, b: 3, i: 7>
!f64_i = !nd.tensor<f64, i: 3>
!bf16_i = !nd.tensor<bf16, i: 0>
!j = !nd.tensor<f32, j: 3>

// A recurrence: s <- 2 s + x; every state and the last one.
func.func @recurrence() {
  %s = nd.constant dense<1> : tensor<i32> by [] : !nd.tensor<i32>
  %x = nd.constant dense<[1, 0, 3]> : tensor<3xi32> by [t] : !nd.tensor<i32, t: 3>
  %a:2 = nest.scan along #nd.dims<t: 3> init(%s) reads(%x) : (!nd.tensor<i32>, !nd.tensor<i32, t: 3>) -> (!nd.tensor<i32>, !nd.tensor<i32, t: 3>) {
  ^bb0(%state: !nd.tensor<i32>, %slice: !nd.tensor<i32>):
    %next = nest.compute () reads %state[], %slice[] {
    ^bb0(%u: i32, %v: i32):
      %d = arith.addi %u, %u : i32
      %r = arith.addi %d, %v : i32
      nest.yield %r : i32
    } : (!nd.tensor<i32>, !nd.tensor<i32>) -> !nd.tensor<i32>
    nest.yield %next, %next : !nd.tensor<i32>, !nd.tensor<i32>
  }
  check.expect_eq_const %a#0 is dense<15> : tensor<i32> by [] : !nd.tensor<i32>
  check.expect_eq_const %a#1 is dense<[3, 6, 15]> : tensor<3xi32> by [t] : !nd.tensor<i32, t: 3>
  %b:2 = nest.scan along #nd.dims<t: 3> reverse init(%s) reads(%x) : (!nd.tensor<i32>, !nd.tensor<i32, t: 3>) -> (!nd.tensor<i32>, !nd.tensor<i32, t: 3>) {
  ^bb0(%state: !nd.tensor<i32>, %slice: !nd.tensor<i32>):
    %next = nest.compute () reads %state[], %slice[] {
    ^bb0(%u: i32, %v: i32):
      %d = arith.addi %u, %u : i32
      %r = arith.addi %d, %v : i32
      nest.yield %r : i32
    } : (!nd.tensor<i32>, !nd.tensor<i32>) -> !nd.tensor<i32>
    nest.yield %next, %state : !nd.tensor<i32>, !nd.tensor<i32>
  }
  check.expect_eq_const %b#0 is dense<21> : tensor<i32> by [] : !nd.tensor<i32>
  check.expect_eq_const %b#1 is dense<[10, 5, 1]> : tensor<3xi32> by [t] : !nd.tensor<i32, t: 3>
  return
}

// A recurrent layer: h <- tanh(w h + x), with a batch; the weights are captured.
func.func @layer(%h: !b_i, %x: !nd.tensor<f32, b: 3, i: 7, t: 5>, %w: !nd.tensor<f32, i: 7, j: 7>) -> (!b_i, !nd.tensor<f32, b: 3, i: 7, t: 5>) {
  %a:2 = nest.scan along #nd.dims<t: 5> init(%h) reads(%x) : (!b_i, !nd.tensor<f32, b: 3, i: 7, t: 5>) -> (!b_i, !nd.tensor<f32, b: 3, i: 7, t: 5>) {
  ^bb0(%state: !b_i, %slice: !b_i):
    %next = nest.compute (b: 3, i: 7) reduce (j: 7) reads %state[i = j], %w[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.mulf %u, %v : f32
      nest.yield %p : f32
    } combine add [0.0 : f32] finish reads %slice[] {
    ^bb0(%s: f32, %v: f32):
      %p = arith.addf %s, %v : f32
      %r = math.tanh %p : f32
      nest.yield %r : f32
    } : (!b_i, !nd.tensor<f32, i: 7, j: 7>, !b_i) -> !b_i
    nest.yield %next, %next : !b_i, !b_i
  }
  return %a#0, %a#1 : !b_i, !nd.tensor<f32, b: 3, i: 7, t: 5>
}

// No step at all, and states without elements.
func.func @empty(%h: !f64_i, %x: !nd.tensor<f64, i: 3, t: 0>, %e: !bf16_i, %y: !nd.tensor<bf16, i: 0, t: 4>)
    -> (!f64_i, !nd.tensor<f64, i: 3, t: 0>, !bf16_i, !nd.tensor<bf16, i: 0, t: 4>) {
  %a:2 = nest.scan along #nd.dims<t: 0> init(%h) reads(%x) : (!f64_i, !nd.tensor<f64, i: 3, t: 0>) -> (!f64_i, !nd.tensor<f64, i: 3, t: 0>) {
  ^bb0(%state: !f64_i, %slice: !f64_i):
    %next = nest.compute (i: 3) reads %state[], %slice[] {
    ^bb0(%u: f64, %v: f64):
      %r = arith.addf %u, %v : f64
      nest.yield %r : f64
    } : (!f64_i, !f64_i) -> !f64_i
    nest.yield %next, %next : !f64_i, !f64_i
  }
  %b:2 = nest.scan along #nd.dims<t: 4> init(%e) reads(%y) : (!bf16_i, !nd.tensor<bf16, i: 0, t: 4>) -> (!bf16_i, !nd.tensor<bf16, i: 0, t: 4>) {
  ^bb0(%state: !bf16_i, %slice: !bf16_i):
    %next = nest.compute (i: 0) reads %state[], %slice[] {
    ^bb0(%u: bf16, %v: bf16):
      %r = arith.addf %u, %v : bf16
      nest.yield %r : bf16
    } : (!bf16_i, !bf16_i) -> !bf16_i
    nest.yield %next, %next : !bf16_i, !bf16_i
  }
  return %a#0, %a#1, %b#0, %b#1 : !f64_i, !nd.tensor<f64, i: 3, t: 0>, !bf16_i, !nd.tensor<bf16, i: 0, t: 4>
}

// A step that holds a scan of its own: s <- s + the prefix sums of x over j.
func.func @nested(%s: !j, %x: !nd.tensor<f32, j: 3, t: 2>) -> !nd.tensor<f32, j: 3, t: 2> {
  %a:2 = nest.scan along #nd.dims<t: 2> init(%s) reads(%x) : (!j, !nd.tensor<f32, j: 3, t: 2>) -> (!j, !nd.tensor<f32, j: 3, t: 2>) {
  ^bb0(%state: !j, %slice: !j):
    %w = nd.broadcast %slice : !j -> !nd.tensor<f32, j: 3, w: 5>
    %p = nd.scan %w along j neutral [0.0 : f32] : (!nd.tensor<f32, j: 3, w: 5>) -> !nd.tensor<f32, j: 3, w: 5> {
    ^bb0(%u: f32, %v: f32):
      %r = arith.addf %u, %v : f32
      nd.yield %r : f32
    }
    %m = nd.slice %p w from 1 size 1 : !nd.tensor<f32, j: 3, w: 5> -> !nd.tensor<f32, j: 3, w: 1>
    %f = nd.merge %m [j, w] into j : !nd.tensor<f32, j: 3, w: 1> -> !j
    %next = nd.pointwise %state, %f : (!j, !j) -> !j {
    ^bb0(%u: f32, %v: f32):
      %r = arith.addf %u, %v : f32
      nd.yield %r : f32
    }
    nest.yield %next, %next : !j, !j
  }
  return %a#1 : !nd.tensor<f32, j: 3, t: 2>
}

// A condition from outside of the steps, beside a factor whose gradient the steps add up: x w^3 or x.
func.func private @scaled(%x: !nd.tensor<f32>, %w: !nd.tensor<f32>, %b: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %y = nest.scan along <t: 3> init(%x) reads() : (!nd.tensor<f32>) -> !nd.tensor<f32> {
  ^bb0(%s: !nd.tensor<f32>):
    %next = scf.if %c -> !nd.tensor<f32> {
      %p = nd.pointwise %s, %w : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
      ^bb0(%u: f32, %v: f32):
        %r = arith.mulf %u, %v : f32
        nd.yield %r : f32
      }
      scf.yield %p : !nd.tensor<f32>
    } else {
      scf.yield %s : !nd.tensor<f32>
    }
    nest.yield %next : !nd.tensor<f32>
  }
  return %y : !nd.tensor<f32>
}
func.func @captured_condition() {
  %yes = nd.constant dense<true> : tensor<i1> by [] : !nd.tensor<i1>
  %no = nd.constant dense<false> : tensor<i1> by [] : !nd.tensor<i1>
  %x = nd.constant dense<2.0> : tensor<f32> by [] : !nd.tensor<f32>
  %w = nd.constant dense<3.0> : tensor<f32> by [] : !nd.tensor<f32>
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  %a:3 = nd.vjp @scaled(%x, %w, %yes) cotangents(%one) wrt [0, 1] : (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<i1>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<f32>)
  check.expect_eq_const %a#0 is dense<54.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %a#1 is dense<27.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %a#2 is dense<54.0> : tensor<f32> by [] : !nd.tensor<f32>
  %b:3 = nd.vjp @scaled(%x, %w, %no) cotangents(%one) wrt [0, 1] : (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<i1>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>, !nd.tensor<f32>)
  check.expect_eq_const %b#1 is dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  check.expect_eq_const %b#2 is dense<0.0> : tensor<f32> by [] : !nd.tensor<f32>
  return
}
