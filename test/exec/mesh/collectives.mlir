// The meaning of each collective, of programs of one device that are written by hand. Blocks of arguments are cut from
// whole tensors, and results joined from blocks; of equal blocks the last device's counts.
// RUN: heddle-opt %s --mesh-simulate -o %t.mlir
// RUN: heddle-run %t.mlir --interpret --entry coordinates --input x=%S/Inputs/x.npy > %t.out
// RUN: heddle-run %t.mlir --interpret --entry all_reduce --input x=%S/Inputs/x.npy >> %t.out
// RUN: heddle-run %t.mlir --interpret --entry all_gather --input x=%S/Inputs/x.npy >> %t.out
// RUN: heddle-run %t.mlir --interpret --entry reduce_scatter --input x=%S/Inputs/x.npy >> %t.out
// RUN: heddle-run %t.mlir --interpret --entry all_to_all --input x=%S/Inputs/x.npy >> %t.out
// RUN: heddle-run %t.mlir --interpret --entry moves --input x=%S/Inputs/x.npy >> %t.out
// RUN: FileCheck %s < %t.out
// Six ranks of a process run the programs as they are.
// RUN: heddle-run %s --entry coordinates --input x=%S/Inputs/x.npy > %t.ranks
// RUN: heddle-run %s --entry all_reduce --input x=%S/Inputs/x.npy >> %t.ranks
// RUN: heddle-run %s --entry all_gather --input x=%S/Inputs/x.npy >> %t.ranks
// RUN: heddle-run %s --entry reduce_scatter --input x=%S/Inputs/x.npy >> %t.ranks
// RUN: heddle-run %s --entry all_to_all --input x=%S/Inputs/x.npy >> %t.ranks
// RUN: heddle-run %s --entry moves --input x=%S/Inputs/x.npy >> %t.ranks
// RUN: FileCheck %s < %t.ranks

!i32_i1 = !nd.tensor<i32, i: 1>
!i32_i6 = !nd.tensor<i32, i: 6>
!i32_i3 = !nd.tensor<i32, i: 3>

// Six elements over two devices of `d` and three of `m`, in this order of devices.
module attributes {mesh.mesh = #mesh.mesh<d: 2, m: 3>} {

// Each device adds 100 times its own coordinates to its element: x is [1, 2, 3, 4, 5, 6].
// CHECK-LABEL: @coordinates
// CHECK-NEXT: = [1, 12, 23, 104, 115, 126]
func.func @coordinates(%x: !i32_i1 {nd.name = "x", mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>})
    -> (!i32_i1 {mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>})
    attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = nest.compute (i: 1) reads %x[] {
  ^bb0(%a: i32):
    %d = nest.index mesh.d
    %m = nest.index mesh.m
    %dn = arith.index_cast %d : index to i32
    %mn = arith.index_cast %m : index to i32
    %hundred = arith.constant 100 : i32
    %ten = arith.constant 10 : i32
    %e = arith.muli %dn, %hundred : i32
    %f = arith.muli %mn, %ten : i32
    %g = arith.addi %a, %e : i32
    %h = arith.addi %g, %f : i32
    nest.yield %h : i32
  } : (!i32_i1) -> !i32_i1
  return %y : !i32_i1
}

// CHECK-LABEL: @all_reduce
// CHECK-NEXT: = [6, 6, 6, 15, 15, 15]
// CHECK-NEXT: = [4, 5, 6, 4, 5, 6]
// CHECK-NEXT: = [21]
func.func @all_reduce(%x: !i32_i1 {nd.name = "x", mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>})
    -> (!i32_i1 {mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>},
        !i32_i1 {mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>},
        !i32_i1 {mesh.global = !i32_i1})
    attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %m = mesh.all_reduce %x over [m] combine add [0 : i32] : (!i32_i1) -> !i32_i1
  %d = mesh.all_reduce %x over [d] combine max [-2147483648 : i32] : (!i32_i1) -> !i32_i1
  %all = mesh.all_reduce %x over [m, d] combine add [0 : i32] : (!i32_i1) -> !i32_i1
  return %m, %d, %all : !i32_i1, !i32_i1, !i32_i1
}

