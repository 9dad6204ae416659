// The instructions that scheduled nests execute and the bytes that they move, counted by hand, and what limits them.
// RUN: heddle-opt %s --nest-cost 2>&1 >/dev/null | FileCheck %s
// RUN: heddle-opt %s --nest-cost=warm 2>&1 >/dev/null | FileCheck %s --check-prefix=WARM
// RUN: heddle-opt %s --nest-cost=formula 2>&1 >/dev/null | FileCheck %s --check-prefix=FORMULA

// FORMULA: remark: a nest takes step_start_seconds + cold_start_seconds + (overlap(exposed_part, overlap(exposed_in_core, operations * operation_cycles + {{.*}}2 * steps) * issue_cycles, {{.*}}, l2_bytes * (l2_cycles_per_byte + cold_l2_cycles_per_byte), {{.*}}) / cycles_per_second + chunks * chunk_seconds seconds; {{.*}}cycles_per_second 2.6e+09, {{.*}}cold_store_cycles 2.65,

!m_n = !nd.tensor<f32, m: 64, n: 32>
!a_b = !nd.tensor<f32, a: 64, b: 64>
!f = !nd.tensor<f32, f: 32>

module attributes {heddle.machine = #nest.machine<{kind = "cpu", vector_bytes = 64, vector_registers = 32, l1_bytes = 49152,
                                                   l2_bytes = 2097152, l3_bytes = 33554432}>} {

// Tiles of 8 rows and 2 vectors: 8 tiles of 16 steps. A step has 16 multiply-adds, loads 2 vectors of %b and 8 scalars of
// %a, and waits 4 cycles for the sums of the step before. A tile stores 16 vectors.
// Alone, again and again, it starts at once, and its stores wait for no lines.
// WARM: 'compute' takes {{0\.[0-9]+}} us by its schedule, {{0\.[0-9]+}} us by its layouts, {{0\.[0-9]+}} us by its sizes, at least {{0\.[0-9]+}} us, limited by arithmetic; products 2048, loads 1280, stores 128,
// CHECK: 'compute' takes {{2\.[0-9]+}} us by its schedule, {{2\.[0-9]+}} us by its layouts, {{2\.[0-9]+}} us by its sizes, at least {{0\.[0-9]+}} us, limited by arithmetic; products 2048, loads 1280, stores 128, chained 512, steps 128, entries 8, tiles 8, chunks 1{{$}}
func.func @product(%a: !nd.tensor<f32, m: 64, k: 16> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 16, n: 32> {nd.layout = #nest.layout<[k, n]>})
    -> (!m_n {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 8, loop k by 1, register m by 1, register n by 16, vector n by 1]>}
    : (!nd.tensor<f32, m: 64, k: 16>, !nd.tensor<f32, k: 16, n: 32>) -> !m_n
  return %c : !m_n
}

// A tile of 20 rows and 2 vectors has 40 accumulators, 10 more than registers are free: a quarter of the 2560 multiply-adds
// stores and loads its sum.
// CHECK: 'compute' takes {{.*}} tiles 4, spilled 640, chunks 1{{$}}
func.func @spills(%a: !nd.tensor<f32, m: 80, k: 16> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 16, n: 32> {nd.layout = #nest.layout<[k, n]>})
    -> (!nd.tensor<f32, m: 80, n: 32> {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 80, n: 32) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 20, loop k by 1, register m by 1, register n by 16, vector n by 1]>}
    : (!nd.tensor<f32, m: 80, k: 16>, !nd.tensor<f32, k: 16, n: 32>) -> !nd.tensor<f32, m: 80, n: 32>
  return %c : !nd.tensor<f32, m: 80, n: 32>
}

// 100 elements fill 7 vectors, of which the last one is not full; threads share 4 chunks of 2 vectors, one of which has one.
// CHECK: 'compute' takes {{.*}} operations 7, loads 7, stores 7, steps 3.5, entries 1, chunks 4{{$}}
func.func @rest(%x: !nd.tensor<f32, n: 100>) -> !nd.tensor<f32, n: 100> {
  %y = nest.compute (n: 100) reads %x[] {
  ^bb0(%p: f32):
    %r = arith.negf %p : f32
    nest.yield %r : f32
  } {layouts = [#nest.layout<[n]>], schedule = #nest.schedule<[thread n by 32, register n by 16, vector n by 1]>}
    : (!nd.tensor<f32, n: 100>) -> !nd.tensor<f32, n: 100>
  return %y : !nd.tensor<f32, n: 100>
}

// 2^23 elements fit in no cache: each is read once, fetched once to be written, and written back. All bytes count as those of
// the memory, from which they come. A prefetcher misses the first 128 bytes of each run. Both tensors have 8192 pages.
// CHECK: 'compute' takes {{.*}}, limited by memory; {{.*}}, pages 16386, chunks 1, memory_bytes 1.00663e+08, memory_scattered 128{{$}}
func.func @stream(%x: !nd.tensor<f32, n: 8388608>) -> !nd.tensor<f32, n: 8388608> {
  %y = nest.compute (n: 8388608) reads %x[] {
  ^bb0(%p: f32):
    %r = arith.negf %p : f32
    nest.yield %r : f32
  } {layouts = [#nest.layout<[n]>], schedule = #nest.schedule<[cache n by 32, register n by 16, vector n by 1]>}
    : (!nd.tensor<f32, n: 8388608>) -> !nd.tensor<f32, n: 8388608>
  return %y : !nd.tensor<f32, n: 8388608>
}

// Three reads of one tensor share its lines: 2^20 elements are 4 MiB, which L2 does not hold.
// CHECK: 'compute' takes {{.*}} loads 196602, stores 65534, {{.*}} l3_bytes 1.2582{{[0-9]+}}e+07, l3_scattered 128{{$}}
func.func @shared(%x: !nd.tensor<f32, n: 1048576>) -> !nd.tensor<f32, n: 1048544> {
  %y = nest.compute (n: 1048544) reads %x[n = n], %x[n = n + 1], %x[n = n + 2] {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    %t = arith.addf %s, %r : f32
    nest.yield %t : f32
  } {layouts = [#nest.layout<[n]>], schedule = #nest.schedule<[cache n by 32, register n by 16, vector n by 1]>}
    : (!nd.tensor<f32, n: 1048576>, !nd.tensor<f32, n: 1048576>, !nd.tensor<f32, n: 1048576>) -> !nd.tensor<f32, n: 1048544>
  return %y : !nd.tensor<f32, n: 1048544>
}

// A transpose by tiles of 16 x 16 turns vectors in registers; by single elements it loads lane by lane. Each step of the last
// loop reads 4096 bytes further.
// CHECK: 'compute' takes {{.*}}; loads 256, stores 256, turned 256, hops 16, steps 16, entries 4, chunks 1{{$}}
// CHECK: 'compute' takes {{.*}}; stores 256, gathered 4096, hops 256, steps 256, entries 64, chunks 1{{$}}
func.func @transposes(%x: !a_b) -> (!a_b, !a_b) {
  %y = nest.compute (a: 64, b: 64) reads %x[] {
  ^bb0(%p: f32):
    nest.yield %p : f32
  } {layouts = [#nest.layout<[b, a]>], schedule = #nest.schedule<[cache b by 16, cache a by 16, register b by 1, vector a by 1]>}
    : (!a_b) -> !a_b
  %z = nest.compute (a: 64, b: 64) reads %x[] {
  ^bb0(%p: f32):
    nest.yield %p : f32
  } {layouts = [#nest.layout<[b, a]>], schedule = #nest.schedule<[cache b by 1, cache a by 16, vector a by 1]>}
    : (!a_b) -> !a_b
  return %y, %z : !a_b, !a_b
}

// Without a schedule, and without layouts, good ones are assumed.
// CHECK: 'compute' takes {{2\.[0-9]+}} us by its layouts, {{2\.[0-9]+}} us by its sizes, {{.*}}; products 2048, {{.*}}
// CHECK: 'compute' takes {{2\.[0-9]+}} us by its sizes, at least {{.*}}; products 2048, {{.*}}
func.func @assumed(%a: !nd.tensor<f32, m: 64, k: 16>, %b: !nd.tensor<f32, k: 16, n: 32>) -> (!m_n, !m_n) {
  %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>]}
    : (!nd.tensor<f32, m: 64, k: 16>, !nd.tensor<f32, k: 16, n: 32>) -> !m_n
  %d = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32]
    : (!nd.tensor<f32, m: 64, k: 16>, !nd.tensor<f32, k: 16, n: 32>) -> !m_n
  return %c, %d : !m_n, !m_n
}

// A recurrence reads and writes slices: neighbours along f are 8 elements apart, so 8 steps load and store 32 lanes one by one.
// CHECK: 'scan' takes {{.*}} by its schedule, {{.*}}; loads 16, stores 16, gathered 512, {{.*}}
func.func @slices(%init: !f, %x: !nd.tensor<f32, f: 32, t: 8> {nd.layout = #nest.layout<[f, t]>})
    -> (!f, !nd.tensor<f32, f: 32, t: 8>) {
  %r:2 = nest.scan along <t: 8> init(%init) reads(%x) {layouts = [#nest.layout<[f]>, #nest.layout<[f, t]>]}
      : (!f, !nd.tensor<f32, f: 32, t: 8>) -> (!f, !nd.tensor<f32, f: 32, t: 8>) {
  ^bb0(%state: !f, %slice: !f):
    %n = nest.compute (f: 32) reads %slice[] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } {layouts = [#nest.layout<[f]>], schedule = #nest.schedule<[register f by 16, vector f by 1]>} : (!f) -> !f
    %m = nest.compute (f: 32) reads %state[] {
    ^bb0(%p: f32):
      nest.yield %p : f32
    } {layouts = [#nest.layout<[f]>], schedule = #nest.schedule<[register f by 16, vector f by 1]>} : (!f) -> !f
    nest.yield %n, %m : !f, !f
  }
  return %r#0, %r#1 : !f, !nd.tensor<f32, f: 32, t: 8>
}
}
