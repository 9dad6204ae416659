// nest-choose-schedules on a machine whose blocks have lanes.
// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s

!k_m = !nd.tensor<f32, k: 4096, m: 300>

module attributes {heddle.machine = #nest.machine<{kind = "gpu", vector_bytes = 16, vector_registers = 32, cores = 64, warp = 32, lanes_per_core = 1024, lanes_per_block = 256, registers_per_core = 65536, registers_per_lane = 255, shared_bytes = 49152, coalesced_bytes = 64}>} {

// Each lane has a tile of sums. Both operands are staged at k in shared memory, where n and m vary fastest; lanes copy along
// the names that are contiguous in memory.
// CHECK-LABEL: func.func @product
// CHECK: schedule = #nest.schedule<[block m by {{[0-9]+}}, block n by {{[0-9]+}}, loop k by {{[0-9]+}}, lane m by {{[248]}}, lane n by {{[48]}}, loop k by 1, register m by 1, {{(register n by 4, )?}}vector n by 1],
// CHECK-SAME: [stage 0 at 2 level "shared" in #nest.layout<[k, m{{.*}}]> copy [{{.*}}lane m by 1, lane k by 4, vector k by 1] buffers 2,
// CHECK-SAME: stage 1 at 2 level "shared" in #nest.layout<[k, n{{.*}}]> copy [{{.*}}lane k by 1, lane n by 4, vector n by 1] buffers 2]>
func.func @product(%a: !nd.tensor<f32, k: 1024, m: 1024> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 1024, n: 1024> {nd.layout = #nest.layout<[k, n]>})
    -> (!nd.tensor<f32, m: 1024, n: 1024> {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 1024, n: 1024) reduce (k: 1024) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>]} : (!nd.tensor<f32, k: 1024, m: 1024>, !nd.tensor<f32, k: 1024, n: 1024>) -> !nd.tensor<f32, m: 1024, n: 1024>
  return %c : !nd.tensor<f32, m: 1024, n: 1024>
}

// Neighbouring lanes add neighbours of a row, by vectors.
// CHECK-LABEL: func.func @rows
// CHECK: schedule = #nest.schedule<[block m by 1, {{(loop k by [0-9]+, )?}}lane m by 1, lane k by 4, vector k by 1]>
func.func @rows(%a: !nd.tensor<f32, k: 1024, m: 512> {nd.layout = #nest.layout<[m, k]>}) -> (!nd.tensor<f32, m: 512> {nd.layout = #nest.layout<[m]>}) {
  %c = nest.compute (m: 512) reduce (k: 1024) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m]>]} : (!nd.tensor<f32, k: 1024, m: 512>) -> !nd.tensor<f32, m: 512>
  return %c : !nd.tensor<f32, m: 512>
}

// Neighbouring lanes have neighbouring sums; several lanes share each of these few sums.
// CHECK-LABEL: func.func @columns
// CHECK: schedule = #nest.schedule<[block m by 32, loop k by 8, lane k by 1, lane m by 1]>
func.func @columns(%a: !nd.tensor<f32, k: 1024, m: 512> {nd.layout = #nest.layout<[k, m]>}) -> (!nd.tensor<f32, m: 512> {nd.layout = #nest.layout<[m]>}) {
  %c = nest.compute (m: 512) reduce (k: 1024) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m]>]} : (!nd.tensor<f32, k: 1024, m: 512>) -> !nd.tensor<f32, m: 512>
  return %c : !nd.tensor<f32, m: 512>
}

