// Prefetches of an operand that exceeds the second cache and is read without a copy: while a tile of rows is computed,
// the rows of the next tile; after the last tile, those of the first one in the next block of the sum. An operand that
// the second cache holds is not prefetched, nor is one of whose box the next step reads a part again.
// RUN: split-file %s %t
// RUN: heddlec %t/far.mlir --emit=loops --target-cpu skylake-avx512 --no-cache | FileCheck %s
// RUN: heddlec %t/near.mlir --emit=loops --target-cpu skylake-avx512 --no-cache | FileCheck %s --check-prefix=NONE
// RUN: heddlec %t/window.mlir --emit=loops --target-cpu skylake-avx512 --no-cache | FileCheck %s --check-prefix=NONE
// RUN: heddle-run %t/far.mlir --compare

// CHECK: scf.for %[[BLOCK:.*]] = {{.*}} to %c2_i64
// CHECK: scf.for %[[TILE:.*]] = {{.*}} to %c300_i64
// CHECK: %[[LAST:.*]] = arith.cmpi sge,
// CHECK: %[[TILES:.*]] = arith.select %[[LAST]], %c0_i64{{.*}}, %
// CHECK: %[[AFTER:.*]] = arith.addi %[[BLOCK]],
// CHECK: %[[BLOCKS:.*]] = arith.select %[[LAST]], %[[AFTER]], %[[BLOCK]]
// CHECK: arith.muli %[[TILES]], %c1200_i64
// CHECK: arith.muli %[[BLOCKS]], %c300_i64
// CHECK: prefetch{{.*}}hint = 2
// CHECK: arith.mulf

// NONE-NOT: hint = 2

//--- far.mlir
func.func @far(%a: !nd.tensor<f32, k: 600, m: 600> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 600, n: 16>) -> !nd.tensor<f32, m: 600, n: 16> {
  %c = nest.compute (m: 600, n: 16) reduce (k: 600) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread m by 600, loop k by 300, cache m by 2, loop k by 1, register m by 1, register n by 16, vector n by 1]>} : (!nd.tensor<f32, k: 600, m: 600>, !nd.tensor<f32, k: 600, n: 16>) -> !nd.tensor<f32, m: 600, n: 16>
  return %c : !nd.tensor<f32, m: 600, n: 16>
}

//--- near.mlir
func.func @near(%a: !nd.tensor<f32, k: 600, m: 300> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 600, n: 16>) -> !nd.tensor<f32, m: 300, n: 16> {
  %c = nest.compute (m: 300, n: 16) reduce (k: 600) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread m by 300, loop k by 300, cache m by 2, loop k by 1, register m by 1, register n by 16, vector n by 1]>} : (!nd.tensor<f32, k: 600, m: 300>, !nd.tensor<f32, k: 600, n: 16>) -> !nd.tensor<f32, m: 300, n: 16>
  return %c : !nd.tensor<f32, m: 300, n: 16>
}

//--- window.mlir
func.func @window(%a: !nd.tensor<f32, m: 400015>, %b: !nd.tensor<f32, k: 16, n: 16>) -> !nd.tensor<f32, m: 400000, n: 16> {
  %c = nest.compute (m: 400000, n: 16) reduce (k: 16) reads %a[m = m + k], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread m by 400000, cache m by 4, loop k by 1, register m by 1, register n by 16, vector n by 1]>} : (!nd.tensor<f32, m: 400015>, !nd.tensor<f32, k: 16, n: 16>) -> !nd.tensor<f32, m: 400000, n: 16>
  return %c : !nd.tensor<f32, m: 400000, n: 16>
}
