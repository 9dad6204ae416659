// Refusals, each with the number of its constraint.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

// m1
// expected-error @+1 {{expected each axis of a mesh once, got 'data' twice}}
module attributes {mesh.mesh = #mesh.mesh<data: 2, data: 4>} {}

// -----

// m2
// expected-error @+1 {{expected 1 to 1048576 devices, got 0 along 'data'}}
module attributes {mesh.mesh = #mesh.mesh<data: 0>} {}

// -----

// m2
// expected-error @+1 {{expected 1 to 1048576 devices, got 1048576 along 'b'}}
module attributes {mesh.mesh = #mesh.mesh<a: 2, b: 1048576>} {}

// -----

// expected-error @+1 {{'mesh.mesh': expected #mesh.mesh of a function or module, got 2 : i64}}
module attributes {mesh.mesh = 2 : i64} {}

// -----

// expected-error @+1 {{expected a part of an axis such as 'd(2)4', with numbers from 1 to 1048576}}
func.func @part(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [d(0)2]}>}) { return }

// -----

// s1
// expected-error @+1 {{expected each name once and in sorted order, got 'a' after 'a'}}
func.func @s1(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [d], a: [e]}>}) { return }

// -----

// s2
// expected-error @+1 {{the axis 'd' shards 'b' and is used before; expected each axis once}}
func.func @s2(%x: !nd.tensor<f32, a: 8, b: 2> {mesh.sharding = #mesh.sharding<{a: [d(1)2], b: [d]}>}) { return }

// -----

// s2
// expected-error @+1 {{the value is partial over the axis 'd', which shards a name}}
func.func @s2_partial(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [d]}, partial [d] add>}) { return }

// -----

// s3
// expected-error @+1 {{expected a combiner such as add after the axes of a partial value, got 'most'}}
func.func @s3(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{}, partial [d] most>}) { return }

// -----

// s4
// expected-error @+1 {{expected a priority of at least 0, got -1}}
func.func @s4(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [d] priority -1}>}) { return }

// -----

// expected-error @+1 {{expected device, host or file as memory, got 'disk'}}
func.func @memory(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{}, memory disk>}) { return }

// -----

module attributes {mesh.mesh = #mesh.mesh<data: 6>} {
// expected-error @+1 {{argument 0: shards the name 'b', expected one of {a: 8}}}
func.func @name(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{b: [data]}>}) { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<data: 6>} {
// expected-error @+1 {{argument 1: unknown axis 'model', expected one of 'data'}}
func.func @axis(%x: !nd.tensor<f32>, %y: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [model]}>}) { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<data: 6>} {
// expected-error @+1 {{result 0: expected a part of the axis 'data' of 6 devices, got 'data(1)4', which does not divide it}}
func.func private @part() -> (!nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [data(1)4]}>})
}

// -----

