// A mesh of one device, or an axis of one: collectives move nothing, and no engine is needed.
// RUN: heddle-run %s --input x=%S/Inputs/x.npy | FileCheck %s
// RUN: heddle-opt %s --mesh-simulate -o %t.mlir
// RUN: heddle-run %t.mlir --interpret --input x=%S/Inputs/x.npy | FileCheck %s
// RUN: heddle-opt %s --mesh-form-transfers | FileCheck %s --check-prefix=NOTHING
// NOTHING-NOT: mesh.{{[a-z_]+}} %
// RUN: heddle-run %S/recurrences.mlir --compare --mesh d=1 --shard row:d --seed 3 | FileCheck %S/recurrences.mlir

module attributes {mesh.mesh = #mesh.mesh<d: 1, e: 1>} {
// x is [1, 2, 3, 4, 5, 6].
// CHECK-LABEL: @all
// CHECK-NEXT: = [1, 2, 3, 4, 5, 6]
// CHECK-NEXT: = [0, 0, 0, 0, 0, 0]
func.func @all(%x: !nd.tensor<i32, i: 6> {nd.name = "x", mesh.global = !nd.tensor<i32, i: 6>, mesh.sharding = #mesh.sharding<{i: [d]}>})
    -> (!nd.tensor<i32, i: 6> {mesh.global = !nd.tensor<i32, i: 6>, mesh.sharding = #mesh.sharding<{i: [d]}>},
        !nd.tensor<i32, i: 6> {mesh.global = !nd.tensor<i32, i: 6>, mesh.sharding = #mesh.sharding<{i: [d]}>})
    attributes {heddle.symbols = ["mesh.d", "mesh.e"]} {
  %a = mesh.all_reduce %x over [d, e] combine add [0 : i32] : (!nd.tensor<i32, i: 6>) -> !nd.tensor<i32, i: 6>
  %b = mesh.reduce_scatter %a name i over [d] combine mul [1 : i32] : (!nd.tensor<i32, i: 6>) -> !nd.tensor<i32, i: 6>
  %c = mesh.all_gather %b name i over [e] : (!nd.tensor<i32, i: 6>) -> !nd.tensor<i32, i: 6>
  %p = mesh.permute %c over [d] shift 1 wrap : !nd.tensor<i32, i: 6>
  %q = mesh.broadcast %p over [d] from 0 : !nd.tensor<i32, i: 6>
  %s = mesh.permute %q over [d] shift 0 : !nd.tensor<i32, i: 6>
  // There is no neighbour: zeros.
  %z = mesh.permute %s over [d] shift -1 : !nd.tensor<i32, i: 6>
  return %s, %z : !nd.tensor<i32, i: 6>, !nd.tensor<i32, i: 6>
}
}
