// RUN: heddle-opt %s --nd-simplify="fast-math=reassociate,no-nans verify-rules" --split-input-file | FileCheck %s --check-prefix=FAST
// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s --check-prefix=STRICT

// A kernel of three factors becomes two products.
// FAST-LABEL: @three_factors
// STRICT-LABEL: @three_factors
func.func @three_factors(%a: !nd.tensor<f32, i: 20, j: 20>, %b: !nd.tensor<f32, j: 20, k: 20>, %c: !nd.tensor<f32, k: 20, l: 20>) -> (!nd.tensor<f32, i: 20, l: 20>) {
  // FAST: %[[P:.*]] = nd.pointwise
  // FAST: nd.reduce %[[P]] over [{{[jk]}}]
  // FAST: %[[Q:.*]] = nd.pointwise
  // FAST: nd.reduce %[[Q]] over [{{[jk]}}]
  // STRICT: nd.reduce %{{.*}} over [j, k]
  %0 = nd.pointwise %a, %b, %c : (!nd.tensor<f32, i: 20, j: 20>, !nd.tensor<f32, j: 20, k: 20>, !nd.tensor<f32, k: 20, l: 20>) -> !nd.tensor<f32, i: 20, j: 20, k: 20, l: 20> {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %m = arith.mulf %p, %q : f32
    %n = arith.mulf %m, %r : f32
    nd.yield %n : f32
  }
  %1 = nd.reduce %0 over [j, k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 20, j: 20, k: 20, l: 20>) -> !nd.tensor<f32, i: 20, l: 20> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32, i: 20, l: 20>
}

// -----

// (A B) c costs more than A (B c).
// FAST-LABEL: @matrix_matrix_vector
// STRICT-LABEL: @matrix_matrix_vector
func.func @matrix_matrix_vector(%a: !nd.tensor<f32, i: 30, j: 30>, %b: !nd.tensor<f32, j: 30, k: 30>, %c: !nd.tensor<f32, k: 30>) -> (!nd.tensor<f32, i: 30>) {
  // FAST: nd.pointwise %arg1, %arg2
  // FAST: nd.reduce %{{.*}} over [k]
  // FAST: nd.reduce %{{.*}} over [j]
  // STRICT: nd.reduce %{{.*}} over [j]
  // STRICT: nd.reduce %{{.*}} over [k]
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, i: 30, j: 30>, !nd.tensor<f32, j: 30, k: 30>) -> !nd.tensor<f32, i: 30, j: 30, k: 30> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: 30, j: 30, k: 30>) -> !nd.tensor<f32, i: 30, k: 30> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %2 = nd.pointwise %1, %c : (!nd.tensor<f32, i: 30, k: 30>, !nd.tensor<f32, k: 30>) -> !nd.tensor<f32, i: 30, k: 30> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 30, k: 30>) -> !nd.tensor<f32, i: 30> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %3 : !nd.tensor<f32, i: 30>
}

// -----

// No order is better: what is written stays.
// FAST-LABEL: @good_order
// STRICT-LABEL: @good_order
func.func @good_order(%a: !nd.tensor<f32, i: 30, j: 30>, %b: !nd.tensor<f32, j: 30, k: 30>, %c: !nd.tensor<f32, k: 30, l: 30>) -> (!nd.tensor<f32, i: 30, l: 30>) {
  // FAST: nd.pointwise %arg0, %arg1
  // FAST: nd.reduce %{{.*}} over [j]
  // FAST: nd.reduce %{{.*}} over [k]
  // STRICT: nd.reduce %{{.*}} over [j]
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, i: 30, j: 30>, !nd.tensor<f32, j: 30, k: 30>) -> !nd.tensor<f32, i: 30, j: 30, k: 30> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: 30, j: 30, k: 30>) -> !nd.tensor<f32, i: 30, k: 30> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  %2 = nd.pointwise %1, %c : (!nd.tensor<f32, i: 30, k: 30>, !nd.tensor<f32, k: 30, l: 30>) -> !nd.tensor<f32, i: 30, k: 30, l: 30> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 30, k: 30, l: 30>) -> !nd.tensor<f32, i: 30, l: 30> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %3 : !nd.tensor<f32, i: 30, l: 30>
}

// -----

