// A training step: names follow the parameters, through differentiation.
// RUN: heddle-opt %S/Inputs/step.mlir --operator-pipeline -o /dev/null 2>&1 | grep remark > %t.step
// RUN: FileCheck %s --check-prefix=STEP < %t.step
// STEP: step.mlir:8:8: remark: operator 'net.first.weight': (batch: 6, hidden: 8) reduce (in: 4), 3 nests
// STEP: operator 'net.last.weight': (batch: 6, out: 2) reduce (hidden: 8), 4 nests
// STEP: operator 'net.last.weight.2': () reduce (batch: 6, out: 2), 1 nest
// STEP: operator 'net.last.weight.dx': (batch: 6, hidden: 8) reduce (out: 2)
// STEP: operator 'net.last.weight.dw': (hidden: 8, out: 2) reduce (batch: 6)
// STEP: operator 'net.first.bias.dw': (hidden: 8) reduce (batch: 6)
// STEP: operator 'net.first.weight.dw': (hidden: 8, in: 4) reduce (batch: 6)
// The momentum belongs to the update of its parameter.
// STEP: operator 'net.first.weight.update': (hidden: 8, in: 4), 2 nests
// STEP: operator 'net.first.bias.update': (hidden: 8), 1 nest
// STEP: operator 'net.last.weight.update': (hidden: 8, out: 2), 1 nest
// STEP-NOT: remark

// Other dimensions, which sort otherwise: the same operators in the same order.
// RUN: sed 's/batch/zeta/g; s/\bin\b/yps/g; s/hidden/alpha/g; s/\bout\b/beta/g' %S/Inputs/step.mlir > %t.renamed.mlir
// RUN: heddle-opt %t.renamed.mlir --operator-pipeline -o /dev/null 2>&1 | grep -o "operator '[^']*'" > %t.names
// RUN: grep -o "operator '[^']*'" %t.step | diff - %t.names

// RUN: heddle-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(mesh-list-operators))" -o /dev/null 2>&1 | FileCheck %s

// Without next values any argument may be a parameter; the longest path counts, also behind a cast. A nest that looks up
// elements is an operator; one that looks them up at places that it computes from coordinates alone belongs to another.
// CHECK: operator 'words.table': (batch: 4, in: 3), 3 nests
// CHECK: operator 'net.first.weight': (batch: 4, out: 2) reduce (in: 3), 3 nests
// A path that looks like a number is kept, and the number skips it.
// CHECK: operator 'net.first.weight.3': () reduce (batch: 4, out: 2), 1 nest
// CHECK: operator 'net.first.weight.2': () reduce (k: 5), 1 nest
func.func @infer(%x: !nd.tensor<i32, batch: 4> {nd.name = "input.word"}, %t: !nd.tensor<f16, word: 9, in: 3> {nd.name = "words.table"},
    %w: !nd.tensor<f16, in: 3, out: 2> {nd.name = "net.first.weight"}, %u: !nd.tensor<f32, k: 5> {nd.name = "u"},
    %v: !nd.tensor<f32, k: 5> {nd.name = "net.first.weight.2"}) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  %i = nest.compute (word: 9) {
    %n = nest.index word
    %c = arith.index_cast %n : index to i32
    nest.yield %c : i32
  } : () -> !nd.tensor<i32, word: 9>
  %j = nest.compute (batch: 4) reads %x[], %i[word = read(0)] {
  ^bb0(%a: i32, %b: i32):
    nest.yield %b : i32
  } : (!nd.tensor<i32, batch: 4>, !nd.tensor<i32, word: 9>) -> !nd.tensor<i32, batch: 4>
  %e = nest.compute (batch: 4, in: 3) reads %j[], %t[word = read(0)] {
  ^bb0(%a: i32, %b: f16):
    %c = arith.extf %b : f16 to f32
    nest.yield %c : f32
  } : (!nd.tensor<i32, batch: 4>, !nd.tensor<f16, word: 9, in: 3>) -> !nd.tensor<f32, batch: 4, in: 3>
  %f = nest.compute (in: 3, out: 2) reads %w[] {
  ^bb0(%a: f16):
    %c = arith.extf %a : f16 to f32
    nest.yield %c : f32
  } : (!nd.tensor<f16, in: 3, out: 2>) -> !nd.tensor<f32, in: 3, out: 2>
  %p = nest.compute (batch: 4, in: 3, out: 2) reads %e[], %f[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, batch: 4, in: 3>, !nd.tensor<f32, in: 3, out: 2>) -> !nd.tensor<f32, batch: 4, in: 3, out: 2>
  %y = nest.compute (batch: 4, out: 2) reduce (in: 3) reads %p[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 4, in: 3, out: 2>) -> !nd.tensor<f32, batch: 4, out: 2>
  %s = nest.compute () reduce (batch: 4, out: 2) reads %y[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 4, out: 2>) -> !nd.tensor<f32>
  %r = nest.compute () reduce (k: 5) reads %u[], %v[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 5>, !nd.tensor<f32, k: 5>) -> !nd.tensor<f32>
  return %s, %r : !nd.tensor<f32>, !nd.tensor<f32>
}

