// GPUs have no masks of vectors: an access with a mask is a branch for each element, and vectors are scalars.
// RUN: heddlec %s --emit=llvm --target opencl | FileCheck %s --implicit-check-not='{{<[0-9]+ x}}' --implicit-check-not=masked --implicit-check-not=prefetch
// RUN: heddlec %s --emit=llvm --target sm_90 | FileCheck %s --check-prefix=OTHER --implicit-check-not=masked --implicit-check-not=prefetch
// RUN: heddlec %s --emit=llvm --target gfx942 | FileCheck %s --check-prefix=OTHER --implicit-check-not=masked --implicit-check-not=prefetch

// The last vector of a chunk:
// CHECK: define spir_kernel void
// CHECK: %[[M0:.*]] = icmp sgt i32 %[[COUNT:.*]], 0
// CHECK: %[[M1:.*]] = icmp sgt i32 %[[COUNT]], 1
// CHECK: %[[M2:.*]] = icmp sgt i32 %[[COUNT]], 2
// CHECK: %[[M3:.*]] = icmp sgt i32 %[[COUNT]], 3
// CHECK: br i1 %[[M0]]
// CHECK: load float, ptr addrspace(1) %[[P:.*]], align 4
// CHECK: br i1 %[[M1]]
// CHECK: getelementptr {{.*}}ptr addrspace(1) %[[P]], i64 4
// CHECK: br i1 %[[M2]]
// CHECK: getelementptr {{.*}}ptr addrspace(1) %[[P]], i64 8
// CHECK: br i1 %[[M3]]
// CHECK: getelementptr {{.*}}ptr addrspace(1) %[[P]], i64 12
// CHECK: br i1 %[[M0]]
// CHECK: store float {{.*}}, ptr addrspace(1) %[[Q:.*]], align 4
// CHECK: br i1 %[[M1]]
// CHECK: getelementptr {{.*}}ptr addrspace(1) %[[Q]], i64 4
// OTHER: define {{ptx_kernel|amdgpu_kernel}} void
func.func @negate(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> {
  %0 = nest.compute (n: N) reads %x[] {
  ^bb0(%a: f32):
    %b = arith.negf %a : f32
    nest.yield %b : f32
  } {schedule = #nest.schedule<[thread n by 15000, cache n by 8, register n by 4, vector n by 1]>} : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N>
  return %0 : !nd.tensor<f32, n: N>
}
