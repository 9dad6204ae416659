// A kernel as a function of the gpu dialect: buffers and offsets, the size symbol, which chunks, and scratch. A lane runs
// one chunk of a nest without lanes, and lanes beyond the end run none.
// RUN: heddlec %s --emit=loops --target opencl | FileCheck %s
// RUN: heddlec %s --emit=loops --target sm_90 | FileCheck %s
// RUN: heddlec %s --emit=loops --target gfx942 | FileCheck %s

// CHECK: gpu.module @kernels
// CHECK: gpu.func @[[K:k_[0-9a-f]+]](%[[X:.*]]: !llvm.ptr<1>, %[[XO:[a-z0-9]+]]: i64, %[[Y:.*]]: !llvm.ptr<1>, %[[YO:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: i64, %[[FIRST:[a-z0-9]+]]: i64, %[[END:[a-z0-9]+]]: i64, %[[SCRATCH:[a-z0-9]+]]: !llvm.ptr<1>, %[[STRIDE:[a-z0-9]+]]: i64) kernel attributes {known_block_size = array<i32: 64, 1, 1>}
// CHECK: %[[XP:.*]] = llvm.getelementptr %[[X]][%[[XO]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
// CHECK: %[[YP:.*]] = llvm.getelementptr %[[Y]][%[[YO]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
// CHECK: %[[T:.*]] = gpu.thread_id  x
// CHECK: %[[TI:.*]] = arith.index_cast %[[T]]
// CHECK: %[[B:.*]] = gpu.block_id  x
// CHECK: %[[BI:.*]] = arith.index_cast %[[B]]
// CHECK: %[[W:.*]] = arith.constant 64 : i64
// CHECK: %[[S:.*]] = arith.muli %[[BI]], %[[W]] : i64
// CHECK: %[[LANE:.*]] = arith.addi %[[S]], %[[TI]] : i64
// CHECK: %[[CHUNK:.*]] = arith.addi %[[FIRST]], %[[LANE]] : i64
// CHECK: %[[OWN:.*]] = arith.muli %[[LANE]], %[[STRIDE]] : i64
// CHECK: llvm.getelementptr %[[SCRATCH]][%[[OWN]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[CHUNK]], %[[END]] : i64
// CHECK: scf.if %[[INSIDE]] {
// CHECK: llvm.getelementptr %[[XP]]
// CHECK: llvm.getelementptr %[[YP]]
// CHECK: gpu.return
func.func @negate(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> {
  %0 = nest.compute (n: N) reads %x[] {
  ^bb0(%a: f32):
    %b = arith.negf %a : f32
    nest.yield %b : f32
  } {schedule = #nest.schedule<[thread n by 64, loop n by 1]>} : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N>
  return %0 : !nd.tensor<f32, n: N>
}
