// The user's names return, in types, in ops and in sizes, and the dictionary goes. Names that it lacks stay.
// RUN: heddle-opt %s --nd-restore-names | FileCheck %s
// CHECK-LABEL: func.func @f(%arg0: !nd.tensor<f32, column: N, n002: 3, row: 2> {nd.name = "x"}) -> !nd.tensor<f32, n002: 3, row: 2> {
// CHECK: nd.reduce %arg0 over [column]
// CHECK-NOT: n001
func.func @f(%x: !nd.tensor<f32, n000: size0_, n001: 2, n002: 3> {nd.name = "x"}) -> !nd.tensor<f32, n001: 2, n002: 3>
    attributes {heddle.names = {n000 = "column", n001 = "row", size0_ = "N"}} {
  %1 = nd.reduce %x over [n000] neutral [0.0 : f32] : (!nd.tensor<f32, n000: size0_, n001: 2, n002: 3>) -> !nd.tensor<f32, n001: 2, n002: 3> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32, n001: 2, n002: 3>
}
// Without a dictionary nothing changes.
// CHECK-LABEL: func.func @g(%arg0: !nd.tensor<f32, n000: 4>)
func.func @g(%x: !nd.tensor<f32, n000: 4>) -> !nd.tensor<f32, n000: 4> {
  return %x : !nd.tensor<f32, n000: 4>
}
