// RUN: heddle-opt %s --nd-differentiate --convert-nd-to-nest --nest-narrow-products --split-input-file | FileCheck %s
// RUN: not heddle-opt %s --nest-narrow-products=type=f32 --split-input-file 2>&1 | FileCheck %s --check-prefix=TYPE

// The product is taken into the sum, and each factor rounded where it lies. A tensor that two sums read is rounded once.
// TYPE: error: expected a float type narrower than f32 for factors, got 'f32'
// CHECK-LABEL: @product
// CHECK: %[[B:.*]] = nest.compute (k: 16, n: 4) reads %arg1[] {
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: %[[A:.*]] = nest.compute (k: 16, m: 8) reads %arg0[] {
// CHECK: %[[P:.*]] = nest.compute (m: 8, n: 4) reduce (k: 16) reads %[[A]][], %[[B]][] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: bf16, %[[Y:.*]]: bf16):
// CHECK-DAG: %[[XW:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK-DAG: %[[YW:.*]] = arith.extf %[[Y]] : bf16 to f32
// CHECK: arith.mulf %[[XW]], %[[YW]] : f32
// CHECK: combine add [0.000000e+00 : f32]
// CHECK-SAME: -> !nd.tensor<f32, m: 8, n: 4>
// CHECK: nest.compute (j: 8, m: 8) reduce (k: 16) reads %[[A]][], %[[A]][m = j] {
func.func @product(%a: !nd.tensor<f32, k: 16, m: 8>, %b: !nd.tensor<f32, k: 16, n: 4>) -> (!nd.tensor<f32, m: 8, n: 4>, !nd.tensor<f32, j: 8, m: 8>) {
  %p = nest.compute (k: 16, m: 8, n: 4) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } : (!nd.tensor<f32, k: 16, m: 8>, !nd.tensor<f32, k: 16, n: 4>) -> !nd.tensor<f32, k: 16, m: 8, n: 4>
  %s = nest.compute (m: 8, n: 4) reduce (k: 16) reads %p[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 16, m: 8, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  %t = nest.compute (j: 8, m: 8) reduce (k: 16) reads %a[], %a[m = j] {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 16, m: 8>, !nd.tensor<f32, k: 16, m: 8>) -> !nd.tensor<f32, j: 8, m: 8>
  return %s, %t : !nd.tensor<f32, m: 8, n: 4>, !nd.tensor<f32, j: 8, m: 8>
}

// -----

// A convolution: windows become maps of the narrow tensor, padding a value of its type. Its gradients read the narrow cotangent,
// and the tensors that the convolution reads.
// CHECK-LABEL: @gradients
// CHECK-DAG: %[[X:.*]] = nest.compute (c: 3, row: 9) reads %arg0[] {
// CHECK-DAG: %[[W:.*]] = nest.compute (c: 3, k: 3, out: 4) reads %arg1[] {
// CHECK-DAG: %[[G:.*]] = nest.compute (out: 4, row: 9) reads %arg2[] {
// CHECK-DAG: nest.compute (out: 4, row: 9) reduce (c: 3, k: 3) reads %[[X]][row = k + row - 1] if [k + row - 1 >= 0, -k - row + 9 >= 0] else 0.000000e+00 : bf16, %[[W]][] {
// CHECK-DAG: nest.compute (c: 3, k: 3, out: 4) reduce (row: 9) reads {{.*}}%[[G]][
// CHECK-DAG: reduce (out: 4) reads {{.*}}%[[G]][
!c_k_out = !nd.tensor<f32, c: 3, k: 3, out: 4>
!out_row = !nd.tensor<f32, out: 4, row: 9>

func.func private @conv(%x: !nd.tensor<f32, c: 3, row: 9>, %w: !c_k_out) -> !out_row {
  %0 = nd.window %x row -> k size 3 pad 1, 1 value 0.0 : f32 : !nd.tensor<f32, c: 3, row: 9> -> !nd.tensor<f32, c: 3, k: 3, row: 9>
  %1 = nd.pointwise %0, %w : (!nd.tensor<f32, c: 3, k: 3, row: 9>, !c_k_out) -> !nd.tensor<f32, c: 3, k: 3, out: 4, row: 9> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    nd.yield %m : f32
  }
  %2 = nd.reduce %1 over [c, k] neutral [0.0 : f32] : (!nd.tensor<f32, c: 3, k: 3, out: 4, row: 9>) -> !out_row {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    nd.yield %m : f32
  }
  return %2 : !out_row
}
func.func @gradients(%x: !nd.tensor<f32, c: 3, row: 9>, %w: !c_k_out, %g: !out_row) -> (!out_row, !nd.tensor<f32, c: 3, row: 9>, !c_k_out) {
  %0:3 = nd.vjp @conv(%x, %w) cotangents(%g) wrt [0, 1] : (!nd.tensor<f32, c: 3, row: 9>, !c_k_out, !out_row) -> (!out_row, !nd.tensor<f32, c: 3, row: 9>, !c_k_out)
  return %0#0, %0#1, %0#2 : !out_row, !nd.tensor<f32, c: 3, row: 9>, !c_k_out
}

// -----

