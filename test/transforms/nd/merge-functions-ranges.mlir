// RUN: heddle-opt %s --nd-merge-functions | FileCheck %s

// Equal functions with different ranges of sizes are not merged: @all accepts sizes that @few refuses.
// CHECK-LABEL: @main
// CHECK: nd.call @few(
// CHECK: nd.call @all(
// CHECK: nd.call @few(
func.func private @few(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> attributes {nd.ranges = {N = [1, 16]}} {
  %0 = nd.pointwise %x : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    nd.yield %s : f32
  }
  return %0 : !nd.tensor<f32, n: N>
}
func.func private @all(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    nd.yield %s : f32
  }
  return %0 : !nd.tensor<f32, n: N>
}
func.func private @also(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> attributes {nd.ranges = {N = [1, 16]}} {
  %0 = nd.pointwise %x : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    nd.yield %s : f32
  }
  return %0 : !nd.tensor<f32, n: N>
}
func.func @main(%x: !nd.tensor<f32, n: 8>, %y: !nd.tensor<f32, n: 32>) -> (!nd.tensor<f32, n: 8>, !nd.tensor<f32, n: 32>, !nd.tensor<f32, n: 8>) {
  %0 = nd.call @few(%x) : (!nd.tensor<f32, n: 8>) -> !nd.tensor<f32, n: 8>
  %1 = nd.call @all(%y) : (!nd.tensor<f32, n: 32>) -> !nd.tensor<f32, n: 32>
  %2 = nd.call @also(%x) : (!nd.tensor<f32, n: 8>) -> !nd.tensor<f32, n: 8>
  return %0, %1, %2 : !nd.tensor<f32, n: 8>, !nd.tensor<f32, n: 32>, !nd.tensor<f32, n: 8>
}
