// A function of a device can't be called by one that has no number of the device: neither the compiler nor the
// interpreter computes with a number that nothing supplies.

// RUN: not heddle-run %s --entry main 2>&1 | FileCheck %s --check-prefix=COMPILED
// RUN: not heddle-run %s --entry main --interpret 2>&1 | FileCheck %s --check-prefix=INTERPRETED

!row = !nd.tensor<f32, row: 3>

func.func private @of_device(%x: !row) -> !row
    attributes {heddle.symbols = ["mesh.d"], nd.ranges = {mesh.d = [0, 1]}} {
  // INTERPRETED: device-numbers.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'nest.compute' op expected a caller that supplies 'mesh.d'
  %0 = nest.compute (row: 3) reads %x[] {
  ^bb0(%a: f32):
    // COMPILED: device-numbers.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'nest.index' op no enclosing nest has the name 'mesh.d' here
    %number = nest.index mesh.d
    %1 = arith.index_cast %number : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.addf %2, %a : f32
    nest.yield %3 : f32
  } : (!row) -> !row
  return %0 : !row
}
func.func @main(%x: !row) -> !row {
  %0 = nd.call @of_device(%x) : (!row) -> !row
  return %0 : !row
}
