// What accesses add to the cost of a nest: transposed tiles, lanes whose lines are lost, guards, wide integers.
// RUN: heddle-opt %s --nest-cost -o /dev/null 2>&1 | FileCheck %s
// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s --check-prefix=CHOSEN

!m_n = !nd.tensor<f32, m: 64, n: 16>

module attributes {heddle.machine = #nest.machine<{kind = "cpu", vector_bytes = 64 : i64, vector_registers = 32 : i64, l1_bytes = 32768 : i64, l2_bytes = 1048576 : i64, l3_bytes = 33554432 : i64}>} {

// 64 x 16 results in vectors of m are transposed in registers, as are the operands of the finish.
// CHECK: 'short' takes {{.*}} stores 64, turned 128,
func.func @short(%a: !nd.tensor<f32, m: 64, k: 8> {nd.layout = #nest.layout<[k, m]>}, %b: !m_n {nd.layout = #nest.layout<[m, n]>}) -> (!m_n {nd.layout = #nest.layout<[m, n]>}) {
  %r = nest.compute (m: 64, n: 16) reduce (k: 8) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.000000e+00 : f32] finish reads %b[] {
  ^bb0(%s: f32, %d: f32):
    %t = arith.addf %s, %d : f32
    nest.yield %t : f32
  } {heddle.name = "short", layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache n by 16, cache m by 16, loop k by 1, register n by 1, register m by 16, vector m by 1]>} : (!nd.tensor<f32, m: 64, k: 8>, !m_n) -> !m_n
  return %r : !m_n
}

