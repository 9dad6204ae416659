// Lanes that lie apart are loaded before the loops that do not change them.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 --no-cache | FileCheck %s
// RUN: heddlec %s --emit=loops --target-cpu x86-64 --no-cache | FileCheck %s --check-prefix=SSE

!rows = !nd.tensor<f32, r: 40, c: 64>
!some = !nd.tensor<f32, r: N, c: 64>
!groups = !nd.tensor<f32, g: 32>

// One value for two lanes: once for all rows.
// CHECK-LABEL: func.func
// CHECK: masked.gather
// CHECK: scf.for {{.*}} to %c40_i64
// CHECK-NOT: masked.gather
// CHECK: llvm.store
// Without an instruction that gathers, lanes are loaded one by one, at the same place.
// SSE-LABEL: func.func
// SSE-COUNT-4: vector.insert
// SSE: scf.for {{.*}} to %c40_i64
// SSE-NOT: vector.insert
// SSE: llvm.store
func.func @fixed(%x: !rows {nd.name = "x", nd.layout = #nest.layout<[r, c]>}, %s: !groups {nd.name = "s"})
    -> (!rows {nd.name = "y", nd.layout = #nest.layout<[r, c]>}) {
  %y = nest.compute (r: 40, c: 64) reads %x[], %s[g = c floordiv 2] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } {layouts = [#nest.layout<[r, c]>], schedule = #nest.schedule<[loop c by 16, loop r by 1, register c by 16, vector c by 1]>} : (!rows, !groups) -> !rows
  return %y : !rows
}

// There may be no row, and then no group.
// CHECK-LABEL: func.func
// CHECK: scf.for
// CHECK: scf.for
// CHECK: masked.gather
// CHECK: llvm.store
func.func @symbolic(%x: !some {nd.name = "x", nd.layout = #nest.layout<[r, c]>}, %s: !groups {nd.name = "s"})
    -> (!some {nd.name = "y", nd.layout = #nest.layout<[r, c]>}) {
  %y = nest.compute (r: N, c: 64) reads %x[], %s[g = c floordiv 2] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } {layouts = [#nest.layout<[r, c]>], schedule = #nest.schedule<[loop c by 16, loop r by 1, register c by 16, vector c by 1]>} : (!some, !groups) -> !some
  return %y : !some
}

// Each row has its own groups.
// CHECK-LABEL: func.func
// CHECK: scf.for {{.*}} to %c40_i64
// CHECK: masked.gather
// CHECK: llvm.store
!own = !nd.tensor<f32, r: 40, g: 32>
func.func @own(%x: !rows {nd.name = "x", nd.layout = #nest.layout<[r, c]>}, %s: !own {nd.name = "s", nd.layout = #nest.layout<[r, g]>})
    -> (!rows {nd.name = "y", nd.layout = #nest.layout<[r, c]>}) {
  %y = nest.compute (r: 40, c: 64) reads %x[], %s[g = c floordiv 2] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } {layouts = [#nest.layout<[r, c]>], schedule = #nest.schedule<[loop c by 16, loop r by 1, register c by 16, vector c by 1]>} : (!rows, !own) -> !rows
  return %y : !rows
}
