// A scatter into a tensor that may be empty has gradients: an empty tensor drops all updates.
// RUN: heddle-run %s --compare --size N=5,1,0

func.func private @product(%x: !nd.tensor<f64, k: N>, %u: !nd.tensor<f64, b: 4>) -> !nd.tensor<f64, k: N> {
  %i = nd.constant dense<[0, 3, -1, 0]> : tensor<4xi32> by [b] : !nd.tensor<i32, b: 4>
  %r = nd.scatter %u into %x [k] at %i : (!nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>, !nd.tensor<i32, b: 4>) -> !nd.tensor<f64, k: N> {
  ^bb0(%p: f64, %q: f64):
    %s = arith.mulf %p, %q : f64
    nd.yield %s : f64
  }
  return %r : !nd.tensor<f64, k: N>
}
func.func private @general(%x: !nd.tensor<f64, k: N>, %u: !nd.tensor<f64, b: 4>) -> !nd.tensor<f64, k: N> {
  %i = nd.constant dense<[0, 3, -1, 0]> : tensor<4xi32> by [b] : !nd.tensor<i32, b: 4>
  %r = nd.scatter %u into %x [k] at %i : (!nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>, !nd.tensor<i32, b: 4>) -> !nd.tensor<f64, k: N> {
  ^bb0(%p: f64, %q: f64):
    %m = arith.mulf %p, %q : f64
    %a = arith.addf %p, %q : f64
    %s = arith.addf %m, %a : f64
    nd.yield %s : f64
  }
  return %r : !nd.tensor<f64, k: N>
}
func.func @gradients(%x: !nd.tensor<f64, k: N>, %u: !nd.tensor<f64, b: 4>, %g: !nd.tensor<f64, k: N>) -> (!nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>, !nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>) {
  %0:3 = nd.vjp @product(%x, %u) cotangents(%g) wrt [0, 1] : (!nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>, !nd.tensor<f64, k: N>) -> (!nd.tensor<f64, k: N>, !nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>)
  %1:3 = nd.vjp @general(%x, %u) cotangents(%g) wrt [0, 1] : (!nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>, !nd.tensor<f64, k: N>) -> (!nd.tensor<f64, k: N>, !nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>)
  return %0#1, %0#2, %1#1, %1#2 : !nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>, !nd.tensor<f64, k: N>, !nd.tensor<f64, b: 4>
}
