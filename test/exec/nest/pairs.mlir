// Products of bf16 that are added two at once where the machine can: odd sizes, one, none, symbols, lanes that are left over,
// what is done with a sum before it is stored, operands in any order, a batch.
// RUN: heddle-run %s --compare --size K=33,1,0,2,35,64 --size M=17,33,0,5,70,3 --size N=40,7,5,0,33,18
// RUN: heddle-run %s --compare --threads 3 --size K=67 --size M=33 --size N=70
// RUN: heddle-run %s --compare --target-cpu haswell --size K=35 --size M=33 --size N=41
// RUN: sed -e '1i module attributes {heddle.machine = #nest.machine<{bf16_dot_rate = 2, has_bf16_dot = 0}>} {' -e '$a }' %s > %t.mlir
// RUN: heddle-run %t.mlir --compare --size K=33,2 --size M=17,5 --size N=40,3
// RUN: heddle-run %t.mlir --compare --target-cpu haswell --size K=35 --size M=33 --size N=41

func.func @product(%a: !nd.tensor<bf16, k: K, m: M>, %b: !nd.tensor<bf16, k: K, n: N>) -> !nd.tensor<f32, m: M, n: N> {
  %c = nest.compute (m: M, n: N) reduce (k: K) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: K, m: M>, !nd.tensor<bf16, k: K, n: N>) -> !nd.tensor<f32, m: M, n: N>
  return %c : !nd.tensor<f32, m: M, n: N>
}

// Both operands contiguous along the reduced name, and neither.
func.func @alongReduced(%a: !nd.tensor<bf16, m: 37, z: 51>, %b: !nd.tensor<bf16, n: 45, z: 51>, %bias: !nd.tensor<f32, n: 45>) -> !nd.tensor<bf16, m: 37, n: 45> {
  %c = nest.compute (m: 37, n: 45) reduce (z: 51) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %p = arith.mulf %y, %x : bf16
    nest.yield %p : bf16
  } combine add [0.0 : f32] finish reads %bias[] {
  ^bb0(%v: f32, %w: f32):
    %s = arith.addf %v, %w : f32
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %s, %zero : f32
    %t = arith.truncf %r : f32 to bf16
    nest.yield %t : bf16
  } : (!nd.tensor<bf16, m: 37, z: 51>, !nd.tensor<bf16, n: 45, z: 51>, !nd.tensor<f32, n: 45>) -> !nd.tensor<bf16, m: 37, n: 45>
  return %c : !nd.tensor<bf16, m: 37, n: 45>
}

func.func @acrossReduced(%a: !nd.tensor<bf16, a: 51, m: 37>, %b: !nd.tensor<bf16, a: 51, n: 45>) -> !nd.tensor<bf16, m: 37, n: 45> {
  %c = nest.compute (m: 37, n: 45) reduce (a: 51) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %p = arith.mulf %x, %y : bf16
    nest.yield %p : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, a: 51, m: 37>, !nd.tensor<bf16, a: 51, n: 45>) -> !nd.tensor<bf16, m: 37, n: 45>
  return %c : !nd.tensor<bf16, m: 37, n: 45>
}

// A batch; an operand times itself.
func.func @batch(%a: !nd.tensor<bf16, batch: 3, k: 19, m: 23>, %b: !nd.tensor<bf16, batch: 3, k: 19, n: 35>) -> !nd.tensor<bf16, batch: 3, m: 23, n: 35> {
  %c = nest.compute (batch: 3, m: 23, n: 35) reduce (k: 19) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %p = arith.mulf %x, %y : bf16
    nest.yield %p : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, batch: 3, k: 19, m: 23>, !nd.tensor<bf16, batch: 3, k: 19, n: 35>) -> !nd.tensor<bf16, batch: 3, m: 23, n: 35>
  return %c : !nd.tensor<bf16, batch: 3, m: 23, n: 35>
}

func.func @withItself(%a: !nd.tensor<bf16, k: K, m: M>) -> !nd.tensor<bf16, m: M, n: M> {
  %c = nest.compute (m: M, n: M) reduce (k: K) reads %a[], %a[m = n] {
  ^bb0(%x: bf16, %y: bf16):
    %p = arith.mulf %x, %y : bf16
    nest.yield %p : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: K, m: M>, !nd.tensor<bf16, k: K, m: M>) -> !nd.tensor<bf16, m: M, n: M>
  return %c : !nd.tensor<bf16, m: M, n: M>
}

// A part of what the operands have: what lies behind the last point is no neighbour of it.
func.func @part(%a: !nd.tensor<bf16, k: K + 3, m: M>, %b: !nd.tensor<bf16, k: K + 1, n: N>) -> !nd.tensor<f32, m: M, n: N> {
  %c = nest.compute (m: M, n: N) reduce (k: K) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %p = arith.mulf %x, %y : bf16
    nest.yield %p : bf16
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop k by 8, cache m by 4, cache n by 32, loop k by 2, register m by 1, register n by 16, vector n by 1, unit k by 1], [stage 0 at 1 in #nest.layout<[m, k floordiv 2, k mod 2]>, stage 1 at 2 in #nest.layout<[n floordiv 32, k floordiv 2, n mod 32, k mod 2]>]>} : (!nd.tensor<bf16, k: K + 3, m: M>, !nd.tensor<bf16, k: K + 1, n: N>) -> !nd.tensor<f32, m: M, n: N>
  return %c : !nd.tensor<f32, m: M, n: N>
}

// A window with a border, whose channels are reduced.
func.func @window(%x: !nd.tensor<bf16, channel: 21, column: 9, row: 7>, %w: !nd.tensor<bf16, channel: 21, kx: 3, ky: 3, out: 35>) -> !nd.tensor<bf16, column: 9, out: 35, row: 7> {
  %y = nest.compute (column: 9, out: 35, row: 7) reduce (channel: 21, kx: 3, ky: 3) reads %x[column = column + kx - 1, row = row + ky - 1] if [row + ky - 1 >= 0, 7 - row - ky >= 0, column + kx - 1 >= 0, 9 - column - kx >= 0] else 2.0 : bf16, %w[] {
  ^bb0(%a: bf16, %b: bf16):
    %p = arith.mulf %a, %b : bf16
    nest.yield %p : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, channel: 21, column: 9, row: 7>, !nd.tensor<bf16, channel: 21, kx: 3, ky: 3, out: 35>) -> !nd.tensor<bf16, column: 9, out: 35, row: 7>
  return %y : !nd.tensor<bf16, column: 9, out: 35, row: 7>
}

// A cast rounds each product: these are not added two at once.
func.func @rounded(%a: !nd.tensor<bf16, k: K, m: M>, %b: !nd.tensor<bf16, k: K, n: N>) -> !nd.tensor<f32, m: M, n: N> {
  %c = nest.compute (m: M, n: N) reduce (k: K) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %p = arith.mulf %x, %y : bf16
    %w = arith.extf %p : bf16 to f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: K, m: M>, !nd.tensor<bf16, k: K, n: N>) -> !nd.tensor<f32, m: M, n: N>
  return %c : !nd.tensor<f32, m: M, n: N>
}
