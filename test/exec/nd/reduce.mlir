// Combines all elements along names. Accumulators are as wide as the neutral element says.
// RUN: heddle-run %s --compare

!f64_k_m_n = !nd.tensor<f64, k: 31, m: 5, n: 17>
!k_m_n = !nd.tensor<f32, k: 31, m: 5, n: 17>
!bf16_k_m_n = !nd.tensor<bf16, k: 31, m: 5, n: 17>
!f16_k_m_n = !nd.tensor<f16, k: 31, m: 5, n: 17>
!i64_k_m_n = !nd.tensor<i64, k: 31, m: 5, n: 17>
!i32_k_m_n = !nd.tensor<i32, k: 31, m: 5, n: 17>
!i8_k_m_n = !nd.tensor<i8, k: 31, m: 5, n: 17>

func.func @several_names() {
  %x = nd.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32> by [a, b, c] : !nd.tensor<i32, a: 2, b: 2, c: 2>
  %0 = nd.reduce %x over [c, a] neutral [0 : i32] : (!nd.tensor<i32, a: 2, b: 2, c: 2>) -> !nd.tensor<i32, b: 2> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.addi %p, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %0 is dense<[14, 22]> : tensor<2xi32> by [b] : !nd.tensor<i32, b: 2>
  %1 = nd.reduce %x over [a, b, c] neutral [1 : i32] : (!nd.tensor<i32, a: 2, b: 2, c: 2>) -> !nd.tensor<i32> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.muli %p, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %1 is dense<40320> : tensor<i32> by [] : !nd.tensor<i32>
  return
}

// Without elements the neutral element remains.
func.func @empty() {
  %x = nd.constant dense<1.0> : tensor<f32> by [a, b] : !nd.tensor<f32, a: 3, b: 0>
  %0 = nd.reduce %x over [b] neutral [0xFF800000 : f32] : (!nd.tensor<f32, a: 3, b: 0>) -> !nd.tensor<f32, a: 3> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.maximumf %p, %e : f32
    nd.yield %r : f32
  }
  check.expect_eq_const %0 is dense<0xFF800000> : tensor<f32> by [a] : !nd.tensor<f32, a: 3>
  %1 = nd.reduce %x over [a] neutral [0.0 : f32] : (!nd.tensor<f32, a: 3, b: 0>) -> !nd.tensor<f32, b: 0> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  check.expect_eq_const %1 is dense<1.0> : tensor<f32> by [b] : !nd.tensor<f32, b: 0>
  return
}

