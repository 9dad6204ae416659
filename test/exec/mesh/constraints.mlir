// A constraint has its operand's value, with a mesh and without one, also in recurrences and loops.
// RUN: heddle-run %s --interpret --seed 3 > %t.whole
// RUN: heddle-run %s --seed 3 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=2 --shard row:d --seed 3 | diff - %t.whole
// RUN: heddle-run %s --compare --mesh d=2 --shard row:d --seed 3 | FileCheck %s
// CHECK: @straight: 5 elements agree
// CHECK: @steps: 5 elements agree
// CHECK: @loop: 5 elements agree

func.func @straight(%x: !nd.tensor<i32, row: 5> {nd.name = "x"}) -> !nd.tensor<i32, row: 5> {
  %c = mesh.constrain %x to <{row: [d]}> : !nd.tensor<i32, row: 5>
  return %c : !nd.tensor<i32, row: 5>
}

func.func @steps(%w: !nd.tensor<i32, layer: 4, row: 5> {nd.name = "w"}, %h: !nd.tensor<i32, row: 5> {nd.name = "h"}) -> !nd.tensor<i32, row: 5> {
  %last = nest.scan along #nd.dims<layer: 4> init(%h) reads(%w) : (!nd.tensor<i32, row: 5>, !nd.tensor<i32, layer: 4, row: 5>) -> !nd.tensor<i32, row: 5> {
  ^bb0(%state: !nd.tensor<i32, row: 5>, %slice: !nd.tensor<i32, row: 5>):
    %c = mesh.constrain %state to <{row: [d]}> : !nd.tensor<i32, row: 5>
    %n = nd.pointwise %c, %slice : (!nd.tensor<i32, row: 5>, !nd.tensor<i32, row: 5>) -> !nd.tensor<i32, row: 5> {
    ^bb0(%a: i32, %b: i32):
      %p = arith.muli %a, %b : i32
      nd.yield %p : i32
    }
    nest.yield %n : !nd.tensor<i32, row: 5>
  }
  return %last : !nd.tensor<i32, row: 5>
}

func.func @loop(%x: !nd.tensor<i32, row: 5> {nd.name = "x"}) -> !nd.tensor<i32, row: 5> {
  %y = scf.while (%s = %x) : (!nd.tensor<i32, row: 5>) -> !nd.tensor<i32, row: 5> {
    %most = nd.reduce %s over [row] neutral [-2147483648 : i32] : (!nd.tensor<i32, row: 5>) -> !nd.tensor<i32> {
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
    scf.condition(%c) %s : !nd.tensor<i32, row: 5>
  } do {
  ^bb0(%s: !nd.tensor<i32, row: 5>):
    %k = mesh.constrain %s to <{row: [d]}> : !nd.tensor<i32, row: 5>
    %t = nd.pointwise %k : (!nd.tensor<i32, row: 5>) -> !nd.tensor<i32, row: 5> {
    ^bb0(%v: i32):
      %w = arith.constant 10 : i32
      %r = arith.addi %v, %w : i32
      nd.yield %r : i32
    }
    scf.yield %t : !nd.tensor<i32, row: 5>
  }
  return %y : !nd.tensor<i32, row: 5>
}
