// RUN: heddle-opt %s --split-input-file --mesh-simulate --verify-diagnostics | FileCheck %s

// The axis is a name of every value, and the device's coordinate is that of the name. Lanes beyond sizes are NaN.
// CHECK-LABEL: func.func @rows(%arg0: !nd.tensor<f32, row: 5> {nd.name = "x"}) -> !nd.tensor<f32, row: 5> {
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @rows(%x: !nd.tensor<f32, row: 3> {nd.name = "x", mesh.global = !nd.tensor<f32, row: 5>, mesh.sharding = #mesh.sharding<{row: [d]}>})
    -> (!nd.tensor<f32, row: 3> {mesh.global = !nd.tensor<f32, row: 5>, mesh.sharding = #mesh.sharding<{row: [d]}>})
    attributes {heddle.symbols = ["mesh.d"], nd.ranges = {mesh.d = [0, 1]}} {
  // CHECK: %[[x:.*]] = nest.compute (mesh.d: 2, row: 3) reads %arg0[row = 3 * mesh.d + row] if [-3 * mesh.d - row + 4 >= 0] else 0x7FC00000 : f32 {
  // CHECK: %[[y:.*]] = nest.compute (mesh.d: 2, row: 3) reads %[[x]][] {
  // CHECK: nest.index mesh.d
  %y = nest.compute (row: 3) reads %x[] {
  ^bb0(%v: f32):
    %d = nest.index mesh.d
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %w = arith.addf %v, %f : f32
    nest.yield %w : f32
  } : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32, row: 3>
  // CHECK: nest.compute (mesh.d: 2, row: 3) reduce (mesh$part: 2) reads %[[y]][mesh.d = mesh$part] {
  %s = mesh.all_reduce %y over [d] combine max [0xFF800000 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32, row: 3>
  // CHECK: nest.update (mesh$part.row: 2, row: 3) %{{.*}}[row = 3 * mesh$part.row + row] unique reads %{{.*}}[mesh.d = mesh$part.row] {
  return %s : !nd.tensor<f32, row: 3>
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// expected-error @+1 {{expected 'mesh.global' of each argument and result, got none of result 0}}
func.func @block(%x: !nd.tensor<f32, row: 3> {mesh.global = !nd.tensor<f32, row: 3>}) -> !nd.tensor<f32, row: 3> attributes {heddle.symbols = ["mesh.d"]} {
  return %x : !nd.tensor<f32, row: 3>
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @nd(%x: !nd.tensor<f32, row: 3> {mesh.global = !nd.tensor<f32, row: 3>}) attributes {heddle.symbols = ["mesh.d"]} {
  // expected-error @+1 {{can't be simulated: expected nests and collectives of one role}}
  %r = nd.rename %x [row] to [a] : !nd.tensor<f32, row: 3> -> !nd.tensor<f32, a: 3>
  return
}
}

// -----

!row = !nd.tensor<f32, row: 3>

// A loop of one device, by its own numbers.
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// expected-error @+1 {{can't be simulated: expected no branch or loop, which may go another way on each device}}
func.func private @turn(%c: !nd.tensor<i1>, %x: !row) -> (!nd.tensor<i1>, !row) attributes {heddle.symbols = ["mesh.d"]} {
  %y = mesh.permute %x over [d] shift 1 wrap : !row
  return %c, %y : !nd.tensor<i1>, !row
}
func.func @loop(%c: !nd.tensor<i1> {mesh.global = !nd.tensor<i1>}, %x: !row {mesh.global = !row}) attributes {heddle.symbols = ["mesh.d"]} {
  %0:2 = nest.control [@turn] %c, %x : (!nd.tensor<i1>, !row) -> (!nd.tensor<i1>, !row)
  return
}
}
