// Programs that the rules of docs/specification.md about meshes refuse, by number.
// RUN: heddle-opt %s --split-input-file --mesh-roles --verify-diagnostics

module attributes {mesh.mesh = #mesh.mesh<d: 8>} {
// expected-error @+1 {{argument 0: expected each axis once, got 'd(1)4' and 'd(2)2'}}
func.func @s13_parts_overlap(%x: !nd.tensor<f32, a: 8, b: 2> {mesh.sharding = #mesh.sharding<{a: [d(1)4], b: [d(2)2]}>}) { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 8>} {
// Disjoint parts of an axis are two axes.
func.func @s13_parts(%x: !nd.tensor<f32, a: 8, b: 2> {mesh.sharding = #mesh.sharding<{a: [d(1)4], b: [d(4)2]}>}) { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// expected-error @+1 {{argument 0: expected each axis once, got 'd' and 'd'}}
func.func @s13_split_and_placed(%x: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: [d]}, at (d = 1)>}) { return }
}

// -----

// expected-note @+1 {{operand 0 is of type}}
func.func @s14_block(%x: !nd.tensor<f32, a: 2>) attributes {mesh.mesh = #mesh.mesh<d: 2>} {
  // expected-error @+1 {{expected blocks of ceil(size / 2) along 'a', got 2 of 5}}
  %r = mesh.all_gather %x name a over [d] : (!nd.tensor<f32, a: 2>) -> !nd.tensor<f32, a: 5>
  return
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
func.func @s16_first(%x: !nd.tensor<f32, a: 4>) attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} {
  %y = mesh.receive from [stage] = 1 channel 1 : !nd.tensor<f32, a: 4>
  // expected-error @+1 {{has the channel 0 after 1: expected ascending channels, or roles deadlock}}
  mesh.send %x to [stage] = 1 channel 0 : !nd.tensor<f32, a: 4>
  return
}
func.func @s16_second(%x: !nd.tensor<f32, a: 4>) attributes {mesh.role = {axis = "stage", coordinate = 1 : i64, entry = "f"}} {
  %y = mesh.receive from [stage] = 0 channel 0 : !nd.tensor<f32, a: 4>
  mesh.send %x to [stage] = 0 channel 1 : !nd.tensor<f32, a: 4>
  return
}
}
