// nest-plan-memory: a nest that reads its own element writes in place; others get a buffer of the arena, which is used
// again after its last read.
// RUN: heddle-opt %s --nest-plan-memory | FileCheck %s

!n = !nd.tensor<f32, n: 1000>
!j = !nd.tensor<f32, j: 5>

// CHECK-LABEL: func.func @chain
// CHECK-SAME: heddle.arena = [8064, 8000]
// CHECK: heddle.memory = [{bytes = "4000", live = [0, 1], offset = 0 : i64}]
// CHECK: heddle.memory = [{alias = 0 : i64, bytes = "4000", live = [1, 2]}]
// CHECK: heddle.memory = [{bytes = "4000", live = [2, 3], offset = 4032 : i64}]
// CHECK: heddle.memory = [{bytes = "4000", live = [3, 4], offset = 0 : i64}]
// CHECK: heddle.memory = [{buffer = "sum", bytes = "4", live = [4, 4]}]
func.func @chain(%x: !n {nd.name = "x"}) -> (!nd.tensor<f32> {nd.name = "sum"}) {
  %a = nest.compute (n: 1000) reads %x[] {
  ^bb0(%v: f32):
    %r = arith.negf %v : f32
    nest.yield %r : f32
  } : (!n) -> !n
  %b = nest.compute (n: 1000) reads %a[] {
  ^bb0(%v: f32):
    %r = arith.mulf %v, %v : f32
    nest.yield %r : f32
  } : (!n) -> !n
  %c = nest.compute (n: 1000) reads %b[n = 999 - n] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!n) -> !n
  %d = nest.compute (n: 1000) reads %c[n = 999 - n] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!n) -> !n
  %s = nest.compute () reduce (n: 1000) reads %d[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!n) -> !nd.tensor<f32>
  return %s : !nd.tensor<f32>
}

// A donated argument is overwritten by the nest that reads it last.
// CHECK-LABEL: func.func @donated
// CHECK: heddle.memory = [{alias = "x", bytes = "4 * N", live = [0, 0]}]
func.func @donated(%x: !nd.tensor<f32, n: N> {nd.name = "x", heddle.donate = 0}) -> (!nd.tensor<f32, n: N> {nd.name = "y"}) {
  %y = nest.compute (n: N) reads %x[] {
  ^bb0(%v: f32):
    %r = arith.negf %v : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N>
  return %y : !nd.tensor<f32, n: N>
}

// A recurrence whose body is not lowered yet has memory all the same.
// CHECK-LABEL: func.func @unlowered
// CHECK: nest.scan {{.*}}heddle.memory = [{buffer = "result0", bytes = "20", live = [0, 0]}]
func.func @unlowered(%h: !j, %x: !nd.tensor<f32, j: 5, t: 2>) -> !j {
  %r = nest.scan along <t: 2> init(%h) reads(%x) : (!j, !nd.tensor<f32, j: 5, t: 2>) -> (!j) {
  ^bb0(%s: !j, %v: !j):
    %n = nd.pointwise %s, %v : (!j, !j) -> !j {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nd.yield %c : f32
    }
    nest.yield %n : !j
  }
  return %r : !j
}
