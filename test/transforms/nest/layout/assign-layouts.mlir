// RUN: heddle-opt %s -nest-assign-layouts | FileCheck %s

// Lanes along n: b is in panels as wide as a register tile, and a is contiguous along the reduced name.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: nd.layout = #nest.layout<[m, k]>
// CHECK-SAME: nd.layout = #nest.layout<[n floordiv [[P:16|32|48|64]], k, n mod [[P]]]>
// CHECK: layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[vector n by 1], partial>
func.func @product(%a: !nd.tensor<f32, k: 512, m: 60> {nd.layout = "any"},
                   %b: !nd.tensor<f32, k: 512, n: 512> {nd.layout = "any"}) -> !nd.tensor<f32, m: 60, n: 512> {
  %c = nest.compute (m: 60, n: 512) reduce (k: 512) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 512, m: 60>, !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 60, n: 512>
  return %c : !nd.tensor<f32, m: 60, n: 512>
}

// Convolutional capsules: the small name j fills vectors together with out. A row of 96 is two register tiles of three
// vectors, so no panels are needed.
// CHECK-LABEL: func.func @votes(
// CHECK-SAME: %arg1: {{[^#]*}} {nd.layout = #nest.layout<[{{.*}}, out, j]>}
// CHECK: layouts = [#nest.layout<[{{.*}}, out, j]>], schedule = #nest.schedule<[vector (out, j) by 1], partial>
func.func @votes(%p: !nd.tensor<f32, channel: 32, column: 15, i: 4, k: 4, n: 3, row: 15> {nd.layout = "any"},
                 %w: !nd.tensor<f32, channel: 32, j: 4, k: 4, kx: 3, ky: 3, out: 24> {nd.layout = "any"})
    -> !nd.tensor<f32, column: 7, i: 4, j: 4, n: 3, out: 24, row: 7> {
  %c = nest.compute (column: 7, i: 4, j: 4, n: 3, out: 24, row: 7) reduce (channel: 32, k: 4, kx: 3, ky: 3)
      reads %p[row = 2 * row + ky, column = 2 * column + kx], %w[] {
  ^bb0(%x: f32, %y: f32):
    %p1 = arith.mulf %x, %y : f32
    nest.yield %p1 : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, channel: 32, column: 15, i: 4, k: 4, n: 3, row: 15>,
                               !nd.tensor<f32, channel: 32, j: 4, k: 4, kx: 3, ky: 3, out: 24>)
      -> !nd.tensor<f32, column: 7, i: 4, j: 4, n: 3, out: 24, row: 7>
  return %c : !nd.tensor<f32, column: 7, i: 4, j: 4, n: 3, out: 24, row: 7>
}

// With sizes that no block divides, one vector has too few lanes, or two have idle ones.
// CHECK-LABEL: func.func @odd(
// CHECK: layouts = [#nest.layout<[{{.*}}out]>]
func.func @odd(%p: !nd.tensor<f32, channel: 7, i: 3, n: 5> {nd.layout = "any"},
               %w: !nd.tensor<f32, channel: 7, j: 3, out: 10> {nd.layout = "any"}) -> !nd.tensor<f32, i: 3, j: 3, n: 5, out: 10> {
  %c = nest.compute (i: 3, j: 3, n: 5, out: 10) reduce (channel: 7) reads %p[], %w[] {
  ^bb0(%x: f32, %y: f32):
    %p1 = arith.mulf %x, %y : f32
    nest.yield %p1 : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, channel: 7, i: 3, n: 5>, !nd.tensor<f32, channel: 7, j: 3, out: 10>)
      -> !nd.tensor<f32, i: 3, j: 3, n: 5, out: 10>
  return %c : !nd.tensor<f32, i: 3, j: 3, n: 5, out: 10>
}

