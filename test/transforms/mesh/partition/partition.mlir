// RUN: heddle-opt %s --split-input-file --mesh-propagate --mesh-partition | FileCheck %s
// RUN: heddle-opt %s --split-input-file --mesh-propagate --mesh-partition --mesh-form-transfers=explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=BYTES

// A sum over a split name: a sum over the device's elements, which excludes lanes beyond the size, then one over devices,
// then the epilogue.
// CHECK-LABEL: @sum
// CHECK-SAME: %arg0: !nd.tensor<bf16, a: 4, k: 3> {mesh.global = !nd.tensor<bf16, a: 4, k: 5>, mesh.sharding = #mesh.sharding<{k: [d]}>}
// CHECK-SAME: attributes {heddle.symbols = ["mesh.d"], mesh.mesh = #mesh.mesh<d: 2>, nd.ranges = {mesh.d = [0, 1]}}
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @sum(%x: !nd.tensor<bf16, a: 4, k: 5> {mesh.sharding = #mesh.sharding<{k: [d]}>}, %y: !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  // CHECK: %[[part:.*]] = nest.compute (a: 4) reduce (k: 3) reads %arg0[] if [-k - 3 * mesh.d + 4 >= 0] {
  // CHECK-NEXT: ^bb0(%[[v:.*]]: bf16):
  // CHECK-NEXT: %[[i:.*]] = nest.index k
  // CHECK: nest.index mesh.d
  // CHECK: } combine add [0.000000e+00 : f32] : (!nd.tensor<bf16, a: 4, k: 3>) -> !nd.tensor<f32, a: 4>
  // CHECK: %[[sum:.*]] = mesh.all_reduce %[[part]] over [d] combine add [0.000000e+00 : f32] : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  // BYTES: mesh.all_reduce over [d]: each device sends 16 bytes
  // BYTES: 1 collectives, in which each device of 2 sends 16 bytes{{$}}
  // CHECK: nest.compute (a: 4) reads %[[sum]][], %arg1[] {
  %r = nest.compute (a: 4) reduce (k: 5) reads %x[] {
  ^bb0(%u: bf16):
    %i = nest.index k
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to bf16
    %p = arith.mulf %u, %f : bf16
    nest.yield %p : bf16
  } combine add [0.0 : f32] finish reads %y[] {
  ^bb0(%s: f32, %v: f32):
    %p = arith.addf %s, %v : f32
    nest.yield %p : f32
  } : (!nd.tensor<bf16, a: 4, k: 5>, !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  return %r : !nd.tensor<f32, a: 4>
}
}

// -----

// What uses the sum wants blocks of it: it is scattered.
// CHECK-LABEL: @scattered
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @scattered(%x: !nd.tensor<f32, a: 4, k: 6> {mesh.sharding = #mesh.sharding<{k: [d]}>}, %s: !nd.tensor<f32, a: 4> {mesh.sharding = #mesh.sharding<{a: [d]}>}) -> !nd.tensor<f32, a: 4> {
  // CHECK: mesh.reduce_scatter %{{.*}} name a over [d] combine add [0.000000e+00 : f32] : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 2>
  // CHECK-NOT: mesh.
  // CHECK: return
  %r = nest.compute (a: 4) reduce (k: 6) reads %x[] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 4, k: 6>) -> !nd.tensor<f32, a: 4>
  %t = nest.compute (a: 4) reads %r[], %s[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.addf %u, %v : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  return %t : !nd.tensor<f32, a: 4>
}
}

// -----

// Parts of an axis may split several names, which scatter a sum one after another. The devices of an axis that no use
// wants are combined then, of blocks.
// CHECK-LABEL: @scattered_over_two_names
module attributes {mesh.mesh = #mesh.mesh<d: 4, m: 2>} {
func.func @scattered_over_two_names(%x: !nd.tensor<f32, a: 4, b: 6, k: 16> {mesh.sharding = #mesh.sharding<{k: [d, m]}>},
    %s: !nd.tensor<f32, a: 4, b: 6> {mesh.sharding = #mesh.sharding<{a: [d(1)2], b: [d(2)2]}, closed>}) -> !nd.tensor<f32, a: 4, b: 6> {
  // CHECK: %[[a:.*]] = mesh.reduce_scatter %{{.*}} name a over [d(1)2] combine add [0.000000e+00 : f32] : (!nd.tensor<f32, a: 4, b: 6>) -> !nd.tensor<f32, a: 2, b: 6>
  // CHECK: %[[b:.*]] = mesh.reduce_scatter %[[a]] name b over [d(2)2] combine add [0.000000e+00 : f32] : (!nd.tensor<f32, a: 2, b: 6>) -> !nd.tensor<f32, a: 2, b: 3>
  // CHECK: mesh.all_reduce %[[b]] over [m] combine add
  // CHECK: return
  %r = nest.compute (a: 4, b: 6) reduce (k: 16) reads %x[] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 4, b: 6, k: 16>) -> !nd.tensor<f32, a: 4, b: 6>
  %t = nest.compute (a: 4, b: 6) reads %r[], %s[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.addf %u, %v : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, a: 4, b: 6>, !nd.tensor<f32, a: 4, b: 6>) -> !nd.tensor<f32, a: 4, b: 6>
  return %t : !nd.tensor<f32, a: 4, b: 6>
}
}

// -----

// A use that wants a part of the axis gets its block of the whole sum.
// CHECK-LABEL: @part_of_axis
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
func.func @part_of_axis(%x: !nd.tensor<f32, a: 4, k: 16> {mesh.sharding = #mesh.sharding<{k: [d]}>}, %s: !nd.tensor<f32, a: 4> {mesh.sharding = #mesh.sharding<{a: [d(1)2]}, closed>}) -> !nd.tensor<f32, a: 4> {
  // CHECK: mesh.all_reduce %{{.*}} over [d] combine add [0.000000e+00 : f32] : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %r = nest.compute (a: 4) reduce (k: 16) reads %x[] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 4, k: 16>) -> !nd.tensor<f32, a: 4>
  %t = nest.compute (a: 4) reads %r[], %s[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.addf %u, %v : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  return %t : !nd.tensor<f32, a: 4>
}
}

// -----

// A window: one row of each neighbour. Where the padding is, no neighbour's row is read.
// CHECK-LABEL: @window
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
func.func @window(%x: !nd.tensor<f32, row: 12> {mesh.sharding = #mesh.sharding<{row: [d]}>}) -> (!nd.tensor<f32, k: 3, row: 12> {mesh.sharding = #mesh.sharding<{row: [d]}>}) {
  // CHECK: %[[last:.*]] = nest.compute (row: 1) reads %arg0[row = row + 2] {
  // CHECK: %[[low:.*]] = mesh.permute %[[last]] over [d] shift -1 : !nd.tensor<f32, row: 1>
  // CHECK: %[[first:.*]] = nest.compute (row: 1) reads %arg0[] {
  // CHECK: %[[high:.*]] = mesh.permute %[[first]] over [d] shift 1 : !nd.tensor<f32, row: 1>
  // CHECK: %[[all:.*]] = nest.compute (row: 5) reads %[[low]][] if [row >= 0, -row >= 0] else 0.000000e+00 : f32, %arg0[row = row - 1] if [row - 1 >= 0, -row + 3 >= 0] else 0.000000e+00 : f32, %[[high]][row = row - 4] if [row - 4 >= 0, -row + 4 >= 0] else 0.000000e+00 : f32 {
  // CHECK: nest.compute (k: 3, row: 3) reads %[[all]][row = k + row] if [k + 3 * mesh.d + row - 1 >= 0, -k - 3 * mesh.d - row + 12 >= 0] else 0.000000e+00 : f32 {
  %r = nest.compute (k: 3, row: 12) reads %x[row = row + k - 1] if [row + k - 1 >= 0, 12 - row - k >= 0] else 0.0 : f32 {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } {mesh.sharding = #mesh.sharding<{row: [d]}>} : (!nd.tensor<f32, row: 12>) -> !nd.tensor<f32, k: 3, row: 12>
  return %r : !nd.tensor<f32, k: 3, row: 12>
}
}

// -----

// The destination stays split: a device writes what meets its block. Rows that devices share are combined.
// CHECK-LABEL: @update
module attributes {mesh.mesh = #mesh.mesh<d: 2, e: 2>} {
func.func @update(%t: !nd.tensor<i32, word: 6> {mesh.sharding = #mesh.sharding<{word: [d]}>}, %at: !nd.tensor<i32, p: 5> {mesh.sharding = #mesh.sharding<{p: [e]}>}) -> !nd.tensor<i32, word: 6> {
  // CHECK: %[[start:.*]] = nest.compute (word: 3) reads %arg0[] if [mesh.e == 0] else 0 : i32 {
  // CHECK: %[[part:.*]] = nest.update (p: 3) %[[start]][word = read(0) - 3 * mesh.d] reads %arg1[] if [-3 * mesh.e - p + 4 >= 0] {
  // CHECK: mesh.all_reduce %[[part]] over [e] combine add [0 : i32]
  %r = nest.update (p: 5) %t[word = read(0)] reads %at[] {
  ^bb0(%u: i32):
    nest.yield %u : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    %s = arith.addi %old, %new : i32
    nest.yield %s : i32
  } : (!nd.tensor<i32, word: 6>, !nd.tensor<i32, p: 5>) -> !nd.tensor<i32, word: 6>
  return %r : !nd.tensor<i32, word: 6>
}
}

// -----

// Only the axis moves: no device holds the whole.
// CHECK-LABEL: @moves
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @moves(%x: !nd.tensor<i32, a: 4, b: 6> {mesh.sharding = #mesh.sharding<{a: [d]}>}) -> !nd.tensor<i32, a: 4, b: 6> {
  // CHECK: mesh.all_to_all %arg0 join a split b over [d] : (!nd.tensor<i32, a: 2, b: 6>) -> !nd.tensor<i32, a: 4, b: 3>
  // CHECK-NOT: mesh.constrain
  %c = mesh.constrain %x to <{b: [d]}> : !nd.tensor<i32, a: 4, b: 6>
  return %c : !nd.tensor<i32, a: 4, b: 6>
}
}

// -----

// Of 5 rows over 2 devices a device has 3, and sends all: half a row more than of 5 rows exactly. Rows over 5 columns on 4
// devices: three pieces of 2 x 2, where exactly it would be 3/16 of 40 numbers. A scatter pads as its gather does.
// CHECK-LABEL: @padding
module attributes {mesh.mesh = #mesh.mesh<d: 2, e: 4>} {
func.func @padding(%x: !nd.tensor<f32, a: 5, k: 8> {mesh.sharding = #mesh.sharding<{a: [d]}>},
                   %y: !nd.tensor<f32, a: 5, k: 8> {mesh.sharding = #mesh.sharding<{k: [e]}>})
    -> (!nd.tensor<f32, a: 5, k: 8>, !nd.tensor<f32, a: 5, k: 8> {mesh.sharding = #mesh.sharding<{a: [e]}>}) {
  // BYTES: mesh.all_gather over [d]: each device sends 96 bytes, 16 of them padding
  // BYTES: mesh.all_to_all over [e]: each device sends 48 bytes, 18 of them padding
  // BYTES: 2 collectives, in which each device of 8 sends 144 bytes
  %w = mesh.constrain %x to <{a: [], k: []}> : !nd.tensor<f32, a: 5, k: 8>
  return %w, %y : !nd.tensor<f32, a: 5, k: 8>, !nd.tensor<f32, a: 5, k: 8>
}
}

// -----

// CHECK-LABEL: @padded_scatter
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @padded_scatter(%x: !nd.tensor<f32, a: 5, k: 6> {mesh.sharding = #mesh.sharding<{k: [d]}>}) -> (!nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{a: [d]}>}) {
  // BYTES: mesh.reduce_scatter over [d]: each device sends 12 bytes, 2 of them padding
  %r = nest.compute (a: 5) reduce (k: 6) reads %x[] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 5, k: 6>) -> !nd.tensor<f32, a: 5>
  return %r : !nd.tensor<f32, a: 5>
}
}
