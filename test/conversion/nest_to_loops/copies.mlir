// Copies that emission adds run by the loops that are written for them, else by those that nest-choose-schedules writes.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 | FileCheck %s
// RUN: sed 's/ copy \[[^]]*\]//;s/copies = \[[^{}]*>\], //' %s | heddlec - --emit=loops --target-cpu skylake-avx512 | FileCheck %s --check-prefix=CHOSEN
// RUN: heddle-run %s --compare

!m_n = !nd.tensor<f32, m: 16, n: 16>

// CHECK-LABEL: // stage
// CHECK: scf.for {{.*}} to %c32_i64
// CHECK: scf.for {{.*}} to %c16_i64
// CHECK: llvm.load {{.*}} -> f32
// CHECK-NEXT: arith.constant
// CHECK: llvm.store {{.*}} : f32
// CHOSEN-LABEL: // stage
// CHOSEN: scf.for
// CHOSEN: %[[ROW:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHOSEN: llvm.store %[[ROW]]
func.func @stage(%a: !nd.tensor<f32, k: 32, m: 8> {nd.name = "a"}, %b: !nd.tensor<f32, k: 32, n: 16> {nd.name = "b"}) -> !nd.tensor<f32, m: 8, n: 16> {
  %c = nest.compute (m: 8, n: 16) reduce (k: 32) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {heddle.name = "stage", schedule = #nest.schedule<[thread m by 4, loop m by 1, loop k by 1, vector n by 1], [stage 1 at 0 in #nest.layout<[k, n]> copy [loop k by 1, loop n by 1]]>} : (!nd.tensor<f32, k: 32, m: 8>, !nd.tensor<f32, k: 32, n: 16>) -> !nd.tensor<f32, m: 8, n: 16>
  return %c : !nd.tensor<f32, m: 8, n: 16>
}

// The destination, an argument, is copied before it is updated.
// CHECK-LABEL: // update
// CHECK: scf.if
// CHECK-NOT: %c6_i64
// CHECK: llvm.store {{.*}} : f32
// CHOSEN-LABEL: // update
// CHOSEN: scf.if
// CHOSEN-NOT: %c6_i64
// CHOSEN: llvm.store {{.*}} : vector<16xf32>
func.func @update(%d: !nd.tensor<f32, m: 40, n: 32> {nd.name = "d"}, %at: !nd.tensor<i32, p: 6> {nd.name = "at"}, %u: !nd.tensor<f32, p: 6, n: 32> {nd.name = "u"}) -> !nd.tensor<f32, m: 40, n: 32> {
  %0 = nest.update (p: 6, n: 32) %d[m = read(0)] reads %at[], %u[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {copies = [#nest.schedule<[loop n by 1, loop m by 1]>], heddle.name = "update"} : (!nd.tensor<f32, m: 40, n: 32>, !nd.tensor<i32, p: 6>, !nd.tensor<f32, n: 32, p: 6>) -> !nd.tensor<f32, m: 40, n: 32>
  return %0 : !nd.tensor<f32, m: 40, n: 32>
}

// The carried state begins in another layout than the result's, and ends in scratch.
// CHECK-LABEL: // scan
// CHECK-NOT: %c3_i64
// CHECK: llvm.store {{.*}} : f32
// CHOSEN-LABEL: // scan
// CHOSEN-NOT: %c3_i64
// CHOSEN: llvm.store {{.*}} : vector<
func.func @scan(%s: !m_n {nd.name = "s", nd.layout = #nest.layout<[n, m]>}, %x: !nd.tensor<f32, t: 3> {nd.name = "x"}) -> (!m_n {nd.layout = #nest.layout<[m, n]>}) {
  %r = nest.scan along <t: 3> init(%s) reads(%x) {copies = [#nest.schedule<[loop m by 1, loop n by 1]>, #nest.schedule<[loop n by 1, loop m by 1]>], heddle.name = "scan"} : (!m_n, !nd.tensor<f32, t: 3>) -> !m_n {
  ^bb0(%state: !m_n, %each: !nd.tensor<f32>):
    %next = nest.compute (m: 16, n: 16) reads %state[], %each[] {
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      nest.yield %sum : f32
    } : (!m_n, !nd.tensor<f32>) -> !m_n
    nest.yield %next : !m_n
  }
  return %r : !m_n
}
