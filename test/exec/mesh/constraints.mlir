// A constraint has its operand's value, with a mesh and without one, also in recurrences and loops.
// RUN: heddle-run %s --interpret --seed 3 > %t.whole
// RUN: heddle-run %s --seed 3 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=2 --shard row:d --seed 3 | diff - %t.whole
// RUN: heddle-run %s --compare --mesh d=2 --shard row:d --seed 3 | FileCheck %s
// CHECK: @straight: 5 elements agree
// CHECK: @steps: 5 elements agree
// CHECK: @loop: 5 elements agree

!i32_row = !nd.tensor<i32, row: 5>

func.func @straight(%x: !i32_row {nd.name = "x"}) -> !i32_row {
  %c = mesh.constrain %x to <{row: [d]}> : !i32_row
  return %c : !i32_row
}

func.func @steps(%w: !nd.tensor<i32, layer: 4, row: 5> {nd.name = "w"}, %h: !i32_row {nd.name = "h"}) -> !i32_row {
  %last = nest.scan along #nd.dims<layer: 4> init(%h) reads(%w) : (!i32_row, !nd.tensor<i32, layer: 4, row: 5>) -> !i32_row {
  ^bb0(%state: !i32_row, %slice: !i32_row):
    %c = mesh.constrain %state to <{row: [d]}> : !i32_row
    %n = nd.pointwise %c, %slice : (!i32_row, !i32_row) -> !i32_row {
    ^bb0(%a: i32, %b: i32):
      %p = arith.muli %a, %b : i32
      nd.yield %p : i32
    }
    nest.yield %n : !i32_row
  }
  return %last : !i32_row
}

func.func @loop(%x: !i32_row {nd.name = "x"}) -> !i32_row {
  %y = scf.while (%s = %x) : (!i32_row) -> !i32_row {
    %most = nd.reduce %s over [row] neutral [-2147483648 : i32] : (!i32_row) -> !nd.tensor<i32> {
    ^bb0(%a: i32, %b: i32):
      %c = arith.maxsi %a, %b : i32
      nd.yield %c : i32
    }
    %small = nd.pointwise %most : (!nd.tensor<i32>) -> !nd.tensor<i1> {
    ^bb0(%v: i32):
      %b = arith.constant 100 : i32
      %r = arith.cmpi slt, %v, %b : i32
      nd.yield %r : i1
    }
    %c = nd.item %small : !nd.tensor<i1> -> i1
    scf.condition(%c) %s : !i32_row
  } do {
  ^bb0(%s: !i32_row):
    %k = mesh.constrain %s to <{row: [d]}> : !i32_row
    %t = nd.pointwise %k : (!i32_row) -> !i32_row {
    ^bb0(%v: i32):
      %w = arith.constant 10 : i32
      %r = arith.addi %v, %w : i32
      nd.yield %r : i32
    }
    scf.yield %t : !i32_row
  }
  return %y : !i32_row
}
