// The value of a function and its tangent in a direction.
// RUN: heddle-run %s --compare

!F32_k = !nd.tensor<f32, k: 3>
!F32 = !nd.tensor<f32>

func.func private @loss(%w: !F32_k, %x: !F32_k) -> !F32 {
  %p = nd.pointwise %w, %x : (!F32_k, !F32_k) -> !F32_k {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.mulf %m, %a : f32
    nd.yield %r : f32
  }
  %s = nd.reduce %p over [k] neutral [0.0 : f32] : (!F32_k) -> !F32 {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %s : !F32
}

// sum of w^2 x: 2 w x dw + w^2 dx.
func.func @squares() {
  %w = nd.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [k] : !F32_k
  %x = nd.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32> by [k] : !F32_k
  %d = nd.constant dense<[1.0, 0.0, 2.0]> : tensor<3xf32> by [k] : !F32_k
  %0:2 = nd.jvp @loss(%w, %x) tangents(%d) wrt [0] : (!F32_k, !F32_k, !F32_k) -> (!F32, !F32)
  check.expect_eq_const %0#0 is dense<78.0> : tensor<f32> by [] : !F32
  check.expect_eq_const %0#1 is dense<80.0> : tensor<f32> by [] : !F32
  %1:2 = nd.jvp @loss(%w, %x) tangents(%d, %d) wrt [1, 0] : (!F32_k, !F32_k, !F32_k, !F32_k) -> (!F32, !F32)
  check.expect_eq_const %1#1 is dense<99.0> : tensor<f32> by [] : !F32
  return
}

// The Hessian times a direction, forward over reverse and reverse over forward: 2 x dw by w, 2 w dw by x.
func.func private @slope(%w: !F32_k, %x: !F32_k) -> !F32_k {
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !F32
  %0:2 = nd.vjp @loss(%w, %x) cotangents(%one) wrt [0] : (!F32_k, !F32_k, !F32) -> (!F32, !F32_k)
  return %0#1 : !F32_k
}
func.func private @directional(%w: !F32_k, %x: !F32_k, %d: !F32_k) -> !F32 {
  %0:2 = nd.jvp @loss(%w, %x) tangents(%d) wrt [0] : (!F32_k, !F32_k, !F32_k) -> (!F32, !F32)
  return %0#1 : !F32
}
func.func @hessian() {
  %w = nd.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [k] : !F32_k
  %x = nd.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32> by [k] : !F32_k
  %d = nd.constant dense<[1.0, 0.0, 2.0]> : tensor<3xf32> by [k] : !F32_k
  %one = nd.constant dense<1.0> : tensor<f32> by [] : !F32
  %0:2 = nd.jvp @slope(%w, %x) tangents(%d) wrt [0] : (!F32_k, !F32_k, !F32_k) -> (!F32_k, !F32_k)
  check.expect_eq_const %0#1 is dense<[8.0, 0.0, 24.0]> : tensor<3xf32> by [k] : !F32_k
  %1:3 = nd.vjp @directional(%w, %x, %d) cotangents(%one) wrt [0, 1] : (!F32_k, !F32_k, !F32_k, !F32) -> (!F32, !F32_k, !F32_k)
  check.expect_eq_const %1#1 is dense<[8.0, 0.0, 24.0]> : tensor<3xf32> by [k] : !F32_k
  check.expect_eq_const %1#2 is dense<[2.0, 0.0, 12.0]> : tensor<3xf32> by [k] : !F32_k
  return
}

// A user's own gradient stands for the derivative, in both modes and lifted: the square of x, said to have slope 3.
func.func private @square(%x: !F32) -> !F32 {
  %p = nd.pointwise %x : (!F32) -> !F32 {
  ^bb0(%a: f32):
    %r = arith.mulf %a, %a : f32
    nd.yield %r : f32
  }
  return %p : !F32
}
func.func private @three(%x: !F32, %g: !F32) -> !F32 {
  %p = nd.pointwise %g : (!F32) -> !F32 {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %r = arith.mulf %a, %c : f32
    nd.yield %r : f32
  }
  return %p : !F32
}
func.func private @lifted(%x: !F32_k) -> !F32_k {
  %0 = nd.call @square(%x) gradient @three : (!F32_k) -> !F32_k
  return %0 : !F32_k
}
func.func @own_gradient() {
  %x = nd.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32> by [k] : !F32_k
  %d = nd.constant dense<[1.0, 0.0, 2.0]> : tensor<3xf32> by [k] : !F32_k
  %0:2 = nd.vjp @lifted(%x) cotangents(%d) wrt [0] : (!F32_k, !F32_k) -> (!F32_k, !F32_k)
  check.expect_eq_const %0#0 is dense<[16.0, 25.0, 36.0]> : tensor<3xf32> by [k] : !F32_k
  check.expect_eq_const %0#1 is dense<[3.0, 0.0, 6.0]> : tensor<3xf32> by [k] : !F32_k
  %1:2 = nd.jvp @lifted(%x) tangents(%d) wrt [0] : (!F32_k, !F32_k) -> (!F32_k, !F32_k)
  check.expect_eq_const %1#1 is dense<[3.0, 0.0, 6.0]> : tensor<3xf32> by [k] : !F32_k
  return
}

// The operand of stop_gradient is a constant: x * stop(x).
func.func private @stopped(%x: !F32) -> !F32 {
  %s = nd.stop_gradient %x : !F32
  %p = nd.pointwise %x, %s : (!F32, !F32) -> !F32 {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  return %p : !F32
}
func.func @stops() {
  %x = nd.constant dense<3.0> : tensor<f32> by [] : !F32
  %d = nd.constant dense<2.0> : tensor<f32> by [] : !F32
  %0:2 = nd.vjp @stopped(%x) cotangents(%d) wrt [0] : (!F32, !F32) -> (!F32, !F32)
  check.expect_eq_const %0#1 is dense<6.0> : tensor<f32> by [] : !F32
  %1:2 = nd.jvp @stopped(%x) tangents(%d) wrt [0] : (!F32, !F32) -> (!F32, !F32)
  check.expect_eq_const %1#1 is dense<6.0> : tensor<f32> by [] : !F32
  return
}

// A checkpoint changes no value.
func.func private @twice(%x: !F32_k) -> !F32_k {
  %0 = nd.call @square(%x) checkpoint : (!F32_k) -> !F32_k
  %1 = nd.call @square(%0) checkpoint : (!F32_k) -> !F32_k
  return %1 : !F32_k
}
func.func @checkpoints() {
  %x = nd.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32> by [k] : !F32_k
  %d = nd.constant dense<[1.0, 0.0, 2.0]> : tensor<3xf32> by [k] : !F32_k
  %0:2 = nd.vjp @twice(%x) cotangents(%d) wrt [0] : (!F32_k, !F32_k) -> (!F32_k, !F32_k)
  check.expect_eq_const %0#1 is dense<[256.0, 0.0, 1728.0]> : tensor<3xf32> by [k] : !F32_k
  %1:2 = nd.jvp @twice(%x) tangents(%d) wrt [0] : (!F32_k, !F32_k) -> (!F32_k, !F32_k)
  check.expect_eq_const %1#1 is dense<[256.0, 0.0, 1728.0]> : tensor<3xf32> by [k] : !F32_k
  return
}
