// RUN: heddle-opt %s --split-input-file --mesh-propagate --mesh-partition --verify-diagnostics

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// expected-error @+1 {{argument 0 states a partial value over [d]; expected whole values, whose parts mesh-partition combines}}
func.func @partial(%x: !nd.tensor<f32, a: 4> {mesh.sharding = #mesh.sharding<{}, partial [d] add>}) { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @place(%x: !nd.tensor<f32, a: 4>) {
  // expected-error @+1 {{states a place along 'd'; expected places of arguments only}}
  %c = mesh.constrain %x to <{}, at (d = 1)> : !nd.tensor<f32, a: 4>
  return
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @memory(%x: !nd.tensor<f32, a: 4>) {
  // expected-error @+1 {{states the memory 'host'; expected it for arguments only; their new values inherit it}}
  %c = mesh.constrain %x to <{}, memory host> : !nd.tensor<f32, a: 4>
  return
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @collective(%x: !nd.tensor<f32, a: 4>) {
  // expected-error @+1 {{is a collective in a program that is not partitioned}}
  %c = mesh.permute %x over [d] shift 1 : !nd.tensor<f32, a: 4>
  return
}
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// expected-error @+1 {{expected named tensors as arguments, got 'f32'}}
func.func @scalar(%x: f32) { return }
}

// -----

module attributes {mesh.mesh = #mesh.mesh<d: 2, e: 2>} {
func.func @nest(%x: !nd.tensor<f32, a: 4>) {
  // expected-error @+1 {{states a partial value over [e]; expected whole values, whose parts mesh-partition combines}}
  %y = nest.compute (a: 4) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {mesh.sharding = #mesh.sharding<{a: [d]}, partial [e] add>} : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  return
}
}