// 256 ones in bf16: an accumulator of bf16 would stop at 256, and 1 + 2^-9 needs f32.
func.func @accumulator() {
  %x = nd.constant dense<1.0> : tensor<bf16> by [n] : !nd.tensor<bf16, n: 300>
  %0 = nd.reduce %x over [n] neutral [0.0 : f32] : (!nd.tensor<bf16, n: 300>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  check.expect_eq_const %0 is dense<300.0> : tensor<f32> by [] : !nd.tensor<f32>
  return
}

// A maximum carries its index along; of equal elements the smallest index wins, since the region says so.
func.func @argmax() {
  %x = nd.constant dense<[[1.0, 5.0, 5.0], [7.0, 2.0, 7.0]]> : tensor<2x3xf32> by [row, column] : !nd.tensor<f32, column: 3, row: 2>
  %c = nd.iota column : !nd.tensor<i32, column: 3>
  %i = nd.broadcast %c : !nd.tensor<i32, column: 3> -> !nd.tensor<i32, column: 3, row: 2>
  %0:2 = nd.reduce %x, %i over [column] neutral [0xFF800000 : f32, 2147483647 : i32]
      : (!nd.tensor<f32, column: 3, row: 2>, !nd.tensor<i32, column: 3, row: 2>) -> (!nd.tensor<f32, row: 2>, !nd.tensor<i32, row: 2>) {
  ^bb0(%a: f32, %ai: i32, %e: f32, %ei: i32):
    %gt = arith.cmpf ogt, %e, %a : f32
    %eq = arith.cmpf oeq, %e, %a : f32
    %less = arith.cmpi slt, %ei, %ai : i32
    %first = arith.andi %eq, %less : i1
    %take = arith.ori %gt, %first : i1
    %r = arith.select %take, %e, %a : f32
    %ri = arith.select %take, %ei, %ai : i32
    nd.yield %r, %ri : f32, i32
  }
  check.expect_eq_const %0#0 is dense<[5.0, 7.0]> : tensor<2xf32> by [row] : !nd.tensor<f32, row: 2>
  check.expect_eq_const %0#1 is dense<[1, 0]> : tensor<2xi32> by [row] : !nd.tensor<i32, row: 2>
  return
}

func.func @f64(%x: !f64_k_m_n) -> (!nd.tensor<f64, m: 5, n: 17>, !nd.tensor<f64, k: 31>, !nd.tensor<f64>, !nd.tensor<f64, k: 31, n: 17>, !nd.tensor<f64, m: 5, n: 17>, !nd.tensor<f64, k: 31, m: 5>, !nd.tensor<f64, k: 31, n: 17>) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f64] : (!f64_k_m_n) -> !nd.tensor<f64, m: 5, n: 17> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %1 = nd.reduce %x over [n, m] neutral [0.0 : f64] : (!f64_k_m_n) -> !nd.tensor<f64, k: 31> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %2 = nd.reduce %x over [m, k, n] neutral [0.0 : f64] : (!f64_k_m_n) -> !nd.tensor<f64> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %3 = nd.reduce %x over [m] neutral [1.0 : f64] : (!f64_k_m_n) -> !nd.tensor<f64, k: 31, n: 17> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.mulf %p, %e : f64
    nd.yield %r : f64
  }
  %4 = nd.reduce %x over [k] neutral [0xFFF0000000000000 : f64] : (!f64_k_m_n) -> !nd.tensor<f64, m: 5, n: 17> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.maximumf %p, %e : f64
    nd.yield %r : f64
  }
  %5 = nd.reduce %x over [n] neutral [0x7FF0000000000000 : f64] : (!f64_k_m_n) -> !nd.tensor<f64, k: 31, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.minimumf %p, %e : f64
    nd.yield %r : f64
  }
  %6 = nd.reduce %x over [m] neutral [0xFFF0000000000000 : f64] : (!f64_k_m_n) -> !nd.tensor<f64, k: 31, n: 17> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.maxnumf %p, %e : f64
    nd.yield %r : f64
  }
  return %0, %1, %2, %3, %4, %5, %6 : !nd.tensor<f64, m: 5, n: 17>, !nd.tensor<f64, k: 31>, !nd.tensor<f64>, !nd.tensor<f64, k: 31, n: 17>, !nd.tensor<f64, m: 5, n: 17>, !nd.tensor<f64, k: 31, m: 5>, !nd.tensor<f64, k: 31, n: 17>
}

func.func @f32(%x: !k_m_n) -> (!nd.tensor<f32, m: 5, n: 17>, !nd.tensor<f32, k: 31>, !nd.tensor<f32>, !nd.tensor<f32, k: 31, n: 17>, !nd.tensor<f32, m: 5, n: 17>, !nd.tensor<f32, k: 31, m: 5>, !nd.tensor<f32, k: 31, n: 17>) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!k_m_n) -> !nd.tensor<f32, m: 5, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %x over [n, m] neutral [0.0 : f32] : (!k_m_n) -> !nd.tensor<f32, k: 31> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %x over [m, k, n] neutral [0.0 : f32] : (!k_m_n) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %3 = nd.reduce %x over [m] neutral [1.0 : f32] : (!k_m_n) -> !nd.tensor<f32, k: 31, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.mulf %p, %e : f32
    nd.yield %r : f32
  }
  %4 = nd.reduce %x over [k] neutral [0xFF800000 : f32] : (!k_m_n) -> !nd.tensor<f32, m: 5, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.maximumf %p, %e : f32
    nd.yield %r : f32
  }
  %5 = nd.reduce %x over [n] neutral [0x7F800000 : f32] : (!k_m_n) -> !nd.tensor<f32, k: 31, m: 5> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.minimumf %p, %e : f32
    nd.yield %r : f32
  }
  %6 = nd.reduce %x over [m] neutral [0xFF800000 : f32] : (!k_m_n) -> !nd.tensor<f32, k: 31, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.maxnumf %p, %e : f32
    nd.yield %r : f32
  }
  return %0, %1, %2, %3, %4, %5, %6 : !nd.tensor<f32, m: 5, n: 17>, !nd.tensor<f32, k: 31>, !nd.tensor<f32>, !nd.tensor<f32, k: 31, n: 17>, !nd.tensor<f32, m: 5, n: 17>, !nd.tensor<f32, k: 31, m: 5>, !nd.tensor<f32, k: 31, n: 17>
}

