// Blocks that exceed what the machine has are refused.
// RUN: split-file %s %t
// RUN: not heddlec %t/lanes.mlir --target opencl -o %t.heddle 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not heddlec %t/shared.mlir --target opencl -o %t.heddle 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not heddlec %t/registers.mlir --target opencl -o %t.heddle 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not heddlec %t/held.mlir --target opencl -o %t.heddle 2>&1 | FileCheck %s --check-prefix=HELD
// RUN: not heddlec %t/copy.mlir --target opencl -o %t.heddle 2>&1 | FileCheck %s --check-prefix=COPY

// LANES: lanes.mlir:2:8: error: 'compute' can't be compiled: it can't be emitted: 'nest.compute' op expected a block of at most 256 lanes, got 512
//--- lanes.mlir
func.func @lanes(%a: !nd.tensor<f32, n: 5000> {nd.name = "a"}) -> !nd.tensor<f32, n: 5000> {
  %b = nest.compute (n: 5000) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.negf %x : f32
    nest.yield %p : f32
  } {schedule = #nest.schedule<[block n by 512, lane n by 1]>} : (!nd.tensor<f32, n: 5000>) -> !nd.tensor<f32, n: 5000>
  return %b : !nd.tensor<f32, n: 5000>
}

// SHARED: shared.mlir:2:8: error: 'compute' can't be compiled: it can't be emitted: 'nest.compute' op expected at most 49152 bytes of shared memory in a block, got 65536
//--- shared.mlir
func.func @shared(%a: !nd.tensor<f32, k: 512, m: 64> {nd.name = "a"}) -> !nd.tensor<f32, m: 64> {
  %b = nest.compute (m: 64) reduce (k: 512) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 32, loop k by 512, lane m by 1, loop k by 1],
      [stage 0 at 1 level "shared" in #nest.layout<[k, m]> copy [loop k by 1, lane m by 1]]>} : (!nd.tensor<f32, k: 512, m: 64>) -> !nd.tensor<f32, m: 64>
  return %b : !nd.tensor<f32, m: 64>
}

// REGISTERS: registers.mlir:2:8: error: 'compute' can't be compiled: it can't be emitted: 'nest.compute' op expected sums and copies that fit the 255 registers of a lane, got 256
//--- registers.mlir
func.func @registers(%a: !nd.tensor<f32, k: 64, m: 64> {nd.name = "a"}, %b: !nd.tensor<f32, k: 64, n: 64> {nd.name = "b"}) -> !nd.tensor<f32, m: 64, n: 64> {
  %c = nest.compute (m: 64, n: 64) reduce (k: 64) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 64, block n by 64, lane m by 16, lane n by 16, loop k by 1, register m by 1, register n by 4, vector n by 1]>} : (!nd.tensor<f32, k: 64, m: 64>, !nd.tensor<f32, k: 64, n: 64>) -> !nd.tensor<f32, m: 64, n: 64>
  return %c : !nd.tensor<f32, m: 64, n: 64>
}

// HELD: held.mlir:2:8: error: 'compute' can't be compiled: it can't be emitted: 'nest.compute' op expected sums and copies that fit the 255 registers of a lane, got 256
//--- held.mlir
func.func @held(%a: !nd.tensor<f32, k: 64, m: 60> {nd.name = "a"}, %b: !nd.tensor<f32, k: 64, n: 64> {nd.name = "b"}) -> !nd.tensor<f32, m: 60, n: 64> {
  %c = nest.compute (m: 60, n: 64) reduce (k: 64) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 60, block n by 64, loop k by 4, lane m by 15, lane n by 16, loop k by 1, register m by 1, register n by 4, vector n by 1],
      [stage 1 at 2 level "shared" in #nest.layout<[k, n]> copy [loop k by 1, lane n by 4, vector n by 1] buffers 2]>} : (!nd.tensor<f32, k: 64, m: 60>, !nd.tensor<f32, k: 64, n: 64>) -> !nd.tensor<f32, m: 60, n: 64>
  return %c : !nd.tensor<f32, m: 60, n: 64>
}

// COPY: copy.mlir:2:8: error: 'compute' can't be compiled: it can't be emitted: 'nest.compute' op expected a copy of at most 16 lanes, which the block has, got 32
//--- copy.mlir
func.func @copy(%a: !nd.tensor<f32, k: 64, m: 16> {nd.name = "a"}) -> !nd.tensor<f32, m: 16> {
  %b = nest.compute (m: 16) reduce (k: 64) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 16, loop k by 2, lane m by 1, loop k by 1],
      [stage 0 at 1 level "shared" in #nest.layout<[k, m]> copy [lane k by 1, lane m by 1]]>} : (!nd.tensor<f32, k: 64, m: 16>) -> !nd.tensor<f32, m: 16>
  return %b : !nd.tensor<f32, m: 16>
}
