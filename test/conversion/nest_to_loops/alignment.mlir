// Loads and stores state the alignment that their addresses prove: of the base, and of every stride and step.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 | FileCheck %s
// RUN: heddle-run %s --compare --size N=1,16,40

// Rows of 256 bytes, in steps of 16 elements.
// CHECK-LABEL: // whole
// CHECK: llvm.load {{.*}} {alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.store {{.*}} {alignment = 64 : i64} : vector<16xf32>
func.func @whole(%a: !nd.tensor<f32, m: 4, n: 64> {nd.name = "a", nd.layout = #nest.layout<[m, n]>}) -> (!nd.tensor<f32, m: 4, n: 64> {nd.layout = #nest.layout<[m, n]>}) {
  %b = nest.compute (m: 4, n: 64) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } {heddle.name = "whole", schedule = #nest.schedule<[loop m by 1, loop n by 16, vector n by 1]>} : (!nd.tensor<f32, m: 4, n: 64>) -> !nd.tensor<f32, m: 4, n: 64>
  return %b : !nd.tensor<f32, m: 4, n: 64>
}

// Rows of 144 bytes begin at multiples of 16; what is read one element further begins anywhere.
// CHECK-LABEL: // shifted
// CHECK: alignment = 4 : i64} : {{.*}}vector<16xf32>
// CHECK: alignment = 16 : i64} : {{.*}}vector<16xf32>
func.func @shifted(%a: !nd.tensor<f32, m: 4, n: 36> {nd.name = "a", nd.layout = #nest.layout<[m, n]>}) -> (!nd.tensor<f32, m: 4, n: 36> {nd.layout = #nest.layout<[m, n]>}) {
  %b = nest.compute (m: 4, n: 32) reads %a[n = n + 1] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } {heddle.name = "shifted", layouts = [#nest.layout<[m, n pad(0, 4)]>], schedule = #nest.schedule<[loop m by 1, loop n by 16, vector n by 1]>} : (!nd.tensor<f32, m: 4, n: 36>) -> !nd.tensor<f32, m: 4, n: 32>
  %c = nest.compute (m: 4, n: 36) reads %b[] if [31 - n >= 0] else 0.0 : f32 {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, m: 4, n: 32>) -> !nd.tensor<f32, m: 4, n: 36>
  return %c : !nd.tensor<f32, m: 4, n: 36>
}

// A caller who promises 16 bytes is believed no more than that; rows of N elements begin anywhere.
// CHECK-LABEL: // promised
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.store {{.*}} {alignment = 64 : i64} : vector<16xf32>
// CHECK-LABEL: // symbol
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>
func.func @promised(%a: !nd.tensor<f32, m: 16> {nd.name = "a", nd.layout = #nest.layout<[m], align 16>}, %c: !nd.tensor<f32, k: 4, n: N> {nd.name = "c", nd.layout = #nest.layout<[k, n]>}) -> (!nd.tensor<f32, k: 4, m: 16> {nd.layout = #nest.layout<[k, m]>}, !nd.tensor<f32, k: 4, n: N> {nd.layout = #nest.layout<[k, n]>}) {
  %b = nest.compute (k: 4, m: 16) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } {heddle.name = "promised", schedule = #nest.schedule<[loop k by 1, vector m by 1]>} : (!nd.tensor<f32, m: 16>) -> !nd.tensor<f32, k: 4, m: 16>
  %d = nest.compute (k: 4, n: N) reads %c[] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } {heddle.name = "symbol", schedule = #nest.schedule<[loop k by 1, loop n by 16, vector n by 1]>} : (!nd.tensor<f32, k: 4, n: N>) -> !nd.tensor<f32, k: 4, n: N>
  return %b, %d : !nd.tensor<f32, k: 4, m: 16>, !nd.tensor<f32, k: 4, n: N>
}
