// Every op in every spelling: what is printed parses to the same.
// RUN: heddle-opt %s | FileCheck %s
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s

// CHECK-LABEL: @types_sorted
// CHECK-SAME: !nd.tensor<f32, batch: 64, channel: 3>
// CHECK-SAME: !nd.tensor<ui8, column: N floordiv 2, row: N>
// CHECK-SAME: !nd.tensor<i1>
!batch_row = !nd.tensor<f32, batch: 2, row: 8>
!row_k = !nd.tensor<f32, row: 8, k: 2>
!k = !nd.tensor<f32, k: 4>

func.func private @types_sorted(!nd.tensor<f32, channel: 3, batch: 64>, !nd.tensor<ui8, row: N, column: N floordiv 2>, !nd.tensor<i1>)

// CHECK-LABEL: @expressions
// CHECK-SAME: a: (N + 1) floordiv 2 - 1, b: N mod 4, c: max(M, N), d: min(M, N), e: 2 * M * N, f: -M + 8, g: (N + 3) floordiv 4
func.func private @expressions(!nd.tensor<f32, a: (N - 3) floordiv 2 + 1, b: N mod 4, c: max(N, M), d: min(M, N), e: M * 2 * N,
                                          f: -(M - 8), g: N ceildiv 4>)

// CHECK-LABEL: @sizes
// CHECK-SAME: some.dims = #nd.dims<batch: 64, row: N floordiv 2>, some.empty = #nd.dims<>, some.size = #nd.size<N + 1>
func.func private @sizes() attributes {some.size = #nd.size<1 + N>, some.dims = #nd.dims<row: N floordiv 2, batch: 64>,
                                       some.empty = #nd.dims<>}

// CHECK-LABEL: @sources
func.func @sources(%key: !nd.tensor<ui64>, %keys: !nd.tensor<ui64, step: 5>, %sized: !nd.tensor<f32, row: N>) {
  // CHECK: nd.constant dense<{{.*}}> : tensor<2x2xf32> by [row, column] : !nd.tensor<f32, column: 2, row: 2>
  %0 = nd.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> by [row, column] : !nd.tensor<f32, column: 2, row: 2>
  // CHECK: nd.constant dense<0.000000e+00> : tensor<f32> by [row] : !nd.tensor<f32, row: N>
  %1 = nd.constant dense<0.0> : tensor<f32> by [row] : !nd.tensor<f32, row: N>
  // CHECK: nd.constant dense<7> : tensor<i8> by [] : !nd.tensor<ui8>
  %2 = nd.constant dense<7> : tensor<i8> by [] : !nd.tensor<ui8>
  // CHECK: nd.iota row : !nd.tensor<i64, row: 3>
  %3 = nd.iota row : !nd.tensor<i64, row: 3>
  // CHECK: nd.random %{{.*}} by [row, column] : !nd.tensor<ui64> -> !nd.tensor<ui32, column: 3, row: 2>
  %4 = nd.random %key by [row, column] : !nd.tensor<ui64> -> !nd.tensor<ui32, row: 2, column: 3>
  // CHECK: nd.random %{{.*}} by [row] : !nd.tensor<ui64, step: 5> -> !nd.tensor<ui32, row: 2, step: 5>
  %5 = nd.random %keys by [row] : !nd.tensor<ui64, step: 5> -> !nd.tensor<ui32, row: 2, step: 5>
  return
}

// CHECK-LABEL: @pointwise
func.func @pointwise(%a: !nd.tensor<f32, row: 2, column: 3>, %b: !nd.tensor<f32, row: 2>, %c: !nd.tensor<f32, channel: 4>) {
  // CHECK: nd.pointwise %{{.*}}, %{{.*}} : (!nd.tensor<f32, column: 3, row: 2>, !nd.tensor<f32, row: 2>) -> !nd.tensor<f32, column: 3, row: 2> {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
  // CHECK-NEXT: arith.addf %[[X]], %[[Y]] : f32
  // CHECK-NEXT: nd.yield %{{.*}} : f32
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, row: 2, column: 3>, !nd.tensor<f32, row: 2>) -> !nd.tensor<f32, row: 2, column: 3> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    nd.yield %s : f32
  }
  // CHECK: nd.pointwise %{{.*}}, %{{.*}} crossed : (
  %1 = nd.pointwise %b, %c crossed : (!nd.tensor<f32, row: 2>, !nd.tensor<f32, channel: 4>) -> !nd.tensor<f32, row: 2, channel: 4> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.mulf %x, %y : f32
    nd.yield %s : f32
  }
  // Linked through the first operand: no outer product.
  %2 = nd.pointwise %a, %b : (!nd.tensor<f32, row: 2, column: 3>, !nd.tensor<f32, row: 2>) -> !nd.tensor<ui8, row: 2, column: 3> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.fptoui %x : f32 to i8
    nd.yield %s : i8
  }
  // CHECK: nd.pointwise : () -> !nd.tensor<f32> {
  %3 = nd.pointwise : () -> !nd.tensor<f32> {
    %one = arith.constant 1.0 : f32
    nd.yield %one : f32
  }
  return
}

