// A step that reads what a transfer gives waits for all threads, as the thread that awaits the transfer goes on alone; one
// that runs meanwhile does not. The reader turns its operand around, so that it has a buffer of its own: in place, it
// would wait for the operand in any case.
// RUN: heddlec %s -o %t.heddle --threads 2 --no-cache --target-cpu haswell --dump-dir %t.dump
// RUN: grep -E '"(kind|name|waits)":' %t.dump/4-manifest.json | FileCheck %s

// CHECK: "kind": "start"
// CHECK: "kind": "kernel"
// CHECK-NEXT: "name": "meanwhile"
// CHECK-NEXT: "waits": false
// CHECK-NEXT: "kind": "await"
// CHECK-NEXT: "name": "all_reduce"
// CHECK-NEXT: "waits": true
// CHECK-NEXT: "kind": "kernel"
// CHECK-NEXT: "name": "reader"
// CHECK-NEXT: "waits": true

!a = !nd.tensor<f32, a: 1000000>

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @f(%x: !a {nd.name = "x", mesh.global = !a},
             %y: !a {nd.name = "y", mesh.global = !a})
    -> (!a {nd.name = "m", mesh.global = !a},
        !a {nd.name = "r", mesh.global = !a}) attributes {heddle.symbols = ["mesh.d"]} {
  %t = mesh.all_reduce %x over [d] combine add [0.0 : f32] : (!a) -> !a
  %m = nest.compute (a: 1000000) reads %y[] {
  ^bb0(%v: f32):
    %q = arith.mulf %v, %v : f32
    nest.yield %q : f32
  } {heddle.materialize, heddle.name = "meanwhile"} : (!a) -> !a
  %r = nest.compute (a: 1000000) reads %t[a = 999999 - a] {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    nest.yield %q : f32
  } {heddle.materialize, heddle.name = "reader"} : (!a) -> !a
  return %m, %r : !a, !a
}
}