// -----

!in = !nd.tensor<f32, in: 3>

// The square of a value belongs to the maker of the value, not to the sum of squares. A sum from which all next values
// are computed is no gradient of one of them. A scan is one operator. Arguments without names have numbers.
// CHECK: operator 'argument2': (batch: 4) reduce (in: 3), 2 nests
// CHECK: operator 'argument2.2': () reduce (batch: 4), 1 nest
// CHECK: operator 'argument1': (batch: 4), 1 nest
// CHECK: operator 'argument1.update': (in: 3), 1 nest
// CHECK: operator 'argument2.update': (in: 3), 1 nest
func.func @steps(%x: !nd.tensor<f32, batch: 4, in: 3>, %v: !in {heddle.donate = 0 : i64},
    %w: !in {heddle.donate = 1 : i64}) -> (!in, !in, !in) {
  %y = nest.compute (batch: 4) reduce (in: 3) reads %x[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 4, in: 3>, !in) -> !nd.tensor<f32, batch: 4>
  %q = nest.compute (batch: 4) reads %y[] {
  ^bb0(%a: f32):
    %c = arith.mulf %a, %a : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, batch: 4>) -> !nd.tensor<f32, batch: 4>
  %s = nest.compute () reduce (batch: 4) reads %q[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 4>) -> !nd.tensor<f32>
  %last = nest.scan along <batch: 4> init (%v) reads (%x) : (!in, !nd.tensor<f32, batch: 4, in: 3>) -> !in {
  ^bb0(%a: !in, %b: !in):
    %n = nest.compute (in: 3) reads %a[], %b[] {
    ^bb0(%c: f32, %d: f32):
      %e = arith.addf %c, %d : f32
      nest.yield %e : f32
    } : (!in, !in) -> !in
    nest.yield %n : !in
  }
  %v2 = nest.compute (in: 3) reads %v[], %s[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nest.yield %c : f32
  } : (!in, !nd.tensor<f32>) -> !in
  %w2 = nest.compute (in: 3) reads %w[], %s[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nest.yield %c : f32
  } : (!in, !nd.tensor<f32>) -> !in
  return %v2, %w2, %last : !in, !in, !in
}

// -----

// A constant that two operators use belongs to the one that uses it first; the other one is not named after it.
// CHECK: operator 'compute': () reduce (k: 4), 1 nest
// CHECK: operator 'net.w': () reduce (k: 4), 3 nests
// CHECK-NOT: operator
func.func @constants(%w: !nd.tensor<f32, k: 4> {nd.name = "net.w"}) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  %i = nest.compute (k: 4) {
    %n = nest.index k
    %c = arith.index_cast %n : index to i32
    %d = arith.sitofp %c : i32 to f32
    nest.yield %d : f32
  } : () -> !nd.tensor<f32, k: 4>
  %p = nest.compute (k: 4) reads %i[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>
  %s = nest.compute () reduce (k: 4) reads %i[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
  %r = nest.compute () reduce (k: 4) reads %p[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
  return %s, %r : !nd.tensor<f32>, !nd.tensor<f32>
}
