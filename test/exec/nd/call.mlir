// A call lifts the callee over names that it does not have; its local names are renamed apart.
// RUN: heddle-run %s --compare

!k = !nd.tensor<f32, k: K>

func.func private @dot(%a: !k, %b: !k) -> !nd.tensor<f32> {
  %p = nd.pointwise %a, %b : (!k, !k) -> !k {
  ^bb0(%x: f32, %y: f32):
    %r = arith.mulf %x, %y : f32
    nd.yield %r : f32
  }
  %s = nd.reduce %p over [k] neutral [0.0 : f32] : (!k) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %y: f32):
    %r = arith.addf %x, %y : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32>
}

// A matrix product is a lifted dot product.
func.func @product() {
  %a = nd.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> by [m, k] : !nd.tensor<f32, k: 2, m: 2>
  %b = nd.constant dense<[[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]]> : tensor<2x3xf32> by [k, n] : !nd.tensor<f32, k: 2, n: 3>
  %c = nd.call @dot(%a, %b) : (!nd.tensor<f32, k: 2, m: 2>, !nd.tensor<f32, k: 2, n: 3>) -> !nd.tensor<f32, m: 2, n: 3>
  check.expect_eq_const %c is dense<[[5.0, 50.0, 500.0], [11.0, 110.0, 1100.0]]> : tensor<2x3xf32> by [m, n] : !nd.tensor<f32, m: 2, n: 3>
  // Both lifted over one name: zipped.
  %d = nd.call @dot(%a, %a) : (!nd.tensor<f32, k: 2, m: 2>, !nd.tensor<f32, k: 2, m: 2>) -> !nd.tensor<f32, m: 2>
  check.expect_eq_const %d is dense<[5.0, 25.0]> : tensor<2xf32> by [m] : !nd.tensor<f32, m: 2>
  return
}

// Inside, the callee uses the name over which it is lifted.
func.func private @outer(%a: !nd.tensor<f32, i: I>) -> !nd.tensor<f32> {
  %b = nd.rename %a [i] to [j] : !nd.tensor<f32, i: I> -> !nd.tensor<f32, j: I>
  %p = nd.pointwise %a, %b crossed : (!nd.tensor<f32, i: I>, !nd.tensor<f32, j: I>) -> !nd.tensor<f32, i: I, j: I> {
  ^bb0(%x: f32, %y: f32):
    %r = arith.mulf %x, %y : f32
    nd.yield %r : f32
  }
  %s = nd.reduce %p over [i, j] neutral [0.0 : f32] : (!nd.tensor<f32, i: I, j: I>) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %y: f32):
    %r = arith.addf %x, %y : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32>
}
func.func @hygiene() {
  %a = nd.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32> by [j, i] : !nd.tensor<f32, i: 2, j: 3>
  %c = nd.call @outer(%a) : (!nd.tensor<f32, i: 2, j: 3>) -> !nd.tensor<f32, j: 3>
  check.expect_eq_const %c is dense<[9.0, 49.0, 121.0]> : tensor<3xf32> by [j] : !nd.tensor<f32, j: 3>
  return
}

// Only results that depend on a lifted operand have its names. Two calls of one function differ in sizes.
func.func private @both(%a: !nd.tensor<f32, n: N>, %b: !nd.tensor<f32, n: N>) -> (!nd.tensor<f32, n: N>, !nd.tensor<f32, n: N - 1>) {
  %p = nd.pointwise %a : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N> {
  ^bb0(%x: f32):
    %r = arith.addf %x, %x : f32
    nd.yield %r : f32
  }
  %s = nd.slice %b n from 1 size N - 1 : !nd.tensor<f32, n: N> -> !nd.tensor<f32, n: N - 1>
  return %p, %s : !nd.tensor<f32, n: N>, !nd.tensor<f32, n: N - 1>
}
func.func @dependence(%a: !nd.tensor<f32, n: 5, z: 3>, %b: !nd.tensor<f32, n: 5>, %c: !nd.tensor<f32, n: 2>, %d: !nd.tensor<f32, n: 2, y: 0>)
    -> (!nd.tensor<f32, n: 5, z: 3>, !nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 2>, !nd.tensor<f32, n: 1, y: 0>) {
  %0:2 = nd.call @both(%a, %b) : (!nd.tensor<f32, n: 5, z: 3>, !nd.tensor<f32, n: 5>) -> (!nd.tensor<f32, n: 5, z: 3>, !nd.tensor<f32, n: 4>)
  %1:2 = nd.call @both(%c, %d) : (!nd.tensor<f32, n: 2>, !nd.tensor<f32, n: 2, y: 0>) -> (!nd.tensor<f32, n: 2>, !nd.tensor<f32, n: 1, y: 0>)
  return %0#0, %0#1, %1#0, %1#1 : !nd.tensor<f32, n: 5, z: 3>, !nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 2>, !nd.tensor<f32, n: 1, y: 0>
}

// A call in a callee that is lifted over a name which the inner one has too.
func.func private @total(%x: !k) -> !nd.tensor<f32> {
  %s = nd.reduce %x over [k] neutral [0.0 : f32] : (!k) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32>
}
func.func private @twice(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  %w = nd.broadcast %x : !nd.tensor<f32> -> !nd.tensor<f32, k: 2>
  %s = nd.call @total(%w) : (!nd.tensor<f32, k: 2>) -> !nd.tensor<f32>
  return %s : !nd.tensor<f32>
}
func.func @lifted_over_an_inner_name() {
  %x = nd.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [k] : !nd.tensor<f32, k: 3>
  %y = nd.call @twice(%x) : (!nd.tensor<f32, k: 3>) -> !nd.tensor<f32, k: 3>
  check.expect_eq_const %y is dense<[2.0, 4.0, 6.0]> : tensor<3xf32> by [k] : !nd.tensor<f32, k: 3>
  return
}
