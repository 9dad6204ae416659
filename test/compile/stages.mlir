// The IR of one program at each stage.
// RUN: heddlec %s --emit=nd | FileCheck %s --check-prefix=ND
// RUN: heddlec %s --emit=nest --target-cpu haswell | FileCheck %s --check-prefix=NEST
// RUN: heddlec %s --emit=nest --target-cpu haswell --row-major | FileCheck %s --check-prefix=ROWMAJOR
// RUN: heddlec %s --emit=kernels --target-cpu haswell --threads 3 | FileCheck %s --check-prefix=KERNELS
// RUN: heddlec %s --emit=loops --target-cpu haswell | FileCheck %s --check-prefix=LOOPS
// RUN: heddlec %s --emit=llvm --target-cpu haswell | FileCheck %s --check-prefix=LLVM
// RUN: heddlec %s --emit=asm --target-cpu haswell | FileCheck %s --check-prefix=ASM

func.func private @square(%x: !nd.tensor<f32, m: 40>) -> !nd.tensor<f32, m: 40> {
  %0 = nd.pointwise %x, %x : (!nd.tensor<f32, m: 40>, !nd.tensor<f32, m: 40>) -> !nd.tensor<f32, m: 40> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, m: 40>
}

// The call is inlined and lifted over k; the product and the sum become one nest.
// ND-LABEL: func.func @product
// ND-NOT: nd.call
// ND: nd.reduce
// ND-NOT: @square
// NEST-LABEL: func.func @product
// NEST-SAME: nd.layout = #nest.layout<
// NEST: nest.compute (m: 40, n: 30) reduce (k: 50)
// NEST: layouts = [#nest.layout<
// NEST-SAME: schedule = #nest.schedule<
// ROWMAJOR: nest.compute (m: 40, n: 30) reduce (k: 50)
// ROWMAJOR: layouts = [#nest.layout<[m, n]>]
// KERNELS: // reduce
// KERNELS: func.func @kernel(
// KERNELS-SAME: nd.layout = #nest.layout<
// Names are labels; only the schedule depends on the machine.
// KERNELS-NOT: m: 40
// KERNELS-NOT: #nest.machine
// KERNELS: schedule = #nest.schedule<[{{.*}}vector {{.*}} by 1]
// LOOPS: func.func @k_[[KEY:[0-9a-f]+]](
// LOOPS: scf.for
// LOOPS: vector<8xf32>
// LLVM: define {{.*}}void @k_
// LLVM: fmul contract <8 x float>
// ASM: k_{{[0-9a-f]+}}:
// ASM: vfmadd
func.func @product(%x: !nd.tensor<f32, m: 40, k: 50> {nd.name = "x"}, %y: !nd.tensor<f32, k: 50, n: 30> {nd.name = "y"})
    -> (!nd.tensor<f32, m: 40, n: 30> {nd.name = "xy"}) {
  %s = nd.call @square(%x) : (!nd.tensor<f32, m: 40, k: 50>) -> !nd.tensor<f32, m: 40, k: 50>
  %p = nd.pointwise %s, %y : (!nd.tensor<f32, m: 40, k: 50>, !nd.tensor<f32, k: 50, n: 30>) -> !nd.tensor<f32, m: 40, n: 30, k: 50> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f32] : (!nd.tensor<f32, m: 40, n: 30, k: 50>) -> !nd.tensor<f32, m: 40, n: 30> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  return %r : !nd.tensor<f32, m: 40, n: 30>
}
