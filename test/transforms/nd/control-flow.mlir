// RUN: heddle-opt %s --nd-expand-control-flow --nd-simplify | FileCheck %s

// A loop carries its tensors through a scan along a name of its own.
// CHECK-LABEL: @loop
// CHECK: %[[R:.*]] = nest.scan along <step$1: 9> init(%arg0) reads()
// CHECK: ^bb0(%[[S:.*]]: !nd.tensor<f32, a: 4>):
// CHECK: nd.pointwise %[[S]]
// CHECK: nest.yield
// CHECK: return %[[R]]
func.func @loop(%x: !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> (!nd.tensor<f32, a: 4>) {
    %t = nd.pointwise %s : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
    ^bb0(%v: f32):
      %e = math.exp %v : f32
      nd.yield %e : f32
    }
    scf.yield %t : !nd.tensor<f32, a: 4>
  }
  return %y : !nd.tensor<f32, a: 4>
}

// A branch computes both sides.
// CHECK-LABEL: @branch
// CHECK-NOT: scf.if
// CHECK: %[[E:.*]] = nd.pointwise %arg0
// CHECK: nd.pointwise %arg1, %[[E]], %arg0
// CHECK: arith.select
func.func @branch(%x: !nd.tensor<f32, a: 4>, %b: !nd.tensor<i1>) -> !nd.tensor<f32, a: 4> {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  %y = scf.if %c -> (!nd.tensor<f32, a: 4>) {
    %t = nd.pointwise %x : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
    ^bb0(%v: f32):
      %e = math.exp %v : f32
      nd.yield %e : f32
    }
    scf.yield %t : !nd.tensor<f32, a: 4>
  } else {
    scf.yield %x : !nd.tensor<f32, a: 4>
  }
  return %y : !nd.tensor<f32, a: 4>
}
