// RUN: heddle-opt %s --split-input-file --mesh-roles --verify-diagnostics

// Both sides wait for the other one's message: the order differs.
module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
func.func @first(%x: !nd.tensor<f32, a: 4>) attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} {
  %y = mesh.receive from [stage] = 1 channel 1 : !nd.tensor<f32, a: 4>
  // expected-error @+1 {{has the channel 0 after 1: expected ascending channels, or roles deadlock}}
  mesh.send %x to [stage] = 1 channel 0 : !nd.tensor<f32, a: 4>
  return
}
func.func @second(%x: !nd.tensor<f32, a: 4>) attributes {mesh.role = {axis = "stage", coordinate = 1 : i64, entry = "f"}} {
  %y = mesh.receive from [stage] = 0 channel 0 : !nd.tensor<f32, a: 4>
  mesh.send %x to [stage] = 0 channel 1 : !nd.tensor<f32, a: 4>
  return
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
func.func @first(%x: !nd.tensor<f32, a: 4>) attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} {
  // expected-error @+1 {{expected a mesh.receive of the channel 0 in the role 1 for the role 0}}
  mesh.send %x to [stage] = 1 channel 0 : !nd.tensor<f32, a: 4>
  return
}
func.func @second() attributes {mesh.role = {axis = "stage", coordinate = 1 : i64, entry = "f"}} { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 3>} {
func.func @first(%x: !nd.tensor<f32, a: 4>) attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} {
  // expected-error @+1 {{expected a mesh.receive of the channel 0 in the role 1 for the role 0}}
  mesh.send %x to [stage] = 1 channel 0 : !nd.tensor<f32, a: 4>
  return
}
func.func @second() attributes {mesh.role = {axis = "stage", coordinate = 1 : i64, entry = "f"}} { return }
func.func @third() attributes {mesh.role = {axis = "stage", coordinate = 2 : i64, entry = "f"}} {
  %y = mesh.receive from [stage] = 0 channel 0 : !nd.tensor<f32, a: 4>
  return
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
func.func @first() attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} { return }
func.func @second() attributes {mesh.role = {axis = "stage", coordinate = 1 : i64, entry = "f"}} {
  // expected-error @+1 {{expected a mesh.send of the channel 2 in the role 0 for the role 1}}
  %y = mesh.receive from [stage] = 0 channel 2 : !nd.tensor<f32, a: 4>
  return
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
func.func @first(%x: !nd.tensor<f32, a: 4>) attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} {
  // expected-error @+1 {{moves '!nd.tensor<f32, a: 4>', but the other end '!nd.tensor<f32, a: 5>', or in another layout}}
  mesh.send %x to [stage] = 1 channel 0 : !nd.tensor<f32, a: 4>
  return
}
func.func @second() attributes {mesh.role = {axis = "stage", coordinate = 1 : i64, entry = "f"}} {
  %y = mesh.receive from [stage] = 0 channel 0 : !nd.tensor<f32, a: 5>
  return
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
// expected-error @+1 {{expected a role of 'f' for each coordinate of 'stage', got 1}}
func.func @first() attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
func.func @first() attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} { return }
// expected-error @+1 {{the role stage=0 of 'f' occurs twice}}
func.func @second() attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
// expected-error @+1 {{is the role 2 along 'stage', expected one below 2}}
func.func @first() attributes {mesh.role = {axis = "stage", coordinate = 2 : i64, entry = "f"}} { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<data: 2, stage: 2>} {
func.func @first(%x: !nd.tensor<f32, a: 4>) attributes {mesh.role = {axis = "stage", coordinate = 0 : i64, entry = "f"}} {
  // expected-error @+1 {{expected the axes of the role stage=0}}
  mesh.send %x to [data] = 1 channel 0 : !nd.tensor<f32, a: 4>
  return
}
func.func @second() attributes {mesh.role = {axis = "stage", coordinate = 1 : i64, entry = "f"}} { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 12>} {
// expected-error @+1 {{the program has places along 'stage(1)2' and 'stage(1)3', which divide 'stage' into 2 and 3 parts; expected numbers of which one divides the other}}
func.func @axes(%x: !nd.tensor<f32, a: 4> {mesh.sharding = #mesh.sharding<{}, at (stage(1)2 = 1)>}, %y: !nd.tensor<f32, a: 4> {mesh.sharding = #mesh.sharding<{}, at (stage(1)3 = 1)>})
    attributes {heddle.symbols = ["mesh.stage"]} { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 2>} {
func.func @split(%x: !nd.tensor<f32, a: 4> {mesh.sharding = #mesh.sharding<{}, at (stage = 1)>}) -> !nd.tensor<f32, a: 4>
    attributes {heddle.symbols = ["mesh.stage"]} {
  // expected-error @+1 {{communicates along 'stage', whose coordinates are roles}}
  %y = mesh.permute %x over [stage] shift 1 : !nd.tensor<f32, a: 4>
  return %y : !nd.tensor<f32, a: 4>
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 100000>} {
// expected-error @+1 {{the program has places along [stage] of 100000 parts, each a role of its own; expected at most 1024}}
func.func @many(%x: !nd.tensor<f32, a: 4> {mesh.sharding = #mesh.sharding<{}, at (stage = 1)>}) attributes {heddle.symbols = ["mesh.stage"]} { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 4>} {
// expected-error @+1 {{is a role: expected a part of the axis 'stage' of 4 devices, got 'stage(1)3', which does not divide it}}
func.func @first() attributes {mesh.role = {axis = "stage(1)3", coordinate = 0 : i64, entry = "f"}} { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<stage: 4>} {
func.func @first() attributes {mesh.role = {axis = "stage(1)2", coordinate = 0 : i64, entry = "f"}} { return }
// expected-error @+1 {{expected all roles of 'f' along the same axes, got stage(2)2=1}}
func.func @second() attributes {mesh.role = {axis = "stage(2)2", coordinate = 1 : i64, entry = "f"}} { return }
}

// -----

// An argument is split along a part that has places.
module attributes {mesh.mesh = #mesh.mesh<d: 4>} {
// expected-error @+1 {{argument 0 is split along 'd', whose coordinates are roles}}
func.func @split(%x: !nd.tensor<f32, a: 2> {mesh.sharding = #mesh.sharding<{a: [d(1)2]}>}, %y: !nd.tensor<f32, a: 4> {mesh.sharding = #mesh.sharding<{}, at (d = 1)>})
    attributes {heddle.symbols = ["mesh.d"]} { return }
}
