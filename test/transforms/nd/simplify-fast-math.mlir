// RUN: heddle-opt %s --nd-simplify="fast-math=reassociate,no-nans,no-signed-zeros,reciprocal verify-rules" --split-input-file | FileCheck %s --check-prefix=FAST
// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s --check-prefix=STRICT
// RUN: heddle-opt %s --nd-simplify="fast-math=excess-precision verify-rules" --split-input-file | FileCheck %s --check-prefix=EXCESS
// RUN: not heddle-opt %s --nd-simplify=fast-math=fast 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not heddle-opt %s --nd-simplify=only=add-one 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: heddle-opt %s --nd-simplify="fast-math=no-nans,no-signed-zeros without=multiply-by-zero verify-rules" --split-input-file | FileCheck %s --check-prefix=WITHOUT
// RUN: heddle-opt %s --nd-simplify="fast-math=no-nans,no-signed-zeros only=multiply-by-zero verify-rules" --split-input-file | FileCheck %s --check-prefix=ONLY

// WORD: expected one of reassociate, no-nans, no-signed-zeros, reciprocal, excess-precision for fast-math, got 'fast'
// RULE: expected the name of a rule, got 'add-one'; there are {{.*}}add-zero
// WITHOUT-LABEL: @by_zero
// WITHOUT: arith.mulf
// ONLY-LABEL: @add_zero
// ONLY: arith.addf
// ONLY-LABEL: @by_zero
// ONLY-NOT: arith.mulf

// FAST-LABEL: @add_zero
// STRICT-LABEL: @add_zero
func.func @add_zero(%x: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>) {
  // FAST: return %arg0
  // STRICT: arith.addf
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%p: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.addf %p, %z : f32
    nd.yield %m : f32
  }
  return %0 : !nd.tensor<f32, a: 4>
}

// -----

// FAST-LABEL: @from_zero
// STRICT-LABEL: @from_zero
func.func @from_zero(%x: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>) {
  // FAST: arith.negf
  // STRICT: arith.subf
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%p: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.subf %z, %p : f32
    nd.yield %m : f32
  }
  return %0 : !nd.tensor<f32, a: 4>
}

// -----

// Infinity minus infinity is NaN.
// FAST-LABEL: @itself
// STRICT-LABEL: @itself
func.func @itself(%x: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>) {
  // FAST: nd.constant dense<0.0
  // STRICT: arith.subf
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%p: f32):
    %m = arith.subf %p, %p : f32
    nd.yield %m : f32
  }
  return %0 : !nd.tensor<f32, a: 4>
}

// -----

// FAST-LABEL: @by_zero
// STRICT-LABEL: @by_zero
func.func @by_zero(%x: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>) {
  // FAST: nd.constant dense<0.0
  // STRICT: arith.mulf
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%p: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.mulf %p, %z : f32
    nd.yield %m : f32
  }
  return %0 : !nd.tensor<f32, a: 4>
}

// -----

// FAST-LABEL: @divide_once
// STRICT-LABEL: @divide_once
func.func @divide_once(%x: !nd.tensor<f32, a: 4, b: 3>, %y: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4, b: 3>) {
  // FAST: %[[I:.*]] = nd.pointwise %arg1
  // FAST: arith.divf
  // FAST: nd.pointwise %arg0, %[[I]]
  // FAST: arith.mulf
  // STRICT: nd.pointwise
  // STRICT-NOT: nd.pointwise
  %0 = nd.pointwise %x, %y : (!nd.tensor<f32, a: 4, b: 3>, !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4, b: 3> {
  ^bb0(%p: f32, %q: f32):
    %m = arith.divf %p, %q : f32
    nd.yield %m : f32
  }
  return %0 : !nd.tensor<f32, a: 4, b: 3>
}

// -----

// One is no zero.
// FAST-LABEL: @add_one
// STRICT-LABEL: @add_one
func.func @add_one(%x: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>) {
  // FAST: arith.addf
  // STRICT: arith.addf
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%p: f32):
    %z = arith.constant 1.0 : f32
    %m = arith.addf %p, %z : f32
    nd.yield %m : f32
  }
  return %0 : !nd.tensor<f32, a: 4>
}

// -----

// FAST-LABEL: @casts
// FAST: arith.truncf %{{.*}} : f32 to bf16
// STRICT-LABEL: @casts
// STRICT: arith.truncf %{{.*}} : f32 to bf16
// STRICT: arith.extf %{{.*}} : bf16 to f32
// EXCESS-LABEL: @casts
// EXCESS-NEXT: return %arg0
func.func @casts(%x: !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%p: f32):
    %n = arith.truncf %p : f32 to bf16
    %w = arith.extf %n : bf16 to f32
    nd.yield %w : f32
  }
  return %0 : !nd.tensor<f32, a: 4>
}

// -----

// Permitted for one cast alone.
// STRICT-LABEL: @one_cast
// STRICT: arith.truncf %{{.*}} fastmath<contract> : f32 to bf16
// STRICT: arith.negf
// EXCESS-LABEL: @one_cast
// EXCESS: arith.truncf %{{.*}} fastmath<contract> : f32 to bf16
func.func @one_cast(%x: !nd.tensor<f32, a: 4>) -> !nd.tensor<bf16, a: 4> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, a: 4>) -> !nd.tensor<bf16, a: 4> {
  ^bb0(%p: f32):
    %n = arith.truncf %p fastmath<contract> : f32 to bf16
    %m = arith.negf %n : bf16
    nd.yield %m : bf16
  }
  return %0 : !nd.tensor<bf16, a: 4>
}
