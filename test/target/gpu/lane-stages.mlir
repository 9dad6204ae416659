// Two buffers of a stage, which the lanes of a block fill in turns.
// RUN: heddlec %s --row-major --emit=loops --target opencl | FileCheck %s
// RUN: heddlec %s --row-major --emit=asm --target sm_90 | FileCheck %s --check-prefix=PTX
// RUN: heddle-run %s --compare --row-major
// RUN: sed 's/lane \([mn]\) by 4, vector/loop \1 by 4, vector/g' %s > %t.mlir
// RUN: heddlec %t.mlir --row-major --emit=loops --target opencl | FileCheck %s --check-prefix=MANY

// Twice the bytes of both copies: (16 x 64 + 16 x 64) x 4 x 2.
// CHECK: llvm.mlir.global internal @[[K:k_[0-9a-f]+]].shared() {{.*}} : !llvm.array<16384 x i8>
// CHECK: gpu.func @[[K]](
// The first copies are made before the loop. In the loop, all loads of the next ones are before the multiplications, and
// the stores are behind them. There is one barrier in a step.
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.if {{.*}} -> ({{.*}}vector<4xf32>
// CHECK: llvm.load {{.*}} !llvm.ptr<1>
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.addf
// CHECK: scf.if
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// The second barrier is at the end of the loop, whose code comes first.
// PTX-COUNT-2: bar.sync
// PTX-NOT: {{st.shared|bar.sync}}
// PTX: ld.global.v4.b32
// PTX-NOT: {{st.shared|bar.sync}}
// PTX-COUNT-16: fma.rn.f32
// PTX: st.shared.v4.b32
// PTX-NOT: bar.sync

// A lane that copies 64 elements does not hold them in registers during the multiplications: it stores each one before,
// in the buffer that is not read in this step.
// MANY: gpu.barrier
// MANY: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args
// MANY: %[[NEXT:[0-9]+]] = arith.addi %[[K]], %c1
// MANY: %[[TURN:[0-9]+]] = arith.andi %[[NEXT]], %c1
// MANY: %[[OFFSET:[0-9]+]] = arith.muli %[[TURN]],
// MANY: %[[OTHER:[0-9]+]] = llvm.getelementptr %{{[0-9]+}}[%[[OFFSET]]] : (!llvm.ptr<3>
// MANY: %[[PLACE:[0-9]+]] = llvm.getelementptr %[[OTHER]][
// MANY: llvm.store %{{[0-9]+}}, %[[PLACE]] {{.*}} !llvm.ptr<3>
// MANY: arith.addf
// MANY-NOT: llvm.store
// MANY: gpu.barrier
func.func @product(%a: !nd.tensor<f32, k: 64, m: 128> {nd.name = "a"}, %b: !nd.tensor<f32, k: 64, n: 128> {nd.name = "b"}) -> !nd.tensor<f32, m: 128, n: 128> {
  %c = nest.compute (m: 128, n: 128) reduce (k: 64) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 64, block n by 64, loop k by 16, lane m by 4, lane n by 4, loop k by 1, register m by 1, vector n by 1],
      [stage 0 at 2 level "shared" in #nest.layout<[k, m]> copy [lane k by 1, lane m by 4, vector m by 1] buffers 2, stage 1 at 2 level "shared" in #nest.layout<[k, n]> copy [lane k by 1, lane n by 4, vector n by 1] buffers 2]>}
      : (!nd.tensor<f32, k: 64, m: 128>, !nd.tensor<f32, k: 64, n: 128>) -> !nd.tensor<f32, m: 128, n: 128>
  return %c : !nd.tensor<f32, m: 128, n: 128>
}
