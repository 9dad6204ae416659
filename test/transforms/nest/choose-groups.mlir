// RUN: heddle-opt %s --convert-nd-to-nest --nest-fuse --nest-choose-groups --nest-form-groups --split-input-file | FileCheck %s

// A normalisation over k: x is read from memory once.
// CHECK-LABEL: @normalise
// CHECK: nest.group (batch: 4096) {
// CHECK-NEXT: nest.compute () reduce (k: 768) reads %arg0[] {
// CHECK: nest.compute () reduce (k: 768) reads %arg0[], %{{.*}}[] {
// CHECK: nest.compute (k: 768) reads %arg0[], %{{.*}}[], %{{.*}}[] {
// CHECK: nest.yield
// CHECK-NOT: nest.compute
func.func @normalise(%x: !nd.tensor<f32, k: 768, batch: 4096>) -> !nd.tensor<f32, k: 768, batch: 4096> {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 768, batch: 4096>) -> !nd.tensor<f32, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %1 = nd.pointwise %x, %0 : (!nd.tensor<f32, k: 768, batch: 4096>, !nd.tensor<f32, batch: 4096>) -> !nd.tensor<f32, k: 768, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 1.30208333e-03 : f32
    %m = arith.mulf %b, %c : f32
    %s = arith.subf %a, %m : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!nd.tensor<f32, k: 768, batch: 4096>) -> !nd.tensor<f32, k: 768, batch: 4096> {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    nd.yield %s : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 768, batch: 4096>) -> !nd.tensor<f32, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %4 = nd.pointwise %1, %3 : (!nd.tensor<f32, k: 768, batch: 4096>, !nd.tensor<f32, batch: 4096>) -> !nd.tensor<f32, k: 768, batch: 4096> {
  ^bb0(%a: f32, %b: f32):
    %r = math.rsqrt %b : f32
    %s = arith.mulf %a, %r : f32
    nd.yield %s : f32
  }
  return %4 : !nd.tensor<f32, k: 768, batch: 4096>
}

// -----

// The same where elements of other rows are neighbours in memory, as the caller has it: one row at a time would touch
// a line for every element.
// CHECK-LABEL: @across
// CHECK-NOT: nest.group
// CHECK: return
func.func @across(%x: !nd.tensor<f32, k: 768, n: 4096>) -> !nd.tensor<f32, k: 768, n: 4096> {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 768, n: 4096>) -> !nd.tensor<f32, n: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %1 = nd.pointwise %x, %0 : (!nd.tensor<f32, k: 768, n: 4096>, !nd.tensor<f32, n: 4096>) -> !nd.tensor<f32, k: 768, n: 4096> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 1.30208333e-03 : f32
    %m = arith.mulf %b, %c : f32
    %s = arith.subf %a, %m : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!nd.tensor<f32, k: 768, n: 4096>) -> !nd.tensor<f32, k: 768, n: 4096> {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    nd.yield %s : f32
  }
  %3 = nd.reduce %2 over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 768, n: 4096>) -> !nd.tensor<f32, n: 4096> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %4 = nd.pointwise %1, %3 : (!nd.tensor<f32, k: 768, n: 4096>, !nd.tensor<f32, n: 4096>) -> !nd.tensor<f32, k: 768, n: 4096> {
  ^bb0(%a: f32, %b: f32):
    %r = math.rsqrt %b : f32
    %s = arith.mulf %a, %r : f32
    nd.yield %s : f32
  }
  return %4 : !nd.tensor<f32, k: 768, n: 4096>
}

// -----

// The same with 8 elements in a row: nothing to fill vectors with.
// CHECK-LABEL: @short
// CHECK-NOT: nest.group
// CHECK: return
func.func @short(%x: !nd.tensor<f32, k: 8, batch: 262144>) -> !nd.tensor<f32, k: 8, batch: 262144> {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 8, batch: 262144>) -> !nd.tensor<f32, batch: 262144> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %1 = nd.pointwise %x, %0 : (!nd.tensor<f32, k: 8, batch: 262144>, !nd.tensor<f32, batch: 262144>) -> !nd.tensor<f32, k: 8, batch: 262144> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.divf %a, %b : f32
    nd.yield %s : f32
  }
  return %1 : !nd.tensor<f32, k: 8, batch: 262144>
}
