// A mesh of one device, or an axis of one: collectives move nothing, and no engine is needed.
// RUN: heddle-run %s --input x=%S/Inputs/x.npy | FileCheck %s
// RUN: heddle-opt %s --mesh-simulate -o %t.mlir
// RUN: heddle-run %t.mlir --interpret --input x=%S/Inputs/x.npy | FileCheck %s
// RUN: heddle-opt %s --mesh-form-transfers | FileCheck %s --check-prefix=NOTHING
// NOTHING-NOT: mesh.{{[a-z_]+}} %
// RUN: heddle-run %S/recurrences.mlir --compare --mesh d=1 --shard row:d --seed 3 | FileCheck %S/recurrences.mlir

!i32_i = !nd.tensor<i32, i: 6>

module attributes {mesh.mesh = #mesh.mesh<d: 1, e: 1>} {
// x is [1, 2, 3, 4, 5, 6].
// CHECK-LABEL: @all
// CHECK-NEXT: = [1, 2, 3, 4, 5, 6]
// CHECK-NEXT: = [0, 0, 0, 0, 0, 0]
func.func @all(%x: !i32_i {nd.name = "x", mesh.global = !i32_i, mesh.sharding = #mesh.sharding<{i: [d]}>})
    -> (!i32_i {mesh.global = !i32_i, mesh.sharding = #mesh.sharding<{i: [d]}>},
        !i32_i {mesh.global = !i32_i, mesh.sharding = #mesh.sharding<{i: [d]}>})
    attributes {heddle.symbols = ["mesh.d", "mesh.e"]} {
  %a = mesh.all_reduce %x over [d, e] combine add [0 : i32] : (!i32_i) -> !i32_i
  %b = mesh.reduce_scatter %a name i over [d] combine mul [1 : i32] : (!i32_i) -> !i32_i
  %c = mesh.all_gather %b name i over [e] : (!i32_i) -> !i32_i
  %p = mesh.permute %c over [d] shift 1 wrap : !i32_i
  %q = mesh.broadcast %p over [d] from 0 : !i32_i
  %s = mesh.permute %q over [d] shift 0 : !i32_i
  // There is no neighbour: zeros.
  %z = mesh.permute %s over [d] shift -1 : !i32_i
  return %s, %z : !i32_i, !i32_i
}
}
