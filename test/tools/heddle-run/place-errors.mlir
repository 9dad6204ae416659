// Indices of kernels: one coordinate twice, remainders, and guards that exclude some points. Calls that read in bounds are accepted.
// RUN: not heddle-run %s --entry twice --size N=4 --size M=9 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'twice' expected at most {{.*}}'n' in 'nest.compute'{{.*}}, M = 9, got {{.*}}11 with
// RUN: heddle-run %s --compare --entry twice --size N=4 --size M=11
// RUN: heddle-run %s --compare --entry twice --size N=0 --size M=0

!i = !nd.tensor<f32, i: N>

func.func @twice(%x: !nd.tensor<f32, n: M>, %y: !i) -> !i {
  %0 = nest.compute (i: N) reads %x[n = 2 * i + (i + 5) floordiv 2], %y[] {
  ^bb0(%a: f32, %b: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, n: M>, !i) -> !i
  return %0 : !i
}

// RUN: not heddle-run %s --entry rest --size N=4 --size M=2 2>&1 | FileCheck %s --check-prefix=REST
// REST: 'rest' expected at most {{.*}}'n' in 'nest.compute'{{.*}}, M = 2, got {{.*}}3 with
// RUN: heddle-run %s --compare --entry rest --size N=4 --size M=3
// RUN: heddle-run %s --compare --entry rest --size N=2 --size M=2
func.func @rest(%x: !nd.tensor<f32, n: M>, %y: !i) -> !i {
  %0 = nest.compute (i: N) reads %x[n = i mod 3], %y[] {
  ^bb0(%a: f32, %b: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, n: M>, !i) -> !i
  return %0 : !i
}

// RUN: not heddle-run %s --entry guarded --size N=6 --size M=4 2>&1 | FileCheck %s --check-prefix=GUARDED
// GUARDED: 'guarded' expected at most {{.*}}'n' in 'nest.compute'{{.*}}, M = 4, got {{.*}}5 with
// RUN: heddle-run %s --compare --entry guarded --size N=6 --size M=5
// RUN: heddle-run %s --compare --entry guarded --size N=1 --size M=0
func.func @guarded(%x: !nd.tensor<f32, n: M>, %y: !i) -> !i {
  %0 = nest.compute (i: N) reads %x[n = i - 1] if [i - 1 >= 0] else 0.0 : f32, %y[] {
  ^bb0(%a: f32, %b: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, n: M>, !i) -> !i
  return %0 : !i
}

// RUN: not heddle-run %s --entry gathered --size N=0 --size M=4 2>&1 | FileCheck %s --check-prefix=GATHERED
// GATHERED: 'gathered' expected at most the size of 'n' in 'nd.gather', N = 0, got 1 with
// RUN: heddle-run %s --compare --entry gathered --size N=1 --size M=4
// RUN: heddle-run %s --compare --entry gathered --size N=0 --size M=0
func.func @gathered(%x: !nd.tensor<f32, n: N>, %i: !nd.tensor<i32, m: M>) -> !nd.tensor<f32, m: M> {
  %0 = nd.gather %x [n] at %i : (!nd.tensor<f32, n: N>, !nd.tensor<i32, m: M>) -> !nd.tensor<f32, m: M>
  return %0 : !nd.tensor<f32, m: M>
}
