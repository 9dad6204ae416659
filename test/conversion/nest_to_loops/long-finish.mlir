// A short epilogue is emitted for each vector of a tile. A long one is emitted once for each vector
// of a row of the tile, in a loop over its rows that loads the accumulators back: tiles of 12 or 14
// rows would have hundreds of functions.
// RUN: heddlec %s --emit=loops --target-cpu skylake-avx512 > %t
// RUN: FileCheck %s < %t
// RUN: grep -c math.exp %t | FileCheck %s --check-prefix=FEW
// RUN: heddle-run %s --compare
// FEW: {{^([1-9]|[1-3][0-9])$}}

// The rest of the rows is a smaller tile with a loop of its own.
// CHECK:     func.func @k_
// CHECK:     scf.for {{.*}} iter_args
// CHECK:     llvm.store
// CHECK:     scf.for %{{.*}} = %{{.*}} to %c14_i64
// CHECK-NOT: scf.for
// CHECK:     math.exp
// CHECK:     scf.for %{{.*}} = %{{.*}} to %c9_i64
// CHECK-NOT: scf.for
// CHECK:     math.exp
func.func @rows(%a: !nd.tensor<f32, k: 70, m: 37> {nd.name = "a"}, %b: !nd.tensor<f32, k: 70, n: 50> {nd.name = "b"}, %bias: !nd.tensor<f32, n: 50> {nd.name = "bias"}, %add: !nd.tensor<f32, m: 37, n: 50> {nd.name = "add"}) -> (!nd.tensor<f32, m: 37, n: 50> {nd.name = "c"}, !nd.tensor<bf16, m: 37, n: 50> {nd.name = "d"}) {
  %c:2 = nest.compute (m: 37, n: 50) reduce (k: 70) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] finish reads %bias[], %add[] {
  ^bb0(%sum: f32, %o: f32, %r: f32):
    %s = arith.addf %sum, %o : f32
    %e = math.exp %s : f32
    %f = math.exp %r : f32
    %g = arith.addf %e, %f : f32
    %h = math.tanh %g : f32
    %l = arith.truncf %e : f32 to bf16
    nest.yield %h, %l : f32, bf16
  } {schedule = #nest.schedule<[cache m by 14, cache n by 32, loop k by 1, register m by 1, register n by 16, vector n by 1]>} : (!nd.tensor<f32, k: 70, m: 37>, !nd.tensor<f32, k: 70, n: 50>, !nd.tensor<f32, n: 50>, !nd.tensor<f32, m: 37, n: 50>) -> (!nd.tensor<f32, m: 37, n: 50>, !nd.tensor<bf16, m: 37, n: 50>)
  return %c#0, %c#1 : !nd.tensor<f32, m: 37, n: 50>, !nd.tensor<bf16, m: 37, n: 50>
}

// Two accumulators of different types, and lanes that are reduced.
func.func @two(%x: !nd.tensor<f32, k: 203, m: 29> {nd.name = "x", nd.layout = #nest.layout<[m, k]>}) -> (!nd.tensor<f32, m: 29> {nd.name = "most"}, !nd.tensor<i32, m: 29> {nd.name = "count"}) {
  %c:2 = nest.compute (m: 29) reduce (k: 203) reads %x[] {
  ^bb0(%v: f32):
    %zero = arith.constant 0.0 : f32
    %is = arith.cmpf ogt, %v, %zero : f32
    %n = arith.extui %is : i1 to i32
    nest.yield %v, %n : f32, i32
  } combine [0xFF800000 : f32, 0 : i32] {
  ^bb0(%a: f32, %n: i32, %b: f32, %o: i32):
    %most = arith.maximumf %a, %b : f32
    %count = arith.addi %n, %o : i32
    nest.yield %most, %count : f32, i32
  } finish {
  ^bb0(%most: f32, %count: i32):
    %m = nest.index m
    %i = arith.index_cast %m : index to i32
    %f = arith.sitofp %i : i32 to f32
    %e = math.exp %most : f32
    %t = math.tanh %f : f32
    %g = math.sin %e : f32
    %h = arith.mulf %g, %t : f32
    %sum = arith.addi %count, %i : i32
    nest.yield %h, %sum : f32, i32
  } : (!nd.tensor<f32, k: 203, m: 29>) -> (!nd.tensor<f32, m: 29>, !nd.tensor<i32, m: 29>)
  return %c#0, %c#1 : !nd.tensor<f32, m: 29>, !nd.tensor<i32, m: 29>
}

// A transposed result, a convolution whose guard excludes points, and rows of one vector in part.
func.func @window(%x: !nd.tensor<f32, c: 5, h: 19, w: 3> {nd.name = "x"}, %k: !nd.tensor<f32, c: 5, o: 3, t: 3> {nd.name = "k"}) -> (!nd.tensor<f32, h: 19, o: 3, w: 3> {nd.name = "y", nd.layout = #nest.layout<[o, w, h]>}) {
  %y = nest.compute (h: 19, o: 3, w: 3) reduce (c: 5, t: 3) reads %x[c = c, h = h + t - 1, w = w] if [h + t - 1 >= 0, 19 - h - t >= 0] , %k[] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] finish {
  ^bb0(%s: f32):
    %e = math.exp %s : f32
    %f = math.log1p %e : f32
    %g = math.tanh %f : f32
    %h = arith.mulf %s, %g : f32
    nest.yield %h : f32
  } : (!nd.tensor<f32, c: 5, h: 19, w: 3>, !nd.tensor<f32, c: 5, o: 3, t: 3>) -> !nd.tensor<f32, h: 19, o: 3, w: 3>
  return %y : !nd.tensor<f32, h: 19, o: 3, w: 3>
}
