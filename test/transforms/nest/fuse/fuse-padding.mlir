// Padding by elements of the tensor is slices and a concat: one nest, whose reads are affine and guarded.
// RUN: heddle-opt %s --convert-nd-to-nest --nest-fuse | FileCheck %s
// RUN: heddle-run %s --compare

!c_row = !nd.tensor<f32, c: 5, row: 16>

// CHECK-LABEL: @reflect
// CHECK: nest.compute (c: 5, row: 20) reads %[[X:.*]][row = -row + 2] if [-row + 1 >= 0] else {{.*}}, %[[X]][row = row - 2] if [row - 2 >= 0, -row + 17 >= 0] else {{.*}}, %[[X]][row = -row + 32] if [row - 18 >= 0] else
// CHECK-NOT: nest.compute
func.func @reflect(%x: !c_row) -> !nd.tensor<f32, c: 5, row: 20> {
  %l = nd.slice %x row from 2 size 2 stride -1 : !c_row -> !nd.tensor<f32, c: 5, row: 2>
  %h = nd.slice %x row from 14 size 2 stride -1 : !c_row -> !nd.tensor<f32, c: 5, row: 2>
  %r = nd.concat %l, %x, %h along row : (!nd.tensor<f32, c: 5, row: 2>, !c_row, !nd.tensor<f32, c: 5, row: 2>) -> !nd.tensor<f32, c: 5, row: 20>
  return %r : !nd.tensor<f32, c: 5, row: 20>
}

// CHECK-LABEL: @edge
// CHECK: nest.compute (c: 5, row: 18) reads %[[X:.*]][row = 0] if [-row + 1 >= 0] else {{.*}}, %[[X]][row = row - 2] if [row - 2 >= 0] else
// CHECK-NOT: nest.compute
func.func @edge(%x: !c_row) -> !nd.tensor<f32, c: 5, row: 18> {
  %l = nd.slice %x row from 0 size 1 : !c_row -> !nd.tensor<f32, c: 5, row: 1>
  %s = nd.split %l row into [] : !nd.tensor<f32, c: 5, row: 1> -> !nd.tensor<f32, c: 5>
  %b = nd.broadcast %s : !nd.tensor<f32, c: 5> -> !nd.tensor<f32, c: 5, row: 2>
  %r = nd.concat %b, %x along row : (!nd.tensor<f32, c: 5, row: 2>, !c_row) -> !nd.tensor<f32, c: 5, row: 18>
  return %r : !nd.tensor<f32, c: 5, row: 18>
}

// A range at a computed start is clamped as a whole; what follows it is computed as it is read.
// CHECK-LABEL: @moved
// CHECK: nest.compute (c: 5, row: 4) reads %{{.*}}[], %{{.*}}[row = row + max(0, min(12, read(0)))] {
// CHECK: arith.mulf
// CHECK-NOT: nest.compute
func.func @moved(%x: !c_row, %s: !nd.tensor<i32>) -> !nd.tensor<f32, c: 5, row: 4> {
  %r = nd.dynamic_slice %x row from %s size 4 : (!c_row, !nd.tensor<i32>) -> !nd.tensor<f32, c: 5, row: 4>
  %q = nd.pointwise %r : (!nd.tensor<f32, c: 5, row: 4>) -> !nd.tensor<f32, c: 5, row: 4> {
  ^bb0(%u: f32):
    %0 = arith.mulf %u, %u : f32
    nd.yield %0 : f32
  }
  return %q : !nd.tensor<f32, c: 5, row: 4>
}
