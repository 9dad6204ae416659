// RUN: heddle-opt %s --nest-fuse-siblings --split-input-file | FileCheck %s

// Sum and sum of squares of one tensor: one pass over it. The second nest has the names `row` and `image` for `k` and `n`.
// CHECK-LABEL: @moments
// CHECK-NEXT: %[[R:.*]]:2 = nest.compute (k: 64) reduce (n: 512) reads %arg0[] {
// CHECK: nest.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: combine [0.000000e+00 : f32, 0.000000e+00 : f32]
// CHECK-NOT: reduce
// CHECK: nest.compute (row: 64) reads %[[R]]#0[k = row], %{{.*}}[]
func.func @moments(%x: !nd.tensor<f32, k: 64, n: 512>) -> !nd.tensor<f32, row: 64> {
  %s = nest.compute (k: 64) reduce (n: 512) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 64, n: 512>) -> !nd.tensor<f32, k: 64>
  %q = nest.compute (row: 64) reduce (image: 512) reads %x[k = row, n = image] {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %a : f32
    nest.yield %b : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 64, n: 512>) -> !nd.tensor<f32, row: 64>
  %r = nest.compute (row: 64) reads %s[k = row], %q[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nest.yield %c : f32
  } : (!nd.tensor<f32, k: 64>, !nd.tensor<f32, row: 64>) -> !nd.tensor<f32, row: 64>
  return %r : !nd.tensor<f32, row: 64>
}

// -----

// A maximum, and the maximum with its index: the maximum is accumulated once.
// CHECK-LABEL: @argmax
// CHECK-NEXT: %[[R:.*]]:2 = nest.compute (n: 64) reduce (k: 16)
// CHECK: nest.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK: combine [0xFF800000 : f32, 2147483647 : i32] {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
// CHECK-NOT: nest.compute
// CHECK: return %[[R]]#0, %[[R]]#0, %[[R]]#1
func.func @argmax(%x: !nd.tensor<f32, k: 16, n: 64>) -> (!nd.tensor<f32, n: 64>, !nd.tensor<f32, n: 64>, !nd.tensor<i32, n: 64>) {
  %m = nest.compute (n: 64) reduce (k: 16) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, k: 16, n: 64>) -> !nd.tensor<f32, n: 64>
  %v:2 = nest.compute (n: 64) reduce (k: 16) reads %x[] {
  ^bb0(%a: f32):
    %c = nest.index k
    %k = arith.index_cast %c : index to i32
    nest.yield %a, %k : f32, i32
  } combine [0xFF800000 : f32, 2147483647 : i32] {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %t = arith.maximumf %a, %b : f32
    %g = arith.cmpf oge, %a, %b : f32
    %s = arith.select %g, %i, %j : i32
    nest.yield %t, %s : f32, i32
  } : (!nd.tensor<f32, k: 16, n: 64>) -> (!nd.tensor<f32, n: 64>, !nd.tensor<i32, n: 64>)
  return %m, %v#0, %v#1 : !nd.tensor<f32, n: 64>, !nd.tensor<f32, n: 64>, !nd.tensor<i32, n: 64>
}

// -----

// Refused: the second depends on the first.
// CHECK-LABEL: @dependent
// CHECK-COUNT-2: reduce
func.func @dependent(%x: !nd.tensor<f32, k: 16, n: 64>) -> !nd.tensor<f32, n: 64> {
  %m = nest.compute (n: 64) reduce (k: 16) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, k: 16, n: 64>) -> !nd.tensor<f32, n: 64>
  %s = nest.compute (n: 64) reduce (k: 16) reads %x[], %m[] {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    nest.yield %e : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 16, n: 64>, !nd.tensor<f32, n: 64>) -> !nd.tensor<f32, n: 64>
  return %s : !nd.tensor<f32, n: 64>
}

// -----

// Refused: the nests leave out other points.
// CHECK-LABEL: @otherPoints
// CHECK-COUNT-2: reduce
func.func @otherPoints(%x: !nd.tensor<f32, n: 64>) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  %a = nest.compute () reduce (n: 64) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 64>) -> !nd.tensor<f32>
  %b = nest.compute () reduce (n: 64) reads %x[] if [n - 32 >= 0] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine max [0xFF800000 : f32] : (!nd.tensor<f32, n: 64>) -> !nd.tensor<f32>
  return %a, %b : !nd.tensor<f32>, !nd.tensor<f32>
}

