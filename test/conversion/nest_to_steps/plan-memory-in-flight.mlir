// nest-plan-memory: a sum over devices is written in place, but not where a nest reads the operand while the transfer is in
// flight: it would read sums. So the arena has one buffer for @free, and two for @read_in_flight.
// RUN: heddle-opt %s --nest-plan-memory | FileCheck %s

!n = !nd.tensor<f32, n: 1000>

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// CHECK: func.func @free
// CHECK-SAME: heddle.arena = [4032, 4000]
func.func @free(%x: !n {nd.name = "x", mesh.global = !n})
    -> (!n {nd.name = "m", mesh.global = !n},
        !n {nd.name = "r", mesh.global = !n}) attributes {heddle.symbols = ["mesh.d"]} {
  %a = nest.compute (n: 1000) reads %x[] {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    nest.yield %q : f32
  } {heddle.materialize} : (!n) -> !n
  %t = mesh.all_reduce %a over [d] combine add [0.0 : f32] : (!n) -> !n
  %m = nest.compute (n: 1000) reads %x[n = 999 - n] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {heddle.materialize} : (!n) -> !n
  %r = nest.compute (n: 1000) reads %t[n = 999 - n] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {heddle.materialize} : (!n) -> !n
  return %m, %r : !n, !n
}

// CHECK: func.func @read_in_flight
// CHECK-SAME: heddle.arena = [8064, 8000]
func.func @read_in_flight(%x: !n {nd.name = "x", mesh.global = !n})
    -> (!n {nd.name = "m", mesh.global = !n},
        !n {nd.name = "r", mesh.global = !n}) attributes {heddle.symbols = ["mesh.d"]} {
  %a = nest.compute (n: 1000) reads %x[] {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    nest.yield %q : f32
  } {heddle.materialize} : (!n) -> !n
  %t = mesh.all_reduce %a over [d] combine add [0.0 : f32] : (!n) -> !n
  %m = nest.compute (n: 1000) reads %a[n = 999 - n] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {heddle.materialize} : (!n) -> !n
  %r = nest.compute (n: 1000) reads %t[n = 999 - n] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {heddle.materialize} : (!n) -> !n
  return %m, %r : !n, !n
}
}
