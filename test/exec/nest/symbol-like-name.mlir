// A size symbol may have the name of a dimension. In maps, guards and bodies the name means the coordinate.
// RUN: heddle-run %s --compare --entry sums --size b=3
// RUN: heddle-run %s --compare --entry sums --size b=0,1,70
// RUN: heddle-run %s --compare --entry rows --size b=0,1,3,70
// RUN: heddle-opt %s --nd-neutral-names | FileCheck %s
// CHECK: reduce (n000: size0_) reads %arg0[], %arg1[] {
// CHECK: nest.index n000
module {
func.func @sums(%x: !nd.tensor<f32, b: b, m: 5>, %y: !nd.tensor<f32, b: b>) -> !nd.tensor<f32, m: 5> {
  %c = nest.compute (m: 5) reduce (b: b) reads %x[], %y[b = b] {
  ^bb0(%u: f32, %v: f32):
    %i = nest.index b
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %p = arith.mulf %u, %v : f32
    %q = arith.mulf %p, %k : f32
    nest.yield %q : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, b: b, m: 5>, !nd.tensor<f32, b: b>) -> !nd.tensor<f32, m: 5>
  return %c : !nd.tensor<f32, m: 5>
}
func.func @rows(%x: !nd.tensor<f32, b: b, m: 5>, %y: !nd.tensor<f32, b: b>) -> !nd.tensor<f32, b: b, m: 5> {
  %g = nest.group (b: b) {
    %s = nest.compute () reduce (m: 5) reads %x[] {
    ^bb0(%u: f32):
      nest.yield %u : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, b: b, m: 5>) -> !nd.tensor<f32>
    %r = nest.compute (m: 5) reads %x[b = b], %s[], %y[b = b] {
    ^bb0(%u: f32, %v: f32, %w: f32):
      %p = arith.mulf %u, %v : f32
      %q = arith.addf %p, %w : f32
      nest.yield %q : f32
    } : (!nd.tensor<f32, b: b, m: 5>, !nd.tensor<f32>, !nd.tensor<f32, b: b>) -> !nd.tensor<f32, m: 5>
    nest.yield %r : !nd.tensor<f32, m: 5>
  } : !nd.tensor<f32, b: b, m: 5>
  return %g : !nd.tensor<f32, b: b, m: 5>
}
}
