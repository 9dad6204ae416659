// The lanes of a block run the nests of a group, an update and a sort, and wait for each other where one needs what others did.
// RUN: split-file %s %t
// RUN: heddlec %t/group.mlir --row-major --emit=loops --target opencl | FileCheck %t/group.mlir
// RUN: heddlec %t/long.mlir --row-major --emit=loops --target opencl | FileCheck %t/long.mlir
// RUN: heddlec %t/alone.mlir --row-major --emit=loops --target opencl | FileCheck %t/alone.mlir
// RUN: heddlec %t/alone.mlir --row-major --target opencl -o %t/alone.heddle --explain-json %t/alone.json
// RUN: FileCheck %t/alone.mlir --check-prefix=EXPLAIN --input-file %t/alone.json
// RUN: heddlec %t/update.mlir --row-major --emit=loops --target opencl | FileCheck %t/update.mlir
// RUN: heddlec %t/meets.mlir --row-major --emit=loops --target opencl | FileCheck %t/meets.mlir
// RUN: heddlec %t/scan.mlir --row-major --emit=loops --target opencl | FileCheck %t/scan.mlir
// RUN: heddlec %t/empty.mlir --row-major --emit=loops --target opencl | FileCheck %t/empty.mlir
// RUN: heddlec %t/sort.mlir --row-major --emit=loops --target opencl | FileCheck %t/sort.mlir
// RUN: heddlec %t/group.mlir --row-major --emit=asm --target sm_90 | FileCheck %t/group.mlir --check-prefix=PTX
// RUN: heddlec %t/update.mlir --row-major --emit=asm --target sm_90 | FileCheck %t/update.mlir --check-prefix=PTX

//--- group.mlir
// A block for each row, whose sum lies in shared memory (64 bytes), below the parts of 40 lanes. The scratch is the block's.
// CHECK: @[[K:k_[0-9a-f]+]].shared() {{.*}} : !llvm.array<256 x i8>
// CHECK: gpu.func @[[K]]({{.*}}, %[[STRIDE:.*]]: i64) kernel
// CHECK-SAME: known_block_size = array<i32: 40, 1, 1>
// CHECK: %[[B:.*]] = gpu.block_id  x
// CHECK: %[[BLOCK:.*]] = arith.index_cast %[[B]]
// CHECK: arith.muli %[[BLOCK]], %[[STRIDE]]
// CHECK: %[[SUM:.*]] = llvm.getelementptr {{.*}} -> !llvm.ptr<3>, i8

// 10 of 40 lanes add vectors of 4. The others take no part in the two rounds, of 8 and 2 parts.
// CHECK: %[[TAKES:.*]] = arith.cmpi ult, %[[LANE:.*]], %c10
// CHECK: gpu.barrier
// CHECK: arith.andi %[[TAKES]],
// CHECK-COUNT-2: gpu.barrier
// CHECK-NOT: gpu.barrier
// The first lane writes the sum, and all lanes read it.
// CHECK: llvm.store {{.*}}, %[[SUM]]
// CHECK: gpu.barrier
// CHECK: llvm.load %[[SUM]]
// CHECK: llvm.store {{.*}} !llvm.ptr<1>
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// PTX-COUNT-4: shfl.sync.bfly.b32
// PTX-NOT: bar.sync
// PTX: st.shared.b32
// PTX: bar.sync
// PTX: ld.shared.b32
// PTX: st.global.b32
func.func @rows(%x: !nd.tensor<f32, b: 9, c: 40> {nd.name = "x"}) -> !nd.tensor<f32, b: 9, c: 40> {
  %a = nest.group (b: 9) {
    %s = nest.compute () reduce (c: 40) reads %x[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, b: 9, c: 40>) -> !nd.tensor<f32>
    %p = nest.compute (c: 40) reads %x[], %s[] {
    ^bb0(%v: f32, %w: f32):
      %r = arith.divf %v, %w : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, b: 9, c: 40>, !nd.tensor<f32>) -> !nd.tensor<f32, c: 40>
    nest.yield %p : !nd.tensor<f32, c: 40>
  } : !nd.tensor<f32, b: 9, c: 40>
  return %a : !nd.tensor<f32, b: 9, c: 40>
}

