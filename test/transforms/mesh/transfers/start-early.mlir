// RUN: heddle-opt %s --mesh-start-early | FileCheck %s

module attributes {mesh.mesh = #mesh.mesh<d: 2>} {
// The operand of the transfer, and what makes only that, come right behind the value that they need; the transfer follows.
// CHECK-LABEL: @gradient
func.func @gradient(%x: !nd.tensor<f32, a: 4>, %y: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>) {
  // CHECK: %[[dy:.*]] = nest.compute (a: 4) reads %arg0[] {
  // CHECK: %[[part:.*]] = nest.compute (a: 4) reads %[[dy]][] {
  // CHECK: %[[dw:.*]] = nest.compute (a: 4) reads %[[part]][] {
  // CHECK: %[[g:.*]] = mesh.all_reduce %[[dw]] over [d]
  // CHECK-NEXT: %[[dx:.*]] = nest.compute (a: 4) reads %[[dy]][], %arg1[] {
  %dy = nest.compute (a: 4) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %dx = nest.compute (a: 4) reads %dy[], %y[] {
  ^bb0(%v: f32, %w: f32):
    %r = arith.mulf %v, %w : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %part = nest.compute (a: 4) reads %dy[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %dw = nest.compute (a: 4) reads %part[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %g = mesh.all_reduce %dw over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  return %dx, %g : !nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>
}

// Transfers keep their order, and nothing moves up to a transfer whose result it reads.
// CHECK-LABEL: @order
func.func @order(%x: !nd.tensor<f32, a: 4>) -> (!nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>) {
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
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %q = nest.compute (a: 4) reads %p[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %first = mesh.all_reduce %q over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %other = nest.compute (a: 4) reads %q[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %b = nest.compute (a: 4) reads %p[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %second = mesh.all_reduce %b over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %late = nest.compute (a: 4) reads %first[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  %third = mesh.all_reduce %late over [d] combine add [0.0 : f32] : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
  return %other, %second, %third : !nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>, !nd.tensor<f32, a: 4>
}
}
