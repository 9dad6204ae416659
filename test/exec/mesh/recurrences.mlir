// Recurrences over meshes: of carried sums each device sums its own part, and others that communicate are loops of steps.
// RUN: heddle-run %s --compare --mesh d=2 --shard row:d --seed 3 | FileCheck %s
// RUN: heddle-run %s --compare --mesh d=4 --shard row:d --seed 3 | FileCheck %s
// RUN: heddle-run %s --compare --mesh d=2,m=2 --shard row:d --shard w/out:m --seed 3 --managed | FileCheck %s
// RUN: heddle-opt %s --mesh-plan='mesh=d=2 shard=row:d' --mesh-pipeline | FileCheck %s --check-prefix=ONCE
// CHECK: @sums: 9 elements agree
// CHECK: @backwards: 63 elements agree
// CHECK: @doubled: 7 elements agree

!i32_in = !nd.tensor<i32, in: 3>

// The carried sum over rows has an initial value, which counts once. One collective follows the recurrence.
// ONCE-LABEL: @sums
// ONCE: nest.scan along
// ONCE-NOT: mesh.all_reduce
// ONCE: nest.yield {{.*}}, {{.*}} : !nd.tensor
// ONCE: mesh.all_reduce
// ONCE-LABEL: @backwards
func.func @sums(%h: !i32_in {nd.name = "h"}, %x: !nd.tensor<i32, in: 3, row: 5, t: 4> {nd.name = "x"})
    -> (!i32_in, !i32_in, !i32_in) {
  %r:2 = nest.scan along <t: 4> init(%h, %h) reads(%x)
    : (!i32_in, !i32_in, !nd.tensor<i32, in: 3, row: 5, t: 4>) -> (!i32_in, !i32_in) {
  ^bb0(%a: !i32_in, %m: !i32_in, %v: !nd.tensor<i32, in: 3, row: 5>):
    %s = nest.compute (in: 3) reduce (row: 5) reads %v[] {
    ^bb0(%p: i32):
      nest.yield %p : i32
    } combine add [0 : i32] : (!nd.tensor<i32, in: 3, row: 5>) -> !i32_in
    %next = nest.compute (in: 3) reads %a[], %s[] {
    ^bb0(%p: i32, %q: i32):
      %0 = arith.addi %p, %q : i32
      nest.yield %0 : i32
    } : (!i32_in, !i32_in) -> !i32_in
    %most = nest.compute (in: 3) reduce (row: 5) reads %v[] {
    ^bb0(%p: i32):
      nest.yield %p : i32
    } combine max [-2147483648 : i32] : (!nd.tensor<i32, in: 3, row: 5>) -> !i32_in
    %larger = nest.compute (in: 3) reads %m[], %most[] {
    ^bb0(%p: i32, %q: i32):
      %0 = arith.maxsi %p, %q : i32
      nest.yield %0 : i32
    } : (!i32_in, !i32_in) -> !i32_in
    nest.yield %next, %larger : !i32_in, !i32_in
  }
  // Two sums that move together.
  %total = nd.reduce %x over [row, t] neutral [0 : i32] : (!nd.tensor<i32, in: 3, row: 5, t: 4>) -> !i32_in {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    nd.yield %c : i32
  }
  return %r#0, %r#1, %total : !i32_in, !i32_in, !i32_in
}

// What is carried is split, and each step needs all of it.
func.func @backwards(%h: !i32_in {nd.name = "h"}, %w: !nd.tensor<i32, in: 3, out: 3> {nd.name = "w"},
                     %x: !nd.tensor<i32, out: 3, row: 5, t: 4> {nd.name = "x"})
    -> (!i32_in, !nd.tensor<i32, out: 3, row: 5, t: 4>) {
  %r:2 = nest.scan along <t: 4> reverse init(%h) reads(%x)
    : (!i32_in, !nd.tensor<i32, out: 3, row: 5, t: 4>) -> (!i32_in, !nd.tensor<i32, out: 3, row: 5, t: 4>) {
  ^bb0(%a: !i32_in, %v: !nd.tensor<i32, out: 3, row: 5>):
    %y = nest.compute (out: 3, row: 5) reduce (in: 3) reads %a[], %w[], %v[] {
    ^bb0(%p: i32, %q: i32, %u: i32):
      %0 = arith.muli %p, %q : i32
      %1 = arith.addi %0, %u : i32
      nest.yield %1 : i32
    } combine add [0 : i32] : (!i32_in, !nd.tensor<i32, in: 3, out: 3>, !nd.tensor<i32, out: 3, row: 5>) -> !nd.tensor<i32, out: 3, row: 5>
    %next = nest.compute (in: 3) reduce (row: 5) reads %y[out = in] {
    ^bb0(%p: i32):
      nest.yield %p : i32
    } combine add [0 : i32] : (!nd.tensor<i32, out: 3, row: 5>) -> !i32_in
    nest.yield %next, %y : !i32_in, !nd.tensor<i32, out: 3, row: 5>
  }
  return %r#0, %r#1 : !i32_in, !nd.tensor<i32, out: 3, row: 5, t: 4>
}

// A prefix sum over the split name itself, and a maximum over it.
func.func @doubled(%x: !nd.tensor<i32, row: 6> {nd.name = "x"}) -> (!nd.tensor<i32, row: 6>, !nd.tensor<i32>) {
  %sums = nd.scan %x along row neutral [0 : i32] : (!nd.tensor<i32, row: 6>) -> !nd.tensor<i32, row: 6> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    nd.yield %c : i32
  }
  %most = nd.reduce %x over [row] neutral [-2147483648 : i32] : (!nd.tensor<i32, row: 6>) -> !nd.tensor<i32> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxsi %a, %b : i32
    nd.yield %c : i32
  }
  return %sums, %most : !nd.tensor<i32, row: 6>, !nd.tensor<i32>
}