module attributes {mesh.mesh = #mesh.mesh<data: 8>} {
// expected-error @+1 {{argument 0: expected each axis once, got 'data(1)4' and 'data(2)2'}}
func.func @overlap(%x: !nd.tensor<f32, a: 8, b: 2> {mesh.sharding = #mesh.sharding<{a: [data(1)4], b: [data(2)2]}>}) { return }
}

// -----

// Parts of an axis are independent if the end of one divides the beginning of the next.
module attributes {mesh.mesh = #mesh.mesh<data: 12>} {
func.func private @fine(!nd.tensor<f32, a: 8, b: 2> {mesh.sharding = #mesh.sharding<{a: [data(1)2], b: [data(4)3]}>})
// expected-error @+1 {{argument 0: expected each axis once, got 'data(1)2' and 'data(3)2'}}
func.func private @between(!nd.tensor<f32, a: 8, b: 2> {mesh.sharding = #mesh.sharding<{a: [data(1)2], b: [data(3)2]}>})
}

// -----

module attributes {mesh.mesh = #mesh.mesh<data: 8>} {
// expected-error @+1 {{argument 0: expected a coordinate of 'data' below 8, got 8}}
func.func @place(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{}, at (data = 8)>}) { return }
}

// -----

// expected-error @+1 {{argument 0: expected #mesh.sharding of a named tensor as 'mesh.sharding', got 1 : i64}}
func.func @kind(%x: !nd.tensor<f32, a: 8> {mesh.sharding = 1 : i64}) { return }

// -----

// expected-error @+1 {{argument 0: expected a named tensor as 'mesh.global', got f32}}
func.func @global(%x: !nd.tensor<f32, a: 8> {mesh.global = f32}) { return }

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @block(%x: !nd.tensor<f32, a: 4> {mesh.global = !nd.tensor<f32, a: 8>, mesh.sharding = #mesh.sharding<{a: [d]}>}) { return }
// expected-error @+1 {{argument 0: expected 'mesh.global' to be the tensor of which its type is a block, got '!nd.tensor<f32, a: 5>'}}
func.func @other(%x: !nd.tensor<f32, a: 4> {mesh.global = !nd.tensor<f32, a: 5>, mesh.sharding = #mesh.sharding<{a: [d]}>}) { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// expected-error @+1 {{result 0: expected 'mesh.global' to be the tensor of which its type is a block, got '!nd.tensor<f32, a: 4>'}}
func.func private @result() -> (!nd.tensor<f32, a: 4> {mesh.global = !nd.tensor<f32, a: 4>, mesh.sharding = #mesh.sharding<{a: [d]}>})
}

// -----

// expected-error @+1 {{'mesh.rules': expected a list of strings, got [1]}}
module attributes {mesh.rules = [1 : i64]} {}

// -----

func.func @mesh_of_nest() {
  // expected-error @+1 {{'mesh.mesh': expected #mesh.mesh of a function or module, got #mesh.mesh<d: 2>}}
  %x = nest.compute (a: 3) {
    %c = arith.constant 1.0 : f32
    nest.yield %c : f32
  } {mesh.mesh = #mesh.mesh<d: 2>} : () -> !nd.tensor<f32, a: 3>
  return
}

// -----

func.func @skipped(%n: !nd.tensor<i64, t: 5>, %w: !nd.tensor<i64, row: 3, t: 5>, %h: !nd.tensor<i64>) {
  %fine = nest.scan along #nd.dims<t: 5> init(%h) reads(%n) {mesh.skipped} : (!nd.tensor<i64>, !nd.tensor<i64, t: 5>) -> !nd.tensor<i64> {
  ^bb0(%state: !nd.tensor<i64>, %slice: !nd.tensor<i64>):
    nest.yield %slice : !nd.tensor<i64>
  }
  // expected-error @+1 {{'mesh.skipped': expected a recurrence whose first read is a number of type i64 a step, got unit}}
  %last = nest.scan along #nd.dims<t: 5> init(%h) reads(%w) {mesh.skipped} : (!nd.tensor<i64>, !nd.tensor<i64, row: 3, t: 5>) -> !nd.tensor<i64> {
  ^bb0(%state: !nd.tensor<i64>, %slice: !nd.tensor<i64, row: 3>):
    nest.yield %state : !nd.tensor<i64>
  }
  return
}

// -----

func.func @nest() {
  // expected-error @+1 {{'mesh.sharding': shards the name 'b', expected one of {a: 3}}}
  %x = nest.compute (a: 3) {
    %c = arith.constant 1.0 : f32
    nest.yield %c : f32
  } {mesh.sharding = #mesh.sharding<{b: [d]}>} : () -> !nd.tensor<f32, a: 3>
  return
}

// -----

// expected-note @+1 {{operand 0 is of type}}
func.func @constrain_c1(%x: !nd.tensor<f32, a: 8>) {
  // expected-error @+1 {{shards the name 'b', expected one of {a: 8}}}
  %c = mesh.constrain %x to <{b: [d]}> : !nd.tensor<f32, a: 8>
  return
}

// -----

func.func @no_mesh(%x: !nd.tensor<f32, a: 8>) {
  // expected-error @+1 {{expected a function or module around it that states its mesh in 'mesh.mesh', got none}}
  %c = mesh.permute %x over [d] shift 1 : !nd.tensor<f32, a: 8>
  return
}

// -----

func.func @all_reduce_c1(%x: !nd.tensor<f32, a: 8>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{unknown axis 'e', expected one of 'd'}}
  %r = mesh.all_reduce %x over [e] combine add [0.0 : f32] : (!nd.tensor<f32, a: 8>) -> !nd.tensor<f32, a: 8>
  return
}

// -----

// expected-note @+1 {{operand 0 is of type}}
func.func @all_reduce_c2(%x: !nd.tensor<f32, a: 8>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected results of the types of the inputs, got '!nd.tensor<f32, a: 4>'}}
  %r = mesh.all_reduce %x over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 8>) -> !nd.tensor<f32, a: 4>
  return
}

// -----

func.func @all_reduce_c3(%x: !nd.tensor<f32, a: 8>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected a neutral element of type 'f32', got 0.000000e+00 : f64}}
  %r = mesh.all_reduce %x over [d] combine add [0.0 : f64] : (!nd.tensor<f32, a: 8>) -> !nd.tensor<f32, a: 8>
  return
}

// -----

// expected-note @+1 {{operand 0 is of type}}
func.func @reduce_scatter_c2(%x: !nd.tensor<f32, a: 5>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected a result of type '!nd.tensor<f32, a: 3>', got '!nd.tensor<f32, a: 2>'}}
  %r = mesh.reduce_scatter %x name a over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 5>) -> !nd.tensor<f32, a: 2>
  return
}

// -----

// expected-note @+1 {{operand 0 is of type}}
func.func @all_gather_c2(%x: !nd.tensor<f32, a: 5>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected blocks of ceil(size / 2) along 'a', got 5 of 8}}
  %r = mesh.all_gather %x name a over [d] : (!nd.tensor<f32, a: 5>) -> !nd.tensor<f32, a: 8>
  return
}

// -----

