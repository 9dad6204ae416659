// Functions that GPUs lack are linked from Builtins.c, with the convention of calls of the target: nothing is left to a
// vendor's library.
// RUN: heddlec %s --emit=llvm --target opencl | FileCheck %s --implicit-check-not=llvm.exp --implicit-check-not=unreachable
// RUN: heddlec %s --emit=llvm --target sm_90 | FileCheck %s --implicit-check-not=llvm.exp --implicit-check-not=unreachable
// RUN: heddlec %s --emit=llvm --target gfx942 | FileCheck %s --implicit-check-not=llvm.exp --implicit-check-not=unreachable
// RUN: heddlec %s --target opencl --no-cache -o %t.heddle
// RUN: heddlec %s --target sm_90 --no-cache -o %t.heddle

// CHECK-DAG: define {{(spir_kernel|ptx_kernel|amdgpu_kernel)}} void @k_
// CHECK-DAG: call {{.*}}double @exp(double
// CHECK-DAG: call {{.*}}double @fmod(double
// CHECK-DAG: define internal {{.*}}double @exp(double
// CHECK-DAG: define internal {{.*}}double @fmod(double
func.func @f(%x: !nd.tensor<f64, n: 5>) -> !nd.tensor<f64, n: 5> {
  %0 = nd.pointwise %x : (!nd.tensor<f64, n: 5>) -> !nd.tensor<f64, n: 5> {
  ^bb0(%a: f64):
    %b = math.exp %a : f64
    %c = arith.remf %b, %a : f64
    nd.yield %c : f64
  }
  return %0 : !nd.tensor<f64, n: 5>
}