// An argument that says nothing lies as the caller has it: over its sorted names. A donated one lies as the program wants,
// and so does the result in its place.
// CHECK-LABEL: func.func @state(
// CHECK-SAME: nd.layout = #nest.layout<[m, z]>
// CHECK-SAME: nd.layout = #nest.layout<[[L:\[(z, n|n floordiv [0-9]+, z, n mod [0-9]+)\]]]>
// CHECK-SAME: -> (!nd.tensor<f32, n: 512, z: 512> {nd.layout = #nest.layout<[[L]]>}
func.func @state(%a: !nd.tensor<f32, m: 60, z: 512>, %b: !nd.tensor<f32, n: 512, z: 512> {heddle.donate = 0})
    -> (!nd.tensor<f32, n: 512, z: 512>, !nd.tensor<f32, m: 60, n: 512>) {
  %c = nest.compute (m: 60, n: 512) reduce (z: 512) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, m: 60, z: 512>, !nd.tensor<f32, n: 512, z: 512>) -> !nd.tensor<f32, m: 60, n: 512>
  %d = nest.compute (n: 512, z: 512) reads %b[] {
  ^bb0(%x: f32):
    %p = arith.negf %x : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, n: 512, z: 512>) -> !nd.tensor<f32, n: 512, z: 512>
  return %d, %c : !nd.tensor<f32, n: 512, z: 512>, !nd.tensor<f32, m: 60, n: 512>
}

// The result of a group has the layout in which its nests write it.
// CHECK-LABEL: func.func @lines(
// CHECK: nest.group (z: 400)
// CHECK: } {layouts = [#nest.layout<[z, a]>]}
func.func @lines(%x: !nd.tensor<f32, a: 512, z: 400> {nd.layout = #nest.layout<[z, a]>}) -> !nd.tensor<f32, a: 512, z: 400> {
  %g = nest.group (z: 400) {
    %s = nest.compute () reduce (a: 512) reads %x[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, a: 512, z: 400>) -> !nd.tensor<f32>
    %c = nest.compute (a: 512) reads %x[], %s[] {
    ^bb0(%v: f32, %t: f32):
      %d = arith.subf %v, %t : f32
      nest.yield %d : f32
    } : (!nd.tensor<f32, a: 512, z: 400>, !nd.tensor<f32>) -> !nd.tensor<f32, a: 512>
    nest.yield %c : !nd.tensor<f32, a: 512>
  } : !nd.tensor<f32, a: 512, z: 400>
  return %g : !nd.tensor<f32, a: 512, z: 400>
}

// Rows of a table at computed coordinates, whatever the names: what lanes walk lies side by side, in the table, in what is
// made of its rows, and in what they are added up in, the literal that this begins with included.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: nd.layout = #nest.layout<[word, feature]>
// CHECK: nd.constant {{.*}} {layouts = [#nest.layout<[segment, feature]>]}
// CHECK: combine {
// CHECK: layouts = [#nest.layout<[segment, feature]>]
func.func @rows(%table: !nd.tensor<f32, feature: 128, word: 5000> {nd.layout = "any"}, %at: !nd.tensor<i64, token: 20000>,
                %to: !nd.tensor<i64, token: 20000>) -> !nd.tensor<f32, feature: 128, segment: 500> {
  %zero = nd.constant dense<0.0> : tensor<f32> by [feature, segment] : !nd.tensor<f32, feature: 128, segment: 500>
  %sums = nest.update (feature: 128, token: 20000) %zero[segment = read(0)] reads %to[], %at[], %table[word = read(1)] {
  ^bb0(%i: i64, %j: i64, %x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %s = arith.addf %old, %new : f32
    nest.yield %s : f32
  } : (!nd.tensor<f32, feature: 128, segment: 500>, !nd.tensor<i64, token: 20000>, !nd.tensor<i64, token: 20000>,
       !nd.tensor<f32, feature: 128, word: 5000>) -> !nd.tensor<f32, feature: 128, segment: 500>
  return %sums : !nd.tensor<f32, feature: 128, segment: 500>
}

// An op of nd, which is not lowered yet, holds no layout.
// CHECK-LABEL: func.func @not_lowered(
// CHECK-NOT: layouts
// CHECK: return
func.func @not_lowered(%x: !nd.tensor<f32, i: 4>) -> !nd.tensor<f32, i: 4> {
  %0 = nd.pointwise %x : (!nd.tensor<f32, i: 4>) -> !nd.tensor<f32, i: 4> {
  ^bb0(%a: f32):
    %1 = arith.negf %a : f32
    nd.yield %1 : f32
  }
  return %0 : !nd.tensor<f32, i: 4>
}