func.func @bf16(%x: !bf16_k_m_n) -> (!nd.tensor<bf16, m: 5, n: 17>, !nd.tensor<bf16, k: 31>, !nd.tensor<bf16>, !nd.tensor<bf16, k: 31, n: 17>, !nd.tensor<bf16, m: 5, n: 17>, !nd.tensor<bf16, k: 31, m: 5>, !nd.tensor<bf16, k: 31, n: 17>) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!bf16_k_m_n) -> !nd.tensor<bf16, m: 5, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %x over [n, m] neutral [0.0 : f32] : (!bf16_k_m_n) -> !nd.tensor<bf16, k: 31> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %x over [m, k, n] neutral [0.0 : f32] : (!bf16_k_m_n) -> !nd.tensor<bf16> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %3 = nd.reduce %x over [m] neutral [1.0 : f32] : (!bf16_k_m_n) -> !nd.tensor<bf16, k: 31, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.mulf %p, %e : f32
    nd.yield %r : f32
  }
  %4 = nd.reduce %x over [k] neutral [0xFF800000 : f32] : (!bf16_k_m_n) -> !nd.tensor<bf16, m: 5, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.maximumf %p, %e : f32
    nd.yield %r : f32
  }
  %5 = nd.reduce %x over [n] neutral [0x7F800000 : f32] : (!bf16_k_m_n) -> !nd.tensor<bf16, k: 31, m: 5> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.minimumf %p, %e : f32
    nd.yield %r : f32
  }
  %6 = nd.reduce %x over [m] neutral [0xFF800000 : f32] : (!bf16_k_m_n) -> !nd.tensor<bf16, k: 31, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.maxnumf %p, %e : f32
    nd.yield %r : f32
  }
  return %0, %1, %2, %3, %4, %5, %6 : !nd.tensor<bf16, m: 5, n: 17>, !nd.tensor<bf16, k: 31>, !nd.tensor<bf16>, !nd.tensor<bf16, k: 31, n: 17>, !nd.tensor<bf16, m: 5, n: 17>, !nd.tensor<bf16, k: 31, m: 5>, !nd.tensor<bf16, k: 31, n: 17>
}

func.func @f16(%x: !f16_k_m_n) -> (!nd.tensor<f16, m: 5, n: 17>, !nd.tensor<f16, k: 31>, !nd.tensor<f16>, !nd.tensor<f16, k: 31, n: 17>, !nd.tensor<f16, m: 5, n: 17>, !nd.tensor<f16, k: 31, m: 5>, !nd.tensor<f16, k: 31, n: 17>) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f32] : (!f16_k_m_n) -> !nd.tensor<f16, m: 5, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %x over [n, m] neutral [0.0 : f32] : (!f16_k_m_n) -> !nd.tensor<f16, k: 31> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %x over [m, k, n] neutral [0.0 : f32] : (!f16_k_m_n) -> !nd.tensor<f16> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %3 = nd.reduce %x over [m] neutral [1.0 : f32] : (!f16_k_m_n) -> !nd.tensor<f16, k: 31, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.mulf %p, %e : f32
    nd.yield %r : f32
  }
  %4 = nd.reduce %x over [k] neutral [0xFF800000 : f32] : (!f16_k_m_n) -> !nd.tensor<f16, m: 5, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.maximumf %p, %e : f32
    nd.yield %r : f32
  }
  %5 = nd.reduce %x over [n] neutral [0x7F800000 : f32] : (!f16_k_m_n) -> !nd.tensor<f16, k: 31, m: 5> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.minimumf %p, %e : f32
    nd.yield %r : f32
  }
  %6 = nd.reduce %x over [m] neutral [0xFF800000 : f32] : (!f16_k_m_n) -> !nd.tensor<f16, k: 31, n: 17> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.maxnumf %p, %e : f32
    nd.yield %r : f32
  }
  return %0, %1, %2, %3, %4, %5, %6 : !nd.tensor<f16, m: 5, n: 17>, !nd.tensor<f16, k: 31>, !nd.tensor<f16>, !nd.tensor<f16, k: 31, n: 17>, !nd.tensor<f16, m: 5, n: 17>, !nd.tensor<f16, k: 31, m: 5>, !nd.tensor<f16, k: 31, n: 17>
}

