// Where the interpreter's own result is not finite, or hangs on choices, nothing is compared, and the reason is said.
// RUN: not heddle-run %s --compare 2>&1 | FileCheck %s
// CHECK: '@choices': 6 of 6 elements can't be compared, expected at most one in 20; 6 depend on choices within the error bounds{{$}}
// CHECK: '@quotients': 6 of 12 elements can't be compared, expected at most one in 20; 6 are NaN or infinite in the interpreter's result, the first ones in 'quotients': other inputs may help (--input){{$}}

!n = !nd.tensor<f32, n: 6>

func.func @choices(%x: !n) -> !n {
  %0 = nd.pointwise %x : (!n) -> !n {
  ^bb0(%a: f32):
    %p = arith.mulf %a, %a : f32
    %d = arith.subf %p, %p : f32
    %f = math.floor %d : f32
    nd.yield %f : f32
  }
  return %0 : !n
}

func.func @quotients(%x: !n) -> (!n {nd.name = "copy"}, !n {nd.name = "quotients"}) {
  %0 = nd.pointwise %x : (!n) -> !n {
  ^bb0(%a: f32):
    %p = arith.mulf %a, %a : f32
    %d = arith.subf %p, %p : f32
    %one = arith.constant 1.0 : f32
    %q = arith.divf %one, %d : f32
    nd.yield %q : f32
  }
  return %x, %0 : !n, !n
}