// CHECK-LABEL: @combinations
func.func @combinations(%x: !nd.tensor<bf16, row: 3, column: 3, batch: 2>, %i: !nd.tensor<i64, row: 3, column: 3, batch: 2>) {
  // CHECK: nd.reduce %{{.*}} over [row, column] neutral [0.000000e+00 : f32] : (!nd.tensor<bf16, batch: 2, column: 3, row: 3>) -> !nd.tensor<bf16, batch: 2> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  %0 = nd.reduce %x over [row, column] neutral [0.0 : f32] : (!nd.tensor<bf16, batch: 2, column: 3, row: 3>) -> !nd.tensor<bf16, batch: 2> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.addf %a, %e : f32
    nd.yield %r : f32
  }
  // CHECK: nd.reduce %{{.*}}, %{{.*}} over [row] neutral [0xFF80 : bf16, 0] : (
  %1:2 = nd.reduce %x, %i over [row] neutral [0xFF80 : bf16, 0 : i64] : (!nd.tensor<bf16, batch: 2, column: 3, row: 3>,
      !nd.tensor<i64, batch: 2, column: 3, row: 3>) -> (!nd.tensor<bf16, batch: 2, column: 3>, !nd.tensor<i64, batch: 2, column: 3>) {
  ^bb0(%a: bf16, %ai: i64, %e: bf16, %ei: i64):
    %c = arith.cmpf oge, %a, %e : bf16
    %r = arith.select %c, %a, %e : bf16
    %ri = arith.select %c, %ai, %ei : i64
    nd.yield %r, %ri : bf16, i64
  }
  // CHECK: nd.scan %{{.*}} along row neutral [0] : (
  %2 = nd.scan %i along row neutral [0 : i64] : (!nd.tensor<i64, batch: 2, column: 3, row: 3>) -> !nd.tensor<i64, batch: 2, column: 3, row: 3> {
  ^bb0(%a: i64, %e: i64):
    %r = arith.addi %a, %e : i64
    nd.yield %r : i64
  }
  // CHECK: nd.scan %{{.*}} along row exclusive reverse neutral [0] : (
  %3 = nd.scan %i along row exclusive reverse neutral [0 : i64] : (!nd.tensor<i64, batch: 2, column: 3, row: 3>) -> !nd.tensor<i64, batch: 2, column: 3, row: 3> {
  ^bb0(%a: i64, %e: i64):
    %r = arith.addi %a, %e : i64
    nd.yield %r : i64
  }
  return
}