// -----

// Two products with a common factor are bound by arithmetic: apart.
// CHECK-LABEL: @products
// CHECK-COUNT-2: reduce
func.func @products(%x: !nd.tensor<f32, k: 512, m: 512>, %y: !nd.tensor<f32, k: 512, n: 512>, %z: !nd.tensor<f32, k: 512, n: 512>) -> (!nd.tensor<f32, m: 512, n: 512>, !nd.tensor<f32, m: 512, n: 512>) {
  %c = nest.compute (m: 512, n: 512) reduce (k: 512) reads %x[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 512, m: 512>, !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 512, n: 512>
  %d = nest.compute (m: 512, n: 512) reduce (k: 512) reads %x[], %z[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 512, m: 512>, !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 512, n: 512>
  return %c, %d : !nd.tensor<f32, m: 512, n: 512>, !nd.tensor<f32, m: 512, n: 512>
}

// -----

// One read of %y for both, and two of %x, outside of which other numbers stand.
// CHECK-LABEL: @otherwise
// CHECK: reads %arg1[], %arg0[] if [k - n >= 0] else 0.000000e+00 : f32, %arg0[] if [k - n >= 0] else 1.000000e+00 : f32
func.func @otherwise(%x: !nd.tensor<f32, k: 64, n: 40>, %y: !nd.tensor<f32, k: 64, n: 40>) -> (!nd.tensor<f32, n: 40>, !nd.tensor<f32, n: 40>) {
  %0 = nest.compute (n: 40) reduce (k: 64) reads %y[], %x[] if [k - n >= 0] else 0.0 : f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 64, n: 40>, !nd.tensor<f32, k: 64, n: 40>) -> !nd.tensor<f32, n: 40>
  %1 = nest.compute (n: 40) reduce (k: 64) reads %y[], %x[] if [k - n >= 0] else 1.0 : f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.mulf %u, %v : f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 64, n: 40>, !nd.tensor<f32, k: 64, n: 40>) -> !nd.tensor<f32, n: 40>
  return %0, %1 : !nd.tensor<f32, n: 40>, !nd.tensor<f32, n: 40>
}

// -----

// Large nests that share a scalar only are not fused: the start of a nest is a small part of their time, and each keeps its
// own way to run.
// CHECK-LABEL: @scalar
// CHECK-COUNT-2: nest.compute (n: 512, row: 512)
!n_row = !nd.tensor<f32, n: 512, row: 512>

func.func @scalar(%x: !n_row, %y: !n_row, %rate: !nd.tensor<f32>) -> (!n_row, !n_row) {
  %0 = nest.compute (n: 512, row: 512) reads %x[], %rate[] {
  ^bb0(%e: f32, %s: f32):
    %m = arith.mulf %e, %s : f32
    nest.yield %m : f32
  } : (!n_row, !nd.tensor<f32>) -> !n_row
  %1 = nest.compute (n: 512, row: 512) reads %y[], %rate[] {
  ^bb0(%e: f32, %s: f32):
    %m = arith.mulf %e, %s : f32
    nest.yield %m : f32
  } : (!n_row, !nd.tensor<f32>) -> !n_row
  return %0, %1 : !n_row, !n_row
}

// -----

!n = !nd.tensor<f32, n: 16>

// CHECK-LABEL: @scalarOfSmall
// CHECK: nest.compute (n: 16)
// CHECK-NOT: nest.compute
// CHECK: return
func.func @scalarOfSmall(%x: !n, %y: !n, %rate: !nd.tensor<f32>) -> (!n, !n) {
  %0 = nest.compute (n: 16) reads %x[], %rate[] {
  ^bb0(%e: f32, %s: f32):
    %m = arith.mulf %e, %s : f32
    nest.yield %m : f32
  } : (!n, !nd.tensor<f32>) -> !n
  %1 = nest.compute (n: 16) reads %y[], %rate[] {
  ^bb0(%e: f32, %s: f32):
    %m = arith.mulf %e, %s : f32
    nest.yield %m : f32
  } : (!n, !nd.tensor<f32>) -> !n
  return %0, %1 : !n, !n
}
