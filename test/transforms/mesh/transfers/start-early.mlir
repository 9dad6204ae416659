// RUN: heddle-opt %s --mesh-start-early | FileCheck %s

!a = !nd.tensor<f32, a: 4>

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// The operand of the transfer, and what makes only that, come right behind the value that they need; the transfer follows.
// CHECK-LABEL: @gradient
func.func @gradient(%x: !a, %y: !a) -> (!a, !a) {
  // CHECK: %[[dy:.*]] = nest.compute (a: 4) reads %arg0[] {
  // CHECK: %[[part:.*]] = nest.compute (a: 4) reads %[[dy]][] {
  // CHECK: %[[dw:.*]] = nest.compute (a: 4) reads %[[part]][] {
  // CHECK: %[[g:.*]] = mesh.all_reduce %[[dw]] over [d]
  // CHECK-NEXT: %[[dx:.*]] = nest.compute (a: 4) reads %[[dy]][], %arg1[] {
  %dy = nest.compute (a: 4) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %dx = nest.compute (a: 4) reads %dy[], %y[] {
  ^bb0(%v: f32, %w: f32):
    %r = arith.mulf %v, %w : f32
    nest.yield %r : f32
  } : (!a, !a) -> !a
  %part = nest.compute (a: 4) reads %dy[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %dw = nest.compute (a: 4) reads %part[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %g = mesh.all_reduce %dw over [d] combine add [0.0 : f32] : (!a) -> !a
  return %dx, %g : !a, !a
}

// Transfers keep their order, and nothing moves up to a transfer whose result it reads.
// CHECK-LABEL: @order
func.func @order(%x: !a) -> (!a, !a, !a) {
  // CHECK: %[[p:.*]] = nest.compute (a: 4) reads %arg0[] {
  // CHECK: %[[b:.*]] = nest.compute (a: 4) reads %[[p]][] {
  // CHECK: %[[q:.*]] = nest.compute (a: 4) reads %[[p]][] {
  // CHECK: %[[first:.*]] = mesh.all_reduce %[[q]] over [d]
  // CHECK-NEXT: mesh.all_reduce %[[b]] over [d]
  // CHECK-NEXT: nest.compute (a: 4) reads %[[q]][] {
  // CHECK: %[[late:.*]] = nest.compute (a: 4) reads %[[first]][] {
  // CHECK: mesh.all_reduce %[[late]] over [d]
  %p = nest.compute (a: 4) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %q = nest.compute (a: 4) reads %p[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %first = mesh.all_reduce %q over [d] combine add [0.0 : f32] : (!a) -> !a
  %other = nest.compute (a: 4) reads %q[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %b = nest.compute (a: 4) reads %p[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %second = mesh.all_reduce %b over [d] combine add [0.0 : f32] : (!a) -> !a
  %late = nest.compute (a: 4) reads %first[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!a) -> !a
  %third = mesh.all_reduce %late over [d] combine add [0.0 : f32] : (!a) -> !a
  return %other, %second, %third : !a, !a, !a
}
}
