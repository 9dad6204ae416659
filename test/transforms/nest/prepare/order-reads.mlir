// nest-order-reads: a canonical order of reads and scalar ops; equal reads are merged.
// RUN: heddle-opt %s --nest-order-reads | FileCheck %s
// RUN: heddle-opt %s --nest-order-reads --nest-cse --canonicalize | FileCheck %s --check-prefix=CSE

!n = !nd.tensor<f32, n: 4>

// CHECK-COUNT-2: reads %arg0[], %arg1[] {
// CHECK-NOT: nest.compute
// CSE: nest.compute
// CSE-NOT: nest.compute
func.func @f(%x: !n, %y: !n) -> (!n, !n) {
  %0 = nest.compute (n: 4) reads %y[], %x[], %y[] {
  ^bb0(%b: f32, %a: f32, %c: f32):
    %u = arith.subf %c, %a : f32
    %m = arith.mulf %b, %a : f32
    %s = arith.addf %u, %m : f32
    nest.yield %s : f32
  } : (!n, !n, !n) -> !n
  %1 = nest.compute (n: 4) reads %x[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    %u = arith.subf %b, %a : f32
    %s = arith.addf %m, %u : f32
    nest.yield %s : f32
  } : (!n, !n) -> !n
  return %0, %1 : !n, !n
}
