// RUN: heddle-opt %s --nest-fuse-epilogues --split-input-file | FileCheck %s

// A pointwise consumer of a reduction becomes its epilogue (`finish`). The consumer calls `out` `channel`, the reduced name: the
// reduced one is renamed apart.
// CHECK-LABEL: @convolution
// CHECK-NEXT: nest.compute (channel: 4, row: 8) reduce (channel$1: 3) reads %arg0[channel = channel$1], %arg1[channel = channel$1, out = channel] {
// CHECK: combine add [0.000000e+00 : f32] finish reads %arg2[out = channel] {
// CHECK: arith.addf
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.maximumf
// CHECK-NOT: nest.compute
func.func @convolution(%x: !nd.tensor<f32, channel: 3, row: 8>, %w: !nd.tensor<f32, channel: 3, out: 4>, %b: !nd.tensor<f32, out: 4>) -> !nd.tensor<f32, channel: 4, row: 8> {
  %c = nest.compute (out: 4, row: 8) reduce (channel: 3) reads %x[], %w[] {
  ^bb0(%a: f32, %k: f32):
    %p = arith.mulf %a, %k : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, channel: 3, row: 8>, !nd.tensor<f32, channel: 3, out: 4>) -> !nd.tensor<f32, out: 4, row: 8>
  %r = nest.compute (channel: 4, row: 8) reads %c[out = channel], %b[out = channel] {
  ^bb0(%a: f32, %k: f32):
    %s = arith.addf %a, %k : f32
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %s, %z : f32
    nest.yield %m : f32
  } : (!nd.tensor<f32, out: 4, row: 8>, !nd.tensor<f32, out: 4>) -> !nd.tensor<f32, channel: 4, row: 8>
  return %r : !nd.tensor<f32, channel: 4, row: 8>
}

// -----

!k = !nd.tensor<f32, k: 4>

// Momentum and parameter: one nest with two results.
// CHECK-LABEL: @sgd
// CHECK-NEXT: %[[R:.*]]:2 = nest.compute (k: 4) reduce (batch: 8)
// CHECK: finish reads %arg1[], %arg2[] {
// CHECK: nest.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NOT: nest.compute
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @sgd(%x: !nd.tensor<f32, batch: 8, k: 4>, %v: !k, %p: !k) -> (!k, !k) {
  %g = nest.compute (k: 4) reduce (batch: 8) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, batch: 8, k: 4>) -> !k
  %u = nest.compute (k: 4) reads %v[], %g[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 0.9 : f32
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %m, %b : f32
    nest.yield %s : f32
  } : (!k, !k) -> !k
  %q = nest.compute (k: 4) reads %p[], %u[] {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    nest.yield %s : f32
  } : (!k, !k) -> !k
  return %u, %q : !k, !k
}

// -----

!k = !nd.tensor<f32, k: 4>

// A nest between the two that reads the first one goes behind.
// CHECK-LABEL: @between
// CHECK-NEXT: %[[R:.*]]:2 = nest.compute (k: 4) reads %arg0[] {
// CHECK: nest.compute () reduce (k: 4) reads %[[R]]#0[] {
// CHECK-NOT: nest.compute
func.func @between(%x: !k) -> (!nd.tensor<f32>, !k) {
  %e = nest.compute (k: 4) reads %x[] {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    nest.yield %r : f32
  } : (!k) -> !k
  %s = nest.compute () reduce (k: 4) reads %e[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!k) -> !nd.tensor<f32>
  %q = nest.compute (k: 4) reads %e[] {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    nest.yield %r : f32
  } : (!k) -> !k
  return %s, %q : !nd.tensor<f32>, !k
}

// -----

!k = !nd.tensor<f32, k: 4>

