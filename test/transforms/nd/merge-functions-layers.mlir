// The ops of a function that several layers call are of none of them: no label names another layer. Those of one layer stay its own.
// RUN: heddle-opt %s --nd-merge-functions --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

!k = !nd.tensor<f32, k: 3>

// CHECK:     func.func private @first
// CHECK:     math.exp {{.*}} loc("layers.cpp":3:5)
// CHECK:     func.func private @alone
// CHECK:     math.sin {{.*}} loc("layers.2"("layers.cpp":4:5))
// CHECK-NOT: layers.0
// CHECK-NOT: layers.1
func.func private @first(%x: !k) -> !k {
  %p = nd.pointwise %x : (!k) -> !k {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32 loc("layers.0"("layers.cpp":3:5))
    nd.yield %0 : f32
  } loc("layers.0"("layers.cpp":3:5))
  return %p : !k
}
func.func private @second(%x: !k) -> !k {
  %p = nd.pointwise %x : (!k) -> !k {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32 loc("layers.1"("layers.cpp":3:5))
    nd.yield %0 : f32
  } loc("layers.1"("layers.cpp":3:5))
  return %p : !k
}
func.func private @alone(%x: !k) -> !k {
  %p = nd.pointwise %x : (!k) -> !k {
  ^bb0(%a: f32):
    %0 = math.sin %a : f32 loc("layers.2"("layers.cpp":4:5))
    nd.yield %0 : f32
  } loc("layers.2"("layers.cpp":4:5))
  return %p : !k
}
func.func private @again(%x: !k) -> !k {
  %p = nd.pointwise %x : (!k) -> !k {
  ^bb0(%a: f32):
    %0 = math.sin %a : f32 loc("layers.2"("layers.cpp":4:5))
    nd.yield %0 : f32
  } loc("layers.2"("layers.cpp":4:5))
  return %p : !k
}
func.func @main(%x: !k) -> !k {
  %a = nd.call @first(%x) : (!k) -> !k
  %b = nd.call @second(%a) : (!k) -> !k
  %c = nd.call @alone(%b) : (!k) -> !k
  %d = nd.call @again(%c) : (!k) -> !k
  return %d : !k
}
