// The lanes of a block run a product together: sums in registers, operands in shared memory.
// RUN: heddlec %s --row-major --emit=loops --target opencl | FileCheck %s
// RUN: heddlec %s --row-major --emit=asm --target sm_90 | FileCheck %s --check-prefix=PTX
// RUN: heddle-run %s --compare --row-major

// One block for each chunk, and the bytes that its lanes share.
// CHECK: llvm.mlir.global internal @[[K:k_[0-9a-f]+]].shared() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<8448 x i8>
// CHECK: gpu.func @[[K]](
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: %[[T:.*]] = gpu.thread_id  x
// CHECK: %[[LANE:.*]] = arith.index_cast %[[T]]
// CHECK: %[[B:.*]] = gpu.block_id  x
// CHECK: %[[BI:.*]] = arith.index_cast %[[B]]
// CHECK: %[[CHUNK:.*]] = arith.addi %{{.*}}, %[[BI]] : i64

// A lane has its place in a row of 16 lanes, and all of them run the loop over k. They wait when both copies are filled,
// and before these are filled again.
// CHECK: arith.divui %[[LANE]], %c16_i64
// CHECK: arith.remui %[[LANE]], %c16_i64
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: gpu.barrier
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.for {{.*}} iter_args
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// In 16 steps of k, of 16 multiply-adds each, a lane loads 8 elements in 5 accesses from memory, which all lanes then read:
// 1/32 of an element for each multiply-add. A step has two accesses to shared memory.
// PTX-NOT: ld.global
// PTX: ld.global.b32
// PTX: st.shared.b32
// PTX-NOT: {{ld.global|st.shared}}
// PTX: ld.global.v4.b32
// PTX: st.shared.v4.b32
// PTX: bar.sync
// PTX-COUNT-2: ld.shared.v4.b32
// PTX-NOT: ld.
// PTX-COUNT-16: fma.rn.f32
// PTX-NOT: {{fma|ld.}}
// PTX: bar.sync
// PTX-COUNT-4: st.global.v4.b32
// PTX-NOT: {{st.global|ld.global}}
func.func @product(%a: !nd.tensor<f32, m: 128, k: 64> {nd.name = "a"}, %b: !nd.tensor<f32, k: 64, n: 128> {nd.name = "b"}) -> !nd.tensor<f32, m: 128, n: 128> {
  %c = nest.compute (m: 128, n: 128) reduce (k: 64) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 64, block n by 64, loop k by 16, lane m by 4, lane n by 4, loop k by 1, register m by 1, vector n by 1],
      [stage 0 at 2 level "shared" in #nest.layout<[k, m pad(0, 4)]> copy [loop m by 16, lane m by 1, lane k by 1], stage 1 at 2 level "shared" in #nest.layout<[k, n]> copy [lane k by 1, lane n by 4, vector n by 1]]>}
      : (!nd.tensor<f32, m: 128, k: 64>, !nd.tensor<f32, k: 64, n: 128>) -> !nd.tensor<f32, m: 128, n: 128>
  return %c : !nd.tensor<f32, m: 128, n: 128>
}
