// nest-choose-schedules: loops for every nest, from its layouts and the module's machine.
// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s
// RUN: heddle-opt %s --nest-choose-schedules | heddle-opt --nest-choose-schedules | FileCheck %s
// RUN: sed 's/vector_bytes = 32/vector_bytes = 64/' %s | heddle-opt --nest-choose-schedules | FileCheck %s --check-prefix=WIDE

!a_b_c_r = !nd.tensor<f32, a: 8, b: 8, c: 512, r: 512>
!a_b_r = !nd.tensor<f32, a: 32, b: 128, r: 64>
!a_b = !nd.tensor<f32, a: 64, b: 64>
!m12_nN = !nd.tensor<f32, m: 12, n: N>
!m16_n16 = !nd.tensor<f32, m: 16, n: 16>
!a = !nd.tensor<f32, a: 4>

module attributes {heddle.machine = #nest.machine<{vector_bytes = 32, vector_registers = 16}>} {

// Lanes walk the name along which both tensors are contiguous: it follows from the layouts, not from the order of names.
// CHECK-LABEL: func.func @lanes
// CHECK: schedule = #nest.schedule<[{{.*}}vector a by 1]>
// WIDE-LABEL: func.func @lanes
// WIDE: schedule = #nest.schedule<[{{.*}}register a by 16, vector a by 1]>
func.func @lanes(%x: !a_b {nd.layout = #nest.layout<[b, a]>})
    -> (!a_b {nd.layout = #nest.layout<[b, a]>}) {
  %0 = nest.compute (a: 64, b: 64) reads %x[] {
  ^bb0(%v: f32):
    %1 = arith.addf %v, %v : f32
    nest.yield %1 : f32
  } : (!a_b) -> !a_b
  return %0 : !a_b
}

// Lanes that a partial schedule states are kept, also where others would be better; `[], partial` asks for none.
// CHECK-LABEL: func.func @partial
// CHECK: schedule = #nest.schedule<[{{.*}}vector b by 1]>
// CHECK-NOT: vector {{.*}} by 1
// CHECK: schedule = #nest.schedule<[{{.*}}vector k by 1]>
func.func @partial(%x: !a_b {nd.layout = #nest.layout<[b, a]>},
                   %y: !nd.tensor<f32, k: 512, n: 64> {nd.layout = #nest.layout<[k, n]>})
    -> (!a_b {nd.layout = #nest.layout<[b, a]>}, !a_b {nd.layout = #nest.layout<[b, a]>},
        !nd.tensor<f32, n: 64>) {
  %0 = nest.compute (a: 64, b: 64) reads %x[] {
  ^bb0(%v: f32):
    %1 = arith.addf %v, %v : f32
    nest.yield %1 : f32
  } {schedule = #nest.schedule<[vector b by 1], partial>} : (!a_b) -> !a_b
  %2 = nest.compute (a: 64, b: 64) reads %x[] {
  ^bb0(%v: f32):
    %3 = arith.mulf %v, %v : f32
    nest.yield %3 : f32
  } {schedule = #nest.schedule<[], partial>} : (!a_b) -> !a_b
  %4 = nest.compute (n: 64) reduce (k: 512) reads %y[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[n]>], schedule = #nest.schedule<[vector k by 1], partial>}
    : (!nd.tensor<f32, k: 512, n: 64>) -> !nd.tensor<f32, n: 64>
  return %0, %2, %4 : !a_b, !a_b, !nd.tensor<f32, n: 64>
}

// A sum of products has a register tile. A schedule that is written stays.
// CHECK-LABEL: func.func @product
// CHECK: schedule = #nest.schedule<[{{.*}}register m by 1, {{.*}}vector n by 1], [stage {{.*}} copy [{{.*}}vector n by 1]
// CHECK: schedule = #nest.schedule<[loop n by 1, loop m by 1]>
func.func @product(%x: !nd.tensor<f32, m: 512, k: 512> {nd.layout = #nest.layout<[m, k]>},
                   %y: !nd.tensor<f32, k: 512, n: 512> {nd.layout = #nest.layout<[k, n]>}) -> !nd.tensor<f32, m: 512, n: 512> {
  %0 = nest.compute (m: 512, n: 512) reduce (k: 512) reads %x[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    nest.yield %1 : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>]}
    : (!nd.tensor<f32, m: 512, k: 512>, !nd.tensor<f32, k: 512, n: 512>) -> !nd.tensor<f32, m: 512, n: 512>
  %2 = nest.compute (m: 512, n: 512) reads %0[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {schedule = #nest.schedule<[loop n by 1, loop m by 1]>} : (!nd.tensor<f32, m: 512, n: 512>) -> !nd.tensor<f32, m: 512, n: 512>
  return %2 : !nd.tensor<f32, m: 512, n: 512>
}

// The number of chunks follows from the schedule: steps of its threads, or of its grid, clusters and blocks. Nests inside of
// another one have none of their own.
// CHECK-LABEL: func.func @chunks
// CHECK: heddle.chunks = #nd.size<3 * ((N + 31) floordiv 32)>, schedule = #nest.schedule<[thread n by 32, thread m by 5, loop m by 1, loop n by 1]>
// CHECK: heddle.chunks = #nd.size<6>, schedule = #nest.schedule<[grid m by 4, block m by 2, lane m by 1, loop n by 1]>
// CHECK: heddle.chunks = #nd.size<334>, schedule = #nest.schedule<[thread m by 3, loop m by 1]>
// CHECK: nest.group
// CHECK-NOT: heddle.chunks
// CHECK: nest.yield
// CHECK-NEXT: } : (
// CHECK-NEXT: nest.yield
// CHECK-NEXT: } {heddle.chunks = #nd.size<1>, schedule = #nest.schedule<[cache g by 1]>}
func.func @chunks(%x: !m12_nN, %y: !nd.tensor<f32, m: 1000, n: 9>)
    -> (!m12_nN, !m12_nN, !nd.tensor<f32, m: 1000, n: 9>, !nd.tensor<f32, g: 7, n: 9>) {
  %0 = nest.compute (m: 12, n: N) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {schedule = #nest.schedule<[thread n by 32, thread m by 5, loop m by 1, loop n by 1]>} : (!m12_nN) -> !m12_nN
  %1 = nest.compute (m: 12, n: N) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } {schedule = #nest.schedule<[grid m by 4, block m by 2, lane m by 1, loop n by 1]>} : (!m12_nN) -> !m12_nN
  %2 = nest.sort %y along <n: 9> : (!nd.tensor<f32, m: 1000, n: 9>) -> !nd.tensor<f32, m: 1000, n: 9>
  %3 = nest.group (g: 7) {
    %4 = nest.compute (n: 9) reads %y[m = g] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } : (!nd.tensor<f32, m: 1000, n: 9>) -> !nd.tensor<f32, n: 9>
    nest.yield %4 : !nd.tensor<f32, n: 9>
  } : !nd.tensor<f32, g: 7, n: 9>
  return %0, %1, %2, %3 : !m12_nN, !m12_nN, !nd.tensor<f32, m: 1000, n: 9>, !nd.tensor<f32, g: 7, n: 9>
}

// Lanes of merged names would begin again in the middle of a vector, where both reads are gathered.
// CHECK-LABEL: func.func @crossing
// CHECK: schedule = #nest.schedule<[{{.*}}register i by 1, {{.*}}vector k by 1]
func.func @crossing(%x: !nd.tensor<f32, i: 30, j: 30> {nd.layout = #nest.layout<[i, j]>},
                    %y: !nd.tensor<f32, j: 30, k: 30> {nd.layout = #nest.layout<[j, k]>}) -> !nd.tensor<f32, i: 30, k: 30> {
  %0 = nest.compute (i: 30, k: 30) reduce (j: 30) reads %x[], %y[] {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    nest.yield %1 : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[i, k]>]}
    : (!nd.tensor<f32, i: 30, j: 30>, !nd.tensor<f32, j: 30, k: 30>) -> !nd.tensor<f32, i: 30, k: 30>
  return %0 : !nd.tensor<f32, i: 30, k: 30>
}

// A row at a place that a value tells, and a slice that begins there, still lie side by side along what the value does not
// move with. Lanes along `p`, of which each has a value of its own, are gathered.
// CHECK-LABEL: func.func @places
// CHECK-COUNT-2: schedule = #nest.schedule<[{{.*}}vector c by 1]
func.func @places(%x: !nd.tensor<f32, c: 40, m: 9> {nd.layout = #nest.layout<[m, c]>}, %at: !nd.tensor<i64, p: 5>,
                  %from: !nd.tensor<i64>) -> (!nd.tensor<f32, c: 12, p: 5>, !nd.tensor<f32, c: 12, m: 9>) {
  %0 = nest.compute (c: 12, p: 5) reads %at[], %x[m = read(0)] {
  ^bb0(%i: i64, %v: f32):
    nest.yield %v : f32
  } {layouts = [#nest.layout<[p, c]>]} : (!nd.tensor<i64, p: 5>, !nd.tensor<f32, c: 40, m: 9>) -> !nd.tensor<f32, c: 12, p: 5>
  %1 = nest.compute (c: 12, m: 9) reads %from[], %x[c = c + max(0, min(28, read(0)))] {
  ^bb0(%i: i64, %v: f32):
    nest.yield %v : f32
  } {layouts = [#nest.layout<[m, c]>]} : (!nd.tensor<i64>, !nd.tensor<f32, c: 40, m: 9>) -> !nd.tensor<f32, c: 12, m: 9>
  return %0, %1 : !nd.tensor<f32, c: 12, p: 5>, !nd.tensor<f32, c: 12, m: 9>
}

// A value that a group yields is in the buffer of its result: its layout at one point determines the lanes of the inner nest.
// CHECK-LABEL: func.func @group
// CHECK: schedule = #nest.schedule<[{{.*}}vector r by 1]>
// CHECK: schedule = #nest.schedule<[cache b by 1]>
func.func @group(%x: !nd.tensor<f32, b: 8, r: 32, c: 32> {nd.layout = #nest.layout<[b, c, r]>})
    -> (!nd.tensor<f32, b: 8, r: 32, c: 32> {nd.layout = #nest.layout<[c, b, r]>}) {
  %0 = nest.group (b: 8) {
    %1 = nest.compute (r: 32, c: 32) reads %x[b = b] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } : (!nd.tensor<f32, b: 8, r: 32, c: 32>) -> !nd.tensor<f32, r: 32, c: 32>
    nest.yield %1 : !nd.tensor<f32, r: 32, c: 32>
  } : !nd.tensor<f32, b: 8, r: 32, c: 32>
  return %0 : !nd.tensor<f32, b: 8, r: 32, c: 32>
}

// Threads and lanes of an update walk names that alone give a coordinate of the destination.
// CHECK-LABEL: func.func @update
// CHECK: copies = [#nest.schedule<[cache m by 1, cache n by 16, {{.*}}vector n by 1]>], {{.*}}schedule = #nest.schedule<[cache q by 24, loop p by 1, {{.*}}vector q by 1]>
func.func @update(%d: !nd.tensor<f32, m: 40, n: 24> {nd.layout = #nest.layout<[m, n]>}, %at: !nd.tensor<i32, p: 6>,
                  %u: !nd.tensor<f32, p: 6, q: 24>) -> !nd.tensor<f32, m: 40, n: 24> {
  %0 = nest.update (p: 6, q: 24) %d[m = read(0), n = q] reads %at[], %u[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, m: 40, n: 24>, !nd.tensor<i32, p: 6>, !nd.tensor<f32, p: 6, q: 24>) -> !nd.tensor<f32, m: 40, n: 24>
  return %0 : !nd.tensor<f32, m: 40, n: 24>
}

// A scan copies the state that it starts with to the layout of its results, and the last one to the results. What is written
// stays.
// CHECK-LABEL: func.func @scan
// CHECK: copies = [#nest.schedule<[{{.*}}register {{[mn]}} by 8, vector {{[mn]}} by 1]>, #nest.schedule<[cache m by 1, {{.*}}vector n by 1]>]
// CHECK: copies = [#nest.schedule<[loop m by 1, loop n by 1]>, #nest.schedule<[vector m by 1]>]
func.func @scan(%s: !m16_n16 {nd.layout = #nest.layout<[n, m]>}, %x: !nd.tensor<f32, t: 3>)
    -> (!m16_n16 {nd.layout = #nest.layout<[m, n]>}, !m16_n16) {
  %0 = nest.scan along <t: 3> init(%s) reads(%x) : (!m16_n16, !nd.tensor<f32, t: 3>) -> !m16_n16 {
  ^bb0(%state: !m16_n16, %each: !nd.tensor<f32>):
    %1 = nest.compute (m: 16, n: 16) reads %state[], %each[] {
    ^bb0(%p: f32, %q: f32):
      %2 = arith.addf %p, %q : f32
      nest.yield %2 : f32
    } : (!m16_n16, !nd.tensor<f32>) -> !m16_n16
    nest.yield %1 : !m16_n16
  }
  %3 = nest.scan along <t: 3> init(%s) reads(%x) {copies = [#nest.schedule<[loop m by 1, loop n by 1]>, #nest.schedule<[vector m by 1]>]}
      : (!m16_n16, !nd.tensor<f32, t: 3>) -> !m16_n16 {
  ^bb0(%state: !m16_n16, %each: !nd.tensor<f32>):
    %1 = nest.compute (m: 16, n: 16) reads %state[], %each[] {
    ^bb0(%p: f32, %q: f32):
      %2 = arith.addf %p, %q : f32
      nest.yield %2 : f32
    } : (!m16_n16, !nd.tensor<f32>) -> !m16_n16
    nest.yield %1 : !m16_n16
  }
  return %0, %3 : !m16_n16, !m16_n16
}

// The loops of a group are ordered by how near their steps are in memory, not by their names; threads share the outer ones.
// CHECK-LABEL: @group_order
// CHECK: heddle.chunks = #nd.size<43>, {{.*}}schedule = #nest.schedule<[thread b by 3, cache b by 1, cache a by 1]>
func.func @group_order(%x: !a_b_r {nd.layout = #nest.layout<[b, a, r]>}) -> (!a_b_r {nd.layout = #nest.layout<[b, a, r]>}) {
  %0 = nest.group (a: 32, b: 128) {
    %1 = nest.compute () reduce (r: 64) reads %x[] {
    ^bb0(%e: f32):
      nest.yield %e : f32
    } combine add [0.0 : f32] : (!a_b_r) -> !nd.tensor<f32>
    %2 = nest.compute (r: 64) reads %x[], %1[] {
    ^bb0(%e: f32, %s: f32):
      %d = arith.divf %e, %s : f32
      nest.yield %d : f32
    } : (!a_b_r, !nd.tensor<f32>) -> !nd.tensor<f32, r: 64>
    nest.yield %2 : !nd.tensor<f32, r: 64>
  } {layouts = [#nest.layout<[b, a, r]>]} : !a_b_r
  return %0 : !a_b_r
}

// Steps along a and c go to other pages; that along c goes farther.
// CHECK-LABEL: @group_order_of_pages
// CHECK: schedule = #nest.schedule<[thread c by {{[0-9]+}}, cache c by 1, cache a by 1, cache b by 1]>} : !nd.tensor<f32, a: 8
func.func @group_order_of_pages(%x: !a_b_c_r {nd.layout = #nest.layout<[c, a, b, r]>}) -> (!a_b_c_r {nd.layout = #nest.layout<[c, a, b, r]>}) {
  %0 = nest.group (a: 8, b: 8, c: 512) {
    %1 = nest.compute (r: 512) reads %x[] {
    ^bb0(%e: f32):
      %d = arith.mulf %e, %e : f32
      nest.yield %d : f32
    } : (!a_b_c_r) -> !nd.tensor<f32, r: 512>
    nest.yield %1 : !nd.tensor<f32, r: 512>
  } {layouts = [#nest.layout<[c, a, b, r]>]} : !a_b_c_r
  return %0 : !a_b_c_r
}

// Threads share rows of a scatter; a chunk is worth a fetch.
// CHECK-LABEL: @scatter_chunks
// CHECK: heddle.chunks = #nd.size<2>, {{.*}}schedule = #nest.schedule<[thread h by 480, cache h by 1, cache b by 16, register b by 4, vector b by 1]>
func.func @scatter_chunks(%x: !nd.tensor<f32, b: 32, h: 960, t: 35>, %y: !nd.tensor<f32, b: 32, h: 960>, %i: !nd.tensor<i64>) -> !nd.tensor<f32, b: 32, h: 960, t: 35> {
  %0 = nest.update (b: 32, h: 960) %x[t = read(1)] unique reads %y[], %i[] {
  ^bb0(%e: f32, %n: i64):
    nest.yield %e : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } {layouts = [#nest.layout<[t, h, b]>]} : (!nd.tensor<f32, b: 32, h: 960, t: 35>, !nd.tensor<f32, b: 32, h: 960>, !nd.tensor<i64>) -> !nd.tensor<f32, b: 32, h: 960, t: 35>
  return %0 : !nd.tensor<f32, b: 32, h: 960, t: 35>
}

// A recurrence in a loop that is not lowered yet.
// CHECK-LABEL: func.func @in_loop(
// CHECK: nest.scan
func.func @in_loop(%x: !a) -> !a {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> (!a) {
    %n = nest.scan along <t: 3> init(%s) reads() : (!a) -> !a {
    ^bb0(%v: !a):
      nest.yield %v : !a
    }
    scf.yield %n : !a
  }
  return %r : !a
}

}