// CHECK-LABEL: @index_maps
func.func @index_maps(%x: !batch_row, %n: !nd.tensor<f32, row: N>, %s: !nd.tensor<f32, i: 2, j: 3, row: 8>) {
  // CHECK: nd.round %{{.*}} to bf16 : !nd.tensor<f32, batch: 2, row: 8> -> !nd.tensor<f32, batch: 2, row: 8>
  %0 = nd.round %x to bf16 : !batch_row -> !batch_row
  // CHECK: nd.window %{{.*}} row -> ky size 3 : !nd.tensor<f32, row: N> -> !nd.tensor<f32, ky: 3, row: N - 2>
  %1 = nd.window %n row -> ky size 3 : !nd.tensor<f32, row: N> -> !nd.tensor<f32, ky: 3, row: N - 2>
  // CHECK: nd.window %{{.*}} row -> ky size 3 stride 2 dilation 2 pad 1, 2 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 2, row: 8> -> !nd.tensor<f32, batch: 2, ky: 3, row: 4>
  %2 = nd.window %x row -> ky size 3 stride 2 dilation 2 pad 1, 2 value 0.0 : f32 : !batch_row -> !nd.tensor<f32, batch: 2, ky: 3, row: 4>
  // CHECK: nd.window %{{.*}} row -> ky size 3 stride 2 pad 1, 1 exclude : !nd.tensor<f32, batch: 2, row: 8> -> !nd.tensor<f32, batch: 2, ky: 3, row: 4>
  %3 = nd.window %x row -> ky size 3 stride 2 pad 1, 1 exclude : !batch_row -> !nd.tensor<f32, batch: 2, ky: 3, row: 4>
  // CHECK: nd.unwindow %{{.*}} row -> ky size 3 stride 2 pad 1, 1 : !nd.tensor<f32, batch: 2, ky: 3, row: 4> -> !nd.tensor<f32, batch: 2, row: 8>
  %4 = nd.unwindow %3 row -> ky size 3 stride 2 pad 1, 1 : !nd.tensor<f32, batch: 2, ky: 3, row: 4> -> !batch_row
  // CHECK: nd.slice %{{.*}} row from 1 size 3 stride 2 : !nd.tensor<f32, batch: 2, row: 8> -> !nd.tensor<f32, batch: 2, row: 3>
  %5 = nd.slice %x row from 1 size 3 stride 2 : !batch_row -> !nd.tensor<f32, batch: 2, row: 3>
  // CHECK: nd.slice %{{.*}} row from 1 size N - 1 : !nd.tensor<f32, row: N> -> !nd.tensor<f32, row: N - 1>
  %6 = nd.slice %n row from 1 size N - 1 : !nd.tensor<f32, row: N> -> !nd.tensor<f32, row: N - 1>
  // CHECK: nd.pad %{{.*}} row low 1 high 2 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 2, row: 8> -> !nd.tensor<f32, batch: 2, row: 11>
  %7 = nd.pad %x row low 1 high 2 value 0.0 : f32 : !batch_row -> !nd.tensor<f32, batch: 2, row: 11>
  // CHECK: nd.pad %{{.*}} row low 1 high 0 interior 1 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 2, row: 8> -> !nd.tensor<f32, batch: 2, row: 16>
  %8 = nd.pad %x row low 1 high 0 interior 1 value 0.0 : f32 : !batch_row -> !nd.tensor<f32, batch: 2, row: 16>
  // CHECK: nd.concat %{{.*}}, %{{.*}} along row : (!nd.tensor<f32, row: N>, !nd.tensor<f32, row: N - 1>) -> !nd.tensor<f32, row: 2 * N - 1>
  %9 = nd.concat %n, %6 along row : (!nd.tensor<f32, row: N>, !nd.tensor<f32, row: N - 1>) -> !nd.tensor<f32, row: 2 * N - 1>
  // CHECK: nd.split %{{.*}} row into [outer, inner] : !nd.tensor<f32, batch: 2, row: 8> -> !nd.tensor<f32, batch: 2, inner: 4, outer: 2>
  %10 = nd.split %x row into [outer, inner] : !batch_row -> !nd.tensor<f32, batch: 2, inner: 4, outer: 2>
  // CHECK: nd.merge %{{.*}} [i, j] into k : !nd.tensor<f32, i: 2, j: 3, row: 8> -> !nd.tensor<f32, k: 6, row: 8>
  %11 = nd.merge %s [i, j] into k : !nd.tensor<f32, i: 2, j: 3, row: 8> -> !nd.tensor<f32, k: 6, row: 8>
  // CHECK: nd.rename %{{.*}} [i, j] to [j, i] : !nd.tensor<f32, i: 2, j: 3, row: 8> -> !nd.tensor<f32, i: 3, j: 2, row: 8>
  %12 = nd.rename %s [i, j] to [j, i] : !nd.tensor<f32, i: 2, j: 3, row: 8> -> !nd.tensor<f32, i: 3, j: 2, row: 8>
  // CHECK: nd.rename %{{.*}} [i] to [ky$1] : !nd.tensor<f32, i: 2, j: 3, row: 8> -> !nd.tensor<f32, j: 3, ky$1: 2, row: 8>
  %13 = nd.rename %s [i] to [ky$1] : !nd.tensor<f32, i: 2, j: 3, row: 8> -> !nd.tensor<f32, ky$1: 2, j: 3, row: 8>
  // CHECK: nd.broadcast %{{.*}} : !nd.tensor<f32, row: N> -> !nd.tensor<f32, batch: 7, row: N>
  %14 = nd.broadcast %n : !nd.tensor<f32, row: N> -> !nd.tensor<f32, row: N, batch: 7>
  return
}