// Neighbouring lanes have neighbouring vectors.
// CHECK-LABEL: func.func @points
// CHECK: schedule = #nest.schedule<[block a by {{[0-9]+}}, block b by {{[0-9]+}}, lane a by 1, lane b by 4, vector b by 1]>
func.func @points(%x: !nd.tensor<f32, a: 512, b: 512> {nd.layout = #nest.layout<[a, b]>}) -> (!nd.tensor<f32, a: 512, b: 512> {nd.layout = #nest.layout<[a, b]>}) {
  %c = nest.compute (a: 512, b: 512) reads %x[] {
  ^bb0(%v: f32):
    %p = arith.negf %v : f32
    nest.yield %p : f32
  } {layouts = [#nest.layout<[a, b]>]} : (!nd.tensor<f32, a: 512, b: 512>) -> !nd.tensor<f32, a: 512, b: 512>
  return %c : !nd.tensor<f32, a: 512, b: 512>
}

// A group has a block for each point, whose lanes share the sums of its nests: few sums of a block are enough for that.
// CHECK-LABEL: func.func @group
// CHECK: schedule = #nest.schedule<[loop k by 1024, lane k by 4, vector k by 1]>
// CHECK: schedule = #nest.schedule<[block k by 1024, lane k by 4, vector k by 1]>
// CHECK: schedule = #nest.schedule<[block m by 1]>
func.func @group(%a: !k_m {nd.layout = #nest.layout<[m, k]>}) -> (!k_m {nd.layout = #nest.layout<[m, k]>}) {
  %c = nest.group (m: 300) {
    %s = nest.compute () reduce (k: 4096) reads %a[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } combine add [0.0 : f32] {layouts = [#nest.layout<[]>]} : (!k_m) -> !nd.tensor<f32>
    %p = nest.compute (k: 4096) reads %a[], %s[] {
    ^bb0(%x: f32, %y: f32):
      %r = arith.divf %x, %y : f32
      nest.yield %r : f32
    } : (!k_m, !nd.tensor<f32>) -> !nd.tensor<f32, k: 4096>
    nest.yield %p : !nd.tensor<f32, k: 4096>
  } {layouts = [#nest.layout<[m, k]>]} : !k_m
  return %c : !k_m
}

// An element of the destination has one lane, which walks n in order; blocks of a warp spread over the cores.
// CHECK-LABEL: func.func @adds
// CHECK: copies = [#nest.schedule<[loop v by 4, lane v by 1, lane d by 4, vector d by 1]>]
// CHECK-SAME: schedule = #nest.schedule<[block d by 32, lane d by 1]>
func.func @adds(%t: !nd.tensor<f32, d: 512, v: 50> {nd.layout = #nest.layout<[v, d]>}, %at: !nd.tensor<i32, n: 700> {nd.layout = #nest.layout<[n]>}, %x: !nd.tensor<f32, d: 512, n: 700> {nd.layout = #nest.layout<[n, d]>})
    -> (!nd.tensor<f32, d: 512, v: 50> {nd.layout = #nest.layout<[v, d]>}) {
  %a = nest.update (d: 512, n: 700) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {layouts = [#nest.layout<[v, d]>]} : (!nd.tensor<f32, d: 512, v: 50>, !nd.tensor<i32, n: 700>, !nd.tensor<f32, d: 512, n: 700>) -> !nd.tensor<f32, d: 512, v: 50>
  return %a : !nd.tensor<f32, d: 512, v: 50>
}

// No element is written twice, so lanes also walk n.
// CHECK-LABEL: func.func @writes
// CHECK: schedule = #nest.schedule<[block d by 32, loop n by 8, lane n by 1, lane d by 1]>
func.func @writes(%t: !nd.tensor<f32, d: 512, v: 900> {nd.layout = #nest.layout<[v, d]>}, %at: !nd.tensor<i32, n: 700> {nd.layout = #nest.layout<[n]>}, %x: !nd.tensor<f32, d: 512, n: 700> {nd.layout = #nest.layout<[n, d]>})
    -> (!nd.tensor<f32, d: 512, v: 900> {nd.layout = #nest.layout<[v, d]>}) {
  %a = nest.update (d: 512, n: 700) %t[v = read(0)] unique reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } {layouts = [#nest.layout<[v, d]>]} : (!nd.tensor<f32, d: 512, v: 900>, !nd.tensor<i32, n: 700>, !nd.tensor<f32, d: 512, n: 700>) -> !nd.tensor<f32, d: 512, v: 900>
  return %a : !nd.tensor<f32, d: 512, v: 900>
}

// No name alone gives an element, so lanes may meet at one. They walk all names.
// CHECK-LABEL: func.func @meets
// CHECK: schedule = #nest.schedule<[loop m by 8, loop n by 32, lane m by 1, lane n by 1]>
func.func @meets(%t: !nd.tensor<f32, v: 50> {nd.layout = #nest.layout<[v]>}, %at: !nd.tensor<i32, m: 9, n: 30> {nd.layout = #nest.layout<[m, n]>}) -> (!nd.tensor<f32, v: 50> {nd.layout = #nest.layout<[v]>}) {
  %a = nest.update (m: 9, n: 30) %t[v = read(0)] reads %at[] {
  ^bb0(%i: i32):
    %one = arith.constant 1.0 : f32
    nest.yield %one : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {layouts = [#nest.layout<[v]>]} : (!nd.tensor<f32, v: 50>, !nd.tensor<i32, m: 9, n: 30>) -> !nd.tensor<f32, v: 50>
  return %a : !nd.tensor<f32, v: 50>
}

// Sums along contiguous elements, of which there are enough for whole vectors in each lane.
// CHECK-LABEL: func.func @wide
// CHECK: schedule = #nest.schedule<[block n by 1024, loop k by 1, lane n by 4, vector n by 1]>
func.func @wide(%x: !nd.tensor<f32, k: 9, n: 131072> {nd.layout = #nest.layout<[k, n]>}) -> (!nd.tensor<f32, n: 131072> {nd.layout = #nest.layout<[n]>}) {
  %s = nest.compute (n: 131072) reduce (k: 9) reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[n]>]} : (!nd.tensor<f32, k: 9, n: 131072>) -> !nd.tensor<f32, n: 131072>
  return %s : !nd.tensor<f32, n: 131072>
}

// Parts of a name have blocks, whose lanes walk the points of a part. A free name of few points has some of the lanes.
// CHECK-LABEL: func.func @parts
// CHECK: schedule = #nest.schedule<[block p by 1, block d by 4, loop n by 64, lane n by 1, lane d by 1]>
func.func @parts(%t: !nd.tensor<f32, d: 4, p: 64, v: 50> {nd.layout = #nest.layout<[p, v, d]>}, %at: !nd.tensor<i32, n: 65536> {nd.layout = #nest.layout<[n]>}) -> (!nd.tensor<f32, d: 4, p: 64, v: 50> {nd.layout = #nest.layout<[p, v, d]>}) {
  %a = nest.update (d: 4, n: 1024, p: 64) %t[d = d, p = p, v = read(0)] reads %at[n = n + 1024 * p] {
  ^bb0(%i: i32):
    %one = arith.constant 1.0 : f32
    nest.yield %one : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {layouts = [#nest.layout<[p, v, d]>]} : (!nd.tensor<f32, d: 4, p: 64, v: 50>, !nd.tensor<i32, n: 65536>) -> !nd.tensor<f32, d: 4, p: 64, v: 50>
  return %a : !nd.tensor<f32, d: 4, p: 64, v: 50>
}

// Lanes share the elements of a long line; a short one is sorted by one lane.
// CHECK-LABEL: func.func @sorts
// CHECK: schedule = #nest.schedule<[block m by 1, loop n by 256, lane n by 1]>
// CHECK: schedule = #nest.schedule<[thread m by 1]>
func.func @sorts(%x: !nd.tensor<f32, m: 40, n: 700> {nd.layout = #nest.layout<[m, n]>}, %y: !nd.tensor<f32, m: 40, n: 7> {nd.layout = #nest.layout<[m, n]>})
    -> (!nd.tensor<f32, m: 40, n: 700> {nd.layout = #nest.layout<[m, n]>}, !nd.tensor<f32, m: 40, n: 7> {nd.layout = #nest.layout<[m, n]>}) {
  %a = nest.sort %x along <n: 700> {layouts = [#nest.layout<[m, n]>]} : (!nd.tensor<f32, m: 40, n: 700>) -> !nd.tensor<f32, m: 40, n: 700>
  %b = nest.sort %y along <n: 7> {layouts = [#nest.layout<[m, n]>]} : (!nd.tensor<f32, m: 40, n: 7>) -> !nd.tensor<f32, m: 40, n: 7>
  return %a, %b : !nd.tensor<f32, m: 40, n: 700>, !nd.tensor<f32, m: 40, n: 7>
}
}