// Over [m, d] parts are numbered the other way round: element 3 of d = 0, m = 0 is followed by that of d = 1.
// CHECK-LABEL: @all_gather
// CHECK-NEXT: = [1, 2, 3, 4, 5, 6]
// CHECK-NEXT: = [1, 4, 2, 5, 3]
// CHECK-NEXT: = [4, 5, 6]
func.func @all_gather(%x: !i32_i1 {nd.name = "x", mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>})
    -> (!i32_i6 {mesh.global = !i32_i6}, !nd.tensor<i32, i: 5> {mesh.global = !nd.tensor<i32, i: 5>},
        !i32_i3 {mesh.global = !i32_i3})
    attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %a = mesh.all_gather %x name i over [d, m] : (!i32_i1) -> !i32_i6
  %b = mesh.all_gather %x name i over [m, d] : (!i32_i1) -> !nd.tensor<i32, i: 5>
  %c = mesh.all_gather %x name i over [m] : (!i32_i1) -> !i32_i3
  return %a, %b, %c : !i32_i6, !nd.tensor<i32, i: 5>, !i32_i3
}

// CHECK-LABEL: @reduce_scatter
// CHECK-NEXT: = [5, 7, 9]
func.func @reduce_scatter(%x: !i32_i3 {nd.name = "x", mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d]}>})
    -> (!nd.tensor<i32, i: 2> {mesh.global = !i32_i3, mesh.sharding = #mesh.sharding<{i: [d]}>})
    attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %y = mesh.reduce_scatter %x name i over [d] combine add [0 : i32] : (!i32_i3) -> !nd.tensor<i32, i: 2>
  return %y : !nd.tensor<i32, i: 2>
}

// CHECK-LABEL: @all_to_all
// CHECK-NEXT: = {{\[\[1, 4\], \[2, 5\], \[3, 6\]\]}}
func.func @all_to_all(%x: !i32_i3 {nd.name = "x", mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d]}>})
    -> (!nd.tensor<i32, i: 2, k: 2> {mesh.global = !nd.tensor<i32, i: 3, k: 2>, mesh.sharding = #mesh.sharding<{i: [d]}>})
    attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %k = nest.compute (i: 3, k: 1) reads %x[] {
  ^bb0(%a: i32):
    nest.yield %a : i32
  } : (!i32_i3) -> !nd.tensor<i32, i: 3, k: 1>
  %y = mesh.all_to_all %k join k split i over [d] : (!nd.tensor<i32, i: 3, k: 1>) -> !nd.tensor<i32, i: 2, k: 2>
  return %y : !nd.tensor<i32, i: 2, k: 2>
}

// CHECK-LABEL: @moves
// CHECK-NEXT: = [2, 3, 0, 5, 6, 0]
// CHECK-NEXT: = [3, 1, 2, 6, 4, 5]
// CHECK-NEXT: = [0, 0, 0, 0, 1, 2]
// CHECK-NEXT: = [2, 2, 2, 5, 5, 5]
func.func @moves(%x: !i32_i1 {nd.name = "x", mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>})
    -> (!i32_i1 {mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>},
        !i32_i1 {mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>},
        !i32_i1 {mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>},
        !i32_i1 {mesh.global = !i32_i6, mesh.sharding = #mesh.sharding<{i: [d, m]}>})
    attributes {heddle.symbols = ["mesh.d", "mesh.m"]} {
  %a = mesh.permute %x over [m] shift 1 : !i32_i1
  %b = mesh.permute %x over [m] shift -1 wrap : !i32_i1
  %c = mesh.permute %x over [d, m] shift -4 : !i32_i1
  %d = mesh.broadcast %x over [m] from 1 : !i32_i1
  return %a, %b, %c, %d : !i32_i1, !i32_i1, !i32_i1, !i32_i1
}
}
