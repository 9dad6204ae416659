// What is assumed of nests without layouts: full vectors, operands in registers, compulsory bytes; counted by hand.
// RUN: heddle-opt %s --nest-cost 2>&1 >/dev/null | FileCheck %s

module attributes {heddle.machine = #nest.machine<{kind = "cpu", vector_bytes = 64, vector_registers = 32, l1_bytes = 49152,
                                                   l2_bytes = 2097152, l3_bytes = 33554432}>} {

// 128 vectors of 16 lanes, with 16 steps of k each: a load of %a or %b serves 8 multiply-adds.
// CHECK: 'compute' takes {{.*}} by its sizes, {{.*}}; products 2048, loads 512, stores 128, steps 128, tiles 8, chunks 1{{$}}
func.func @product(%a: !nd.tensor<f32, m: 64, k: 16>, %b: !nd.tensor<f32, k: 16, n: 32>) -> !nd.tensor<f32, m: 64, n: 32> {
  %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, m: 64, k: 16>, !nd.tensor<f32, k: 16, n: 32>) -> !nd.tensor<f32, m: 64, n: 32>
  return %c : !nd.tensor<f32, m: 64, n: 32>
}

// Rows of 64 elements are contiguous in a good layout: each of the 10 rows is looked up, and 4 vectors are loaded of it.
// CHECK: 'compute' takes {{.*}}; loads 80, stores 40, rows 10, {{.*}}
func.func @rows(%x: !nd.tensor<f32, f: 64, v: 100>, %i: !nd.tensor<i32, n: 10>) -> !nd.tensor<f32, f: 64, n: 10> {
  %y = nest.compute (f: 64, n: 10) reads %i[], %x[v = read(0)] {
  ^bb0(%q: i32, %p: f32):
    nest.yield %p : f32
  } : (!nd.tensor<i32, n: 10>, !nd.tensor<f32, f: 64, v: 100>) -> !nd.tensor<f32, f: 64, n: 10>
  return %y : !nd.tensor<f32, f: 64, n: 10>
}

// Single elements are loaded lane by lane in any layout.
// CHECK: 'compute' takes {{.*}}; loads 4, stores 4, gathered 64, rows 64, {{.*}}
func.func @elements(%x: !nd.tensor<f32, v: 100>, %i: !nd.tensor<i32, n: 64>) -> !nd.tensor<f32, n: 64> {
  %y = nest.compute (n: 64) reads %i[], %x[v = read(0)] {
  ^bb0(%q: i32, %p: f32):
    nest.yield %p : f32
  } : (!nd.tensor<i32, n: 64>, !nd.tensor<f32, v: 100>) -> !nd.tensor<f32, n: 64>
  return %y : !nd.tensor<f32, n: 64>
}
}
