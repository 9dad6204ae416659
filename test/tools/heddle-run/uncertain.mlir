// Where only the error bound leaves the type's range, the interpreter keeps the value and marks it. A difference that is
// 0 but for rounding is known well beside its terms.
// RUN: heddle-run %s --interpret | FileCheck %s
// CHECK: @bound
// CHECK-NEXT: exp: f32 {n: 3} = [1, 1, 1], 3 of 3 uncertain{{$}}
// CHECK-NEXT: difference: f32 {n: 3} = [0, 0, 0]{{$}}
// CHECK-NEXT: copy: f32 {n: 3} = [{{.*}}]{{$}}

// A program split over devices is held against the whole one.
// RUN: heddle-run %s --entry scaled --compare --simulate --mesh d=2 --shard n:d | FileCheck %s --check-prefix=SPLIT
// SPLIT: @scaled: 3 elements agree{{$}}

!n = !nd.tensor<f32, n: 3>

func.func @bound(%x: !n) -> (!n {nd.name = "exp"}, !n {nd.name = "difference"}, !n {nd.name = "copy"}) {
  %y = nd.pointwise %x : (!n) -> !n {
  ^bb0(%a: f32):
    %k = arith.constant 3.1 : f32
    %l = arith.constant 1.0e9 : f32
    %p = arith.mulf %a, %k : f32
    %q = arith.subf %p, %p : f32
    %r = arith.mulf %q, %l : f32
    %e = math.exp %r : f32
    nd.yield %e : f32
  }
  %z = nd.pointwise %x : (!n) -> !n {
  ^bb0(%a: f32):
    %k = arith.constant 3.1 : f32
    %p = arith.mulf %a, %k : f32
    %q = arith.subf %p, %p : f32
    nd.yield %q : f32
  }
  return %y, %z, %x : !n, !n, !n
}

func.func @scaled(%x: !n {nd.name = "x"}) -> !n {
  %y = nd.pointwise %x : (!n) -> !n {
  ^bb0(%a: f32):
    %k = arith.constant 3.1 : f32
    %p = arith.mulf %a, %k : f32
    nd.yield %p : f32
  }
  return %y : !n
}
