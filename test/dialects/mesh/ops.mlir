// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s

!a_b = !nd.tensor<f32, a: 5, b: 2>

// CHECK: #mesh.mesh<data: 2, model: 4>
module attributes {mesh.mesh = #mesh.mesh<data: 2, model: 4>} {

// CHECK-LABEL: @attributes
func.func @attributes(
    // CHECK-SAME: mesh.sharding = #mesh.sharding<{a: [model], b: [data]}>
    %x: !nd.tensor<f32, a: 8, b: 6> {mesh.sharding = #mesh.sharding<{b: [data], a: [model]}>},
    // CHECK-SAME: mesh.sharding = #mesh.sharding<{a: [data, model(1)2], b: [?], c: [model(2)2, ?] priority 3}, closed>
    %y: !nd.tensor<f32, a: 8, b: 6, c: 2> {mesh.sharding = #mesh.sharding<{a: [data, model(1)2], b: [?], c: [model(2)2, ?] priority 3}, closed>},
    // CHECK-SAME: mesh.sharding = #mesh.sharding<{a: []}, partial [data] max, at (model = 3), memory host>
    %z: !nd.tensor<f32, a: 8> {mesh.sharding = #mesh.sharding<{a: []}, memory host, at (model = 3), partial [data] max>}) {
  return
}

// CHECK-LABEL: @collectives
func.func @collectives(%x: !a_b, %i: !nd.tensor<i64, a: 5, b: 2>) {
  // CHECK: mesh.constrain %{{.*}} to <{a: [data]}> : !nd.tensor<f32, a: 5, b: 2>
  %c = mesh.constrain %x to <{a: [data]}> : !a_b
  // CHECK: mesh.all_reduce %{{.*}} over [data, model] combine add [0.000000e+00 : f32] : (!nd.tensor<f32, a: 5, b: 2>) -> !nd.tensor<f32, a: 5, b: 2>
  %r = mesh.all_reduce %x over [data, model] combine add [0.0 : f32] : (!a_b) -> !a_b
  // CHECK: mesh.all_reduce %{{.*}}, %{{.*}} over [model(2)2] combine [0xFF800000 : f32, 0] {
  // CHECK:   mesh.yield
  %m:2 = mesh.all_reduce %x, %i over [model(2)2] combine [0xFF800000 : f32, 0 : i64] {
  ^bb0(%a: f32, %ai: i64, %b: f32, %bi: i64):
    %n = arith.maximumf %a, %b : f32
    %o = arith.ori %ai, %bi : i64
    mesh.yield %n, %o : f32, i64
  } : (!a_b, !nd.tensor<i64, a: 5, b: 2>) -> (!a_b, !nd.tensor<i64, a: 5, b: 2>)
  // CHECK: mesh.reduce_scatter %{{.*}} name a over [data] combine max [0xFF800000 : f32] : (!nd.tensor<f32, a: 5, b: 2>) -> !nd.tensor<f32, a: 3, b: 2>
  %s = mesh.reduce_scatter %x name a over [data] combine max [0xFF800000 : f32] : (!a_b) -> !nd.tensor<f32, a: 3, b: 2>
  // CHECK: mesh.all_gather %{{.*}} name b over [model] : (!nd.tensor<f32, a: 5, b: 2>) -> !nd.tensor<f32, a: 5, b: 7>
  %g = mesh.all_gather %x name b over [model] : (!a_b) -> !nd.tensor<f32, a: 5, b: 7>
  // CHECK: mesh.all_to_all %{{.*}} join b split a over [data] : (!nd.tensor<f32, a: 5, b: 2>) -> !nd.tensor<f32, a: 3, b: 4>
  %t = mesh.all_to_all %x join b split a over [data] : (!a_b) -> !nd.tensor<f32, a: 3, b: 4>
  // CHECK: mesh.permute %{{.*}} over [model] shift -1 wrap : !nd.tensor<f32, a: 5, b: 2>
  %p = mesh.permute %x over [model] shift -1 wrap : !a_b
  // CHECK: mesh.permute %{{.*}} over [model] shift 2 : !nd.tensor<f32, a: 5, b: 2>
  %q = mesh.permute %x over [model] shift 2 : !a_b
  // CHECK: mesh.broadcast %{{.*}} over [model] from 3 : !nd.tensor<f32, a: 5, b: 2>
  %b = mesh.broadcast %x over [model] from 3 : !a_b
  // CHECK: mesh.send %{{.*}} to [data] = 1 channel 0 : !nd.tensor<f32, a: 5, b: 2>
  mesh.send %x to [data] = 1 channel 0 : !a_b
  // CHECK: mesh.send %{{.*}} to [data] = 1 channel 2 {layouts = [#nest.layout<[b, a]>]} : !nd.tensor<f32, a: 5, b: 2>
  mesh.send %x to [data] = 1 channel 2 {layouts = [#nest.layout<[b, a]>]} : !a_b
  // CHECK: mesh.receive from [data] = 1 channel 1 : !nd.tensor<f32, a: 5>
  %e = mesh.receive from [data] = 1 channel 1 : !nd.tensor<f32, a: 5>
  return
}

// Sizes over symbols.
// CHECK-LABEL: @symbolic
func.func @symbolic(%x: !nd.tensor<f32, a: (N + 1) floordiv 2>, %y: !nd.tensor<f32, b: N>) -> !nd.tensor<f32, a: N> {
  // CHECK: mesh.all_gather %{{.*}} name a over [data] : (!nd.tensor<f32, a: (N + 1) floordiv 2>) -> !nd.tensor<f32, a: N>
  %g = mesh.all_gather %x name a over [data] : (!nd.tensor<f32, a: (N + 1) floordiv 2>) -> !nd.tensor<f32, a: N>
  return %g : !nd.tensor<f32, a: N>
}
}