func.func @i64(%x: !i64_k_m_n) -> (!nd.tensor<i64, m: 5, n: 17>, !nd.tensor<i64, k: 31>, !nd.tensor<i64>, !nd.tensor<i64, m: 5, n: 17>, !nd.tensor<i64, k: 31, m: 5>, !nd.tensor<i64, k: 31, n: 17>) {
  %0 = nd.reduce %x over [k] neutral [0 : i64] : (!i64_k_m_n) -> !nd.tensor<i64, m: 5, n: 17> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.addi %p, %e : i64
    nd.yield %r : i64
  }
  %1 = nd.reduce %x over [n, m] neutral [0 : i64] : (!i64_k_m_n) -> !nd.tensor<i64, k: 31> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.addi %p, %e : i64
    nd.yield %r : i64
  }
  %2 = nd.reduce %x over [k, m, n] neutral [1 : i64] : (!i64_k_m_n) -> !nd.tensor<i64> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.muli %p, %e : i64
    nd.yield %r : i64
  }
  %3 = nd.reduce %x over [k] neutral [-9223372036854775808 : i64] : (!i64_k_m_n) -> !nd.tensor<i64, m: 5, n: 17> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.maxsi %p, %e : i64
    nd.yield %r : i64
  }
  %4 = nd.reduce %x over [n] neutral [9223372036854775807 : i64] : (!i64_k_m_n) -> !nd.tensor<i64, k: 31, m: 5> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.minsi %p, %e : i64
    nd.yield %r : i64
  }
  %5 = nd.reduce %x over [m] neutral [0 : i64] : (!i64_k_m_n) -> !nd.tensor<i64, k: 31, n: 17> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.xori %p, %e : i64
    nd.yield %r : i64
  }
  return %0, %1, %2, %3, %4, %5 : !nd.tensor<i64, m: 5, n: 17>, !nd.tensor<i64, k: 31>, !nd.tensor<i64>, !nd.tensor<i64, m: 5, n: 17>, !nd.tensor<i64, k: 31, m: 5>, !nd.tensor<i64, k: 31, n: 17>
}

func.func @i32(%x: !i32_k_m_n) -> (!nd.tensor<i32, m: 5, n: 17>, !nd.tensor<i32, k: 31>, !nd.tensor<i32>, !nd.tensor<i32, m: 5, n: 17>, !nd.tensor<i32, k: 31, m: 5>, !nd.tensor<i32, k: 31, n: 17>) {
  %0 = nd.reduce %x over [k] neutral [0 : i32] : (!i32_k_m_n) -> !nd.tensor<i32, m: 5, n: 17> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.addi %p, %e : i32
    nd.yield %r : i32
  }
  %1 = nd.reduce %x over [n, m] neutral [0 : i32] : (!i32_k_m_n) -> !nd.tensor<i32, k: 31> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.addi %p, %e : i32
    nd.yield %r : i32
  }
  %2 = nd.reduce %x over [k, m, n] neutral [1 : i32] : (!i32_k_m_n) -> !nd.tensor<i32> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.muli %p, %e : i32
    nd.yield %r : i32
  }
  %3 = nd.reduce %x over [k] neutral [-2147483648 : i32] : (!i32_k_m_n) -> !nd.tensor<i32, m: 5, n: 17> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.maxsi %p, %e : i32
    nd.yield %r : i32
  }
  %4 = nd.reduce %x over [n] neutral [2147483647 : i32] : (!i32_k_m_n) -> !nd.tensor<i32, k: 31, m: 5> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.minsi %p, %e : i32
    nd.yield %r : i32
  }
  %5 = nd.reduce %x over [m] neutral [0 : i32] : (!i32_k_m_n) -> !nd.tensor<i32, k: 31, n: 17> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.xori %p, %e : i32
    nd.yield %r : i32
  }
  return %0, %1, %2, %3, %4, %5 : !nd.tensor<i32, m: 5, n: 17>, !nd.tensor<i32, k: 31>, !nd.tensor<i32>, !nd.tensor<i32, m: 5, n: 17>, !nd.tensor<i32, k: 31, m: 5>, !nd.tensor<i32, k: 31, n: 17>
}

