// What indices and constants alone determine is computed where it is read, and never stored.
// RUN: heddle-opt %s --convert-nd-to-nest --nest-fuse --canonicalize | FileCheck %s
// RUN: heddle-run %s --entry sum --compare --no-cache
// RUN: heddle-run %s --entry padded --compare --no-cache
// RUN: heddle-run %s --entry product --compare --no-cache
// RUN: heddle-run %s --entry gathered --compare --no-cache
// RUN: heddle-run %s --entry excluded --compare --no-cache

!i32_b = !nd.tensor<i32, b: 6>

// CHECK-LABEL: @sum
// CHECK: nest.compute () reduce (a: 100000) {
// CHECK-NEXT: arith.constant 1.0
// CHECK-NOT: nest.compute
// CHECK: return
func.func @sum() -> !nd.tensor<f32> {
  %u = nd.constant dense<1.0> : tensor<100000xf32> by [a] : !nd.tensor<f32, a: 100000>
  %s = nd.reduce %u over [a] neutral [0.0 : f32] : (!nd.tensor<f32, a: 100000>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32>
}

// A border of another number.
// CHECK-LABEL: @padded
// CHECK: nest.compute (a: 100002) reads %arg0[a = a - 1] if
// CHECK: arith.select
// CHECK-NOT: nest.compute
// CHECK: return
func.func @padded(%x: !nd.tensor<f32, a: 100000> {nd.name = "x"}) -> !nd.tensor<f32, a: 100002> {
  %u = nd.constant dense<2.0> : tensor<100000xf32> by [a] : !nd.tensor<f32, a: 100000>
  %0 = nd.pad %u a low 1 high 1 value 3.0 : f32 : !nd.tensor<f32, a: 100000> -> !nd.tensor<f32, a: 100002>
  %1 = nd.pad %x a low 1 high 1 value 1.0 : f32 : !nd.tensor<f32, a: 100000> -> !nd.tensor<f32, a: 100002>
  %2 = nd.pointwise %0, %1 : (!nd.tensor<f32, a: 100002>, !nd.tensor<f32, a: 100002>) -> !nd.tensor<f32, a: 100002> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nd.yield %r : f32
  }
  return %2 : !nd.tensor<f32, a: 100002>
}

// A small constant is part of the program file.
// CHECK-LABEL: @product
// CHECK: nd.constant
// CHECK: nest.compute (b: 4) reduce (a: 8) reads %{{.*}}[], %arg0[]
func.func @product(%x: !nd.tensor<f32, a: 8, b: 4> {nd.name = "x"}) -> !nd.tensor<f32, b: 4> {
  %u = nd.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32> by [a] : !nd.tensor<f32, a: 8>
  %0 = nd.pointwise %u, %x : (!nd.tensor<f32, a: 8>, !nd.tensor<f32, a: 8, b: 4>) -> !nd.tensor<f32, a: 8, b: 4> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nd.yield %r : f32
  }
  %s = nd.reduce %0 over [a] neutral [0.0 : f32] : (!nd.tensor<f32, a: 8, b: 4>) -> !nd.tensor<f32, b: 4> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32, b: 4>
}

// A gather from coordinates clamps them; from equal numbers it is one of these.
// CHECK-LABEL: @gathered
// CHECK: nest.compute (a: 3)
// CHECK: nest.compute (b: 6) reads %arg0[], %{{.*}}[a = read(0)] {
// CHECK: return
func.func @gathered(%at: !i32_b {nd.name = "at"}) -> (!i32_b, !i32_b) {
  %i = nd.iota a : !nd.tensor<i32, a: 3>
  %u = nd.constant dense<7> : tensor<5000xi32> by [a] : !nd.tensor<i32, a: 5000>
  %0 = nd.gather %i [a] at %at : (!nd.tensor<i32, a: 3>, !i32_b) -> !i32_b
  %1 = nd.gather %u [a] at %at : (!nd.tensor<i32, a: 5000>, !i32_b) -> !i32_b
  return %0, %1 : !i32_b, !i32_b
}

// Points that are left out: where nothing is read, the guard is that of a number.
// CHECK-LABEL: @excluded
// CHECK: %[[NOTHING:.*]] = nd.constant
// CHECK: nest.compute () reduce (a: 1000) reads %[[NOTHING]][] if [-a + 899 >= 0] {
// CHECK: nest.index a
// CHECK-NOT: nest.compute
// CHECK: return
func.func @excluded() -> !nd.tensor<i64> {
  %i = nd.iota a : !nd.tensor<i64, a: 900>
  %s = nest.compute () reduce (a: 1000) reads %i[a = a] if [899 - a >= 0] {
  ^bb0(%p: i64):
    nest.yield %p : i64
  } combine add [0 : i64] : (!nd.tensor<i64, a: 900>) -> !nd.tensor<i64>
  return %s : !nd.tensor<i64>
}
