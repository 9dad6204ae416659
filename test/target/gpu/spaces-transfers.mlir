// A sum over devices: the other nest runs meanwhile, so the memory of both values on the host is in use until step 4.
// RUN: heddlec %s --target opencl -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | FileCheck %s

!n = !nd.tensor<f32, n: 1000>

// CHECK: arena 8064 bytes
// CHECK: temporary compute: {{.*}} in steps 1 to 4, at 0 of the arena
// CHECK: temporary all_reduce: {{.*}} in steps 2 to 5, at 4032 of the arena
// CHECK: 0 compute: k_
// CHECK-NEXT: 1 copy: from 'opencl' to 'host'
// CHECK-NEXT: 2 all_reduce: {{.*}}, started
// CHECK-NEXT: 3 m: k_
// CHECK-NEXT: 4 all_reduce: awaits step 2
// CHECK-NEXT: 5 copy: from 'host' to 'opencl'
// CHECK-NEXT: 6 r: k_
module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
func.func @f(%x: !n {nd.name = "x", mesh.global = !n})
    -> (!n {nd.name = "m", mesh.global = !n},
        !n {nd.name = "r", mesh.global = !n}) attributes {heddle.symbols = ["mesh.d"]} {
  %a = nest.compute (n: 1000) reads %x[] {
  ^bb0(%v: f32):
    %q = arith.negf %v : f32
    nest.yield %q : f32
  } {heddle.materialize} : (!n) -> !n
  %t = mesh.all_reduce %a over [d] combine add [0.0 : f32] : (!n) -> !n
  %m = nest.compute (n: 1000) reads %x[n = 999 - n] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {heddle.materialize} : (!n) -> !n
  %r = nest.compute (n: 1000) reads %t[n = 999 - n] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {heddle.materialize} : (!n) -> !n
  return %m, %r : !n, !n
}
}