func.func @i8(%x: !i8_k_m_n) -> (!nd.tensor<i8, m: 5, n: 17>, !nd.tensor<i8, k: 31>, !nd.tensor<i8>, !nd.tensor<i8, m: 5, n: 17>, !nd.tensor<i8, k: 31, m: 5>, !nd.tensor<i8, k: 31, n: 17>) {
  %0 = nd.reduce %x over [k] neutral [0 : i8] : (!i8_k_m_n) -> !nd.tensor<i8, m: 5, n: 17> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.addi %p, %e : i8
    nd.yield %r : i8
  }
  %1 = nd.reduce %x over [n, m] neutral [0 : i8] : (!i8_k_m_n) -> !nd.tensor<i8, k: 31> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.addi %p, %e : i8
    nd.yield %r : i8
  }
  %2 = nd.reduce %x over [k, m, n] neutral [1 : i8] : (!i8_k_m_n) -> !nd.tensor<i8> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.muli %p, %e : i8
    nd.yield %r : i8
  }
  %3 = nd.reduce %x over [k] neutral [-128 : i8] : (!i8_k_m_n) -> !nd.tensor<i8, m: 5, n: 17> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.maxsi %p, %e : i8
    nd.yield %r : i8
  }
  %4 = nd.reduce %x over [n] neutral [127 : i8] : (!i8_k_m_n) -> !nd.tensor<i8, k: 31, m: 5> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.minsi %p, %e : i8
    nd.yield %r : i8
  }
  %5 = nd.reduce %x over [m] neutral [0 : i8] : (!i8_k_m_n) -> !nd.tensor<i8, k: 31, n: 17> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.xori %p, %e : i8
    nd.yield %r : i8
  }
  return %0, %1, %2, %3, %4, %5 : !nd.tensor<i8, m: 5, n: 17>, !nd.tensor<i8, k: 31>, !nd.tensor<i8>, !nd.tensor<i8, m: 5, n: 17>, !nd.tensor<i8, k: 31, m: 5>, !nd.tensor<i8, k: 31, n: 17>
}

func.func @ui8(%x: !nd.tensor<ui8, k: 31, m: 5, n: 3>) -> (!nd.tensor<ui8, m: 5, n: 3>, !nd.tensor<ui8, m: 5, n: 3>, !nd.tensor<ui8, k: 31, m: 5>, !nd.tensor<ui8, k: 31, n: 3>) {
  %0 = nd.reduce %x over [k] neutral [0 : i8] : (!nd.tensor<ui8, k: 31, m: 5, n: 3>) -> !nd.tensor<ui8, m: 5, n: 3> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.addi %p, %e : i8
    nd.yield %r : i8
  }
  %1 = nd.reduce %x over [k] neutral [0 : i8] : (!nd.tensor<ui8, k: 31, m: 5, n: 3>) -> !nd.tensor<ui8, m: 5, n: 3> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.maxui %p, %e : i8
    nd.yield %r : i8
  }
  %2 = nd.reduce %x over [n] neutral [-1 : i8] : (!nd.tensor<ui8, k: 31, m: 5, n: 3>) -> !nd.tensor<ui8, k: 31, m: 5> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.minui %p, %e : i8
    nd.yield %r : i8
  }
  %3 = nd.reduce %x over [m] neutral [-1 : i8] : (!nd.tensor<ui8, k: 31, m: 5, n: 3>) -> !nd.tensor<ui8, k: 31, n: 3> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.andi %p, %e : i8
    nd.yield %r : i8
  }
  return %0, %1, %2, %3 : !nd.tensor<ui8, m: 5, n: 3>, !nd.tensor<ui8, m: 5, n: 3>, !nd.tensor<ui8, k: 31, m: 5>, !nd.tensor<ui8, k: 31, n: 3>
}

