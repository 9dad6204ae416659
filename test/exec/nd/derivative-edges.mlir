// Slopes of powers at zero and of negative bases, and of remainders by a divisor that moves, whatever the signs: numbers
// worked by hand (docs/functions.md).
// RUN: heddle-run %s --compare

!f64_n11 = !nd.tensor<f64, n: 11>
!f64_n9 = !nd.tensor<f64, n: 9>

func.func private @power(%x: !f64_n11, %y: !f64_n11) -> !f64_n11 {
  %r = nd.pointwise %x, %y : (!f64_n11, !f64_n11) -> !f64_n11 {
  ^bb0(%p: f64, %q: f64):
    %v = math.powf %p, %q : f64
    nd.yield %v : f64
  }
  return %r : !f64_n11
}
func.func @powers() {
  %x = nd.constant dense<[0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0, -2.0, -2.0, -2.0, 1.0]> : tensor<11xf64> by [n] : !f64_n11
  %y = nd.constant dense<[0.0, 1.0, 2.0, 3.0, -1.0, 0.0, 3.0, 3.0, 4.0, 0.0, 5.0]> : tensor<11xf64> by [n] : !f64_n11
  %g = nd.constant dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<11xf64> by [n] : !f64_n11
  %0:3 = nd.vjp @power(%x, %y) cotangents(%g) wrt [0, 1] : (!f64_n11, !f64_n11, !f64_n11) -> (!f64_n11, !f64_n11, !f64_n11)
  check.expect_close_const %0#1 is dense<[0.0, 1.0, 0.0, 0.0, 0xFFF0000000000000, 0.0, 12.0, 12.0, -32.0, 0.0, 5.0]> : tensor<11xf64> by [n] : !f64_n11
  check.expect_close_const %0#2 is dense<[0.0, 0.0, 0.0, 0.0, 0xFFF0000000000000, 0.6931471805599453, 5.545177444479562, 0x7FF8000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 0.0]> : tensor<11xf64> by [n] : !f64_n11
  return
}

// 0.5 is less than five times the double 0.1, which is taken off four times, though the quotient rounds to 5.
func.func private @remainder(%x: !f64_n9, %y: !f64_n9) -> !f64_n9 {
  %r = nd.pointwise %x, %y : (!f64_n9, !f64_n9) -> !f64_n9 {
  ^bb0(%p: f64, %q: f64):
    %v = arith.remf %p, %q : f64
    nd.yield %v : f64
  }
  return %r : !f64_n9
}
func.func @remainders() {
  %x = nd.constant dense<[7.0, -7.0, 7.0, -7.0, 2.0, 7.5, -0.5, 0.5, 1000000000.0]> : tensor<9xf64> by [n] : !f64_n9
  %y = nd.constant dense<[3.0, 3.0, -3.0, -3.0, 3.0, 0.625, 4.0, 0.1, 7.0]> : tensor<9xf64> by [n] : !f64_n9
  %g = nd.constant dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<9xf64> by [n] : !f64_n9
  %0:3 = nd.vjp @remainder(%x, %y) cotangents(%g) wrt [0, 1] : (!f64_n9, !f64_n9, !f64_n9) -> (!f64_n9, !f64_n9, !f64_n9)
  check.expect_eq_const %0#1 is dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<9xf64> by [n] : !f64_n9
  check.expect_close_const %0#2 is dense<[-2.0, 2.0, 2.0, -2.0, 0.0, -12.0, 0.0, -4.0, -142857142.0]> : tensor<9xf64> by [n] : !f64_n9
  return
}