//--- long.mlir
// A row of 400,000 bytes does not fit into shared memory: it is in the scratch of its block.
// CHECK: .shared() {{.*}} : !llvm.array<1024 x i8>
func.func @long_rows(%x: !nd.tensor<f32, b: 9, c: 100000> {nd.name = "x"}) -> !nd.tensor<f32, b: 9> {
  %a = nest.group (b: 9) {
    %p = nest.compute (c: 100000) reads %x[] {
    ^bb0(%v: f32):
      %r = math.exp %v : f32
      nest.yield %r : f32
    } {heddle.materialize} : (!nd.tensor<f32, b: 9, c: 100000>) -> !nd.tensor<f32, c: 100000>
    %s = nest.compute () reduce (c: 100000) reads %p[c = 99999 - c] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, c: 100000>) -> !nd.tensor<f32>
    nest.yield %s : !nd.tensor<f32>
  } : !nd.tensor<f32, b: 9>
  return %a : !nd.tensor<f32, b: 9>
}

//--- alone.mlir
// The first lane sorts five elements, while the others wait. The steps of a block wait for the step before.
// CHECK: known_block_size = array<i32: 5, 1, 1>
// CHECK: %[[T:.*]] = gpu.thread_id  x
// CHECK: %[[LANE:.*]] = arith.index_cast %[[T]]
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: math.exp
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// EXPLAIN: "lanes_of_block": 5,
// EXPLAIN: "nests": [
// EXPLAIN: "lanes_of_block": 5,
// EXPLAIN: "lacks": "a loop over lanes",
// EXPLAIN-NEXT: "lanes_of_block": 0,
func.func @five(%x: !nd.tensor<f32, b: 9, c: 5> {nd.name = "x"}) -> !nd.tensor<f32, b: 9, c: 5> {
  %a = nest.group (b: 9) {
    %p = nest.compute (c: 5) reads %x[] {
    ^bb0(%v: f32):
      %r = math.exp %v : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, b: 9, c: 5>) -> !nd.tensor<f32, c: 5>
    %o = nest.sort %p along <c: 5> : (!nd.tensor<f32, c: 5>) -> !nd.tensor<f32, c: 5>
    nest.yield %o : !nd.tensor<f32, c: 5>
  } {schedule = #nest.schedule<[block b by 3, loop b by 1]>} : !nd.tensor<f32, b: 9, c: 5>
  return %a : !nd.tensor<f32, b: 9, c: 5>
}

//--- update.mlir
// Lanes copy the part of a block (32 of 96 rows, 11 elements each) together, and wait. Then each adds up its own row in order.
// CHECK: known_block_size = array<i32: 32, 1, 1>
// CHECK: llvm.icmp "ne"
// CHECK: scf.for
// CHECK: llvm.store
// CHECK: gpu.barrier
// CHECK: scf.for {{.*}} to %c20
// CHECK: arith.addf
// CHECK: llvm.store
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// PTX: bar.sync
// PTX-NOT: {{atom|red}}.
// PTX: {{add.*f32}}
// PTX-NOT: {{atom|red}}.
func.func @adds(%t: !nd.tensor<f32, d: 96, v: 11> {nd.name = "t"}, %at: !nd.tensor<i32, n: 20> {nd.name = "at"}, %x: !nd.tensor<f32, d: 96, n: 20> {nd.name = "x"}) -> !nd.tensor<f32, d: 96, v: 11> {
  %a = nest.update (d: 96, n: 20) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, d: 96, v: 11>, !nd.tensor<i32, n: 20>, !nd.tensor<f32, d: 96, n: 20>) -> !nd.tensor<f32, d: 96, v: 11>
  return %a : !nd.tensor<f32, d: 96, v: 11>
}

