// RUN: heddle-opt %s --nest-fuse-producers --split-input-file | FileCheck %s

// A nest that only moves elements is taken in through the maps and guards of its consumer.
// CHECK-LABEL: @window
// CHECK-NEXT: nest.compute (out: 2, row: 8) reduce (ky: 3) reads %arg0[row = ky + row - 1] if [ky + row - 1 >= 0, -ky - row + 8 >= 0] else 0.000000e+00 : f32, %arg1[] {
// CHECK-NOT: nest.compute
func.func @window(%x: !nd.tensor<f32, row: 8>, %k: !nd.tensor<f32, ky: 3, out: 2>) -> !nd.tensor<f32, out: 2, row: 8> {
  %w = nest.compute (ky: 3, row: 8) reads %x[row = ky + row - 1] if [ky + row - 1 >= 0, 8 - ky - row >= 0] else 0.0 : f32 {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, ky: 3, row: 8>
  %c = nest.compute (out: 2, row: 8) reduce (ky: 3) reads %w[], %k[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, ky: 3, row: 8>, !nd.tensor<f32, ky: 3, out: 2>) -> !nd.tensor<f32, out: 2, row: 8>
  return %c : !nd.tensor<f32, out: 2, row: 8>
}

// -----

// Arithmetic whose elements are read once is taken in; coordinates become what the reader reads at.
// CHECK-LABEL: @pooled
// CHECK-NEXT: nest.compute (row: 512) reduce (py: 2) reads %arg0[row = py + 2 * row] {
// CHECK: arith.maximumf
// CHECK-NOT: nest.compute
func.func @pooled(%x: !nd.tensor<f32, row: 1024>) -> !nd.tensor<f32, row: 512> {
  %r = nest.compute (row: 1024) reads %x[] {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %z : f32
    nest.yield %m : f32
  } : (!nd.tensor<f32, row: 1024>) -> !nd.tensor<f32, row: 1024>
  %p = nest.compute (row: 512) reduce (py: 2) reads %r[row = 2 * row + py] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, row: 1024>) -> !nd.tensor<f32, row: 512>
  return %p : !nd.tensor<f32, row: 512>
}

// -----

