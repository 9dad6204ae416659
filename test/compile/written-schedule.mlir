// A schedule with copies in the input is kept, although passes rename dimensions; values are the oracle's.
// RUN: heddlec %s --emit=nest --target-cpu haswell | FileCheck %s
// RUN: heddle-run %s --compare
// CHECK: stage {{[01]}} at 1 in #nest.layout<[row floordiv 16, inner, row mod 16]> copy [{{.*}}vector row by 1]
// CHECK-SAME: stage {{[01]}} at 2 in #nest.layout<[column, inner pad(0, 16)]> copy [{{.*}}vector inner by 1] buffers 2
func.func @product(%a: !nd.tensor<f32, inner: 40, row: 50> {nd.name = "a"}, %b: !nd.tensor<f32, column: 30, inner: 40> {nd.name = "b"}) -> (!nd.tensor<f32, column: 30, row: 50> {nd.name = "c"}) {
  %c = nest.compute (column: 30, row: 50) reduce (inner: 40) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread row by 32, loop inner by 16, cache column by 4, cache row by 16, loop inner by 1, register column by 1, register row by 8, vector row by 1], [stage 0 at 1 in #nest.layout<[row floordiv 16, inner, row mod 16]>, stage 1 at 2 in #nest.layout<[column, inner pad(0, 16)]> buffers 2]>} : (!nd.tensor<f32, inner: 40, row: 50>, !nd.tensor<f32, column: 30, inner: 40>) -> !nd.tensor<f32, column: 30, row: 50>
  return %c : !nd.tensor<f32, column: 30, row: 50>
}
