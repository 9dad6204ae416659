// RUN: heddle-opt %s --load-dialect-plugin=%{expand-after} --nd-expand | FileCheck %s
// RUN: heddle-opt %s --nd-expand | FileCheck %s --check-prefix=WITHOUT

// No op of heddle-opt itself expands; Inputs/ExpandAfter.cpp is a plugin that lets nd.after expand.

!k_t = !nd.tensor<f32, k: 4>
!j_t = !nd.tensor<f32, j: 2>

// Each op is replaced by the values of its expansion. Ops without `ExpandInterface` stay.
// CHECK-LABEL: @each(
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, k: 4>
// CHECK-NOT: nd.after
// CHECK: %[[Y:.*]] = nd.pointwise %[[X]]
// CHECK: return %[[Y]]
// WITHOUT-LABEL: @each(
// WITHOUT-COUNT-2: nd.after
func.func @each(%x: !k_t, %y: !j_t) -> !k_t {
  %0 = nd.after %x, %y : !k_t, !j_t
  %1 = nd.pointwise %0 : (!k_t) -> !k_t {
  ^bb0(%v: f32):
    %e = math.exp %v : f32
    nd.yield %e : f32
  }
  %2 = nd.after %1, %y : !k_t, !j_t
  return %2 : !k_t
}

// An expansion may have ops that expand in turn.
// CHECK-LABEL: @in_turn(
// CHECK-SAME: %[[X:.*]]: !nd.tensor<f32, k: 4>
// CHECK-NEXT: return %[[X]]
func.func @in_turn(%x: !k_t, %y: !j_t) -> !k_t {
  %0 = nd.after %x, %y {to = 3} : !k_t, !j_t
  return %0 : !k_t
}
