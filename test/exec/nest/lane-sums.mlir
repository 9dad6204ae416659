// Sums whose parts are in several lanes: elements of 1 to 64 bits, several values, numbers of lanes that are powers of two
// and others, lanes beside and within those of other names, few terms, vectors of sums.
// RUN: heddle-run %s --compare --size N=70
// RUN: heddle-run %s --compare --size N=0,1,3,65
// Also by shuffles, on a device that has them (test/target/shuffles.test).
module {
func.func @types(%a: !nd.tensor<f64, k: 70, m: 5> {nd.name = "a"}, %b: !nd.tensor<i64, k: N, m: 5> {nd.name = "b"}, %c: !nd.tensor<i8, k: N, m: 5> {nd.name = "c"}, %d: !nd.tensor<bf16, k: 64, m: 5> {nd.name = "d"}, %e: !nd.tensor<i1, k: N, m: 5> {nd.name = "e"}, %f: !nd.tensor<i16, k: N> {nd.name = "f"})
    -> (!nd.tensor<f64, m: 5>, !nd.tensor<i64, m: 5>, !nd.tensor<i8, m: 5>, !nd.tensor<bf16, m: 5>, !nd.tensor<i1, m: 5>, !nd.tensor<i16>) {
  %0 = nest.compute (m: 5) reduce (k: 70) reads %a[] {
  ^bb0(%x: f64):
    nest.yield %x : f64
  } combine add [0.0 : f64] {schedule = #nest.schedule<[block m by 2, lane m by 1, lane k by 1]>} : (!nd.tensor<f64, k: 70, m: 5>) -> !nd.tensor<f64, m: 5>
  %1 = nest.compute (m: 5) reduce (k: N) reads %b[] {
  ^bb0(%x: i64):
    nest.yield %x : i64
  } combine add [0 : i64] {schedule = #nest.schedule<[block m by 4, loop k by 24, lane k by 1, lane m by 1]>} : (!nd.tensor<i64, k: N, m: 5>) -> !nd.tensor<i64, m: 5>
  %2 = nest.compute (m: 5) reduce (k: N) reads %c[] {
  ^bb0(%x: i8):
    nest.yield %x : i8
  } combine add [0 : i8] {schedule = #nest.schedule<[block m by 4, loop k by 48, lane k by 1, lane m by 1]>} : (!nd.tensor<i8, k: N, m: 5>) -> !nd.tensor<i8, m: 5>
  %3 = nest.compute (m: 5) reduce (k: 64) reads %d[] {
  ^bb0(%x: bf16):
    nest.yield %x : bf16
  } combine max [0xFF80 : bf16] {schedule = #nest.schedule<[block m by 1, lane k by 1]>} : (!nd.tensor<bf16, k: 64, m: 5>) -> !nd.tensor<bf16, m: 5>
  %4 = nest.compute (m: 5) reduce (k: N) reads %e[] {
  ^bb0(%x: i1):
    nest.yield %x : i1
  } combine [false] {
  ^bb0(%x: i1, %y: i1):
    %r = arith.xori %x, %y : i1
    nest.yield %r : i1
  } {schedule = #nest.schedule<[block m by 2, loop k by 32, lane m by 1, lane k by 1]>} : (!nd.tensor<i1, k: N, m: 5>) -> !nd.tensor<i1, m: 5>
  %5 = nest.compute () reduce (k: N) reads %f[] {
  ^bb0(%x: i16):
    nest.yield %x : i16
  } combine add [0 : i16] {schedule = #nest.schedule<[loop k by 256, lane k by 1]>} : (!nd.tensor<i16, k: N>) -> !nd.tensor<i16>
  return %0, %1, %2, %3, %4, %5 : !nd.tensor<f64, m: 5>, !nd.tensor<i64, m: 5>, !nd.tensor<i8, m: 5>, !nd.tensor<bf16, m: 5>, !nd.tensor<i1, m: 5>, !nd.tensor<i16>
}

// The least element and its place; lanes of two reduced names; vectors of sums. A combiner of the user that is wrong for two
// neutral values, over lanes of which some have no term.
func.func @others(%a: !nd.tensor<f32, k: N, m: 7> {nd.name = "a"}, %b: !nd.tensor<f32, j: 6, k: 40, m: 8> {nd.name = "b"}, %c: !nd.tensor<f32, k: N, m: 3> {nd.name = "c"})
    -> (!nd.tensor<f32, m: 7>, !nd.tensor<i64, m: 7>, !nd.tensor<f32, m: 8>, !nd.tensor<f32, m: 3>, !nd.tensor<f32, m: 3>) {
  %0:2 = nest.compute (m: 7) reduce (k: N) reads %a[] {
  ^bb0(%x: f32):
    %at = nest.index k
    %i = arith.index_cast %at : index to i64
    nest.yield %x, %i : f32, i64
  } combine [0x7F800000 : f32, 9223372036854775807 : i64] {
  ^bb0(%x: f32, %i: i64, %y: f32, %j: i64):
    %less = arith.cmpf olt, %y, %x : f32
    %same = arith.cmpf oeq, %y, %x : f32
    %first = arith.cmpi slt, %j, %i : i64
    %tie = arith.andi %same, %first : i1
    %take = arith.ori %less, %tie : i1
    %v = arith.select %take, %y, %x : f32
    %at = arith.select %take, %j, %i : i64
    nest.yield %v, %at : f32, i64
  } {schedule = #nest.schedule<[block m by 4, loop k by 32, lane m by 2, lane k by 1, register m by 1]>} : (!nd.tensor<f32, k: N, m: 7>) -> (!nd.tensor<f32, m: 7>, !nd.tensor<i64, m: 7>)
  %1 = nest.compute (m: 8) reduce (j: 6, k: 40) reads %b[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 4, loop k by 16, lane j by 1, lane k by 1, vector m by 1]>} : (!nd.tensor<f32, j: 6, k: 40, m: 8>) -> !nd.tensor<f32, m: 8>
  %2:2 = nest.compute (m: 3) reduce (k: N) reads %c[] {
  ^bb0(%x: f32):
    %one = arith.constant 1.0 : f32
    nest.yield %x, %one : f32, f32
  } combine [0xFF800000 : f32, 0.0 : f32] {
  ^bb0(%x: f32, %s: f32, %y: f32, %t: f32):
    %m = arith.maximumf %x, %y : f32
    %dx = arith.subf %x, %m : f32
    %dy = arith.subf %y, %m : f32
    %ex = math.exp %dx : f32
    %ey = math.exp %dy : f32
    %u = arith.mulf %s, %ex : f32
    %v = arith.mulf %t, %ey : f32
    %sum = arith.addf %u, %v : f32
    nest.yield %m, %sum : f32, f32
  } {schedule = #nest.schedule<[block m by 1, loop k by 128, lane k by 1]>} : (!nd.tensor<f32, k: N, m: 3>) -> (!nd.tensor<f32, m: 3>, !nd.tensor<f32, m: 3>)
  return %0#0, %0#1, %1, %2#0, %2#1 : !nd.tensor<f32, m: 7>, !nd.tensor<i64, m: 7>, !nd.tensor<f32, m: 8>, !nd.tensor<f32, m: 3>, !nd.tensor<f32, m: 3>
}

// A nest of a group with fewer lanes than another.
func.func @group(%x: !nd.tensor<f32, b: 5, c: 90> {nd.name = "x"}) -> !nd.tensor<f32, b: 5, c: 90> {
  %a = nest.group (b: 5) {
    %s = nest.compute () reduce (c: 90) reads %x[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] {schedule = #nest.schedule<[loop c by 40, lane c by 1]>} : (!nd.tensor<f32, b: 5, c: 90>) -> !nd.tensor<f32>
    %p = nest.compute (c: 90) reads %x[], %s[] {
    ^bb0(%v: f32, %w: f32):
      %r = arith.divf %v, %w : f32
      nest.yield %r : f32
    } {schedule = #nest.schedule<[loop c by 48, lane c by 1]>} : (!nd.tensor<f32, b: 5, c: 90>, !nd.tensor<f32>) -> !nd.tensor<f32, c: 90>
    nest.yield %p : !nd.tensor<f32, c: 90>
  } : !nd.tensor<f32, b: 5, c: 90>
  return %a : !nd.tensor<f32, b: 5, c: 90>
}

// Few lanes, which wait for nobody but by shuffles; conversions of all lanes at once, also of numbers that integers lack.
func.func @few(%a: !nd.tensor<f64, k: 7> {nd.name = "a"}, %b: !nd.tensor<f32, k: 31> {nd.name = "b"}) -> (!nd.tensor<f64>, !nd.tensor<i64>, !nd.tensor<i8>) {
  %0 = nest.compute () reduce (k: 7) reads %a[] {
  ^bb0(%x: f64):
    nest.yield %x : f64
  } combine max [0xFFF0000000000000 : f64] {schedule = #nest.schedule<[lane k by 1]>} : (!nd.tensor<f64, k: 7>) -> !nd.tensor<f64>
  %1 = nest.compute () reduce (k: 7) reads %a[] {
  ^bb0(%x: f64):
    %c = arith.constant 1.0e19 : f64
    %y = arith.mulf %x, %c : f64
    %r = arith.fptoui %y : f64 to i64
    nest.yield %r : i64
  } combine [0 : i64] {
  ^bb0(%x: i64, %y: i64):
    %r = arith.xori %x, %y : i64
    nest.yield %r : i64
  } {schedule = #nest.schedule<[lane k by 1]>} : (!nd.tensor<f64, k: 7>) -> !nd.tensor<i64>
  %2 = nest.compute () reduce (k: 31) reads %b[] {
  ^bb0(%x: f32):
    %c = arith.constant 100.0 : f32
    %y = arith.mulf %x, %c : f32
    %r = arith.fptosi %y : f32 to i8
    nest.yield %r : i8
  } combine add [0 : i8] {schedule = #nest.schedule<[lane k by 1]>} : (!nd.tensor<f32, k: 31>) -> !nd.tensor<i8>
  return %0, %1, %2 : !nd.tensor<f64>, !nd.tensor<i64>, !nd.tensor<i8>
}
}
