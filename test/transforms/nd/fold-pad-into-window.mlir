// RUN: heddle-opt %s --nd-fold-pad-into-window --split-input-file | FileCheck %s

// CHECK-LABEL: @one_name
func.func @one_name(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8, ky: 3> {
  // CHECK: nd.window %arg0 row -> ky size 3 pad 1, 1 value 0.000000e+00 : f32
  // CHECK-NOT: nd.pad
  %0 = nd.pad %x row low 1 high 1 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 10>
  %1 = nd.window %0 row -> ky size 3 : !nd.tensor<f32, row: 10> -> !nd.tensor<f32, row: 8, ky: 3>
  return %1 : !nd.tensor<f32, row: 8, ky: 3>
}

// -----

// CHECK-LABEL: @two_names
func.func @two_names(%x: !nd.tensor<f32, row: 8, column: 8>) -> !nd.tensor<f32, row: 8, ky: 3, column: 8, kx: 3> {
  // CHECK-NOT: nd.pad
  // CHECK-DAG: row -> ky size 3 pad 1, 1 value 0.000000e+00 : f32
  // CHECK-DAG: column -> kx size 3 pad 1, 1 value 0.000000e+00 : f32
  %0 = nd.pad %x row low 1 high 1 value 0.0 : f32 : !nd.tensor<f32, row: 8, column: 8> -> !nd.tensor<f32, row: 10, column: 8>
  %1 = nd.pad %0 column low 1 high 1 value 0.0 : f32 : !nd.tensor<f32, row: 10, column: 8> -> !nd.tensor<f32, row: 10, column: 10>
  %2 = nd.window %1 row -> ky size 3 : !nd.tensor<f32, row: 10, column: 10> -> !nd.tensor<f32, row: 8, ky: 3, column: 10>
  %3 = nd.window %2 column -> kx size 3 : !nd.tensor<f32, row: 8, ky: 3, column: 10> -> !nd.tensor<f32, row: 8, ky: 3, column: 8, kx: 3>
  return %3 : !nd.tensor<f32, row: 8, ky: 3, column: 8, kx: 3>
}

// -----

// Padding adds up where the values are the same.
// CHECK-LABEL: @adds_up
func.func @adds_up(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 12, ky: 3> {
  // CHECK: nd.window %arg0 row -> ky size 3 pad 3, 3 value 5.000000e-01 : f32
  %0 = nd.pad %x row low 1 high 2 value 0.5 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 11>
  %1 = nd.window %0 row -> ky size 3 pad 2, 1 value 0.5 : f32 : !nd.tensor<f32, row: 11> -> !nd.tensor<f32, row: 12, ky: 3>
  return %1 : !nd.tensor<f32, row: 12, ky: 3>
}

// -----

// Not legal: another value, exclusion, gaps between neighbours.
// CHECK-LABEL: @refused
func.func @refused(%x: !nd.tensor<f32, row: 8>) -> (!nd.tensor<f32, row: 10, ky: 3>, !nd.tensor<f32, row: 10, ky: 3>, !nd.tensor<f32, row: 13, ky: 3>) {
  // CHECK: %[[P:.*]] = nd.pad
  // CHECK: nd.window %[[P]] row -> ky size 3 pad 1, 1 value 1.000000e+00 : f32
  // CHECK: nd.window %[[P]] row -> ky size 3 pad 1, 1 exclude
  // CHECK: %[[Q:.*]] = nd.pad
  // CHECK: nd.window %[[Q]] row -> ky size 3 :
  %0 = nd.pad %x row low 1 high 1 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 10>
  %1 = nd.window %0 row -> ky size 3 pad 1, 1 value 1.0 : f32 : !nd.tensor<f32, row: 10> -> !nd.tensor<f32, row: 10, ky: 3>
  %2 = nd.window %0 row -> ky size 3 pad 1, 1 exclude : !nd.tensor<f32, row: 10> -> !nd.tensor<f32, row: 10, ky: 3>
  %3 = nd.pad %x row low 0 high 0 interior 1 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 15>
  %4 = nd.window %3 row -> ky size 3 : !nd.tensor<f32, row: 15> -> !nd.tensor<f32, row: 13, ky: 3>
  return %1, %2, %4 : !nd.tensor<f32, row: 10, ky: 3>, !nd.tensor<f32, row: 10, ky: 3>, !nd.tensor<f32, row: 13, ky: 3>
}
