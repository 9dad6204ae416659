// Offsets and padding that are expressions over symbols, derivatives of such ops, and sizes in other spellings.
// RUN: heddle-run %s --compare --size N=1,2,3,7,16 --size M=5,1,64,2,3 --size K=5,2,192,14,48
// RUN: heddle-run %s --compare --row-major --managed --size N=12 --size M=5 --size K=60
// RUN: not heddle-run %s --entry words --size N=3 --size M=4 --size K=13 2>&1 | FileCheck %s
// CHECK: 'words' expected at most the size of 'a' in 'nd.split', M * N = 12, got 13 with
// RUN: not heddle-run %s --entry parts --size N=0 --size M=1 --size K=1 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: 'parts' expected at least 0 for the first element along 'a' in 'nd.slice', got N - 1 = -1 with
// RUN: not heddle-run %s --entry pick --size N=0 2>&1 | FileCheck %s --check-prefix=PICK
// PICK: 'pick' expected at least 1 for the size of 'k' in 'nd.gather', got N = 0{{$}}

!aN = !nd.tensor<f32, a: N>
!aK = !nd.tensor<f32, a: K>

func.func @pick(%x: !nd.tensor<f64, k: N>, %i: !nd.tensor<i32, b: 4>) -> !nd.tensor<f64, b: 4> {
  %r = nd.gather %x [k] at %i : (!nd.tensor<f64, k: N>, !nd.tensor<i32, b: 4>) -> !nd.tensor<f64, b: 4>
  return %r : !nd.tensor<f64, b: 4>
}

func.func @parts(%x: !aN, %y: !nd.tensor<f32, a: M>) -> (!aN, !nd.tensor<f32, a: 1>, !nd.tensor<f32, a: 2 * N + M>) {
  %0 = nd.slice %x a from N - 1 size N stride -1 : !aN -> !aN
  %1 = nd.slice %x a from N - 1 size 1 : !aN -> !nd.tensor<f32, a: 1>
  %2 = nd.pad %y a low N high N value 1.0 : f32 : !nd.tensor<f32, a: M> -> !nd.tensor<f32, a: 2 * N + M>
  return %0, %1, %2 : !aN, !nd.tensor<f32, a: 1>, !nd.tensor<f32, a: 2 * N + M>
}
func.func @slopes(%x: !aN, %y: !nd.tensor<f32, a: M>, %g: !aN, %h: !nd.tensor<f32, a: 1>, %i: !nd.tensor<f32, a: 2 * N + M>)
    -> (!aN, !nd.tensor<f32, a: M>) {
  %0:5 = nd.vjp @parts(%x, %y) cotangents(%g, %h, %i) wrt [0, 1] : (!aN, !nd.tensor<f32, a: M>, !aN, !nd.tensor<f32, a: 1>, !nd.tensor<f32, a: 2 * N + M>)
      -> (!aN, !nd.tensor<f32, a: 1>, !nd.tensor<f32, a: 2 * N + M>, !aN, !nd.tensor<f32, a: M>)
  return %0#3, %0#4 : !aN, !nd.tensor<f32, a: M>
}
func.func @words(%x: !nd.tensor<f32, a: N, b: M>, %y: !aK) -> !aK {
  %0 = nd.merge %x [b, a] into a : !nd.tensor<f32, a: N, b: M> -> !nd.tensor<f32, a: M * N>
  %1 = nd.split %0 a into [a] : !nd.tensor<f32, a: M * N> -> !aK
  %2 = nd.pointwise %1, %y : (!aK, !aK) -> !aK {
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    nd.yield %s : f32
  }
  return %2 : !aK
}
func.func @products(%x: !nd.tensor<f32, a: N, b: M>, %y: !aK, %g: !aK) -> !nd.tensor<f32, a: N, b: M> {
  %0:2 = nd.vjp @words(%x, %y) cotangents(%g) wrt [0] : (!nd.tensor<f32, a: N, b: M>, !aK, !aK) -> (!aK, !nd.tensor<f32, a: N, b: M>)
  return %0#1 : !nd.tensor<f32, a: N, b: M>
}
