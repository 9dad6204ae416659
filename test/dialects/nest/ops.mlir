// Every op and attribute in every spelling: what is printed parses to the same.
// RUN: heddle-opt %s | FileCheck %s
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s

// CHECK-LABEL: @attributes
func.func private @attributes() attributes {
  // Entries are sorted by the tensor's name.
  // CHECK-SAME: some.a_map = #nest.map<channel = read(0), column = column, row = ky + 2 * row>
  some.a_map = #nest.map<row = 2 * row + ky, column = column, channel = read(0)>,
  // CHECK-SAME: some.b_guard = #nest.guard<[row - 1 ge 0, (ky + row) mod 2 == 0] else 0.000000e+00 : f32>
  some.b_guard = #nest.guard<[row - 1 ge 0, (row + ky) mod 2 == 0] else 0.0 : f32>,
  // CHECK-SAME: some.c_guard = #nest.guard<[]>
  some.c_guard = #nest.guard<[]>,
  // CHECK-SAME: some.d_layout = #nest.layout<[batch, channel floordiv 16, row, column, channel mod 16]>
  some.d_layout = #nest.layout<[batch, channel floordiv 16, row, column, channel mod 16]>,
  // CHECK-SAME: some.e_layout = #nest.layout<[row pad(1, 1), (out, j) floordiv 16, (out, j) mod 16], align 128, zero_padded, swizzle(3, 4, 3)>
  some.e_layout = #nest.layout<[row pad(1, 1), (out, j) floordiv 16, (out, j) mod 16], align 128, zero_padded, swizzle(3, 4, 3)>,
  // CHECK-SAME: some.f_layout = #nest.layout<[]>
  some.f_layout = #nest.layout<[]>,
  // CHECK-SAME: some.g_machine = #nest.machine<{ghz = 2.500000e+00 : f64, kind = "cpu", what_comes_later = [1, 2]}>
  some.g_machine = #nest.machine<{kind = "cpu", ghz = 2.5 : f64, what_comes_later = [1, 2]}>,
  // CHECK-SAME: some.g_partial = #nest.schedule<[vector (out, j) by 1], partial>
  // CHECK-SAME: some.g_scalar = #nest.schedule<[], partial>
  // CHECK-SAME: some.g_unit = #nest.unit<"bf16_dot", (k: 2, m: 1, n: 16), bf16 in [m, k] * bf16 in [n, k] + f32 in [m, n], rate 2.000000e+00>
  // CHECK-SAME: some.g_unit2 = #nest.unit<"amx_i8", (k: 64, m: 16, n: 16), i8 in [m, k] * ui8 in [k floordiv 4, n, k mod 4] + i32 in [m, n], rate 1.650000e+01>
  // CHECK-SAME: some.h_schedule = #nest.schedule<[thread (b, row) by 1, cache out by 32, loop k by 4 unroll 2, loop k by 1, register out by 16, vector out by 1], [stage 0 at 1 in #nest.layout<[k, b]>, stage 1 at 2 level "shared" in #nest.layout<[out, k]> buffers 2 engine "tma"]>
  some.g_partial = #nest.schedule<[vector (out, j) by 1], partial>,
  some.g_scalar = #nest.schedule<[], partial>,
  some.g_unit = #nest.unit<"bf16_dot", (k: 2, m: 1, n: 16), bf16 in [m, k] * bf16 in [n, k] + f32 in [m, n], rate 2.0>,
  some.g_unit2 = #nest.unit<"amx_i8", (n: 16, k: 64, m: 16), i8 in [m, k] * ui8 in [k floordiv 4, n, k mod 4] + i32 in [m, n], rate 16.5>,
  some.h_schedule = #nest.schedule<[thread (b, row) by 1, cache out by 32, loop k by 4 unroll 2, loop k by 1, register out by 16, vector out by 1],
      [stage 0 at 1 in #nest.layout<[k, b]>, stage 1 at 2 level "shared" in #nest.layout<[out, k]> buffers 2 engine "tma"]>
}

// Identity entries of a map and guards that always hold are not printed.
// CHECK-LABEL: @compute
func.func @compute(%a: !nd.tensor<f32, k: 16, m: 64>, %b: !nd.tensor<f32, k: 33, n: 32>, %bias: !nd.tensor<f32, n: 32>) {
  // CHECK: nest.compute (m: 64, n: 32) reduce (k: 16) reads %{{.*}}[], %{{.*}}[k = 2 * k + 1] if [k - 3 >= 0] else 0.000000e+00 : f32 {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK: } combine add [0.000000e+00 : f32] finish reads %{{.*}}[] {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK: } {layouts = [#nest.layout<[m, n floordiv 16, n mod 16]>]} : (!nd.tensor<f32, k: 16, m: 64>, !nd.tensor<f32, k: 33, n: 32>, !nd.tensor<f32, n: 32>) -> !nd.tensor<f32, m: 64, n: 32>
  %0 = nest.compute (n: 32, m: 64) reduce (k: 16) reads %a[k = k], %b[k = 2 * k + 1] if [k - 3 >= 0] else 0.0 : f32 {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] finish reads %bias[] if [] {
  ^bb0(%sum: f32, %c: f32):
    %r = arith.addf %sum, %c : f32
    nest.yield %r : f32
  } {layouts = [#nest.layout<[m, n floordiv 16, n mod 16]>]} : (!nd.tensor<f32, k: 16, m: 64>, !nd.tensor<f32, k: 33, n: 32>, !nd.tensor<f32, n: 32>) -> !nd.tensor<f32, m: 64, n: 32>
  return
}

// Combiners that have a name are printed by it; `unsigned` where the kind alone is ambiguous.
// CHECK-LABEL: @combiners
func.func @combiners(%a: !nd.tensor<i32, k: 4>, %u: !nd.tensor<ui32, k: 4>, %o: !nd.tensor<i1, k: 4>) {
  // CHECK: combine max [-2147483648 : i32]
  %0 = nest.compute () reduce (k: 4) reads %a[] {
  ^bb0(%x: i32):
    nest.yield %x : i32
  } combine [-2147483648 : i32] {
  ^bb0(%p: i32, %e: i32):
    %r = arith.maxsi %p, %e : i32
    nest.yield %r : i32
  } : (!nd.tensor<i32, k: 4>) -> !nd.tensor<i32>
  // CHECK: combine unsigned max [0 : i32]
  %1 = nest.compute () reduce (k: 4) reads %u[] {
  ^bb0(%x: i32):
    nest.yield %x : i32
  } combine unsigned max [0 : i32] : (!nd.tensor<ui32, k: 4>) -> !nd.tensor<ui32>
  // CHECK: combine or [false]
  %2 = nest.compute () reduce (k: 4) reads %o[] {
  ^bb0(%x: i1):
    nest.yield %x : i1
  } combine or [false] : (!nd.tensor<i1, k: 4>) -> !nd.tensor<i1>
  // CHECK: combine [0 : i32, 1 : i32] {
  // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32):
  %3:2 = nest.compute () reduce (k: 4) reads %a[] {
  ^bb0(%x: i32):
    nest.yield %x, %x : i32, i32
  } combine [0 : i32, 1 : i32] {
  ^bb0(%p: i32, %q: i32, %e: i32, %f: i32):
    %r = arith.addi %p, %e : i32
    %s = arith.muli %q, %f : i32
    nest.yield %r, %s : i32, i32
  } : (!nd.tensor<i32, k: 4>) -> (!nd.tensor<i32>, !nd.tensor<i32>)
  return
}

// CHECK-LABEL: @others
func.func @others(%a: !nd.tensor<f32, n: 5>, %at: !nd.tensor<i64, p: 3>, %u: !nd.tensor<f32, p: 3>, %s: !nd.tensor<f32>) {
  // CHECK: nest.update (p: 3) %{{.*}}[n = read(0)] unique reads %{{.*}}[], %{{.*}}[] if [p - 1 >= 0] {
  // CHECK: } combine {
  // CHECK: } {layouts = [#nest.layout<[n]>]} : (!nd.tensor<f32, n: 5>, !nd.tensor<i64, p: 3>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 5>
  %0 = nest.update (p: 3) %a[n = read(0)] unique reads %at[], %u[] if [p - 1 >= 0] {
  ^bb0(%i: i64, %x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } {layouts = [#nest.layout<[n]>]} : (!nd.tensor<f32, n: 5>, !nd.tensor<i64, p: 3>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 5>
  // CHECK: nest.scan along <p: 3> reverse init(%{{.*}}) reads(%{{.*}}) : (!nd.tensor<f32>, !nd.tensor<f32, p: 3>) -> (!nd.tensor<f32>, !nd.tensor<f32, p: 3>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: !nd.tensor<f32>, %{{.*}}: !nd.tensor<f32>):
  // CHECK-NEXT: nest.yield %{{.*}}, %{{.*}} : !nd.tensor<f32>, !nd.tensor<f32>
  %1:2 = nest.scan along #nd.dims<p: 3> reverse init(%s) reads(%u) : (!nd.tensor<f32>, !nd.tensor<f32, p: 3>) -> (!nd.tensor<f32>, !nd.tensor<f32, p: 3>) {
  ^bb0(%state: !nd.tensor<f32>, %slice: !nd.tensor<f32>):
    nest.yield %slice, %state : !nd.tensor<f32>, !nd.tensor<f32>
  }
  // CHECK: nest.sort %{{.*}} along <p: 3> descending {layouts = [#nest.layout<[p]>]} : (!nd.tensor<f32, p: 3>) -> !nd.tensor<f32, p: 2>
  %sorted = nest.sort %u along <p: 3> descending {layouts = [#nest.layout<[p]>]} : (!nd.tensor<f32, p: 3>) -> !nd.tensor<f32, p: 2>
  // CHECK: nest.group (g: 2) {
  // CHECK: nest.compute (n: 4) reads %{{.*}}[n = g + n] {
  // CHECK: nest.index g
  // CHECK: nest.yield %{{.*}} : !nd.tensor<f32, n: 4>
  // CHECK-NEXT: } {layouts = [#nest.layout<[n, g]>], schedule = #nest.schedule<[thread g by 1]>} : !nd.tensor<f32, g: 2, n: 4>
  %2 = nest.group (g: 2) {
    %3 = nest.compute (n: 4) reads %a[n = n + g] {
    ^bb0(%x: f32):
      %i = nest.index g
      nest.yield %x : f32
    } : (!nd.tensor<f32, n: 5>) -> !nd.tensor<f32, n: 4>
    nest.yield %3 : !nd.tensor<f32, n: 4>
  } {layouts = [#nest.layout<[n, g]>], schedule = #nest.schedule<[thread g by 1]>} : !nd.tensor<f32, g: 2, n: 4>
  return
}
