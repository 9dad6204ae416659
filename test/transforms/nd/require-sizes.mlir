// nd-require-sizes: parts of tensors must be in bounds; conditions that follow from the sizes are not added.
// RUN: heddle-opt %s --nd-require-sizes | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: heddle.requires = [{got = "5", location = #loc{{[0-9]*}}, most = "N", what = "the size of 'n' in 'nd.sort'"}]
// CHECK-LABEL: func.func @g
// CHECK-NOT: heddle.requires
func.func @f(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: 5> {
  %0 = nd.sort %x along n : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: 5>
  return %0 : !nd.tensor<f32, n: 5>
}
func.func @g(%x: !nd.tensor<f32, n: N + 5>) -> !nd.tensor<f32, n: 5> {
  %0 = nd.sort %x along n : (!nd.tensor<f32, n: N + 5>) -> !nd.tensor<f32, n: 5>
  return %0 : !nd.tensor<f32, n: 5>
}