// CHECK-LABEL: @access
func.func @access(%table: !nd.tensor<f32, word: 100, feature: 8>, %ids: !nd.tensor<i32, position: 5>, %grad: !nd.tensor<f32, position: 5, feature: 8>,
                  %zip: !nd.tensor<i64, feature: 8>) {
  // CHECK: nd.gather %{{.*}} [word] at %{{.*}} : (!nd.tensor<f32, feature: 8, word: 100>, !nd.tensor<i32, position: 5>) -> !nd.tensor<f32, feature: 8, position: 5>
  %0 = nd.gather %table [word] at %ids : (!nd.tensor<f32, word: 100, feature: 8>, !nd.tensor<i32, position: 5>) -> !nd.tensor<f32, position: 5, feature: 8>
  // CHECK: nd.gather %{{.*}} [word] at %{{.*}} : ({{.*}}) -> !nd.tensor<f32, feature: 8>
  %1 = nd.gather %table [word] at %zip : (!nd.tensor<f32, word: 100, feature: 8>, !nd.tensor<i64, feature: 8>) -> !nd.tensor<f32, feature: 8>
  // CHECK: nd.scatter %{{.*}} into %{{.*}} [word] at %{{.*}} unique : (
  %2 = nd.scatter %grad into %table [word] at %ids unique : (!nd.tensor<f32, word: 100, feature: 8>, !nd.tensor<f32, position: 5, feature: 8>, !nd.tensor<i32, position: 5>)
      -> !nd.tensor<f32, word: 100, feature: 8> {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nd.yield %r : f32
  }
  return
}

// CHECK-LABEL: @places
func.func @places(%x: !row_k, %s: !nd.tensor<i32, k: 2>, %i: !nd.tensor<i64, row: 8, k: 2>) {
  // CHECK: nd.dynamic_slice %{{.*}} row from %{{.*}} size 3 : (!nd.tensor<f32, k: 2, row: 8>, !nd.tensor<i32, k: 2>) -> !nd.tensor<f32, k: 2, row: 3>
  %0 = nd.dynamic_slice %x row from %s size 3 : (!row_k, !nd.tensor<i32, k: 2>) -> !nd.tensor<f32, row: 3, k: 2>
  // CHECK: nd.update_slice %{{.*}} into %{{.*}} row from %{{.*}} : (!nd.tensor<f32, k: 2, row: 3>, !nd.tensor<f32, k: 2, row: 8>, !nd.tensor<i32, k: 2>) -> !nd.tensor<f32, k: 2, row: 8>
  %1 = nd.update_slice %0 into %x row from %s : (!nd.tensor<f32, row: 3, k: 2>, !row_k, !nd.tensor<i32, k: 2>) -> !row_k
  // CHECK: nd.sort %{{.*}}, %{{.*}} along row descending : (
  %2:2 = nd.sort %x, %i along row descending : (!row_k, !nd.tensor<i64, row: 8, k: 2>) -> (!nd.tensor<f32, row: 5, k: 2>, !nd.tensor<i64, row: 5, k: 2>)
  // CHECK: nd.sort %{{.*}} along k : (!nd.tensor<f32, k: 2, row: 8>) -> !nd.tensor<f32, k: 2, row: 8>
  %3 = nd.sort %x along k : (!row_k) -> !row_k
  // CHECK: nd.slice %{{.*}} row from 7 size 8 stride -1 :
  %4 = nd.slice %x row from 7 size 8 stride -1 : !row_k -> !row_k
  return
}

