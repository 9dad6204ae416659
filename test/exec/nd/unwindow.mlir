// Sums every tap into the element that a window reads it from.
// RUN: heddle-run %s --compare

func.func @sums() {
  %x = nd.constant dense<[[1, 10, 100], [2, 20, 200], [3, 30, 300]]> : tensor<3x3xi32> by [n, k] : !nd.tensor<i32, k: 3, n: 3>
  %a = nd.unwindow %x n -> k size 3 : !nd.tensor<i32, k: 3, n: 3> -> !nd.tensor<i32, n: 5>
  check.expect_eq_const %a is dense<[1, 12, 123, 230, 300]> : tensor<5xi32> by [n] : !nd.tensor<i32, n: 5>
  // Taps in the padding are dropped.
  %b = nd.unwindow %x n -> k size 3 stride 2 pad 1, 1 : !nd.tensor<i32, k: 3, n: 3> -> !nd.tensor<i32, n: 5>
  check.expect_eq_const %b is dense<[10, 102, 20, 203, 30]> : tensor<5xi32> by [n] : !nd.tensor<i32, n: 5>
  // Places between dilated taps that no window reads are zero.
  %y = nd.constant dense<[[1, 10]]> : tensor<1x2xi32> by [n, k] : !nd.tensor<i32, k: 2, n: 1>
  %c = nd.unwindow %y n -> k size 2 dilation 3 : !nd.tensor<i32, k: 2, n: 1> -> !nd.tensor<i32, n: 4>
  check.expect_eq_const %c is dense<[1, 0, 0, 10]> : tensor<4xi32> by [n] : !nd.tensor<i32, n: 4>
  return
}

func.func @types(%f: !nd.tensor<f32, k: 3, n: 6, z: 7>, %h: !nd.tensor<bf16, k: 2, n: 5>, %d: !nd.tensor<f64, a: 3, k: 3, n: 3>, %b: !nd.tensor<i8, k: 5, n: 3>, %e: !nd.tensor<f32, k: 3, n: 0, z: 2>)
    -> (!nd.tensor<f32, n: 11, z: 7>, !nd.tensor<bf16, n: 6>, !nd.tensor<f64, a: 3, n: 11>, !nd.tensor<i8, n: 7>, !nd.tensor<f32, n: 2, z: 2>) {
  %0 = nd.unwindow %f n -> k size 3 stride 2 pad 1, 1 : !nd.tensor<f32, k: 3, n: 6, z: 7> -> !nd.tensor<f32, n: 11, z: 7>
  %1 = nd.unwindow %h n -> k size 2 : !nd.tensor<bf16, k: 2, n: 5> -> !nd.tensor<bf16, n: 6>
  %2 = nd.unwindow %d n -> k size 3 stride 3 dilation 2 pad 1, 1 : !nd.tensor<f64, a: 3, k: 3, n: 3> -> !nd.tensor<f64, a: 3, n: 11>
  %3 = nd.unwindow %b n -> k size 5 : !nd.tensor<i8, k: 5, n: 3> -> !nd.tensor<i8, n: 7>
  %4 = nd.unwindow %e n -> k size 3 : !nd.tensor<f32, k: 3, n: 0, z: 2> -> !nd.tensor<f32, n: 2, z: 2>
  return %0, %1, %2, %3, %4 : !nd.tensor<f32, n: 11, z: 7>, !nd.tensor<bf16, n: 6>, !nd.tensor<f64, a: 3, n: 11>, !nd.tensor<i8, n: 7>, !nd.tensor<f32, n: 2, z: 2>
}
