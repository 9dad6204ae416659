// RUN: heddle-opt %s --mesh-bucket=bytes=100 | FileCheck %s

!a = !nd.tensor<f32, a: 10>

module attributes {mesh.mesh = #mesh.mesh<d: 2, e: 2>} {
// Two sums that do not depend on each other come together; what uses the first follows. The third is too large for the
// bucket, the next ones are of another kind or over another axis, and the last depends on a member.
// CHECK-LABEL: @sums
func.func @sums(%x: !a, %y: !nd.tensor<f32, b: 5>, %z: !nd.tensor<f32, a: 30>) -> (!a, !nd.tensor<f32, b: 5>) {
  // CHECK-NEXT: %[[a:.*]] = mesh.all_reduce %arg0 over [d] combine add [0.000000e+00 : f32] {mesh.bucket = 0 : i64}
  // CHECK-NEXT: %[[b:.*]] = mesh.all_reduce %arg1 over [d] combine add [0.000000e+00 : f32] {mesh.bucket = 0 : i64}
  // CHECK-NEXT: %[[u:.*]] = nest.compute (a: 10) reads %[[a]][] {
  // CHECK: mesh.all_reduce %arg2 over [d] combine add [0.000000e+00 : f32] :
  // CHECK: mesh.all_reduce %arg0 over [e] combine add [0.000000e+00 : f32] :
  // CHECK: mesh.all_reduce %arg1 over [d] combine max [0xFF800000 : f32] :
  // CHECK: mesh.all_reduce %[[u]] over [d] combine add [0.000000e+00 : f32] :
  %a = mesh.all_reduce %x over [d] combine add [0.0 : f32] : (!a) -> !a
  %u = nest.compute (a: 10) reads %a[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %b = mesh.all_reduce %y over [d] combine add [0.0 : f32] : (!nd.tensor<f32, b: 5>) -> !nd.tensor<f32, b: 5>
  %c = mesh.all_reduce %z over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 30>) -> !nd.tensor<f32, a: 30>
  %d = mesh.all_reduce %x over [e] combine add [0.0 : f32] : (!a) -> !a
  %e = mesh.all_reduce %y over [d] combine max [0xFF800000 : f32] : (!nd.tensor<f32, b: 5>) -> !nd.tensor<f32, b: 5>
  %f = mesh.all_reduce %u over [d] combine add [0.0 : f32] : (!a) -> !a
  return %u, %b : !a, !nd.tensor<f32, b: 5>
}

// Buckets that a user wrote don't count: a maximum joins no sum.
// CHECK-LABEL: @written
// CHECK-NOT: mesh.bucket
// CHECK: return
func.func @written(%x: !a) -> (!a, !a) {
  %a = mesh.all_reduce %x over [d] combine add [0.0 : f32] {mesh.bucket = 7 : i64} : (!a) -> !a
  %b = mesh.all_reduce %x over [d] combine max [0xFF800000 : f32] {mesh.bucket = 7 : i64} : (!a) -> !a
  return %a, %b : !a, !a
}
}
