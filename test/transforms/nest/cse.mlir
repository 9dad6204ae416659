// RUN: heddle-opt %s --nest-cse --split-input-file | FileCheck %s

// A product and its transpose under other names: one product, read under two sets of names.
// CHECK-LABEL: @transposed
// CHECK-NEXT: %[[C:.*]] = nest.compute (m: 4, n: 4) reduce (k: 3)
// CHECK-NOT: reduce
// CHECK: %[[R:.*]] = nest.compute (p: 4, q: 4) reads %[[C]][m = q, n = p] {
// CHECK: return %[[C]], %[[R]]
func.func @transposed(%x: !nd.tensor<f32, k: 3, m: 4>, %y: !nd.tensor<f32, k: 3, n: 4>) -> (!nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, p: 4, q: 4>) {
  %c = nest.compute (m: 4, n: 4) reduce (k: 3) reads %x[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 3, m: 4>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 4, n: 4>
  %d = nest.compute (p: 4, q: 4) reduce (c: 3) reads %y[k = c, n = p], %x[k = c, m = q] {
  ^bb0(%b: f32, %a: f32):
    %0 = arith.mulf %b, %a : f32
    nest.yield %0 : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 3, n: 4>, !nd.tensor<f32, k: 3, m: 4>) -> !nd.tensor<f32, p: 4, q: 4>
  return %c, %d : !nd.tensor<f32, m: 4, n: 4>, !nd.tensor<f32, p: 4, q: 4>
}

// -----

// Different guards: two values.
// CHECK-LABEL: @guards
// CHECK-COUNT-2: nest.compute
func.func @guards(%x: !nd.tensor<f32, n: 4>) -> (!nd.tensor<f32, n: 5>, !nd.tensor<f32, n: 5>) {
  %a = nest.compute (n: 5) reads %x[n = n] if [3 - n >= 0] else 0.0 : f32 {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 5>
  %b = nest.compute (n: 5) reads %x[n = n] if [3 - n >= 0] else 1.0 : f32 {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 5>
  return %a, %b : !nd.tensor<f32, n: 5>, !nd.tensor<f32, n: 5>
}

// -----

// What is to be computed again is not shared.
// CHECK-LABEL: @again
// CHECK-COUNT-2: nest.compute
func.func @again(%x: !nd.tensor<f32, n: 4>) -> (!nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 4>) {
  %a = nest.compute (n: 4) reads %x[] {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    nest.yield %0 : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  %b = nest.compute (n: 4) reads %x[] {
  ^bb0(%v: f32):
    %0 = math.exp %v : f32
    nest.yield %0 : f32
  } {heddle.recompute} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return %a, %b : !nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 4>
}
