// A call lifts each result over the names of the operands that it depends on.
// RUN: heddle-opt %s | FileCheck %s

!kK = !nd.tensor<f32, k: K>
!k4 = !nd.tensor<f32, k: 4>

func.func @two(%x: !kK, %y: !kK) -> (!nd.tensor<f32>, !kK) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!kK) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.addf %a, %e : f32
    nd.yield %r : f32
  }
  %1 = nd.pointwise %x, %y : (!kK, !kK) -> !kK {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %0, %1 : !nd.tensor<f32>, !kK
}

func.func @through(%x: !k4, %y: !k4) -> (!nd.tensor<f32>, !k4) {
  %0:2 = nd.call @two(%x, %y) : (!k4, !k4) -> (!nd.tensor<f32>, !k4)
  return %0#0, %0#1 : !nd.tensor<f32>, !k4
}

// A function that calls itself: the inner call depends on all that it is given, which is %y.
func.func @recursive(%x: !nd.tensor<f32>, %y: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %0 = nd.call @recursive(%y, %y) : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}

// CHECK-LABEL: func.func @caller
func.func @caller(%x: !k4, %y: !nd.tensor<f32, k: 4, batch: 7>, %z: !nd.tensor<f32, batch: 7>, %s: !nd.tensor<f32>) {
  // The first result does not depend on the second operand.
  // CHECK: -> (!nd.tensor<f32>, !nd.tensor<f32, batch: 7, k: 4>)
  %0:2 = nd.call @two(%x, %y) : (!k4, !nd.tensor<f32, batch: 7, k: 4>) -> (!nd.tensor<f32>, !nd.tensor<f32, batch: 7, k: 4>)
  // CHECK: -> (!nd.tensor<f32>, !nd.tensor<f32, batch: 7, k: 4>)
  %1:2 = nd.call @through(%x, %y) : (!k4, !nd.tensor<f32, batch: 7, k: 4>) -> (!nd.tensor<f32>, !nd.tensor<f32, batch: 7, k: 4>)
  // CHECK: -> (!nd.tensor<f32, batch: 7>, !nd.tensor<f32, batch: 7, k: 4>)
  %2:2 = nd.call @through(%y, %x) : (!nd.tensor<f32, batch: 7, k: 4>, !k4) -> (!nd.tensor<f32, batch: 7>, !nd.tensor<f32, batch: 7, k: 4>)
  // CHECK: -> !nd.tensor<f32>
  %3 = nd.call @recursive(%z, %s) : (!nd.tensor<f32, batch: 7>, !nd.tensor<f32>) -> !nd.tensor<f32>
  return
}

// A result may have lifted names on which it does not depend (a pass on the callee may find out): it repeats along them.
// CHECK-LABEL: func.func @repeats
func.func @repeats(%x: !k4, %y: !nd.tensor<f32, k: 4, batch: 7>) -> !nd.tensor<f32, batch: 7> {
  // CHECK: nd.call @first{{.*}} -> !nd.tensor<f32, batch: 7>
  %0 = nd.call @first(%x, %y) : (!k4, !nd.tensor<f32, k: 4, batch: 7>) -> !nd.tensor<f32, batch: 7>
  return %0 : !nd.tensor<f32, batch: 7>
}
func.func private @first(%x: !k4, %y: !k4) -> !nd.tensor<f32> {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!k4) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32>
}