//--- meets.mlir
// Lanes that may meet at an element tell each other in shared memory where they write, -1 for nowhere, and wait. The first
// of those that write the same one loads, adds up and stores it; lanes that write nowhere do not.
// CHECK: gpu.func
// CHECK: %[[PLACE:.*]] = arith.select {{.*}}, %c-1
// CHECK: llvm.store %[[PLACE]], {{.*}} !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT: %[[WRITES:.*]] = arith.cmpi sge, %[[PLACE]], %[[ZERO]]
// CHECK: %[[FIRST:.*]] = scf.for {{.*}} iter_args({{.*}} = %[[WRITES]])
// CHECK: scf.if %[[FIRST]]
// CHECK: %[[ELEMENT:.*]] = llvm.getelementptr {{.*}}[%[[PLACE]]] : (!llvm.ptr<1>
// CHECK: arith.addf
// CHECK: scf.for
// CHECK: llvm.store {{.*}}, %[[ELEMENT]]
// CHECK: gpu.barrier
func.func @histogram(%t: !nd.tensor<f32, v: 7> {nd.name = "t"}, %at: !nd.tensor<i32, n: 40> {nd.name = "at"}, %x: !nd.tensor<f32, n: 40> {nd.name = "x"}) -> !nd.tensor<f32, v: 7> {
  %a = nest.update (n: 40) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, v: 7>, !nd.tensor<i32, n: 40>, !nd.tensor<f32, n: 40>) -> !nd.tensor<f32, v: 7>
  return %a : !nd.tensor<f32, v: 7>
}

//--- scan.mlir
!i = !nd.tensor<f32, i: 50>

// One block: the states lie in shared memory. All lanes have finished a step before the next one, and before the last state is
// copied.
// CHECK: !llvm.array<
// CHECK: known_block_size = array<i32: 50, 1, 1>
// CHECK-NOT: gpu.barrier
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: math.tanh
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}} !llvm.ptr<3>
// CHECK: llvm.store {{.*}} !llvm.ptr<1>
// CHECK: gpu.return
func.func @steps(%h: !i {nd.name = "h"}, %x: !nd.tensor<f32, i: 50, t: 6> {nd.name = "x"}) -> !i {
  %a = nest.scan along #nd.dims<t: 6> init(%h) reads(%x) : (!i, !nd.tensor<f32, i: 50, t: 6>) -> !i {
  ^bb0(%state: !i, %slice: !i):
    %next = nest.compute (i: 50) reads %state[i = 49 - i], %slice[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.addf %u, %v : f32
      %r = math.tanh %p : f32
      nest.yield %r : f32
    } : (!i, !i) -> !i
    nest.yield %next : !i
  }
  return %a : !i
}

//--- empty.mlir
!i = !nd.tensor<f32, i: 0>

// A state without elements has shared memory too, twice 64 bytes, since code may read an element 0 that it does not use.
// CHECK: .shared() {{.*}} : !llvm.array<128 x i8>
// CHECK: scf.for {{.*}} !llvm.ptr<3>
func.func @no_state(%h: !i {nd.name = "h"}, %x: !nd.tensor<f32, j: 50, t: 6> {nd.name = "x"}) -> (!i, !nd.tensor<f32, j: 50, t: 6>) {
  %a:2 = nest.scan along #nd.dims<t: 6> init(%h) reads(%x) : (!i, !nd.tensor<f32, j: 50, t: 6>) -> (!i, !nd.tensor<f32, j: 50, t: 6>) {
  ^bb0(%state: !i, %slice: !nd.tensor<f32, j: 50>):
    %s = nest.compute (j: 50) reduce (i: 0) reads %state[], %slice[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.addf %u, %v : f32
      nest.yield %p : f32
    } combine add [0.0 : f32] : (!i, !nd.tensor<f32, j: 50>) -> !nd.tensor<f32, j: 50>
    %next = nest.compute (i: 0) reads %state[] {
    ^bb0(%u: f32):
      %r = math.tanh %u : f32
      nest.yield %r : f32
    } : (!i) -> !i
    nest.yield %next, %s : !i, !nd.tensor<f32, j: 50>
  }
  return %a#0, %a#1 : !i, !nd.tensor<f32, j: 50, t: 6>
}

//--- sort.mlir
// A block sorts a line of 100 elements, of which lane i has those at i, i + 100, ...: 7 levels of merges between two arrays.
// CHECK: !llvm.array<1664 x i8>
// CHECK: known_block_size = array<i32: 100, 1, 1>
// CHECK: gpu.barrier
// CHECK: llvm.store {{.*}} i64, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.for {{.*}} to %c7
// CHECK: llvm.store {{.*}} i64, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.yield
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
func.func @line(%x: !nd.tensor<f32, n: 100> {nd.name = "x"}) -> !nd.tensor<f32, n: 100> {
  %a = nest.sort %x along <n: 100> : (!nd.tensor<f32, n: 100>) -> !nd.tensor<f32, n: 100>
  return %a : !nd.tensor<f32, n: 100>
}
