// A sum of sums over devices is reduced once; sums over other devices, and one that is used elsewhere, are reduced first.
// RUN: heddle-opt %s --mesh-plan="mesh=d=2,e=2 shard=x/row:d,y/row:d,z/row:e" --mesh-propagate --mesh-partition | FileCheck %s
// RUN: heddle-run %s --compare --mesh d=2,e=2 --shard x/row:d --shard y/row:d --shard z/row:e | FileCheck %s --check-prefix=VALUES

// VALUES: @once: 3 elements agree
// VALUES: @others: 3 elements agree
// VALUES: @elsewhere: 6 elements agree
// VALUES: @blocks: 5 elements agree

// CHECK-LABEL: func.func @once
// CHECK: %[[p:.*]] = nest.compute (k: 3) reduce (row: 2) reads %arg0[]
// CHECK: %[[q:.*]] = nest.compute (k: 3) reduce (row: 2) reads %arg1[]
// CHECK: %[[s:.*]] = nest.compute (k: 3) reads %[[p]][], %[[q]][] {
// CHECK: %[[r:.*]] = mesh.all_reduce %[[s]] over [d]
// CHECK-NOT: mesh.all_reduce
// CHECK: return %[[r]]
!i32_k_row = !nd.tensor<i32, k: 3, row: 4>
!i32_k = !nd.tensor<i32, k: 3>

func.func @once(%x: !i32_k_row {nd.name = "x"}, %y: !i32_k_row {nd.name = "y"}) -> !i32_k {
  %a = nest.compute (k: 3) reduce (row: 4) reads %x[] {
  ^bb0(%p: i32):
    nest.yield %p : i32
  } combine add [0 : i32] : (!i32_k_row) -> !i32_k
  %b = nest.compute (k: 3) reduce (row: 4) reads %y[] {
  ^bb0(%p: i32):
    nest.yield %p : i32
  } combine add [0 : i32] : (!i32_k_row) -> !i32_k
  %c = nest.compute (k: 3) reads %a[], %b[] {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.addi %p, %q : i32
    nest.yield %0 : i32
  } : (!i32_k, !i32_k) -> !i32_k
  return %c : !i32_k
}

// CHECK-LABEL: func.func @others
// CHECK: mesh.all_reduce {{.*}} over [d]
// CHECK: mesh.all_reduce {{.*}} over [e]
// CHECK: nest.compute (k: 3) reads
// CHECK-NOT: mesh.all_reduce
// CHECK: return
func.func @others(%x: !i32_k_row {nd.name = "x"}, %z: !i32_k_row {nd.name = "z"}) -> !i32_k {
  %a = nest.compute (k: 3) reduce (row: 4) reads %x[] {
  ^bb0(%p: i32):
    nest.yield %p : i32
  } combine add [0 : i32] : (!i32_k_row) -> !i32_k
  %b = nest.compute (k: 3) reduce (row: 4) reads %z[] {
  ^bb0(%p: i32):
    nest.yield %p : i32
  } combine add [0 : i32] : (!i32_k_row) -> !i32_k
  %c = nest.compute (k: 3) reads %a[], %b[] {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.addi %p, %q : i32
    nest.yield %0 : i32
  } : (!i32_k, !i32_k) -> !i32_k
  return %c : !i32_k
}

// CHECK-LABEL: func.func @elsewhere
// CHECK: mesh.all_reduce {{.*}} over [d]
// CHECK: mesh.all_reduce {{.*}} over [d]
// CHECK: nest.compute (k: 3) reads
// CHECK-NOT: mesh.all_reduce
// CHECK: return
func.func @elsewhere(%x: !i32_k_row {nd.name = "x"}, %y: !i32_k_row {nd.name = "y"})
    -> (!i32_k, !i32_k) {
  %a = nest.compute (k: 3) reduce (row: 4) reads %x[] {
  ^bb0(%p: i32):
    nest.yield %p : i32
  } combine add [0 : i32] : (!i32_k_row) -> !i32_k
  %b = nest.compute (k: 3) reduce (row: 4) reads %y[] {
  ^bb0(%p: i32):
    nest.yield %p : i32
  } combine add [0 : i32] : (!i32_k_row) -> !i32_k
  %c = nest.compute (k: 3) reads %a[], %b[] {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.addi %p, %q : i32
    nest.yield %0 : i32
  } : (!i32_k, !i32_k) -> !i32_k
  return %c, %b : !i32_k, !i32_k
}

// Where each device gets a block, here of 5 over 2, the sum is one of whole parts.
// CHECK-LABEL: func.func @blocks
// CHECK: %[[s:.*]] = nest.compute (k: 5) reads
// CHECK: %[[r:.*]] = mesh.reduce_scatter %[[s]] name k over [d]
// CHECK-NOT: mesh.reduce_scatter
// CHECK: return %[[r]]
func.func @blocks(%x: !nd.tensor<i32, k: 5, row: 4> {nd.name = "x.a"}, %y: !nd.tensor<i32, k: 5, row: 4> {nd.name = "x.b"})
    -> (!nd.tensor<i32, k: 5> {mesh.sharding = #mesh.sharding<{k: [d]}>}) {
  %a = nest.compute (k: 5) reduce (row: 4) reads %x[] {
  ^bb0(%p: i32):
    nest.yield %p : i32
  } combine add [0 : i32] : (!nd.tensor<i32, k: 5, row: 4>) -> !nd.tensor<i32, k: 5>
  %b = nest.compute (k: 5) reduce (row: 4) reads %y[] {
  ^bb0(%p: i32):
    nest.yield %p : i32
  } combine add [0 : i32] : (!nd.tensor<i32, k: 5, row: 4>) -> !nd.tensor<i32, k: 5>
  %c = nest.compute (k: 5) reads %a[], %b[] {
  ^bb0(%p: i32, %q: i32):
    %0 = arith.addi %p, %q : i32
    nest.yield %0 : i32
  } : (!nd.tensor<i32, k: 5>, !nd.tensor<i32, k: 5>) -> !nd.tensor<i32, k: 5>
  return %c : !nd.tensor<i32, k: 5>
}
