// An engine moves contiguous memory, so the part of each member of a group is one point of a name, mesh$member.
// RUN: heddle-opt %s --mesh-form-transfers | FileCheck %s

!k = !nd.tensor<f32, k: 3>

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// CHECK-LABEL: @gather
// CHECK: %[[part:.*]] = nest.compute (k: 3, mesh$member: 1) reads %arg0[]
// CHECK: %[[all:.*]] = mesh.all_gather %[[part]] name mesh$member over [d] : {{.*}} -> !nd.tensor<f32, k: 3, mesh$member: 2>
// CHECK: %[[y:.*]] = nest.compute (k: 5) reads %[[all]][k = k mod 3, mesh$member = k floordiv 3]
// CHECK: return %[[y]]
func.func @gather(%x: !k) -> !nd.tensor<f32, k: 5> {
  %y = mesh.all_gather %x name k over [d] : (!k) -> !nd.tensor<f32, k: 5>
  return %y : !nd.tensor<f32, k: 5>
}

// What lies beyond the size of the whole is the neutral element.
// CHECK-LABEL: @scatter
// CHECK: %[[parts:.*]] = nest.compute (k: 3, mesh$member: 2) reads %arg0[k = k + 3 * mesh$member] if [-k - 3 * mesh$member + 4 >= 0] else 0.000000e+00
// CHECK: %[[own:.*]] = mesh.reduce_scatter %[[parts]] name mesh$member over [d] combine add
// CHECK: nest.compute (k: 3) reads %[[own]][mesh$member = 0]
func.func @scatter(%x: !nd.tensor<f32, k: 5>) -> !k {
  %y = mesh.reduce_scatter %x name k over [d] combine add [0.0 : f32] : (!nd.tensor<f32, k: 5>) -> !k
  return %y : !k
}

// Engines sum in any layout.
// CHECK-LABEL: @sum
// CHECK-NOT: mesh$member
// CHECK: mesh.all_reduce %{{.*}} over [d] combine add
func.func @sum(%x: !k) -> !k {
  %y = mesh.all_reduce %x over [d] combine add [0.0 : f32] : (!k) -> !k
  return %y : !k
}

// They have no combiner of this kind: each device combines the parts of all, in the order of the members.
// CHECK-LABEL: @custom
// CHECK-NOT: mesh.all_reduce
// CHECK: %[[all:.*]] = mesh.all_gather %{{.*}} name mesh$member over [d]
// CHECK: nest.compute (k: 3) reduce (mesh$member: 2) reads %[[all]][]
// CHECK: combine [0.000000e+00 : f32]
// CHECK: arith.mulf
func.func @custom(%x: !k) -> !k {
  %y = mesh.all_reduce %x over [d] combine [0.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.mulf %s, %s : f32
    mesh.yield %r : f32
  } : (!k) -> !k
  return %y : !k
}
}
