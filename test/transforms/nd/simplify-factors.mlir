// RUN: heddle-opt %s --nd-simplify="fast-math=reassociate verify-rules" --split-input-file | FileCheck %s --check-prefix=FAST
// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s --check-prefix=STRICT

// x W + y W is (x + y) W.
// FAST-LABEL: @two_products
// FAST: %[[S:.*]] = nd.pointwise %arg0, %arg1
// FAST: arith.addf
// FAST: %[[P:.*]] = nd.pointwise %[[S]], %arg2
// FAST: nd.reduce %[[P]] over [k]
// FAST-NOT: nd.reduce
// STRICT-LABEL: @two_products
// STRICT: nd.reduce
// STRICT: nd.reduce
func.func @two_products(%x: !nd.tensor<f32, i: 5, k: 7>, %y: !nd.tensor<f32, i: 5, k: 7>, %w: !nd.tensor<f32, j: 6, k: 7>) -> !nd.tensor<f32, i: 5, j: 6> {
  %0 = nd.pointwise %x, %w : (!nd.tensor<f32, i: 5, k: 7>, !nd.tensor<f32, j: 6, k: 7>) -> !nd.tensor<f32, i: 5, j: 6, k: 7> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 5, j: 6, k: 7>) -> !nd.tensor<f32, i: 5, j: 6> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  %2 = nd.pointwise %w, %y : (!nd.tensor<f32, j: 6, k: 7>, !nd.tensor<f32, i: 5, k: 7>) -> !nd.tensor<f32, i: 5, j: 6, k: 7> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 5, j: 6, k: 7>) -> !nd.tensor<f32, i: 5, j: 6> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %q, %p : f32
    nd.yield %m : f32
  }
  %4 = nd.pointwise %1, %3 : (!nd.tensor<f32, i: 5, j: 6>, !nd.tensor<f32, i: 5, j: 6>) -> !nd.tensor<f32, i: 5, j: 6> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  return %4 : !nd.tensor<f32, i: 5, j: 6>
}

// -----

!i32_i_j = !nd.tensor<i32, i: 5, j: 3>

// Integers wrap around either way. b w - a w is (b - a) w.
// FAST-LABEL: @difference
// STRICT-LABEL: @difference
// STRICT: %[[S:.*]] = nd.pointwise %arg1, %arg0
// STRICT-NEXT: ^bb0(%[[B:.*]]: i32, %[[A:.*]]: i32):
// STRICT-NEXT: arith.subi %[[B]], %[[A]]
// STRICT: nd.pointwise %[[S]], %arg2
// STRICT: arith.muli
// STRICT-NOT: arith.muli
func.func @difference(%a: !nd.tensor<i32, i: 5>, %b: !nd.tensor<i32, i: 5>, %w: !i32_i_j) -> !i32_i_j {
  %0 = nd.pointwise %a, %w : (!nd.tensor<i32, i: 5>, !i32_i_j) -> !i32_i_j {
  ^bb0(%p: i32, %q: i32):
    %m = arith.muli %p, %q : i32
    nd.yield %m : i32
  }
  %1 = nd.pointwise %b, %w : (!nd.tensor<i32, i: 5>, !i32_i_j) -> !i32_i_j {
  ^bb0(%p: i32, %q: i32):
    %m = arith.muli %p, %q : i32
    nd.yield %m : i32
  }
  %2 = nd.pointwise %0, %1 : (!i32_i_j, !i32_i_j) -> !i32_i_j {
  ^bb0(%p: i32, %q: i32):
    %m = arith.subi %q, %p : i32
    nd.yield %m : i32
  }
  return %2 : !i32_i_j
}

// -----

!i = !nd.tensor<f32, i: 5>

// The larger of two sums of minima: a lattice is exact.
// STRICT-LABEL: @lattice
// STRICT: arith.maximumf
// STRICT: arith.minimumf
// STRICT-NOT: arith.minimumf
func.func @lattice(%a: !i, %b: !i, %w: !i) -> !i {
  %0 = nd.pointwise %a, %w : (!i, !i) -> !i {
  ^bb0(%p: f32, %q: f32):
    %m = arith.minimumf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.pointwise %b, %w : (!i, !i) -> !i {
  ^bb0(%p: f32, %q: f32):
    %m = arith.minimumf %p, %q : f32
    nd.yield %m : f32
  }
  %2 = nd.pointwise %0, %1 : (!i, !i) -> !i {
  ^bb0(%p: f32, %q: f32):
    %m = arith.maximumf %p, %q : f32
    nd.yield %m : f32
  }
  return %2 : !i
}

// -----

// One sum has another factor of more names: adding up would be more work than a product.
// FAST-LABEL: @wider
// FAST: nd.reduce
// FAST: nd.reduce
// STRICT-LABEL: @wider
func.func @wider(%x: !nd.tensor<f32, i: 5, k: 7>, %y: !nd.tensor<f32, k: 7>, %w: !nd.tensor<f32, k: 7>) -> !nd.tensor<f32, i: 5> {
  %0 = nd.pointwise %x, %w : (!nd.tensor<f32, i: 5, k: 7>, !nd.tensor<f32, k: 7>) -> !nd.tensor<f32, i: 5, k: 7> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 5, k: 7>) -> !nd.tensor<f32, i: 5> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  %2 = nd.pointwise %y, %w : (!nd.tensor<f32, k: 7>, !nd.tensor<f32, k: 7>) -> !nd.tensor<f32, k: 7> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 7>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  %4 = nd.pointwise %1, %3 : (!nd.tensor<f32, i: 5>, !nd.tensor<f32>) -> !nd.tensor<f32, i: 5> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  return %4 : !nd.tensor<f32, i: 5>
}

// -----