// expected-note @+1 {{operand 0 is of type}}
func.func @all_gather_name(%x: !nd.tensor<f32, a: 5>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected one of the operand's names {a: 5}, got 'b'}}
  %r = mesh.all_gather %x name b over [d] : (!nd.tensor<f32, a: 5>) -> !nd.tensor<f32, a: 5>
  return
}

// -----

func.func @all_to_all_c2(%x: !nd.tensor<f32, a: 5>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected two names, got 'a' twice}}
  %r = mesh.all_to_all %x join a split a over [d] : (!nd.tensor<f32, a: 5>) -> !nd.tensor<f32, a: 5>
  return
}

// -----

// expected-note @+1 {{operand 0 is of type}}
func.func @all_to_all_block(%x: !nd.tensor<f32, a: 5, b: 2>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected a result of type '!nd.tensor<f32, a: 3, b: 4>', got '!nd.tensor<f32, a: 2, b: 4>'}}
  %r = mesh.all_to_all %x join b split a over [d] : (!nd.tensor<f32, a: 5, b: 2>) -> !nd.tensor<f32, a: 2, b: 4>
  return
}

// -----

func.func @broadcast_c2(%x: !nd.tensor<f32, a: 5>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected a part below 2 of [d], got 2}}
  %r = mesh.broadcast %x over [d] from 2 : !nd.tensor<f32, a: 5>
  return
}

// -----

func.func @broadcast_c2(%x: !nd.tensor<f32, a: 5>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected a part below 2 of [d], got -1}}
  %r = mesh.broadcast %x over [d] from -1 : !nd.tensor<f32, a: 5>
  return
}

// -----

func.func @send_c1(%x: !nd.tensor<f32, a: 5>) attributes {mesh.mesh = #mesh.mesh<d: 2, e: 2>} {
  mesh.send %x to [d, e] = 3 channel 0 : !nd.tensor<f32, a: 5>
  // expected-error @+1 {{expected the axes of a role, got []}}
  mesh.send %x to [] = 0 channel 1 : !nd.tensor<f32, a: 5>
  return
}

// -----

func.func @receive_c1() attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected a coordinate of [d] below 2, got 2}}
  %x = mesh.receive from [d] = 2 channel 0 : !nd.tensor<f32, a: 5>
  return
}

// -----

func.func @send_c2(%x: !nd.tensor<f32, a: 5>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected a channel of at least 0, got -1}}
  mesh.send %x to [d] = 0 channel -1 : !nd.tensor<f32, a: 5>
  return
}

// -----

// expected-error @+1 {{'mesh.role': expected the entry, the axis and the coordinate of a role of a function, got {axis = "d"}}}
func.func @role() attributes {mesh.mesh = #mesh.mesh<d: 2>, mesh.role = {axis = "d"}} { return }

// -----

// Parts of axes have places, too; each is a coordinate of its own.
module attributes {mesh.mesh = #mesh.mesh<d: 12, e: 2>} {
func.func @part(%x: !nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{a: [d(4)3]}, at (d(1)2 = 1, d(2)2 = 0, e = 1)>}) { return }
// expected-error @+1 {{argument 0: expected a coordinate of 'd(1)2' below 2, got 2}}
func.func private @coordinate(!nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{}, at (d(1)2 = 2)>})
// expected-error @+1 {{argument 0: expected a part of the axis 'd' of 12 devices, got 'd(1)5', which does not divide it}}
func.func private @divides(!nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{}, at (d(1)5 = 2)>})
// expected-error @+1 {{argument 0: unknown axis 'f', expected one of 'd', 'e'}}
func.func private @axis(!nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{}, at (f(1)2 = 1)>})
// expected-error @+1 {{argument 0: expected each axis once, got 'd' and 'd(1)2'}}
func.func private @overlap(!nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{}, at (d = 3, d(1)2 = 1)>})
// expected-error @+1 {{argument 0: expected each axis once, got 'd(2)2' and 'd(1)4'}}
func.func private @split_part(!nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{a: [d(2)2]}, at (d(1)4 = 1)>})
}

// -----

// Several coordinates of an axis are one place, but the axis then splits nothing.
func.func @place(%x: !nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{}, at (d = 0, d = 1)>}) attributes {mesh.mesh = #mesh.mesh<d: 3>} { return }
// expected-error @+1 {{argument 0: expected each axis once, got 'd' and 'd'}}
func.func @split_place(%x: !nd.tensor<f32, a: 5> {mesh.sharding = #mesh.sharding<{a: [d]}, at (d = 0, d = 1)>}) attributes {mesh.mesh = #mesh.mesh<d: 3>} { return }

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// The largest size has blocks as well.
// expected-error @+1 {{result 0: expected 'mesh.global' to be the tensor of which its type is a block, got '!nd.tensor<f32, a: 9223372036854775807>'}}
func.func private @result() -> (!nd.tensor<f32, a: 4> {mesh.global = !nd.tensor<f32, a: 9223372036854775807>, mesh.sharding = #mesh.sharding<{a: [d]}>})
}
