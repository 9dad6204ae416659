// RUN: heddle-opt %s --nd-merge-functions | FileCheck %s

!nN = !nd.tensor<f32, n: N>
!n8 = !nd.tensor<f32, n: 8>

// Equal functions with different ranges of sizes are not merged: @all accepts sizes that @few refuses.
// CHECK-LABEL: @main
// CHECK: nd.call @few(
// CHECK: nd.call @all(
// CHECK: nd.call @few(
func.func private @few(%x: !nN) -> !nN attributes {nd.ranges = {N = [1, 16]}} {
  %0 = nd.pointwise %x : (!nN) -> !nN {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    nd.yield %s : f32
  }
  return %0 : !nN
}
func.func private @all(%x: !nN) -> !nN {
  %0 = nd.pointwise %x : (!nN) -> !nN {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    nd.yield %s : f32
  }
  return %0 : !nN
}
func.func private @also(%x: !nN) -> !nN attributes {nd.ranges = {N = [1, 16]}} {
  %0 = nd.pointwise %x : (!nN) -> !nN {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    nd.yield %s : f32
  }
  return %0 : !nN
}
func.func @main(%x: !n8, %y: !nd.tensor<f32, n: 32>) -> (!n8, !nd.tensor<f32, n: 32>, !n8) {
  %0 = nd.call @few(%x) : (!n8) -> !n8
  %1 = nd.call @all(%y) : (!nd.tensor<f32, n: 32>) -> !nd.tensor<f32, n: 32>
  %2 = nd.call @also(%x) : (!n8) -> !n8
  return %0, %1, %2 : !n8, !nd.tensor<f32, n: 32>, !n8
}
