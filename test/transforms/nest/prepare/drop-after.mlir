// RUN: heddle-opt %s --nest-drop-after | FileCheck %s

// CHECK-LABEL: @f
// CHECK-NOT: nd.after
// CHECK: nest.compute (a: 4) reads %arg0[]
func.func @f(%x: !nd.tensor<f32, a: 4>, %g: !nd.tensor<f32>) -> !nd.tensor<f32, a: 4> {
  %y = nd.after %x, %g : !nd.tensor<f32, a: 4>, !nd.tensor<f32>
  %z = nest.compute (a: 4) reads %y[] {
  ^bb0(%v: f32):
    %e = math.exp %v : f32
    nest.yield %e : f32
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  return %z : !nd.tensor<f32, a: 4>
}
