// nest-outline-kernels adds a private function for each distinct nest, with labels for names; nest-choose-schedules then
// schedules these functions, and not the nests that refer to them.
// RUN: heddle-opt %s --nest-prepare-steps --nest-outline-kernels | FileCheck %s
// RUN: heddle-opt %s --nest-prepare-steps --nest-outline-kernels --nest-choose-schedules | FileCheck %s --check-prefix=SCHEDULED
// The functions do not depend on the spelling and order of names.
// RUN: sed -e 's/row/zebra/g; s/column/b/g; s/: N/: M/g' %s | heddle-opt --nest-prepare-steps --nest-outline-kernels | grep -A7 'private @kernel' > %t.other
// RUN: heddle-opt %s --nest-prepare-steps --nest-outline-kernels | grep -A7 'private @kernel' | diff - %t.other

// Two nests that differ in names have one kernel, a nest of another size has its own.
// CHECK-LABEL: func.func @f(
// CHECK: nest.compute (column: 4, row: 8)
// CHECK: heddle.kernel = @kernel, {{.*}}layouts = [#nest.layout<[column, row]>]
// CHECK: nest.compute (a: 4, b: 8)
// CHECK: heddle.kernel = @kernel, {{.*}}layouts = [#nest.layout<[a, b]>]
// CHECK: nest.compute (a: 4, b: 9)
// CHECK: heddle.kernel = @kernel_0,
// SCHEDULED-LABEL: func.func @f(
// SCHEDULED-NOT: schedule =
// SCHEDULED-LABEL: func.func private @kernel(
// SCHEDULED: heddle.chunks = #nd.size<1>, {{.*}}schedule = #nest.schedule<[
// SCHEDULED-LABEL: func.func private @kernel_0(
// SCHEDULED: schedule = #nest.schedule<[
func.func @f(%x: !nd.tensor<f32, row: 8, column: 4>, %y: !nd.tensor<f32, a: 4, b: 8>, %z: !nd.tensor<f32, a: 4, b: 9>)
    -> (!nd.tensor<f32, row: 8, column: 4>, !nd.tensor<f32, a: 4, b: 8>, !nd.tensor<f32, a: 4, b: 9>) {
  %0 = nest.compute (row: 8, column: 4) reads %x[] {
  ^bb0(%v: f32):
    %r = arith.negf %v : f32
    nest.yield %r : f32
  } {layouts = [#nest.layout<[column, row]>]} : (!nd.tensor<f32, row: 8, column: 4>) -> !nd.tensor<f32, row: 8, column: 4>
  %1 = nest.compute (a: 4, b: 8) reads %y[] {
  ^bb0(%v: f32):
    %r = arith.negf %v : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, a: 4, b: 8>) -> !nd.tensor<f32, a: 4, b: 8>
  %2 = nest.compute (a: 4, b: 9) reads %z[] {
  ^bb0(%v: f32):
    %r = arith.negf %v : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, a: 4, b: 9>) -> !nd.tensor<f32, a: 4, b: 9>
  return %0, %1, %2 : !nd.tensor<f32, row: 8, column: 4>, !nd.tensor<f32, a: 4, b: 8>, !nd.tensor<f32, a: 4, b: 9>
}

// Size symbols are arguments of the kernel, in the order of their first use.
// CHECK-LABEL: func.func @symbols(
// CHECK: heddle.numbers = [#nd.size<N>]
// CHECK: func.func private @kernel_1(
// CHECK-SAME: heddle.symbols = ["size0_"]
func.func @symbols(%x: !nd.tensor<f32, row: N>) -> !nd.tensor<f32, row: N> {
  %0 = nest.compute (row: N) reads %x[] {
  ^bb0(%v: f32):
    %r = arith.negf %v : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, row: N>) -> !nd.tensor<f32, row: N>
  return %0 : !nd.tensor<f32, row: N>
}

// The text of a kernel, which is the key of its code, has no number, which depends on other kernels.
// RUN: heddlec %s --emit=kernels | FileCheck %s --check-prefix=TEXT
// TEXT-COUNT-3: func.func @kernel(
// TEXT-NOT: func.func
