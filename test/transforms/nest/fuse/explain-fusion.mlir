// The decisions of fusion and groups, and what the other choices would cost.
// RUN: heddle-opt %s -nest-fuse=explain=true -nest-choose-groups=explain=true --split-input-file -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: heddle-opt %s -nest-fuse -nest-choose-groups --split-input-file -o /dev/null 2>&1 | count 0

// Sixty-four times exp for each element would cost more than to store it.
// CHECK: :[[@LINE+5]]:8: remark: 'exp' is stored
// CHECK-NEXT: %e = nest.compute
// CHECK: note: recomputed in its reader would take [[#]].{{[0-9]+}} us more
// CHECK: remark: 'stored' takes [[#]].{{[0-9]+}} us in [[#]] nest{{s?}}, at least [[#]].{{[0-9]+}} us for
func.func @stored(%x: !nd.tensor<f32, k: 256, n: 1024>, %w: !nd.tensor<f32, k: 256, m: 64>) -> !nd.tensor<f32, m: 64, n: 1024> {
  %e = nest.compute (k: 256, n: 1024) reads %x[] {
  ^bb0(%a: f32):
    %b = math.exp %a : f32
    nest.yield %b : f32
  } {heddle.name = "exp"} : (!nd.tensor<f32, k: 256, n: 1024>) -> !nd.tensor<f32, k: 256, n: 1024>
  %p = nest.compute (m: 64, n: 1024) reduce (k: 256) reads %e[], %w[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] {heddle.name = "product"} : (!nd.tensor<f32, k: 256, n: 1024>, !nd.tensor<f32, k: 256, m: 64>) -> !nd.tensor<f32, m: 64, n: 1024>
  return %p : !nd.tensor<f32, m: 64, n: 1024>
}

// -----

// CHECK: remark: 'double' is recomputed in 2 readers
// CHECK: note: stored would take [[#]].{{[0-9]+}} us more
// CHECK: remark: 'recomputed' takes [[#]].{{[0-9]+}} us in [[#]] nest{{s?}}, at least [[#]].{{[0-9]+}} us for
func.func @recomputed(%x: !nd.tensor<f32, k: 512, n: 4096>) -> (!nd.tensor<f32, k: 512>, !nd.tensor<f32, n: 4096>) {
  %d = nest.compute (k: 512, n: 4096) reads %x[] {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    nest.yield %b : f32
  } {heddle.name = "double"} : (!nd.tensor<f32, k: 512, n: 4096>) -> !nd.tensor<f32, k: 512, n: 4096>
  %s = nest.compute (k: 512) reduce (n: 4096) reads %d[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 512, n: 4096>) -> !nd.tensor<f32, k: 512>
  %t = nest.compute (n: 4096) reduce (k: 512) reads %d[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 512, n: 4096>) -> !nd.tensor<f32, n: 4096>
  return %s, %t : !nd.tensor<f32, k: 512>, !nd.tensor<f32, n: 4096>
}

// -----

// CHECK: remark: 'sum' is joined with 'squares'
// CHECK: note: run apart would take [[#]].{{[0-9]+}} us more
// CHECK: remark: 'joined' takes [[#]].{{[0-9]+}} us in [[#]] nest{{s?}}, at least [[#]].{{[0-9]+}} us for
func.func @joined(%x: !nd.tensor<f32, k: 512, n: 4096>) -> (!nd.tensor<f32, k: 512>, !nd.tensor<f32, k: 512>) {
  %s = nest.compute (k: 512) reduce (n: 4096) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] {heddle.name = "sum"} : (!nd.tensor<f32, k: 512, n: 4096>) -> !nd.tensor<f32, k: 512>
  %q = nest.compute (k: 512) reduce (n: 4096) reads %x[] {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %a : f32
    nest.yield %b : f32
  } combine add [0.0 : f32] {heddle.name = "squares"} : (!nd.tensor<f32, k: 512, n: 4096>) -> !nd.tensor<f32, k: 512>
  return %s, %q : !nd.tensor<f32, k: 512>, !nd.tensor<f32, k: 512>
}

// -----

// CHECK: remark: 'group' takes [[#]].{{[0-9]+}} us in 2 nests, at least [[#]].{{[0-9]+}} us for
// CHECK: remark: 'sum' runs in a group over (batch) of 2 nests
// CHECK: note: nests of their own would take [[#]].{{[0-9]+}} us more
func.func @group(%x: !nd.tensor<f32, batch: 4096, k: 768>) -> !nd.tensor<f32, batch: 4096, k: 768> {
  %s = nest.compute (batch: 4096) reduce (k: 768) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] {heddle.name = "sum"} : (!nd.tensor<f32, batch: 4096, k: 768>) -> !nd.tensor<f32, batch: 4096>
  %y = nest.compute (batch: 4096, k: 768) reads %x[], %s[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nest.yield %c : f32
  } {heddle.name = "centre"} : (!nd.tensor<f32, batch: 4096, k: 768>, !nd.tensor<f32, batch: 4096>) -> !nd.tensor<f32, batch: 4096, k: 768>
  return %y : !nd.tensor<f32, batch: 4096, k: 768>
}

// -----

// The group saves transfers, but less than 20 us.
// CHECK: remark: 'alone' takes [[#]].{{[0-9]+}} us in 2 nests, at least [[#]].{{[0-9]+}} us for
// CHECK: remark: 'sum' runs alone
// CHECK: note: a group over (batch) of 2 nests would save only [[#]].{{[0-9]+}} us
func.func @alone(%x: !nd.tensor<f32, batch: 64, k: 256>) -> !nd.tensor<f32, batch: 64, k: 256> {
  %s = nest.compute (batch: 64) reduce (k: 256) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] {heddle.name = "sum"} : (!nd.tensor<f32, batch: 64, k: 256>) -> !nd.tensor<f32, batch: 64>
  %y = nest.compute (batch: 64, k: 256) reads %x[], %s[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nest.yield %c : f32
  } {heddle.name = "centre"} : (!nd.tensor<f32, batch: 64, k: 256>, !nd.tensor<f32, batch: 64>) -> !nd.tensor<f32, batch: 64, k: 256>
  return %y : !nd.tensor<f32, batch: 64, k: 256>
}
