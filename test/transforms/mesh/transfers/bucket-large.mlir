// A value shares a transfer unless copying it to the bucket and back takes longer than to begin a transfer of its own.
// RUN: heddle-opt %s --mesh-bucket | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: sed 's/link_start_seconds = 1.0e-06/link_start_seconds = 1.0e-03/' %s | heddle-opt --mesh-bucket | FileCheck %s --check-prefixes=CHECK,SLOW

module attributes {mesh.mesh = #mesh.mesh<d: 2>, heddle.machine = #nest.machine<{link_start_seconds = 1.0e-06 : f64}>} {
// CHECK-LABEL: @sums
// CHECK: mesh.all_reduce %arg0 over [d] combine add [0.000000e+00 : f32] {mesh.bucket = 0 : i64}
// CHECK: mesh.all_reduce %arg1 over [d] combine add [0.000000e+00 : f32] {mesh.bucket = 0 : i64}
// FAST: mesh.all_reduce %arg2 over [d] combine add [0.000000e+00 : f32] :
// SLOW: mesh.all_reduce %arg2 over [d] combine add [0.000000e+00 : f32] {mesh.bucket = 0 : i64}
func.func @sums(%x: !nd.tensor<f32, a: 1000>, %y: !nd.tensor<f32, b: 500>, %z: !nd.tensor<f32, a: 200000>)
    -> (!nd.tensor<f32, a: 1000>, !nd.tensor<f32, b: 500>, !nd.tensor<f32, a: 200000>) {
  %a = mesh.all_reduce %x over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 1000>) -> !nd.tensor<f32, a: 1000>
  %b = mesh.all_reduce %y over [d] combine add [0.0 : f32] : (!nd.tensor<f32, b: 500>) -> !nd.tensor<f32, b: 500>
  %c = mesh.all_reduce %z over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 200000>) -> !nd.tensor<f32, a: 200000>
  return %a, %b, %c : !nd.tensor<f32, a: 1000>, !nd.tensor<f32, b: 500>, !nd.tensor<f32, a: 200000>
}
}
