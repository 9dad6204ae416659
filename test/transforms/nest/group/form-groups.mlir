// RUN: heddle-opt %s --convert-nd-to-nest --nest-form-groups --split-input-file | FileCheck %s

!k_n = !nd.tensor<f32, k: 512, n: 8>

// A softmax over k, row by row of n; the slice reads a neighbour and stays outside.
// CHECK-LABEL: @softmax
// CHECK-NEXT: %[[G:.*]] = nest.group (n: 8) {
// CHECK-NEXT: %[[E:.*]] = nest.compute (k: 512) reads %arg0[] {
// CHECK: %[[S:.*]] = nest.compute () reduce (k: 512) reads %[[E]][] {
// CHECK: %[[R:.*]] = nest.compute (k: 512) reads %[[E]][], %[[S]][] {
// CHECK: nest.yield %[[R]] : !nd.tensor<f32, k: 512>
// CHECK-NEXT: } {heddle.name = "group"} : !nd.tensor<f32, k: 512, n: 8>
// CHECK-NEXT: %[[T:.*]] = nest.compute (k: 512, n: 7) reads %[[G]][n = n + 1] {
// CHECK: return %[[G]], %[[T]]
func.func @softmax(%x: !k_n) -> (!k_n, !nd.tensor<f32, k: 512, n: 7>) {
  %0 = nd.pointwise %x {group = ["n", 0]} : (!k_n) -> !k_n {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    nd.yield %e : f32
  }
  %1 = nd.reduce %0 over [k] neutral [0.0 : f32] {group = ["n", 0]} : (!k_n) -> !nd.tensor<f32, n: 8> {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    nd.yield %e : f32
  }
  %2 = nd.pointwise %0, %1 {group = ["n", 0]} : (!k_n, !nd.tensor<f32, n: 8>) -> !k_n {
  ^bb0(%a: f32, %b: f32):
    %e = arith.divf %a, %b : f32
    nd.yield %e : f32
  }
  %3 = nd.slice %2 n from 1 size 7 {group = ["n", 0]} : !k_n -> !nd.tensor<f32, k: 512, n: 7>
  return %2, %3 : !k_n, !nd.tensor<f32, k: 512, n: 7>
}

// -----

!n = !nd.tensor<f32, n: 8>

// Refused: what stands between needs the first and is needed by the second. No request is left.
// CHECK-LABEL: @between
// CHECK-NOT: nest.group
// CHECK-NOT: group =
// CHECK: return
func.func @between(%x: !n) -> !n {
  %0 = nd.pointwise %x {group = ["n", 0]} : (!n) -> !n {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    nd.yield %e : f32
  }
  %1 = nd.reduce %0 over [n] neutral [0.0 : f32] {group = ["n", 0]} : (!n) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    nd.yield %e : f32
  }
  %2 = nd.pointwise %0, %1 {group = ["n", 0]} : (!n, !nd.tensor<f32>) -> !n {
  ^bb0(%a: f32, %b: f32):
    %e = arith.divf %a, %b : f32
    nd.yield %e : f32
  }
  return %2 : !n
}

// -----

// Two requests are two groups.
// CHECK-LABEL: @two
// CHECK-COUNT-2: nest.group (n: 8)
func.func @two(%x: !nd.tensor<f32, k: 4, n: 8>) -> (!nd.tensor<f32, n: 8>, !nd.tensor<f32, n: 8>) {
  %0 = nd.pointwise %x {group = ["n", 0]} : (!nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, k: 4, n: 8> {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    nd.yield %e : f32
  }
  %1 = nd.reduce %0 over [k] neutral [0.0 : f32] {group = ["n", 0]} : (!nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, n: 8> {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    nd.yield %e : f32
  }
  %2 = nd.pointwise %x {group = ["n", 1]} : (!nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, k: 4, n: 8> {
  ^bb0(%a: f32):
    %e = math.log %a : f32
    nd.yield %e : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] {group = ["n", 1]} : (!nd.tensor<f32, k: 4, n: 8>) -> !nd.tensor<f32, n: 8> {
  ^bb0(%a: f32, %b: f32):
    %e = arith.addf %a, %b : f32
    nd.yield %e : f32
  }
  return %1, %3 : !nd.tensor<f32, n: 8>, !nd.tensor<f32, n: 8>
}
