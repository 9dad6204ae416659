// What a function takes, and a bound for all ways to fuse it.
// RUN: heddle-opt %s --nest-fuse=explain 2>&1 >/dev/null | FileCheck %s
// RUN: heddle-opt %s --nest-fuse 2>&1 >/dev/null | count 0

// No caches; a byte takes one microsecond, a step 5 more, and all else nothing.
module attributes {heddle.machine = #nest.machine<{vector_bytes = 64, l1_bytes = 0, l2_bytes = 0, l3_bytes = 0,
    cycles_per_second = 1.0e6, memory_cycles_per_byte = 1.0, step_start_seconds = 5.0e-6, cold_start_seconds = 0.0, chunk_seconds = 0.0, operation_cycles = 0.0,
    load_cycles = 0.0, store_cycles = 0.0, cold_store_cycles = 0.0, issue_cycles = 0.0, start_tile_cycles = 0.0, by_sizes = 1.0, bound_part = 1.0}>} {

// Two products of a matrix and a vector. The matrices have 40000 bytes each, %x, %h and %y 400 bytes. The first nest reads
// 40400 bytes, and fetches and writes the 400 of %h; the second one moves as much: 2 * (41200 + 5). Of these, %h alone could be kept
// elsewhere: the rest is 40400 read by the first, and 40000 read and 800 fetched and written by the second, which start once.
// CHECK: fuse-explain.mlir:[[#@LINE+3]]:1: remark: 'products' takes {{82[0-9]+\.[0-9]+}} us in 2 nests, at least {{81[0-9]+\.[0-9]+}} us for 80800 bytes of arguments and results, limited by memory; products {{.*}} memory_bytes 81200{{$}}
// CHECK-NOT: remark
// The sum of a function without nests is 0.
func.func @products(%a: !nd.tensor<f32, k: 100, m: 100>, %b: !nd.tensor<f32, m: 100, n: 100>, %x: !nd.tensor<f32, k: 100>)
    -> !nd.tensor<f32, n: 100> {
  %h = nest.compute (m: 100) reduce (k: 100) reads %a[], %x[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, k: 100, m: 100>, !nd.tensor<f32, k: 100>) -> !nd.tensor<f32, m: 100>
  %y = nest.compute (n: 100) reduce (m: 100) reads %b[], %h[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, m: 100, n: 100>, !nd.tensor<f32, m: 100>) -> !nd.tensor<f32, n: 100>
  return %y : !nd.tensor<f32, n: 100>
}

// CHECK: remark: 'nothing' takes 0.000 us in 0 nests, at least 0.000 us for 0 bytes
func.func @nothing(%x: !nd.tensor<f32, k: 100>) -> !nd.tensor<f32, k: 100> {
  return %x : !nd.tensor<f32, k: 100>
}
func.func private @declared(!nd.tensor<f32, k: 100>) -> !nd.tensor<f32, k: 100>
}
