// A masked load from an address that is not mapped takes hundreds of cycles, though it does not trap. Loops are not split
// for so many guards, so loads are masked. One that may start a page or more outside of its tensor starts at the tensor
// where the guard does not hold; one that is never far outside needs no such care.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 --no-cache -o - | FileCheck %s
// RUN: sed 's/n: 4096/n: 16/g' %s | heddlec - --emit=loops --target-cpu skylake-avx512 --no-cache -o - | FileCheck %s --check-prefix=NEAR
// CHECK: %[[START:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr
// CHECK: llvm.intr.masked.load %[[START]],
// NEAR-NOT: arith.select {{.*}} : !llvm.ptr
// NEAR: llvm.intr.masked.load
// NEAR-NOT: arith.select {{.*}} : !llvm.ptr
!parts = !nd.tensor<f32, n: 4096, part: 2>
!whole = !nd.tensor<f32, n: 4096, part: 34>
func.func @append(%x: !parts {nd.layout = #nest.layout<[part, n]>}) -> (!whole {nd.layout = #nest.layout<[part, n]>}) {
  %y = nest.compute (n: 4096, part: 34) reads %x[part = part - 0] if [part - 0 >= 0, -part + 1 >= 0] else 0.0 : f32, %x[part = part - 2] if [part - 2 >= 0, -part + 3 >= 0] else 0.0 : f32, %x[part = part - 4] if [part - 4 >= 0, -part + 5 >= 0] else 0.0 : f32, %x[part = part - 6] if [part - 6 >= 0, -part + 7 >= 0] else 0.0 : f32, %x[part = part - 8] if [part - 8 >= 0, -part + 9 >= 0] else 0.0 : f32, %x[part = part - 10] if [part - 10 >= 0, -part + 11 >= 0] else 0.0 : f32, %x[part = part - 12] if [part - 12 >= 0, -part + 13 >= 0] else 0.0 : f32, %x[part = part - 14] if [part - 14 >= 0, -part + 15 >= 0] else 0.0 : f32, %x[part = part - 16] if [part - 16 >= 0, -part + 17 >= 0] else 0.0 : f32, %x[part = part - 18] if [part - 18 >= 0, -part + 19 >= 0] else 0.0 : f32, %x[part = part - 20] if [part - 20 >= 0, -part + 21 >= 0] else 0.0 : f32, %x[part = part - 22] if [part - 22 >= 0, -part + 23 >= 0] else 0.0 : f32, %x[part = part - 24] if [part - 24 >= 0, -part + 25 >= 0] else 0.0 : f32, %x[part = part - 26] if [part - 26 >= 0, -part + 27 >= 0] else 0.0 : f32, %x[part = part - 28] if [part - 28 >= 0, -part + 29 >= 0] else 0.0 : f32, %x[part = part - 30] if [part - 30 >= 0, -part + 31 >= 0] else 0.0 : f32, %x[part = part - 32] if [part - 32 >= 0, -part + 33 >= 0] else 0.0 : f32 {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32, %a9: f32, %a10: f32, %a11: f32, %a12: f32, %a13: f32, %a14: f32, %a15: f32, %a16: f32):
    %s1 = arith.addf %a0, %a1 : f32
    %s2 = arith.addf %s1, %a2 : f32
    %s3 = arith.addf %s2, %a3 : f32
    %s4 = arith.addf %s3, %a4 : f32
    %s5 = arith.addf %s4, %a5 : f32
    %s6 = arith.addf %s5, %a6 : f32
    %s7 = arith.addf %s6, %a7 : f32
    %s8 = arith.addf %s7, %a8 : f32
    %s9 = arith.addf %s8, %a9 : f32
    %s10 = arith.addf %s9, %a10 : f32
    %s11 = arith.addf %s10, %a11 : f32
    %s12 = arith.addf %s11, %a12 : f32
    %s13 = arith.addf %s12, %a13 : f32
    %s14 = arith.addf %s13, %a14 : f32
    %s15 = arith.addf %s14, %a15 : f32
    %s16 = arith.addf %s15, %a16 : f32
    nest.yield %s16 : f32
  } {layouts = [#nest.layout<[part, n]>], schedule = #nest.schedule<[thread part by 3, cache part by 1, cache n by 32, register n by 16, vector n by 1]>} : (!parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts, !parts) -> !whole
  return %y : !whole
}
