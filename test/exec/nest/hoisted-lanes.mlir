// Lanes that lie apart, and are loaded before loops that do not change them. Sizes are no multiples of vectors.
// RUN: heddle-run %s --compare --seed 5
// RUN: env HEDDLE_CPU_WITHOUT=avx512,amx heddle-run %s --compare --seed 5
// RUN: env HEDDLE_CPU_WITHOUT=avx512,amx,avx2,avx heddle-run %s --compare --seed 5

!rows = !nd.tensor<f32, r: 13, c: 42>

// One value for three lanes, in two orders of the loops; the tail of c has fewer lanes.
func.func @groups(%x: !rows {nd.layout = #nest.layout<[r, c]>}, %s: !nd.tensor<f32, g: 14>) -> (!rows {nd.layout = #nest.layout<[r, c]>}) {
  %y = nest.compute (r: 13, c: 42) reads %x[], %s[g = c floordiv 3] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } {layouts = [#nest.layout<[r, c]>], schedule = #nest.schedule<[loop c by 16, loop r by 1, register c by 16, vector c by 1]>} : (!rows, !nd.tensor<f32, g: 14>) -> !rows
  return %y : !rows
}

// The gather of a sum is moved out of its loop, and of that over rows; guards exclude lanes.
func.func @sums(%x: !nd.tensor<f32, r: 13, k: 7> {nd.layout = #nest.layout<[r, k]>}, %s: !nd.tensor<bf16, g: 15>) -> (!rows {nd.layout = #nest.layout<[r, c]>}) {
  %y = nest.compute (r: 13, c: 42) reduce (k: 7) reads %x[], %s[g = c floordiv 3 - 1] if [c - 5 >= 0] {
  ^bb0(%a: f32, %b: bf16):
    %w = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %w : f32
    nest.yield %p : f32
  } combine add [0.000000e+00 : f32] {layouts = [#nest.layout<[r, c]>], schedule = #nest.schedule<[loop c by 16, loop r by 1, loop k by 1, register c by 16, vector c by 1]>} : (!nd.tensor<f32, r: 13, k: 7>, !nd.tensor<bf16, g: 15>) -> !rows
  return %y : !rows
}

// A temporary is overwritten in place, by another order of its own elements first: that read stays.
func.func @chain(%x: !rows {nd.layout = #nest.layout<[r, c]>}, %s: !nd.tensor<f32, g: 14>) -> (!rows {nd.layout = #nest.layout<[r, c]>}) {
  %y = nest.compute (r: 13, c: 42) reads %x[], %s[g = c floordiv 3] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    nest.yield %p : f32
  } {layouts = [#nest.layout<[r, c]>]} : (!rows, !nd.tensor<f32, g: 14>) -> !rows
  %z = nest.compute (r: 13, c: 42) reads %y[], %y[r = 12 - r, c = 41 - c], %s[g = 13 - c floordiv 3] {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %d : f32
    nest.yield %q : f32
  } {layouts = [#nest.layout<[r, c]>]} : (!rows, !rows, !nd.tensor<f32, g: 14>) -> !rows
  return %z : !rows
}

// A copy of a part of an operand is made again in each iteration of k: its lanes stay in that loop.
func.func @staged(%x: !nd.tensor<f32, r: 13, k: 7> {nd.layout = #nest.layout<[r, k]>}, %s: !nd.tensor<f32, g: 84, k: 7>) -> (!rows {nd.layout = #nest.layout<[r, c]>}) {
  %y = nest.compute (r: 13, c: 42) reduce (k: 7) reads %x[], %s[g = 2 * c] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.000000e+00 : f32] {layouts = [#nest.layout<[r, c]>], schedule = #nest.schedule<[loop c by 16, loop k by 1, loop r by 1, register c by 16, vector c by 1], [stage 1 at 1 in #nest.layout<[k, g]>]>} : (!nd.tensor<f32, r: 13, k: 7>, !nd.tensor<f32, g: 84, k: 7>) -> !rows
  return %y : !rows
}