func.func @ui64(%x: !nd.tensor<ui64, k: 31, m: 5, n: 3>) -> (!nd.tensor<ui64, m: 5, n: 3>, !nd.tensor<ui64, m: 5, n: 3>, !nd.tensor<ui64, k: 31, m: 5>, !nd.tensor<ui64, k: 31, n: 3>) {
  %0 = nd.reduce %x over [k] neutral [0 : i64] : (!nd.tensor<ui64, k: 31, m: 5, n: 3>) -> !nd.tensor<ui64, m: 5, n: 3> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.addi %p, %e : i64
    nd.yield %r : i64
  }
  %1 = nd.reduce %x over [k] neutral [0 : i64] : (!nd.tensor<ui64, k: 31, m: 5, n: 3>) -> !nd.tensor<ui64, m: 5, n: 3> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.maxui %p, %e : i64
    nd.yield %r : i64
  }
  %2 = nd.reduce %x over [n] neutral [-1 : i64] : (!nd.tensor<ui64, k: 31, m: 5, n: 3>) -> !nd.tensor<ui64, k: 31, m: 5> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.minui %p, %e : i64
    nd.yield %r : i64
  }
  %3 = nd.reduce %x over [m] neutral [-1 : i64] : (!nd.tensor<ui64, k: 31, m: 5, n: 3>) -> !nd.tensor<ui64, k: 31, n: 3> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.andi %p, %e : i64
    nd.yield %r : i64
  }
  return %0, %1, %2, %3 : !nd.tensor<ui64, m: 5, n: 3>, !nd.tensor<ui64, m: 5, n: 3>, !nd.tensor<ui64, k: 31, m: 5>, !nd.tensor<ui64, k: 31, n: 3>
}

func.func @i1(%x: !nd.tensor<i1, k: 31, m: 5, n: 3>) -> (!nd.tensor<i1, m: 5, n: 3>, !nd.tensor<i1, k: 31>, !nd.tensor<i1, k: 31, m: 5>) {
  %0 = nd.reduce %x over [k] neutral [true] : (!nd.tensor<i1, k: 31, m: 5, n: 3>) -> !nd.tensor<i1, m: 5, n: 3> {
  ^bb0(%p: i1, %e: i1):
    %r = arith.andi %p, %e : i1
    nd.yield %r : i1
  }
  %1 = nd.reduce %x over [m, n] neutral [false] : (!nd.tensor<i1, k: 31, m: 5, n: 3>) -> !nd.tensor<i1, k: 31> {
  ^bb0(%p: i1, %e: i1):
    %r = arith.ori %p, %e : i1
    nd.yield %r : i1
  }
  %2 = nd.reduce %x over [n] neutral [false] : (!nd.tensor<i1, k: 31, m: 5, n: 3>) -> !nd.tensor<i1, k: 31, m: 5> {
  ^bb0(%p: i1, %e: i1):
    %r = arith.xori %p, %e : i1
    nd.yield %r : i1
  }
  return %0, %1, %2 : !nd.tensor<i1, m: 5, n: 3>, !nd.tensor<i1, k: 31>, !nd.tensor<i1, k: 31, m: 5>
}

func.func @bf16_to_bf16(%x: !nd.tensor<bf16, k: 31, m: 5, n: 3>) -> (!nd.tensor<bf16, m: 5, n: 3>, !nd.tensor<f32, m: 5, n: 3>) {
  %0 = nd.reduce %x over [k] neutral [0.0 : bf16] : (!nd.tensor<bf16, k: 31, m: 5, n: 3>) -> !nd.tensor<bf16, m: 5, n: 3> {
  ^bb0(%p: bf16, %e: bf16):
    %r = arith.addf %p, %e : bf16
    nd.yield %r : bf16
  }
  %1 = nd.reduce %x over [k] neutral [0.0 : f32] : (!nd.tensor<bf16, k: 31, m: 5, n: 3>) -> !nd.tensor<f32, m: 5, n: 3> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  return %0, %1 : !nd.tensor<bf16, m: 5, n: 3>, !nd.tensor<f32, m: 5, n: 3>
}

