// A kernel knows the range that is declared for a symbol, and its schedule is chosen for a size in it; a size that is declared as a multiple
// has no remainder loop.
// RUN: heddlec %s --emit kernels | FileCheck %s
// RUN: heddlec %s --emit nest | FileCheck %s --check-prefix=NEST
// RUN: heddle-run %s --compare --size N=1,2,3,4

// CHECK: func.func @kernel({{.*}}: 16 * size0_1_4_
// CHECK-SAME: heddle.symbols = ["size0_1_4_"]
// NEST: func.func @twice({{.*}}n: 16 * N{{.*}}nd.ranges = {N = [1, 4]}
func.func @twice(%x: !nd.tensor<f32, n: 16 * N>) -> !nd.tensor<f32, n: 16 * N> attributes {nd.ranges = {N = [1, 4]}} {
  %0 = nd.pointwise %x : (!nd.tensor<f32, n: 16 * N>) -> !nd.tensor<f32, n: 16 * N> {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, n: 16 * N>
}
