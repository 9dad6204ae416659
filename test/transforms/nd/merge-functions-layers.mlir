// The ops of a function that several layers call are of none of them: no label names another layer. Those of one layer stay its own.
// RUN: heddle-opt %s --nd-merge-functions --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK:     func.func private @first
// CHECK:     math.exp {{.*}} loc("layers.cpp":3:5)
// CHECK:     func.func private @alone
// CHECK:     math.sin {{.*}} loc("layers.2"("layers.cpp":4:5))
// CHECK-NOT: layers.0
// CHECK-NOT: layers.1
func.func private @first(%x: !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  %p = nd.pointwise %x : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32 loc("layers.0"("layers.cpp":3:5))
    nd.yield %0 : f32
  } loc("layers.0"("layers.cpp":3:5))
  return %p : !nd.tensor<f32, k: 3>
}
func.func private @second(%x: !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  %p = nd.pointwise %x : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32 loc("layers.1"("layers.cpp":3:5))
    nd.yield %0 : f32
  } loc("layers.1"("layers.cpp":3:5))
  return %p : !nd.tensor<f32, k: 3>
}
func.func private @alone(%x: !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  %p = nd.pointwise %x : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  ^bb0(%a: f32):
    %0 = math.sin %a : f32 loc("layers.2"("layers.cpp":4:5))
    nd.yield %0 : f32
  } loc("layers.2"("layers.cpp":4:5))
  return %p : !nd.tensor<f32, k: 3>
}
func.func private @again(%x: !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  %p = nd.pointwise %x : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  ^bb0(%a: f32):
    %0 = math.sin %a : f32 loc("layers.2"("layers.cpp":4:5))
    nd.yield %0 : f32
  } loc("layers.2"("layers.cpp":4:5))
  return %p : !nd.tensor<f32, k: 3>
}
func.func @main(%x: !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3> {
  %a = nd.call @first(%x) : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3>
  %b = nd.call @second(%a) : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3>
  %c = nd.call @alone(%b) : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3>
  %d = nd.call @again(%c) : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3>
  return %d : !nd.tensor<f32, k: 3>
}
