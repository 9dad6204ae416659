// Coordinates and equal numbers on blocks of which the last one is shorter: they are computed where they are read, never stored.
// RUN: heddle-run %s --compare --mesh d=2 --shard b:d
// RUN: heddlec %s --mesh d=2 --shard b:d --emit=nest | FileCheck %s

// CHECK: nest.compute () reduce (a: 502) reads %{{[^,]*}}[] if [-a - 502 * mesh.d + 1002 >= 0] {
// CHECK-NOT: (a: 502) {
// CHECK: nest.compute () reduce (c: 5002) reads %{{[^,]*}}[] if [-c - 5002 * mesh.d + 10002 >= 0] {
// CHECK-NOT: (c: 5002) {
func.func @f(%k: !nd.tensor<i64, b: 4> {nd.name = "k"}) -> (!nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64, b: 4>) {
  %y = nd.iota a : !nd.tensor<i64, a: 1003>
  %c = mesh.constrain %y to <{a: [d]}> : !nd.tensor<i64, a: 1003>
  %r = nd.reduce %c over [a] neutral [0 : i64] : (!nd.tensor<i64, a: 1003>) -> !nd.tensor<i64> {
  ^bb0(%p: i64, %q: i64):
    %0 = arith.addi %p, %q : i64
    nd.yield %0 : i64
  }
  %u = nd.constant dense<3> : tensor<10003xi64> by [c] : !nd.tensor<i64, c: 10003>
  %d = mesh.constrain %u to <{c: [d]}> : !nd.tensor<i64, c: 10003>
  %s = nd.reduce %d over [c] neutral [0 : i64] : (!nd.tensor<i64, c: 10003>) -> !nd.tensor<i64> {
  ^bb0(%p: i64, %q: i64):
    %0 = arith.addi %p, %q : i64
    nd.yield %0 : i64
  }
  return %r, %s, %k : !nd.tensor<i64>, !nd.tensor<i64>, !nd.tensor<i64, b: 4>
}

// The only read of this sum has a value outside of its tensor, too: lanes beyond the size do not add that.
func.func @padded(%x: !nd.tensor<f32, a: 3> {nd.name = "x"}, %k: !nd.tensor<f32, b: 4> {nd.name = "k"}) -> (!nd.tensor<f32>, !nd.tensor<f32, b: 4>) {
  %r = nest.compute () reduce (a: 5) reads %x[a = a - 1] if [a - 1 >= 0, -a + 3 >= 0] else 1.0 : f32 {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } combine add [0.0 : f32] {mesh.sharding = #mesh.sharding<{a: [d]}>} : (!nd.tensor<f32, a: 3>) -> !nd.tensor<f32>
  return %r, %k : !nd.tensor<f32>, !nd.tensor<f32, b: 4>
}
