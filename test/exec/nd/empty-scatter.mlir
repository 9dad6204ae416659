// A scatter into a tensor that may be empty has gradients: an empty tensor drops all updates.
// RUN: heddle-run %s --compare --size N=5,1,0

!f64_k = !nd.tensor<f64, k: N>
!f64_b = !nd.tensor<f64, b: 4>

func.func private @product(%x: !f64_k, %u: !f64_b) -> !f64_k {
  %i = nd.constant dense<[0, 3, -1, 0]> : tensor<4xi32> by [b] : !nd.tensor<i32, b: 4>
  %r = nd.scatter %u into %x [k] at %i : (!f64_k, !f64_b, !nd.tensor<i32, b: 4>) -> !f64_k {
  ^bb0(%p: f64, %q: f64):
    %s = arith.mulf %p, %q : f64
    nd.yield %s : f64
  }
  return %r : !f64_k
}
func.func private @general(%x: !f64_k, %u: !f64_b) -> !f64_k {
  %i = nd.constant dense<[0, 3, -1, 0]> : tensor<4xi32> by [b] : !nd.tensor<i32, b: 4>
  %r = nd.scatter %u into %x [k] at %i : (!f64_k, !f64_b, !nd.tensor<i32, b: 4>) -> !f64_k {
  ^bb0(%p: f64, %q: f64):
    %m = arith.mulf %p, %q : f64
    %a = arith.addf %p, %q : f64
    %s = arith.addf %m, %a : f64
    nd.yield %s : f64
  }
  return %r : !f64_k
}
func.func @gradients(%x: !f64_k, %u: !f64_b, %g: !f64_k) -> (!f64_k, !f64_b, !f64_k, !f64_b) {
  %0:3 = nd.vjp @product(%x, %u) cotangents(%g) wrt [0, 1] : (!f64_k, !f64_b, !f64_k) -> (!f64_k, !f64_k, !f64_b)
  %1:3 = nd.vjp @general(%x, %u) cotangents(%g) wrt [0, 1] : (!f64_k, !f64_b, !f64_k) -> (!f64_k, !f64_k, !f64_b)
  return %0#1, %0#2, %1#1, %1#2 : !f64_k, !f64_b, !f64_k, !f64_b
}