// A sum in 4 blocks of k loads 32 x 4 vectors, its 4 vectors of sums in each block, and 4 of the finish only in the last one.
// CHECK: 'blocks' takes {{.*}} loads 148, stores 16,
func.func @blocks(%a: !nd.tensor<f32, k: 32, m: 64> {nd.layout = #nest.layout<[k, m]>}, %b: !nd.tensor<f32, m: 64> {nd.layout = #nest.layout<[m]>}) -> (!nd.tensor<f32, m: 64> {nd.layout = #nest.layout<[m]>}) {
  %r = nest.compute (m: 64) reduce (k: 32) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.000000e+00 : f32] finish reads %b[] {
  ^bb0(%s: f32, %d: f32):
    %t = arith.addf %s, %d : f32
    nest.yield %t : f32
  } {heddle.name = "blocks", layouts = [#nest.layout<[m]>], schedule = #nest.schedule<[loop k by 8, cache m by 16, loop k by 1, register m by 16, vector m by 1]>} : (!nd.tensor<f32, k: 32, m: 64>, !nd.tensor<f32, m: 64>) -> !nd.tensor<f32, m: 64>
  return %r : !nd.tensor<f32, m: 64>
}

// Of 18 rows of a tile, 16 are transposed: 4 tiles store 64 vectors, and the lanes of 8 one by one.
// CHECK: 'eighteen' takes {{.*}} stores 64, gathered 128, turned 64,
func.func @eighteen(%a: !nd.tensor<f32, m: 64, n: 18> {nd.layout = #nest.layout<[n, m]>}) -> (!nd.tensor<f32, m: 64, n: 18> {nd.layout = #nest.layout<[m, n]>}) {
  %r = nest.compute (m: 64, n: 18) reads %a[] {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    nest.yield %y : f32
  } {heddle.name = "eighteen", layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 16, register n by 1, vector m by 1]>} : (!nd.tensor<f32, m: 64, n: 18>) -> !nd.tensor<f32, m: 64, n: 18>
  return %r : !nd.tensor<f32, m: 64, n: 18>
}

// A long finish runs row by row, so each lane is loaded and stored alone: 2 * 64 * 16.
// CHECK: 'long' takes {{.*}} gathered 2048,
func.func @long(%a: !nd.tensor<f32, m: 64, k: 8> {nd.layout = #nest.layout<[k, m]>}, %b: !m_n {nd.layout = #nest.layout<[m, n]>}) -> (!m_n {nd.layout = #nest.layout<[m, n]>}) {
  %r = nest.compute (m: 64, n: 16) reduce (k: 8) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.000000e+00 : f32] finish reads %b[] {
  ^bb0(%s: f32, %d: f32):
    %t = math.exp %s : f32
    %u = math.exp %d : f32
    %v = arith.addf %t, %u : f32
    nest.yield %v : f32
  } {heddle.name = "long", layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache n by 16, cache m by 16, loop k by 1, register n by 1, register m by 16, vector m by 1]>} : (!nd.tensor<f32, m: 64, k: 8>, !m_n) -> !m_n
  return %r : !m_n
}

// Rows of 4096 bytes share a set of the first cache, so a vector along m misses it in all of its 16 lines.
// CHECK: 'far' takes {{.*}} gathered 65536, missed 65536,
func.func @far(%a: !nd.tensor<f32, m: 64, n: 1024> {nd.layout = #nest.layout<[m, n]>}) -> (!nd.tensor<f32, n: 1024> {nd.layout = #nest.layout<[n]>}) {
  %r = nest.compute (n: 1024) reduce (m: 64) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.000000e+00 : f32] {heddle.name = "far", layouts = [#nest.layout<[n]>], schedule = #nest.schedule<[cache n by 1, loop m by 16, register m by 16, vector m by 1]>} : (!nd.tensor<f32, m: 64, n: 1024>) -> !nd.tensor<f32, n: 1024>
  return %r : !nd.tensor<f32, n: 1024>
}

// 64 vectors with an addition, and two conditions that each vector tests: of its lanes (4) and of a row (1).
// CHECK: 'guarded' takes {{.*}}; operations 384, loads 64,
func.func @guarded(%a: !nd.tensor<f32, n: 32> {nd.layout = #nest.layout<[n]>}) -> (!nd.tensor<f32, m: 32, n: 32> {nd.layout = #nest.layout<[m, n]>}) {
  %r = nest.compute (m: 32, n: 32) reads %a[] if [n - 3 >= 0, m - 2 >= 0] else 0.000000e+00 : f32 {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    nest.yield %y : f32
  } {heddle.name = "guarded", layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 1, cache n by 16, register n by 16, vector n by 1]>} : (!nd.tensor<f32, n: 32>) -> !nd.tensor<f32, m: 32, n: 32>
  return %r : !nd.tensor<f32, m: 32, n: 32>
}

// The tensor changes only with m, the condition with n: 64 vectors with an addition test their lanes.
// CHECK: 'guarded_rows' takes {{.*}}; operations 320,
func.func @guarded_rows(%a: !nd.tensor<f32, m: 32> {nd.layout = #nest.layout<[m]>}) -> (!nd.tensor<f32, m: 32, n: 32> {nd.layout = #nest.layout<[m, n]>}) {
  %r = nest.compute (m: 32, n: 32) reads %a[] if [n - 3 >= 0] else 0.000000e+00 : f32 {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    nest.yield %y : f32
  } {heddle.name = "guarded_rows", layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 1, cache n by 16, register n by 16, vector n by 1]>} : (!nd.tensor<f32, m: 32>) -> !nd.tensor<f32, m: 32, n: 32>
  return %r : !nd.tensor<f32, m: 32, n: 32>
}

// Two vectors hold the 64 bits of 16 lanes: each of 4 vectors takes a sum, and twice a conversion, a sum, a shift and a
// conversion.
// CHECK: 'wide' takes {{.*}}; operations 36,
func.func @wide(%a: !nd.tensor<i32, n: 64> {nd.layout = #nest.layout<[n]>}) -> (!nd.tensor<i32, n: 64> {nd.layout = #nest.layout<[n]>}) {
  %r = nest.compute (n: 64) reads %a[] {
  ^bb0(%x: i32):
    %c7 = arith.constant 7 : i64
    %n = arith.addi %x, %x : i32
    %w = arith.extsi %n : i32 to i64
    %s = arith.addi %w, %w : i64
    %h = arith.shrsi %s, %c7 : i64
    %y = arith.trunci %h : i64 to i32
    nest.yield %y : i32
  } {heddle.name = "wide", layouts = [#nest.layout<[n]>], schedule = #nest.schedule<[cache n by 16, register n by 16, vector n by 1]>} : (!nd.tensor<i32, n: 64>) -> !nd.tensor<i32, n: 64>
  return %r : !nd.tensor<i32, n: 64>
}

// Rows differ along `table`, so lanes of `table` would lie apart although it is contiguous in the destination.
// CHOSEN: heddle.name = "scatter", {{.*}}schedule = #nest.schedule<[cache feature by 1, cache table by 1, loop batch by 1]>}
func.func @scatter(%d: !nd.tensor<f32, row: 100, feature: 16, table: 26> {nd.layout = #nest.layout<[row, feature, table]>}, %i: !nd.tensor<i64, batch: 8, table: 26> {nd.layout = #nest.layout<[batch, table]>}, %x: !nd.tensor<f32, batch: 8, feature: 16, table: 26> {nd.layout = #nest.layout<[batch, table, feature]>}) -> (!nd.tensor<f32, row: 100, feature: 16, table: 26> {nd.layout = #nest.layout<[row, feature, table]>}) {
  %r = nest.update (batch: 8, feature: 16, table: 26) %d[row = read(0)] reads %i[], %x[] {
  ^bb0(%at: i64, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nest.yield %s : f32
  } {heddle.name = "scatter", layouts = [#nest.layout<[row, feature, table]>]} : (!nd.tensor<f32, row: 100, feature: 16, table: 26>, !nd.tensor<i64, batch: 8, table: 26>, !nd.tensor<f32, batch: 8, feature: 16, table: 26>) -> !nd.tensor<f32, row: 100, feature: 16, table: 26>
  return %r : !nd.tensor<f32, row: 100, feature: 16, table: 26>
}
}