!i = !nd.tensor<f32, i: 5>

// FAST-LABEL: @in_code
// FAST: arith.addf
// FAST: arith.mulf
// FAST-NOT: arith.mulf
// STRICT-LABEL: @in_code
// STRICT: arith.mulf
// STRICT: arith.mulf
func.func @in_code(%a: !i, %b: !i, %w: !i) -> !i {
  %0 = nd.pointwise %a, %b, %w : (!i, !i, !i) -> !i {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %m = arith.mulf %p, %r : f32
    %n = arith.mulf %r, %q : f32
    %s = arith.addf %m, %n : f32
    nd.yield %s : f32
  }
  return %0 : !i
}

// -----

// What is summed over has a name of its own in each sum, and one sum is renamed: sum_k a_ik w_jk - sum_l w_ml b_li, with m for j, is
// sum_k (a_ik - b_ki) w_jk.
// FAST-LABEL: @fresh_names
// FAST: %[[B:.*]] = nd.rename %arg1 [l] to [k]
// FAST: %[[S:.*]] = nd.pointwise %arg0, %[[B]]
// FAST: arith.subf
// FAST: %[[P:.*]] = nd.pointwise %[[S]], %arg2
// FAST: %[[R:.*]] = nd.reduce %[[P]] over [k]
// FAST-NOT: nd.reduce
// FAST: return %[[R]]
// STRICT-LABEL: @fresh_names
// STRICT: nd.reduce
// STRICT: nd.reduce
func.func @fresh_names(%a: !nd.tensor<f32, i: 5, k: 7>, %b: !nd.tensor<f32, l: 7, i: 5>, %w: !nd.tensor<f32, j: 6, k: 7>) -> !nd.tensor<f32, i: 5, j: 6> {
  %0 = nd.pointwise %a, %w : (!nd.tensor<f32, i: 5, k: 7>, !nd.tensor<f32, j: 6, k: 7>) -> !nd.tensor<f32, i: 5, j: 6, k: 7> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 5, j: 6, k: 7>) -> !nd.tensor<f32, i: 5, j: 6> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  %v = nd.rename %w [j, k] to [m, l] : !nd.tensor<f32, j: 6, k: 7> -> !nd.tensor<f32, m: 6, l: 7>
  %2 = nd.pointwise %v, %b : (!nd.tensor<f32, m: 6, l: 7>, !nd.tensor<f32, l: 7, i: 5>) -> !nd.tensor<f32, i: 5, m: 6, l: 7> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %3 = nd.reduce %2 over [l] neutral [0.0 : f32] : (!nd.tensor<f32, i: 5, m: 6, l: 7>) -> !nd.tensor<f32, i: 5, m: 6> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %q, %p : f32
    nd.yield %m : f32
  }
  %r = nd.rename %3 [m] to [j] : !nd.tensor<f32, i: 5, m: 6> -> !nd.tensor<f32, i: 5, j: 6>
  %4 = nd.pointwise %1, %r : (!nd.tensor<f32, i: 5, j: 6>, !nd.tensor<f32, i: 5, j: 6>) -> !nd.tensor<f32, i: 5, j: 6> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.subf %p, %q : f32
    nd.yield %m : f32
  }
  return %4 : !nd.tensor<f32, i: 5, j: 6>
}

// -----

// One sum keeps the name that the other one reduces: no common factor.
// STRICT-LABEL: @crossed
// STRICT: arith.muli
// STRICT: arith.muli
func.func @crossed(%a: !nd.tensor<i32, i: 7, k: 7>, %b: !nd.tensor<i32, i: 7, k: 7>, %w: !nd.tensor<i32, j: 7, k: 7>) -> !nd.tensor<i32, i: 7, j: 7> {
  %0 = nd.pointwise %a, %w : (!nd.tensor<i32, i: 7, k: 7>, !nd.tensor<i32, j: 7, k: 7>) -> !nd.tensor<i32, i: 7, j: 7, k: 7> {
  ^bb0(%p: i32, %q: i32):
    %m = arith.muli %p, %q : i32
    nd.yield %m : i32
  }
  %1 = nd.reduce %0 over [k] neutral [0 : i32] : (!nd.tensor<i32, i: 7, j: 7, k: 7>) -> !nd.tensor<i32, i: 7, j: 7> {
  ^bb0(%p: i32, %q: i32):
    %m = arith.addi %p, %q : i32
    nd.yield %m : i32
  }
  %v = nd.rename %w [j, k] to [k, j] : !nd.tensor<i32, j: 7, k: 7> -> !nd.tensor<i32, k: 7, j: 7>
  %2 = nd.pointwise %v, %b : (!nd.tensor<i32, k: 7, j: 7>, !nd.tensor<i32, i: 7, k: 7>) -> !nd.tensor<i32, i: 7, j: 7, k: 7> {
  ^bb0(%p: i32, %q: i32):
    %m = arith.muli %p, %q : i32
    nd.yield %m : i32
  }
  %3 = nd.reduce %2 over [k] neutral [0 : i32] : (!nd.tensor<i32, i: 7, j: 7, k: 7>) -> !nd.tensor<i32, i: 7, j: 7> {
  ^bb0(%p: i32, %q: i32):
    %m = arith.addi %q, %p : i32
    nd.yield %m : i32
  }
  %4 = nd.pointwise %1, %3 : (!nd.tensor<i32, i: 7, j: 7>, !nd.tensor<i32, i: 7, j: 7>) -> !nd.tensor<i32, i: 7, j: 7> {
  ^bb0(%p: i32, %q: i32):
    %m = arith.addi %p, %q : i32
    nd.yield %m : i32
  }
  return %4 : !nd.tensor<i32, i: 7, j: 7>
}