// Refused: the second reads the first also through the sum.
// CHECK-LABEL: @through
// CHECK-COUNT-3: nest.compute
func.func @through(%x: !k) -> !k {
  %e = nest.compute (k: 4) reads %x[] {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    nest.yield %r : f32
  } : (!k) -> !k
  %s = nest.compute () reduce (k: 4) reads %e[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!k) -> !nd.tensor<f32>
  %q = nest.compute (k: 4) reads %e[], %s[] {
  ^bb0(%a: f32, %b: f32):
    %r = arith.divf %a, %b : f32
    nest.yield %r : f32
  } : (!k, !nd.tensor<f32>) -> !k
  return %q : !k
}

// -----

// Refused: not point by point.
// CHECK-LABEL: @shifted
// CHECK-COUNT-2: nest.compute
func.func @shifted(%x: !nd.tensor<f32, b: 3, k: 4>) -> !nd.tensor<f32, k: 4> {
  %s = nest.compute (k: 4) reduce (b: 3) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, b: 3, k: 4>) -> !nd.tensor<f32, k: 4>
  %q = nest.compute (k: 4) reads %s[k = 3 - k] {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>
  return %q : !nd.tensor<f32, k: 4>
}

// -----

// A bf16 value that was stored is rounded where it goes on as bf16, and the accumulator keeps its width.
// CHECK-LABEL: @narrow
// CHECK: finish {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32):
// CHECK-NEXT: %[[T:.*]] = arith.truncf %[[A]] fastmath<contract> : f32 to bf16
// CHECK-NEXT: math.exp %[[T]] : bf16
// CHECK-NOT: nest.compute
func.func @narrow(%x: !nd.tensor<bf16, b: 3, k: 4>) -> !nd.tensor<bf16, k: 4> {
  %s = nest.compute (k: 4) reduce (b: 3) reads %x[] {
  ^bb0(%a: bf16):
    nest.yield %a : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, b: 3, k: 4>) -> !nd.tensor<bf16, k: 4>
  %q = nest.compute (k: 4) reads %s[] {
  ^bb0(%a: bf16):
    %r = math.exp %a : bf16
    nest.yield %r : bf16
  } : (!nd.tensor<bf16, k: 4>) -> !nd.tensor<bf16, k: 4>
  return %q : !nd.tensor<bf16, k: 4>
}

// -----

// A nest with a schedule of the user's is left as it is.
// CHECK-LABEL: @scheduled
// CHECK-COUNT-2: nest.compute
func.func @scheduled(%x: !nd.tensor<f32, b: 3, k: 4>) -> !nd.tensor<f32, k: 4> {
  %s = nest.compute (k: 4) reduce (b: 3) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop k by 1, loop b by 1]>} : (!nd.tensor<f32, b: 3, k: 4>) -> !nd.tensor<f32, k: 4>
  %q = nest.compute (k: 4) reads %s[] {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>
  return %q : !nd.tensor<f32, k: 4>
}

// -----

// A guard on what was made: the values outside are others.
// CHECK-LABEL: @guarded
// CHECK-COUNT-2: nest.compute
func.func @guarded(%x: !nd.tensor<f32, k: 8, n: 4>) -> !nd.tensor<f32, n: 4> {
  %0 = nest.compute (n: 4) reduce (k: 8) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 8, n: 4>) -> !nd.tensor<f32, n: 4>
  %1 = nest.compute (n: 4) reads %0[] if [n - 1 >= 0] else 5.0 : f32 {
  ^bb0(%v: f32):
    %w = arith.negf %v : f32
    nest.yield %w : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return %1 : !nd.tensor<f32, n: 4>
}

// -----

// A guard on what else is read stays with it.
// CHECK-LABEL: @guarded_beside
// CHECK: finish reads %arg1[] if [n - 1 >= 0] else 5.0
func.func @guarded_beside(%x: !nd.tensor<f32, k: 8, n: 4>, %y: !nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4> {
  %0 = nest.compute (n: 4) reduce (k: 8) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 8, n: 4>) -> !nd.tensor<f32, n: 4>
  %1 = nest.compute (n: 4) reads %0[], %y[] if [n - 1 >= 0] else 5.0 : f32 {
  ^bb0(%v: f32, %u: f32):
    %w = arith.subf %v, %u : f32
    nest.yield %w : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return %1 : !nd.tensor<f32, n: 4>
}
