// What loads cost because of where they are: in two lines, in lines of the same sets, on many pages, in copies.
// RUN: heddle-opt %s --nest-cost 2>&1 >/dev/null | FileCheck %s

!m_n = !nd.tensor<f32, m: 64, n: 1024>

module attributes {heddle.machine = #nest.machine<{kind = "cpu", vector_bytes = 64, vector_registers = 32, l1_bytes = 32768,
                                                   l2_bytes = 1048576, l3_bytes = 33554432}>} {

// Rows of %b have 40 elements, 160 bytes, so every other one begins in the middle of a line, and half of its vectors lie in
// two lines: 8 tiles of 16 steps load 3 vectors each. Scalars of %a lie in one line.
// CHECK: 'compute' takes {{.*}}; products 3072, loads 1408, stores 192, divided 192, {{.*}}
func.func @divided(%a: !nd.tensor<f32, k: 16, m: 64> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 16, n: 40> {nd.layout = #nest.layout<[k, n]>})
    -> (!nd.tensor<f32, m: 64, n: 40> {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 64, n: 40) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 8, loop k by 1, register m by 1, register n by 16, vector n by 1]>}
    : (!nd.tensor<f32, k: 16, m: 64>, !nd.tensor<f32, k: 16, n: 40>) -> !nd.tensor<f32, m: 64, n: 40>
  return %c : !nd.tensor<f32, m: 64, n: 40>
}

// The rows of %a are 4096 bytes apart: a tile of 16 rows reads 16 lines that share a set of 8, so each of the 1024
// steps of 4 tiles fetches 16 lines from L2 again, 4 MiB. Rows of 4160 bytes share no sets: a tile fetches its lines once.
// CHECK: 'compute' takes {{.*}}; products 65536, loads 69632, stores 64, crowded 69632, {{.*}} l2_bytes 4.46464e+06,
// CHECK: 'compute' takes {{.*}}; products 66560, loads 70720, stores 64, chained {{.*}} l2_bytes 540672,
func.func @sets(%a: !nd.tensor<f32, k: 1024, m: 32> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 1024, n: 32> {nd.layout = #nest.layout<[k, n]>},
                %d: !nd.tensor<f32, k: 1040, m: 32> {nd.layout = #nest.layout<[m, k]>}, %e: !nd.tensor<f32, k: 1040, n: 32> {nd.layout = #nest.layout<[k, n]>})
    -> (!nd.tensor<f32, m: 32, n: 32> {nd.layout = #nest.layout<[m, n]>}, !nd.tensor<f32, m: 32, n: 32> {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 32, n: 32) reduce (k: 1024) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 16, cache n by 16, loop k by 1, register m by 1, vector n by 1]>}
    : (!nd.tensor<f32, k: 1024, m: 32>, !nd.tensor<f32, k: 1024, n: 32>) -> !nd.tensor<f32, m: 32, n: 32>
  %f = nest.compute (m: 32, n: 32) reduce (k: 1040) reads %d[], %e[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 16, cache n by 16, loop k by 1, register m by 1, vector n by 1]>}
    : (!nd.tensor<f32, k: 1040, m: 32>, !nd.tensor<f32, k: 1040, n: 32>) -> !nd.tensor<f32, m: 32, n: 32>
  return %c, %f : !nd.tensor<f32, m: 32, n: 32>, !nd.tensor<f32, m: 32, n: 32>
}

// A step of k is a page of %b: the 256 steps of each of 32 * 8 tiles search 256 pages, and some of the other tensors. A copy
// of 256 x 32 elements searches them once in each of the 32 steps of n. Each of its runs has 2 vectors, and is not aligned.
// CHECK: 'compute' takes {{.*}}, hops 65536, {{.*}} pages 68367.2,
// CHECK: 'compute' takes {{.*}}, copied 20480, pages 11041.9,
func.func @pages(%a: !nd.tensor<f32, k: 256, m: 64> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 256, n: 1024> {nd.layout = #nest.layout<[k, n]>})
    -> (!m_n {nd.layout = #nest.layout<[m, n]>}, !m_n {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 64, n: 1024) reduce (k: 256) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache n by 32, cache m by 8, loop k by 1, register m by 1, register n by 16, vector n by 1]>}
    : (!nd.tensor<f32, k: 256, m: 64>, !nd.tensor<f32, k: 256, n: 1024>) -> !m_n
  %f = nest.compute (m: 64, n: 1024) reduce (k: 256) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache n by 32, cache m by 8, loop k by 1, register m by 1, register n by 16, vector n by 1],
                                                                                        [stage 1 at 0 in #nest.layout<[k, n]>]>}
    : (!nd.tensor<f32, k: 256, m: 64>, !nd.tensor<f32, k: 256, n: 1024>) -> !m_n
  return %c, %f : !m_n, !m_n
}

// A copy that changes in a loop of chunks waits for its bytes from L3: %b has 4 MiB. With two buffers it does not.
// CHECK: 'compute' takes {{.*}}, waited 4.19{{[0-9]*}}e+06,
// CHECK: 'compute' takes
// CHECK-NOT: waited
func.func @waits(%a: !nd.tensor<f32, k: 1024, m: 64> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 1024, n: 1024> {nd.layout = #nest.layout<[k, n]>})
    -> (!m_n {nd.layout = #nest.layout<[m, n]>}, !m_n {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 64, n: 1024) reduce (k: 1024) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache n by 32, cache m by 8, loop k by 1, register m by 1, register n by 16, vector n by 1],
                                                                                        [stage 1 at 0 in #nest.layout<[k, n]>]>}
    : (!nd.tensor<f32, k: 1024, m: 64>, !nd.tensor<f32, k: 1024, n: 1024>) -> !m_n
  %f = nest.compute (m: 64, n: 1024) reduce (k: 1024) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache n by 32, cache m by 8, loop k by 1, register m by 1, register n by 16, vector n by 1],
                                                                                        [stage 1 at 0 in #nest.layout<[k, n]> buffers 2]>}
    : (!nd.tensor<f32, k: 1024, m: 64>, !nd.tensor<f32, k: 1024, n: 1024>) -> !m_n
  return %c, %f : !m_n, !m_n
}

// Two coordinates depend on one name: a tile of 8 rows reads 8 lines, not 2 * 8. They fit the set that they share.
// CHECK: 'compute' takes {{.*}}; products 16384, loads 18432, stores 16, crowded 128, {{.*}} l2_bytes 271360,
func.func @two_of_one(%a: !nd.tensor<f32, c: 2, g: 8, k: 1024> {nd.layout = #nest.layout<[g, c, k]>}, %b: !nd.tensor<f32, k: 1024, n: 16> {nd.layout = #nest.layout<[k, n]>})
    -> (!nd.tensor<f32, m: 16, n: 16> {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 16, n: 16) reduce (k: 1024) reads %a[c = m mod 2, g = m floordiv 2], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 8, loop k by 1, register m by 1, vector n by 1]>}
    : (!nd.tensor<f32, c: 2, g: 8, k: 1024>, !nd.tensor<f32, k: 1024, n: 16>) -> !nd.tensor<f32, m: 16, n: 16>
  return %c : !nd.tensor<f32, m: 16, n: 16>
}
}
