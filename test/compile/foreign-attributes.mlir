// Attributes that the compiler uses internally are harmless in the input.
// RUN: heddle-opt %s --nd-restore-names | FileCheck %s
// RUN: heddle-opt %s --nd-pipeline --nest-pipeline -o /dev/null
// RUN: heddle-run %s --size N=5 --compare

// CHECK: func.func @f
func.func @f(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N>
    attributes {heddle.names = {n000 = 3}, heddle.symbols = [1], heddle.requires = [4, {got = "M", most = 3}]} {
  %y = nd.pointwise %x {heddle.name = 3, group = 7, layouts = []} : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    nd.yield %r : f32
  }
  return %y : !nd.tensor<f32, n: N>
}
func.func @literal(%x: !nd.tensor<f32, n: 3>) -> !nd.tensor<f32, n: 3> attributes {heddle.names = {a = "m", b = "m"}} {
  %c = nd.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [n] {layouts = [7]} : !nd.tensor<f32, n: 3>
  %y = nd.pointwise %x, %c : (!nd.tensor<f32, n: 3>, !nd.tensor<f32, n: 3>) -> !nd.tensor<f32, n: 3> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %y : !nd.tensor<f32, n: 3>
}