// One factor in a sum that reads as much anyway: nothing is gained.
// FAST-LABEL: @factor
// STRICT-LABEL: @factor
func.func @factor(%a: !nd.tensor<f32, i: 20>, %b: !nd.tensor<f32, i: 20, j: 30>) -> (!nd.tensor<f32, i: 20>) {
  // FAST: nd.pointwise
  // STRICT: nd.pointwise
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, i: 20>, !nd.tensor<f32, i: 20, j: 30>) -> !nd.tensor<f32, i: 20, j: 30> {
  ^bb0(%p: f32, %q: f32):
    %e = math.exp %p : f32
    %m = arith.mulf %e, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [j] neutral [0.0 : f32] : (!nd.tensor<f32, i: 20, j: 30>) -> !nd.tensor<f32, i: 20> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32, i: 20>
}

// -----

// Sums move inwards.
// FAST-LABEL: @outer
// STRICT-LABEL: @outer
func.func @outer(%a: !nd.tensor<f32, i: 20>, %b: !nd.tensor<f32, j: 30>) -> (!nd.tensor<f32>) {
  // FAST: %[[E:.*]] = nd.pointwise %arg0
  // FAST: math.exp
  // FAST: %[[S:.*]] = nd.reduce %[[E]] over [i]
  // FAST: %[[T:.*]] = nd.reduce %arg1 over [j]
  // FAST: nd.pointwise %[[S]], %[[T]] :
  // STRICT: nd.reduce %{{.*}} over [i, j]
  %0 = nd.pointwise %a, %b crossed : (!nd.tensor<f32, i: 20>, !nd.tensor<f32, j: 30>) -> !nd.tensor<f32, i: 20, j: 30> {
  ^bb0(%p: f32, %q: f32):
    %e = math.exp %p : f32
    %m = arith.mulf %e, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [i, j] neutral [0.0 : f32] : (!nd.tensor<f32, i: 20, j: 30>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32>
}

// -----

// FAST-LABEL: @integers
// STRICT-LABEL: @integers
func.func @integers(%a: !nd.tensor<i32, i: 20>, %b: !nd.tensor<i32, j: 30>) -> (!nd.tensor<i32>) {
  // FAST: nd.reduce %arg0
  // STRICT: nd.reduce %arg0 over [i]
  // FAST: nd.reduce %arg1
  // STRICT: nd.reduce %arg1 over [j]
  %0 = nd.pointwise %a, %b crossed : (!nd.tensor<i32, i: 20>, !nd.tensor<i32, j: 30>) -> !nd.tensor<i32, i: 20, j: 30> {
  ^bb0(%p: i32, %q: i32):
    %m = arith.muli %p, %q : i32
    nd.yield %m : i32
  }
  %1 = nd.reduce %0 over [i, j] neutral [0 : i32] : (!nd.tensor<i32, i: 20, j: 30>) -> !nd.tensor<i32> {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    nd.yield %r : i32
  }
  return %1 : !nd.tensor<i32>
}

// -----

// FAST-LABEL: @lattice
// STRICT-LABEL: @lattice
func.func @lattice(%a: !nd.tensor<f32, i: 20>, %b: !nd.tensor<f32, j: 30>) -> (!nd.tensor<f32>) {
  // FAST: nd.reduce %arg0
  // STRICT: nd.reduce %arg0 over [i]
  // FAST: nd.reduce %arg1
  // STRICT: nd.reduce %arg1 over [j]
  %0 = nd.pointwise %a, %b crossed : (!nd.tensor<f32, i: 20>, !nd.tensor<f32, j: 30>) -> !nd.tensor<f32, i: 20, j: 30> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.minimumf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [i, j] neutral [0xFF800000 : f32] : (!nd.tensor<f32, i: 20, j: 30>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32>
}

// -----

// FAST-LABEL: @tropical
// STRICT-LABEL: @tropical
func.func @tropical(%a: !nd.tensor<f32, i: 20>, %b: !nd.tensor<f32, j: 30>) -> (!nd.tensor<f32>) {
  // FAST: nd.reduce %arg0
  // STRICT: nd.reduce %{{.*}} over [i, j]
  // FAST: nd.reduce %arg1 over [j]
  %0 = nd.pointwise %a, %b crossed : (!nd.tensor<f32, i: 20>, !nd.tensor<f32, j: 30>) -> !nd.tensor<f32, i: 20, j: 30> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [i, j] neutral [0xFF800000 : f32] : (!nd.tensor<f32, i: 20, j: 30>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32>
}

// -----

// A product turns maxima into minima where a factor is negative.
// FAST-LABEL: @no_semiring
// STRICT-LABEL: @no_semiring
func.func @no_semiring(%a: !nd.tensor<f32, i: 20>, %b: !nd.tensor<f32, j: 30>) -> (!nd.tensor<f32>) {
  // FAST: nd.reduce %{{.*}} over [i, j]
  // STRICT: nd.reduce %{{.*}} over [i, j]
  %0 = nd.pointwise %a, %b crossed : (!nd.tensor<f32, i: 20>, !nd.tensor<f32, j: 30>) -> !nd.tensor<f32, i: 20, j: 30> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  %1 = nd.reduce %0 over [i, j] neutral [0xFF800000 : f32] : (!nd.tensor<f32, i: 20, j: 30>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.maximumf %p, %q : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32>
}

// -----

// Too many factors to search are ordered greedily.
// FAST-LABEL: @many
// STRICT-LABEL: @many
func.func @many(%x0: !nd.tensor<f32, a: 2, b: 2>, %x1: !nd.tensor<f32, b: 2, c: 2>, %x2: !nd.tensor<f32, c: 2, d: 2>, %x3: !nd.tensor<f32, d: 2, e: 2>, %x4: !nd.tensor<f32, e: 2, f: 2>, %x5: !nd.tensor<f32, f: 2, g: 2>, %x6: !nd.tensor<f32, g: 2, h: 2>, %x7: !nd.tensor<f32, h: 2, i: 2>, %x8: !nd.tensor<f32, i: 2, j: 2>, %x9: !nd.tensor<f32, j: 2, k: 2>, %x10: !nd.tensor<f32, k: 2, l: 2>, %x11: !nd.tensor<f32, l: 2, m: 2>) -> (!nd.tensor<f32, a: 2, m: 2>) {
  // FAST-COUNT-11: nd.reduce
  // STRICT: nd.reduce
  %0 = nd.pointwise %x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11 : (!nd.tensor<f32, a: 2, b: 2>, !nd.tensor<f32, b: 2, c: 2>, !nd.tensor<f32, c: 2, d: 2>, !nd.tensor<f32, d: 2, e: 2>, !nd.tensor<f32, e: 2, f: 2>, !nd.tensor<f32, f: 2, g: 2>, !nd.tensor<f32, g: 2, h: 2>, !nd.tensor<f32, h: 2, i: 2>, !nd.tensor<f32, i: 2, j: 2>, !nd.tensor<f32, j: 2, k: 2>, !nd.tensor<f32, k: 2, l: 2>, !nd.tensor<f32, l: 2, m: 2>) -> !nd.tensor<f32, a: 2, b: 2, c: 2, d: 2, e: 2, f: 2, g: 2, h: 2, i: 2, j: 2, k: 2, l: 2, m: 2> {
  ^bb0(%v0: f32, %v1: f32, %v2: f32, %v3: f32, %v4: f32, %v5: f32, %v6: f32, %v7: f32, %v8: f32, %v9: f32, %v10: f32, %v11: f32):
    %m1 = arith.mulf %v0, %v1 : f32
    %m2 = arith.mulf %m1, %v2 : f32
    %m3 = arith.mulf %m2, %v3 : f32
    %m4 = arith.mulf %m3, %v4 : f32
    %m5 = arith.mulf %m4, %v5 : f32
    %m6 = arith.mulf %m5, %v6 : f32
    %m7 = arith.mulf %m6, %v7 : f32
    %m8 = arith.mulf %m7, %v8 : f32
    %m9 = arith.mulf %m8, %v9 : f32
    %m10 = arith.mulf %m9, %v10 : f32
    %m11 = arith.mulf %m10, %v11 : f32
    nd.yield %m11 : f32
  }
  %1 = nd.reduce %0 over [b, c, d, e, f, g, h, i, j, k, l] neutral [0.0 : f32] : (!nd.tensor<f32, a: 2, b: 2, c: 2, d: 2, e: 2, f: 2, g: 2, h: 2, i: 2, j: 2, k: 2, l: 2, m: 2>) -> !nd.tensor<f32, a: 2, m: 2> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32, a: 2, m: 2>
}