func.func private @dot(!nd.tensor<f32, k: K>, !nd.tensor<f32, k: K>) -> !nd.tensor<f32>
func.func private @loss(!k, !nd.tensor<i32, k: 4>) -> !nd.tensor<f32>
func.func private @slope(!k, !nd.tensor<i32, k: 4>, !nd.tensor<f32>) -> !k

// CHECK-LABEL: @functions
func.func @functions(%a: !nd.tensor<f32, k: 4, m: 2>, %b: !nd.tensor<f32, k: 4, n: 3>, %c: !k, %i: !nd.tensor<i32, k: 4>, %one: !nd.tensor<f32>) {
  // CHECK: nd.call @dot(%{{.*}}, %{{.*}}) : (!nd.tensor<f32, k: 4, m: 2>, !nd.tensor<f32, k: 4, n: 3>) -> !nd.tensor<f32, m: 2, n: 3>
  %0 = nd.call @dot(%a, %b) : (!nd.tensor<f32, k: 4, m: 2>, !nd.tensor<f32, k: 4, n: 3>) -> !nd.tensor<f32, m: 2, n: 3>
  // CHECK: nd.vjp @loss(%{{.*}}, %{{.*}}) cotangents(%{{.*}}) wrt [0] : (
  %1:2 = nd.vjp @loss(%c, %i) cotangents(%one) wrt [0] : (!k, !nd.tensor<i32, k: 4>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !k)
  // CHECK: nd.jvp @loss(%{{.*}}, %{{.*}}) tangents(%{{.*}}) wrt [0] : (
  %2:2 = nd.jvp @loss(%c, %i) tangents(%c) wrt [0] : (!k, !nd.tensor<i32, k: 4>, !k) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  // CHECK: nd.call @loss(%{{.*}}, %{{.*}}) gradient @slope : (
  %3 = nd.call @loss(%c, %i) gradient @slope : (!k, !nd.tensor<i32, k: 4>) -> !nd.tensor<f32>
  // CHECK: nd.call @loss(%{{.*}}, %{{.*}}) checkpoint : (
  %4 = nd.call @loss(%c, %i) checkpoint : (!k, !nd.tensor<i32, k: 4>) -> !nd.tensor<f32>
  // CHECK: nd.stop_gradient %{{.*}} : !nd.tensor<f32, k: 4>
  %5 = nd.stop_gradient %c : !k
  // CHECK: nd.after %{{.*}}, %{{.*}} : !nd.tensor<f32, k: 4>, !nd.tensor<f32>
  %6 = nd.after %c, %one : !k, !nd.tensor<f32>
  return
}

// CHECK-LABEL: @control
func.func @control(%x: !k, %b: !nd.tensor<i1>) -> !nd.tensor<i64> {
  // CHECK: %[[C:.*]] = nd.item %arg1 : !nd.tensor<i1> -> i1
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // CHECK: scf.if %[[C]] -> (!nd.tensor<f32, k: 4>)
  %y = scf.if %c -> (!k) {
    scf.yield %x : !k
  } else {
    %e = nd.stop_gradient %x : !k
    scf.yield %e : !k
  }
  %i = arith.constant 3 : index
  // CHECK: nd.from_item %{{.*}} : index -> !nd.tensor<i64>
  %n = nd.from_item %i : index -> !nd.tensor<i64>
  return %n : !nd.tensor<i64>
}
