// Of a long line a diagnostic shows what is around its place; the column is that of the file.
// RUN: not heddlec %s -o %t 2>&1 | FileCheck %s --strict-whitespace
// RUN: not heddle-run --interpret %s 2>&1 | FileCheck %s --strict-whitespace
// CHECK:      long-line.mlir:8:159: error: expected ':'
// CHECK-NEXT: {{^}}...t2: !nd.tensor<f32, row: 8>, %argument3: !nd.tensor<f32, row 8>, %argument4: !nd.tensor<f32, row: 8>, %argument5: !nd.tensor<f32, row: 8>, %argument6: !nd.tenso...{{$}}
// CHECK-NEXT: {{^}}                                                               ^{{$}}

func.func @long(%argument0: !nd.tensor<f32, row: 8>, %argument1: !nd.tensor<f32, row: 8>, %argument2: !nd.tensor<f32, row: 8>, %argument3: !nd.tensor<f32, row 8>, %argument4: !nd.tensor<f32, row: 8>, %argument5: !nd.tensor<f32, row: 8>, %argument6: !nd.tensor<f32, row: 8>) {
  return
}