// A factor that the code computes is rounded there; one without names, and one that is narrow, are not.
// CHECK-LABEL: @computed
// CHECK: %[[B:.*]] = nest.compute (k: 16, n: 4) reads %arg1[] {
// CHECK: nest.compute (m: 8, n: 4) reduce (k: 16) reads %arg0[], %[[B]][], %arg2[], %arg3[] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: bf16, %[[S:.*]]: f32, %[[N:.*]]: f16):
// CHECK: %[[E:.*]] = math.exp %[[X]]
// CHECK-NEXT: arith.truncf %[[E]] : f32 to bf16
// CHECK-NOT: truncf
// CHECK: combine add
func.func @computed(%a: !nd.tensor<f32, k: 16, m: 8>, %b: !nd.tensor<f32, k: 16, n: 4>, %s: !nd.tensor<f32>, %h: !nd.tensor<f16, k: 16>) -> !nd.tensor<f32, m: 8, n: 4> {
  %p = nest.compute (m: 8, n: 4) reduce (k: 16) reads %a[], %b[], %s[], %h[] {
  ^bb0(%x: f32, %y: f32, %z: f32, %n: f16):
    %e = math.exp %x : f32
    %w = arith.extf %n : f16 to f32
    %0 = arith.mulf %e, %y : f32
    %1 = arith.mulf %0, %z : f32
    %2 = arith.mulf %1, %w : f32
    nest.yield %2 : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 16, m: 8>, !nd.tensor<f32, k: 16, n: 4>, !nd.tensor<f32>, !nd.tensor<f16, k: 16>) -> !nd.tensor<f32, m: 8, n: 4>
  return %p : !nd.tensor<f32, m: 8, n: 4>
}

// -----

!k_m = !nd.tensor<f32, k: 16, m: 8>

// Refused: products that are not summed; sums of squares; factors with all names; maxima; integers; f64; narrow products.
// CHECK-LABEL: @refused
// CHECK-NOT: truncf
func.func @refused(%a: !k_m, %b: !nd.tensor<f32, k: 16>, %i: !nd.tensor<i32, k: 16, m: 8>, %j: !nd.tensor<i32, k: 16, n: 4>, %d: !nd.tensor<f64, k: 16, m: 8>, %e: !nd.tensor<f64, k: 16, n: 4>, %f: !nd.tensor<bf16, k: 16, m: 8>, %g: !nd.tensor<bf16, k: 16, n: 4>) -> (!k_m, !nd.tensor<f32, m: 8>, !nd.tensor<f32, m: 8>, !nd.tensor<f32, m: 8, n: 8>, !nd.tensor<i32, m: 8, n: 4>, !nd.tensor<f64, m: 8, n: 4>, !nd.tensor<bf16, m: 8, n: 4>) {
  %0 = nest.compute (k: 16, m: 8) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } : (!k_m, !nd.tensor<f32, k: 16>) -> !k_m
  %1 = nest.compute (m: 8) reduce (k: 16) reads %a[] {
  ^bb0(%x: f32):
    %z = arith.mulf %x, %x : f32
    nest.yield %z : f32
  } combine add [0.0 : f32] : (!k_m) -> !nd.tensor<f32, m: 8>
  %2 = nest.compute (m: 8) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } combine add [0.0 : f32] : (!k_m, !nd.tensor<f32, k: 16>) -> !nd.tensor<f32, m: 8>
  %3 = nest.compute (m: 8, n: 8) reduce (k: 16) reads %a[], %a[m = n] {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } combine max [0xFF800000 : f32] : (!k_m, !k_m) -> !nd.tensor<f32, m: 8, n: 8>
  %4 = nest.compute (m: 8, n: 4) reduce (k: 16) reads %i[], %j[] {
  ^bb0(%x: i32, %y: i32):
    %z = arith.muli %x, %y : i32
    nest.yield %z : i32
  } combine add [0 : i32] : (!nd.tensor<i32, k: 16, m: 8>, !nd.tensor<i32, k: 16, n: 4>) -> !nd.tensor<i32, m: 8, n: 4>
  %5 = nest.compute (m: 8, n: 4) reduce (k: 16) reads %d[], %e[] {
  ^bb0(%x: f64, %y: f64):
    %z = arith.mulf %x, %y : f64
    nest.yield %z : f64
  } combine add [0.0 : f64] : (!nd.tensor<f64, k: 16, m: 8>, !nd.tensor<f64, k: 16, n: 4>) -> !nd.tensor<f64, m: 8, n: 4>
  %6 = nest.compute (m: 8, n: 4) reduce (k: 16) reads %f[], %g[] {
  ^bb0(%x: bf16, %y: bf16):
    %z = arith.mulf %x, %y : bf16
    nest.yield %z : bf16
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: 16, m: 8>, !nd.tensor<bf16, k: 16, n: 4>) -> !nd.tensor<bf16, m: 8, n: 4>
  return %0, %1, %2, %3, %4, %5, %6 : !k_m, !nd.tensor<f32, m: 8>, !nd.tensor<f32, m: 8>, !nd.tensor<f32, m: 8, n: 8>, !nd.tensor<i32, m: 8, n: 4>, !nd.tensor<f64, m: 8, n: 4>, !nd.tensor<bf16, m: 8, n: 4>
}
