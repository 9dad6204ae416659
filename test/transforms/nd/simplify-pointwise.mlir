// RUN: heddle-opt %s --nd-simplify=verify-rules --split-input-file | FileCheck %s

// Neither %x nor %y has c, so it is broadcast afterwards; %y has b.
// CHECK-LABEL: @repeat_afterwards
!a_b_c = !nd.tensor<f32, a: 4, b: 3, c: 2>

func.func @repeat_afterwards(%x: !nd.tensor<f32, a: 4>, %y: !nd.tensor<f32, b: 3>) -> (!a_b_c) {
  // CHECK: %[[P:.*]] = nd.pointwise %arg0, %arg1 crossed
  // CHECK-SAME: -> !nd.tensor<f32, a: 4, b: 3>
  // CHECK: nd.broadcast %[[P]]
  %b = nd.broadcast %x : !nd.tensor<f32, a: 4> -> !a_b_c
  %c = nd.broadcast %y : !nd.tensor<f32, b: 3> -> !a_b_c
  %0 = nd.pointwise %b, %c : (!a_b_c, !a_b_c) -> !a_b_c {
  ^bb0(%p: f32, %q: f32):
    %m = arith.mulf %p, %q : f32
    nd.yield %m : f32
  }
  return %0 : !a_b_c
}

// -----

!a = !nd.tensor<f32, a: 4>

// Widening is undone, narrowing is not.
// CHECK-LABEL: @undo
func.func @undo(%x: !nd.tensor<bf16, a: 4>, %y: !a) -> (!nd.tensor<bf16, a: 4>, !a, !a) {
  // CHECK: arith.truncf
  // CHECK: %[[N:.*]] = nd.pointwise
  // CHECK: arith.extf
  // CHECK: return %arg0, %arg1, %[[N]]
  %0 = nd.pointwise %x : (!nd.tensor<bf16, a: 4>) -> !a {
  ^bb0(%p: bf16):
    %m = arith.extf %p : bf16 to f32
    nd.yield %m : f32
  }
  %1 = nd.pointwise %0 : (!a) -> !nd.tensor<bf16, a: 4> {
  ^bb0(%p: f32):
    %m = arith.truncf %p : f32 to bf16
    nd.yield %m : bf16
  }
  %2 = nd.pointwise %y : (!a) -> !a {
  ^bb0(%p: f32):
    %m = arith.negf %p : f32
    nd.yield %m : f32
  }
  %3 = nd.pointwise %2 : (!a) -> !a {
  ^bb0(%p: f32):
    %m = arith.negf %p : f32
    nd.yield %m : f32
  }
  %4 = nd.pointwise %y : (!a) -> !nd.tensor<bf16, a: 4> {
  ^bb0(%p: f32):
    %m = arith.truncf %p : f32 to bf16
    nd.yield %m : bf16
  }
  %5 = nd.pointwise %4 : (!nd.tensor<bf16, a: 4>) -> !a {
  ^bb0(%p: bf16):
    %m = arith.extf %p : bf16 to f32
    nd.yield %m : f32
  }
  return %1, %3, %5 : !nd.tensor<bf16, a: 4>, !a, !a
}

// -----

!a = !nd.tensor<f32, a: 4>

// CHECK-LABEL: @scalars
func.func @scalars(%x: !a, %y: !a) -> (!a, !a, !a, !a, !a) {
  // CHECK: arith.constant 1.250000e-01
  // CHECK: arith.mulf
  // CHECK: arith.divf
  // CHECK: arith.mulf %[[X:.*]], %[[X]]
  // CHECK: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32)
  // CHECK-NOT: negf
  // CHECK: %[[M:.*]] = arith.mulf %[[P]], %[[Q]]
  // CHECK: arith.addf %[[M]], %[[Q]]
  // CHECK: math.powf
  %0 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%p: f32):
    %c = arith.constant 8.0 : f32
    %d = arith.divf %p, %c : f32
    nd.yield %d : f32
  }
  %1 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%p: f32):
    %c = arith.constant 3.0 : f32
    %d = arith.divf %p, %c : f32
    nd.yield %d : f32
  }
  %2 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%p: f32):
    %c = arith.constant 2.0 : f32
    %d = math.powf %p, %c : f32
    nd.yield %d : f32
  }
  %3 = nd.pointwise %x, %y : (!a, !a) -> !a {
  ^bb0(%p: f32, %q: f32):
    %m = arith.negf %p : f32
    %n = arith.negf %q : f32
    %d = arith.mulf %m, %n : f32
    %e = arith.subf %d, %n : f32
    nd.yield %e : f32
  }
  %4 = nd.pointwise %x : (!a) -> !a {
  ^bb0(%p: f32):
    %c = arith.constant 3.0 : f32
    %d = math.powf %p, %c : f32
    nd.yield %d : f32
  }
  return %0, %1, %2, %3, %4 : !a, !a, !a, !a, !a
}
