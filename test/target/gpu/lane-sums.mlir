// 256 lanes share a sum: by shuffles in a warp of 32 or 64 lanes, then through shared memory, in one round.
// RUN: heddlec %s --row-major --emit=asm --target sm_90 | FileCheck %s --check-prefix=PTX
// PTX-COUNT-5: shfl.sync.bfly.b32
// PTX-NOT: shfl.sync
// PTX: st.shared
// PTX: bar.sync
// PTX-COUNT-7: ld.shared
// PTX-NOT: {{ld|st}}.shared
// PTX: bar.sync
// PTX-NOT: bar.sync

// AMD's GPUs for computing have warps of 64 lanes, those for graphics of 32.
// RUN: heddlec %s --row-major --emit=asm --target gfx942 | FileCheck %s --check-prefixes=AMD,GFX9
// RUN: heddlec %s --row-major --emit=asm --target gfx1100 | FileCheck %s --check-prefixes=AMD,GFX11
// GFX9: ds_swizzle_b32 {{.*}}(SWAP,1)
// GFX9: ds_swizzle_b32 {{.*}}(SWAP,2)
// GFX9: ds_swizzle_b32 {{.*}}(SWAP,4)
// GFX9: ds_swizzle_b32 {{.*}}(SWAP,8)
// GFX9: ds_swizzle_b32 {{.*}}(SWAP,16)
// GFX9: ds_bpermute_b32
// GFX11-COUNT-5: ds_bpermute_b32
// AMD-NOT: ds_{{swizzle|bpermute}}
// AMD: ds_{{store|write}}
// AMD-COUNT-2: {{^}}	s_barrier
// AMD-NOT: {{^}}	s_barrier

// A device of which nobody knows the warps: three rounds, of 8, 8 and 4 parts. If a module states them, SPIR-V shuffles.
// RUN: heddlec %s --row-major --emit=asm --target opencl | FileCheck %s --check-prefix=NONE
// NONE: OpControlBarrier
// NONE-COUNT-3: OpControlBarrier
// NONE-NOT: {{OpControlBarrier|Shuffle}}
// RUN: sed 's/^module {/module attributes {heddle.machine = #nest.machine<{shuffle_lanes = 32}>} {/' %s >%t.mlir && heddlec %t.mlir --row-major --emit=asm --target opencl | FileCheck %s --check-prefix=SPIRV
// SPIRV: OpExecutionMode %{{.*}} SubgroupSize 32
// SPIRV-COUNT-5: OpGroupNonUniformShuffleXor
// SPIRV-NOT: Shuffle
// SPIRV-COUNT-2: OpControlBarrier
// SPIRV-NOT: {{OpControlBarrier|SubgroupSize}}
module {
func.func @sum(%a: !nd.tensor<f32, k: 4096> {nd.name = "a"}) -> !nd.tensor<f32> {
  %b = nest.compute () reduce (k: 4096) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop k by 256, lane k by 1]>} : (!nd.tensor<f32, k: 4096>) -> !nd.tensor<f32>
  return %b : !nd.tensor<f32>
}

// Its kernel does not shuffle, so its lanes may lie in warps of any size.
func.func @twice(%a: !nd.tensor<f32, k: 40> {nd.name = "a"}) -> !nd.tensor<f32, k: 40> {
  %b = nest.compute (k: 40) reads %a[] {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    nest.yield %y : f32
  } {schedule = #nest.schedule<[lane k by 1]>} : (!nd.tensor<f32, k: 40>) -> !nd.tensor<f32, k: 40>
  return %b : !nd.tensor<f32, k: 40>
}
}
