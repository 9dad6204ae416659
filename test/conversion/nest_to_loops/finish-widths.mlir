// The epilogue of a reduction may use wider types than its body: it runs once for each point, so the
// lanes are those of the reduction. A test of random bits by a key of 64 bits, as dropout makes one:
// RUN: heddlec %s --emit=nest --target-cpu skylake-avx512 | FileCheck %s
// RUN: heddle-run %s --compare
// CHECK: schedule = #nest.schedule<{{.*}}register n by 16, vector n by 1]

func.func @masked(%a: !nd.tensor<f32, k: 70, m: 40> {nd.name = "a"}, %b: !nd.tensor<f32, k: 70, n: 50> {nd.name = "b"}, %key: !nd.tensor<ui64> {nd.name = "key"}) -> (!nd.tensor<f32, m: 40, n: 50> {nd.name = "c", nd.layout = #nest.layout<[m, n]>}, !nd.tensor<i64, m: 40, n: 50> {nd.name = "d", nd.layout = #nest.layout<[m, n]>}) {
  %c:2 = nest.compute (m: 40, n: 50) reduce (k: 70) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] finish reads %key[] {
  ^bb0(%sum: f32, %bits: i64):
    %n = nest.index n
    %i = arith.index_cast %n : index to i64
    %mixed = arith.xori %i, %bits : i64
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i64
    %low = arith.andi %mixed, %one : i64
    %keep = arith.cmpi eq, %low, %zero : i64
    %none = arith.constant 0.0 : f32
    %r = arith.select %keep, %sum, %none : f32
    nest.yield %r, %mixed : f32, i64
  } : (!nd.tensor<f32, k: 70, m: 40>, !nd.tensor<f32, k: 70, n: 50>, !nd.tensor<ui64>) -> (!nd.tensor<f32, m: 40, n: 50>, !nd.tensor<i64, m: 40, n: 50>)
  return %c#0, %c#1 : !nd.tensor<f32, m: 40, n: 50>, !nd.tensor<i64, m: 40, n: 50>
}