// In a matrix product every element would be computed 512 times.
// CHECK-LABEL: @repeated
// CHECK-COUNT-2: nest.compute
func.func @repeated(%x: !nd.tensor<f32, k: 512, m: 512>, %y: !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 512, n: 512> {
  %e = nest.compute (k: 512, m: 512) reads %x[] {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, k: 512, m: 512>) -> !nd.tensor<f32, k: 512, m: 512>
  %c = nest.compute (m: 512, n: 512) reduce (k: 512) reads %e[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 512, m: 512>, !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 512, n: 512>
  return %c : !nd.tensor<f32, m: 512, n: 512>
}

// -----

// Unless the user asks for it.
// CHECK-LABEL: @asked
// CHECK-COUNT-1: nest.compute
// CHECK: math.exp
// CHECK-NEXT: arith.mulf
// CHECK-NOT: nest.compute
func.func @asked(%x: !nd.tensor<f32, k: 512, m: 512>, %y: !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 512, n: 512> {
  %e = nest.compute (k: 512, m: 512) reads %x[] {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    nest.yield %r : f32
  } {heddle.recompute} : (!nd.tensor<f32, k: 512, m: 512>) -> !nd.tensor<f32, k: 512, m: 512>
  %c = nest.compute (m: 512, n: 512) reduce (k: 512) reads %e[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 512, m: 512>, !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 512, n: 512>
  return %c : !nd.tensor<f32, m: 512, n: 512>
}

// -----

// Or forbids it.
// CHECK-LABEL: @kept
// CHECK-COUNT-2: nest.compute
func.func @kept(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8> {
  %r = nest.compute (row: 8) reads %x[] {
  ^bb0(%a: f32):
    %m = arith.addf %a, %a : f32
    nest.yield %m : f32
  } {heddle.materialize} : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8>
  %p = nest.compute (row: 8) reads %r[row = 7 - row] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8>
  return %p : !nd.tensor<f32, row: 8>
}

// -----

// Outside of a guard the reader reads zero, which is what relu makes of zero: no select.
// CHECK-LABEL: @reluOfBorder
// CHECK-NEXT: nest.compute (row: 10) reads %arg0[row = row - 1] if [row - 1 >= 0, -row + 8 >= 0] else 0.000000e+00 : f32 {
// CHECK: arith.maximumf
// CHECK-NOT: arith.select
// CHECK: return
func.func @reluOfBorder(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 10> {
  %r = nest.compute (row: 8) reads %x[] {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %z : f32
    nest.yield %m : f32
  } : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8>
  %p = nest.compute (row: 10) reads %r[row = row - 1] if [row - 1 >= 0, 8 - row >= 0] else 0.0 : f32 {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 10>
  return %p : !nd.tensor<f32, row: 10>
}

// -----

// But exp of zero is one: the guard's value is selected.
// CHECK-LABEL: @expOfBorder
// CHECK-NEXT: nest.compute (row: 10) reads %arg0[row = row - 1] if [row - 1 >= 0, -row + 8 >= 0] else 0.000000e+00 : f32 {
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[IN:.*]] = arith.andi
// CHECK: arith.select %[[IN]], %[[E]]
// CHECK-NOT: nest.compute
func.func @expOfBorder(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 10> {
  %r = nest.compute (row: 8) reads %x[] {
  ^bb0(%a: f32):
    %m = math.exp %a : f32
    nest.yield %m : f32
  } : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8>
  %p = nest.compute (row: 10) reads %r[row = row - 1] if [row - 1 >= 0, 8 - row >= 0] else 0.0 : f32 {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 10>
  return %p : !nd.tensor<f32, row: 10>
}

// -----

// An excluding guard passes to a read that has to have it; the other one stays inside its tensor.
// CHECK-LABEL: @excluded
// CHECK-NEXT: nest.compute (row: 8) reduce (py: 3) reads %arg0[row = py + row - 1] if [py + row - 1 >= 0, -py - row + 8 >= 0], %arg1[] {
// CHECK-NOT: nest.compute
func.func @excluded(%x: !nd.tensor<f32, row: 8>, %y: !nd.tensor<f32>) -> !nd.tensor<f32, row: 8> {
  %r = nest.compute (row: 8) reads %x[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    nest.yield %m : f32
  } : (!nd.tensor<f32, row: 8>, !nd.tensor<f32>) -> !nd.tensor<f32, row: 8>
  %p = nest.compute (row: 8) reduce (py: 3) reads %r[row = row + py - 1] if [row + py - 1 >= 0, 8 - row - py >= 0] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8>
  return %p : !nd.tensor<f32, row: 8>
}

// -----

// Coordinates have no read that could carry the guard: one of a constant does.
// CHECK-LABEL: @carried
// CHECK: %[[NOTHING:.*]] = nd.constant
// CHECK: nest.compute (row: 8) reduce (py: 3) reads %[[NOTHING]][] if [py + row - 1 >= 0, -py - row + 8 >= 0] {
// CHECK-NOT: nest.compute
func.func @carried() -> !nd.tensor<i32, row: 8> {
  %r = nest.compute (row: 8) {
    %i = nest.index row
    %m = arith.index_cast %i : index to i32
    nest.yield %m : i32
  } : () -> !nd.tensor<i32, row: 8>
  %p = nest.compute (row: 8) reduce (py: 3) reads %r[row = row + py - 1] if [row + py - 1 >= 0, 8 - row - py >= 0] {
  ^bb0(%a: i32):
    nest.yield %a : i32
  } combine max [-2147483648 : i32] : (!nd.tensor<i32, row: 8>) -> !nd.tensor<i32, row: 8>
  return %p : !nd.tensor<i32, row: 8>
}

// -----

// The coordinate of a gathered read is the value of another read, whose number changes.
// CHECK-LABEL: @gathered
// CHECK-NEXT: nest.compute (n: 4) reads %arg1[], %arg2[n = -n + 3], %arg0[row = read(1)] {
// CHECK-NOT: nest.compute
func.func @gathered(%x: !nd.tensor<f32, row: 8>, %s: !nd.tensor<f32, n: 4>, %i: !nd.tensor<i32, n: 4>) -> !nd.tensor<f32, n: 4> {
  %t = nest.compute (n: 4) reads %s[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  %g = nest.compute (n: 4) reads %t[], %i[n = 3 - n], %x[row = read(1)] {
  ^bb0(%a: f32, %k: i32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<i32, n: 4>, !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, n: 4>
  return %g : !nd.tensor<f32, n: 4>
}

// -----

// Refused: the index itself comes from the producer, and a map holds no arithmetic of tensors.
// CHECK-LABEL: @throughIndex
// CHECK-COUNT-2: nest.compute
func.func @throughIndex(%x: !nd.tensor<f32, row: 8>, %i: !nd.tensor<i32, n: 4>) -> !nd.tensor<f32, n: 4> {
  %j = nest.compute (n: 4) reads %i[] {
  ^bb0(%a: i32):
    %b = arith.addi %a, %a : i32
    nest.yield %b : i32
  } : (!nd.tensor<i32, n: 4>) -> !nd.tensor<i32, n: 4>
  %g = nest.compute (n: 4) reads %j[], %x[row = read(0)] {
  ^bb0(%k: i32, %b: f32):
    nest.yield %b : f32
  } : (!nd.tensor<i32, n: 4>, !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, n: 4>
  return %g : !nd.tensor<f32, n: 4>
}

// -----

// Pinned: %y meets its own maximum in a comparison, so it is computed once (both readers would be faster without it).
// CHECK-LABEL: @pinned
// CHECK-COUNT-3: nest.compute
func.func @pinned(%x: !nd.tensor<f32, n: 64>) -> !nd.tensor<i1, n: 64> {
  %y = nest.compute (n: 64) reads %x[] {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %a : f32
    nest.yield %b : f32
  } : (!nd.tensor<f32, n: 64>) -> !nd.tensor<f32, n: 64>
  %m = nest.compute () reduce (n: 64) reads %y[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, n: 64>) -> !nd.tensor<f32>
  %e = nest.compute (n: 64) reads %y[], %m[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf oeq, %a, %b : f32
    nest.yield %c : i1
  } : (!nd.tensor<f32, n: 64>, !nd.tensor<f32>) -> !nd.tensor<i1, n: 64>
  return %e : !nd.tensor<i1, n: 64>
}

// -----

!n = !nd.tensor<f32, n: 64>

// The same without the comparison: computed twice, which is less than writing and reading it.
// CHECK-LABEL: @notPinned
// CHECK-COUNT-2: nest.compute
// CHECK-NOT: nest.compute
func.func @notPinned(%x: !n) -> !n {
  %y = nest.compute (n: 64) reads %x[] {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %a : f32
    nest.yield %b : f32
  } : (!n) -> !n
  %m = nest.compute () reduce (n: 64) reads %y[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!n) -> !nd.tensor<f32>
  %e = nest.compute (n: 64) reads %y[], %m[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nest.yield %c : f32
  } : (!n, !nd.tensor<f32>) -> !n
  return %e : !n
}

// -----

// An update takes in what it writes.
// CHECK-LABEL: @update
// CHECK-NEXT: nest.update (n: 4) %arg0[row = 2 * n] reads %arg1[] {
// CHECK: arith.mulf
// CHECK-NOT: nest.compute
func.func @update(%d: !nd.tensor<f32, row: 8>, %x: !nd.tensor<f32, n: 4>) -> !nd.tensor<f32, row: 8> {
  %y = nest.compute (n: 4) reads %x[] {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %a : f32
    nest.yield %b : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  %u = nest.update (n: 4) %d[row = 2 * n] reads %y[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nest.yield %s : f32
  } : (!nd.tensor<f32, row: 8>, !nd.tensor<f32, n: 4>) -> !nd.tensor<f32, row: 8>
  return %u : !nd.tensor<f32, row: 8>
}