func.func @sizes_of_one(%x: !nd.tensor<f32, a: 1, b: 1, c: 7>) -> (!nd.tensor<f32, a: 1, c: 7>, !nd.tensor<f32>, !nd.tensor<f32, b: 1, c: 7>) {
  %0 = nd.reduce %x over [b] neutral [0.0 : f32] : (!nd.tensor<f32, a: 1, b: 1, c: 7>) -> !nd.tensor<f32, a: 1, c: 7> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %1 = nd.reduce %x over [a, b, c] neutral [0.0 : f32] : (!nd.tensor<f32, a: 1, b: 1, c: 7>) -> !nd.tensor<f32> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %x over [a] neutral [1.0 : f32] : (!nd.tensor<f32, a: 1, b: 1, c: 7>) -> !nd.tensor<f32, b: 1, c: 7> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.mulf %p, %e : f32
    nd.yield %r : f32
  }
  return %0, %1, %2 : !nd.tensor<f32, a: 1, c: 7>, !nd.tensor<f32>, !nd.tensor<f32, b: 1, c: 7>
}

// A matrix product: primes, four names, written in any order.
func.func @contraction(%a: !nd.tensor<f32, z: 2, k: 29, m: 19>, %b: !nd.tensor<f32, n: 23, z: 2, k: 29>) -> !nd.tensor<f32, m: 19, n: 23, z: 2> {
  %p = nd.pointwise %a, %b : (!nd.tensor<f32, z: 2, k: 29, m: 19>, !nd.tensor<f32, n: 23, z: 2, k: 29>) -> !nd.tensor<f32, k: 29, m: 19, n: 23, z: 2> {
  ^bb0(%x: f32, %y: f32):
    %r = arith.mulf %x, %y : f32
    nd.yield %r : f32
  }
  %0 = nd.reduce %p over [k] neutral [0.0 : f32] : (!nd.tensor<f32, k: 29, m: 19, n: 23, z: 2>) -> !nd.tensor<f32, m: 19, n: 23, z: 2> {
  ^bb0(%p1: f32, %e: f32):
    %r = arith.addf %p1, %e : f32
    nd.yield %r : f32
  }
  return %0 : !nd.tensor<f32, m: 19, n: 23, z: 2>
}

// A combiner without a name of its own: log of a sum of exponentials, as (largest, scaled sum).
func.func @logsumexp(%x: !nd.tensor<f32, m: 7, n: 13>, %one: !nd.tensor<f32, m: 7, n: 13>) -> (!nd.tensor<f32, m: 7>, !nd.tensor<f32, m: 7>) {
  %o = nd.pointwise %one : (!nd.tensor<f32, m: 7, n: 13>) -> !nd.tensor<f32, m: 7, n: 13> {
  ^bb0(%e: f32):
    %c = arith.constant 1.0 : f32
    nd.yield %c : f32
  }
  %0:2 = nd.reduce %x, %o over [n] neutral [0xFF800000 : f32, 0.0 : f32] : (!nd.tensor<f32, m: 7, n: 13>, !nd.tensor<f32, m: 7, n: 13>) -> (!nd.tensor<f32, m: 7>, !nd.tensor<f32, m: 7>) {
  ^bb0(%am: f32, %as: f32, %em: f32, %es: f32):
    %m = arith.maximumf %am, %em : f32
    %ad = arith.subf %am, %m : f32
    %ed = arith.subf %em, %m : f32
    %ax = math.exp %ad : f32
    %ex = math.exp %ed : f32
    %ap = arith.mulf %as, %ax : f32
    %ep = arith.mulf %es, %ex : f32
    %s = arith.addf %ap, %ep : f32
    nd.yield %m, %s : f32, f32
  }
  return %0#0, %0#1 : !nd.tensor<f32, m: 7>, !nd.tensor<f32, m: 7>
}
