// The functions of `math` that a scalar region may use, on floats of each width.
// RUN: heddle-run %s --compare

!F32_n = !nd.tensor<f32, n: 37>
!F64_n = !nd.tensor<f64, n: 37>
!bf16_n = !nd.tensor<bf16, n: 37>
!f16_n = !nd.tensor<f16, n: 37>
!i32_n = !nd.tensor<i32, n: 37>
!n19 = !nd.tensor<f32, n: 19>
!n5 = !nd.tensor<f32, n: 5>
!f64_n6 = !nd.tensor<f64, n: 6>
!n6 = !nd.tensor<f32, n: 6>
!f16_d = !nd.tensor<f16, d: 7>
!f64_n11 = !nd.tensor<f64, n: 11>

func.func @f32(%a: !F32_n) -> (!F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n) {
  %0 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    nd.yield %y : f32
  }
  %1 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.exp2 %x : f32
    nd.yield %y : f32
  }
  %2 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.expm1 %x : f32
    nd.yield %y : f32
  }
  %3 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.tanh %x : f32
    nd.yield %y : f32
  }
  %4 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.sin %x : f32
    nd.yield %y : f32
  }
  %5 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.cos %x : f32
    nd.yield %y : f32
  }
  %6 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.erf %x : f32
    nd.yield %y : f32
  }
  %7 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.floor %x : f32
    nd.yield %y : f32
  }
  %8 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.ceil %x : f32
    nd.yield %y : f32
  }
  %9 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.roundeven %x : f32
    nd.yield %y : f32
  }
  %10 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.trunc %x : f32
    nd.yield %y : f32
  }
  %11 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %y = math.absf %x : f32
    nd.yield %y : f32
  }
  %12 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %s = math.absf %x : f32
    %q = arith.constant 0.25 : f32
    %p = arith.addf %s, %q : f32
    %y = math.log %p : f32
    nd.yield %y : f32
  }
  %13 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %s = math.absf %x : f32
    %q = arith.constant 0.25 : f32
    %p = arith.addf %s, %q : f32
    %y = math.log2 %p : f32
    nd.yield %y : f32
  }
  %14 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %s = math.absf %x : f32
    %q = arith.constant 0.25 : f32
    %p = arith.addf %s, %q : f32
    %y = math.log1p %p : f32
    nd.yield %y : f32
  }
  %15 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %s = math.absf %x : f32
    %q = arith.constant 0.25 : f32
    %p = arith.addf %s, %q : f32
    %y = math.sqrt %p : f32
    nd.yield %y : f32
  }
  %16 = nd.pointwise %a : (!F32_n) -> !F32_n {
  ^bb0(%x: f32):
    %s = math.absf %x : f32
    %q = arith.constant 0.25 : f32
    %p = arith.addf %s, %q : f32
    %y = math.rsqrt %p : f32
    nd.yield %y : f32
  }
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n, !F32_n
}

func.func @f64(%a: !F64_n) -> (!F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n) {
  %0 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.exp %x : f64
    nd.yield %y : f64
  }
  %1 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.exp2 %x : f64
    nd.yield %y : f64
  }
  %2 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.expm1 %x : f64
    nd.yield %y : f64
  }
  %3 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    nd.yield %y : f64
  }
  %4 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.sin %x : f64
    nd.yield %y : f64
  }
  %5 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.cos %x : f64
    nd.yield %y : f64
  }
  %6 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.erf %x : f64
    nd.yield %y : f64
  }
  %7 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.floor %x : f64
    nd.yield %y : f64
  }
  %8 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.ceil %x : f64
    nd.yield %y : f64
  }
  %9 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.roundeven %x : f64
    nd.yield %y : f64
  }
  %10 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.trunc %x : f64
    nd.yield %y : f64
  }
  %11 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %y = math.absf %x : f64
    nd.yield %y : f64
  }
  %12 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %s = math.absf %x : f64
    %q = arith.constant 0.25 : f64
    %p = arith.addf %s, %q : f64
    %y = math.log %p : f64
    nd.yield %y : f64
  }
  %13 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %s = math.absf %x : f64
    %q = arith.constant 0.25 : f64
    %p = arith.addf %s, %q : f64
    %y = math.log2 %p : f64
    nd.yield %y : f64
  }
  %14 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %s = math.absf %x : f64
    %q = arith.constant 0.25 : f64
    %p = arith.addf %s, %q : f64
    %y = math.log1p %p : f64
    nd.yield %y : f64
  }
  %15 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %s = math.absf %x : f64
    %q = arith.constant 0.25 : f64
    %p = arith.addf %s, %q : f64
    %y = math.sqrt %p : f64
    nd.yield %y : f64
  }
  %16 = nd.pointwise %a : (!F64_n) -> !F64_n {
  ^bb0(%x: f64):
    %s = math.absf %x : f64
    %q = arith.constant 0.25 : f64
    %p = arith.addf %s, %q : f64
    %y = math.rsqrt %p : f64
    nd.yield %y : f64
  }
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n, !F64_n
}

func.func @bf16(%a: !bf16_n) -> (!bf16_n, !bf16_n, !bf16_n, !bf16_n, !bf16_n, !bf16_n) {
  %0 = nd.pointwise %a : (!bf16_n) -> !bf16_n {
  ^bb0(%x: bf16):
    %y = math.exp %x : bf16
    nd.yield %y : bf16
  }
  %1 = nd.pointwise %a : (!bf16_n) -> !bf16_n {
  ^bb0(%x: bf16):
    %y = math.tanh %x : bf16
    nd.yield %y : bf16
  }
  %2 = nd.pointwise %a : (!bf16_n) -> !bf16_n {
  ^bb0(%x: bf16):
    %y = math.erf %x : bf16
    nd.yield %y : bf16
  }
  %3 = nd.pointwise %a : (!bf16_n) -> !bf16_n {
  ^bb0(%x: bf16):
    %y = math.floor %x : bf16
    nd.yield %y : bf16
  }
  %4 = nd.pointwise %a : (!bf16_n) -> !bf16_n {
  ^bb0(%x: bf16):
    %s = math.absf %x : bf16
    %q = arith.constant 0.25 : bf16
    %p = arith.addf %s, %q : bf16
    %y = math.log %p : bf16
    nd.yield %y : bf16
  }
  %5 = nd.pointwise %a : (!bf16_n) -> !bf16_n {
  ^bb0(%x: bf16):
    %s = math.absf %x : bf16
    %q = arith.constant 0.25 : bf16
    %p = arith.addf %s, %q : bf16
    %y = math.sqrt %p : bf16
    nd.yield %y : bf16
  }
  return %0, %1, %2, %3, %4, %5 : !bf16_n, !bf16_n, !bf16_n, !bf16_n, !bf16_n, !bf16_n
}

func.func @f16(%a: !f16_n) -> (!f16_n, !f16_n, !f16_n, !f16_n, !f16_n, !f16_n) {
  %0 = nd.pointwise %a : (!f16_n) -> !f16_n {
  ^bb0(%x: f16):
    %y = math.exp %x : f16
    nd.yield %y : f16
  }
  %1 = nd.pointwise %a : (!f16_n) -> !f16_n {
  ^bb0(%x: f16):
    %y = math.tanh %x : f16
    nd.yield %y : f16
  }
  %2 = nd.pointwise %a : (!f16_n) -> !f16_n {
  ^bb0(%x: f16):
    %y = math.erf %x : f16
    nd.yield %y : f16
  }
  %3 = nd.pointwise %a : (!f16_n) -> !f16_n {
  ^bb0(%x: f16):
    %y = math.floor %x : f16
    nd.yield %y : f16
  }
  %4 = nd.pointwise %a : (!f16_n) -> !f16_n {
  ^bb0(%x: f16):
    %s = math.absf %x : f16
    %q = arith.constant 0.25 : f16
    %p = arith.addf %s, %q : f16
    %y = math.log %p : f16
    nd.yield %y : f16
  }
  %5 = nd.pointwise %a : (!f16_n) -> !f16_n {
  ^bb0(%x: f16):
    %s = math.absf %x : f16
    %q = arith.constant 0.25 : f16
    %p = arith.addf %s, %q : f16
    %y = math.sqrt %p : f16
    nd.yield %y : f16
  }
  return %0, %1, %2, %3, %4, %5 : !f16_n, !f16_n, !f16_n, !f16_n, !f16_n, !f16_n
}

func.func @two(%a: !F32_n, %b: !F32_n) -> (!F32_n, !F32_n, !F32_n, !F32_n) {
  %0 = nd.pointwise %a, %b : (!F32_n, !F32_n) -> !F32_n {
  ^bb0(%x: f32, %y: f32):
    %s = math.absf %x : f32
    %q = arith.constant 0.25 : f32
    %p = arith.addf %s, %q : f32
    %r = math.powf %p, %y : f32
    nd.yield %r : f32
  }
  %1 = nd.pointwise %a, %b : (!F32_n, !F32_n) -> !F32_n {
  ^bb0(%x: f32, %y: f32):
    %r = math.fma %x, %y, %x : f32
    nd.yield %r : f32
  }
  %2 = nd.pointwise %a, %b : (!F32_n, !F32_n) -> !F32_n {
  ^bb0(%x: f32, %y: f32):
    %r = arith.minnumf %x, %y : f32
    nd.yield %r : f32
  }
  %3 = nd.pointwise %a, %b : (!F32_n, !F32_n) -> !F32_n {
  ^bb0(%x: f32, %y: f32):
    %r = arith.remf %x, %y : f32
    nd.yield %r : f32
  }
  return %0, %1, %2, %3 : !F32_n, !F32_n, !F32_n, !F32_n
}

func.func @integers(%a: !i32_n, %b: !i32_n) -> (!i32_n, !i32_n, !i32_n) {
  %0 = nd.pointwise %a, %b : (!i32_n, !i32_n) -> !i32_n {
  ^bb0(%x: i32, %y: i32):
    %p = math.absi %x : i32
    %one = arith.constant 1 : i32
    %q = arith.ori %y, %one : i32
    %r = arith.remsi %p, %q : i32
    nd.yield %r : i32
  }
  %1 = nd.pointwise %a : (!i32_n) -> !i32_n {
  ^bb0(%x: i32):
    %three = arith.constant 3 : i32
    %r = arith.shli %x, %three : i32
    nd.yield %r : i32
  }
  %2 = nd.pointwise %a, %b : (!i32_n, !i32_n) -> !i32_n {
  ^bb0(%x: i32, %y: i32):
    %one = arith.constant 1 : i32
    %q = arith.ori %y, %one : i32
    %r = arith.divsi %x, %q : i32
    nd.yield %r : i32
  }
  return %0, %1, %2 : !i32_n, !i32_n, !i32_n
}

// Any finite argument, on vectors of any width; arguments beyond 2^20 are reduced exactly.
func.func @large_angles() -> (!n19, !n19) {
  %a = nd.constant dense<[1.0e19, -1.0e19, 3.0e38, 1.0e-30, 1048576.0, 1048577.0, -7.5e5, 22.0, 355.0, 1.0e10, 4.0, 0.0,
                          -0.0, 1.5707964, 3.1415927, 710.0, 16777216.0, 123456.789, -2.0e30]> : tensor<19xf32> by [n] : !n19
  %0 = nd.pointwise %a : (!n19) -> !n19 {
  ^bb0(%x: f32):
    %y = math.sin %x : f32
    nd.yield %y : f32
  }
  %1 = nd.pointwise %a : (!n19) -> !n19 {
  ^bb0(%x: f32):
    %y = math.cos %x : f32
    nd.yield %y : f32
  }
  return %0, %1 : !n19, !n19
}

// The sine of infinity and of NaN is NaN; 0 is larger than -0, which 1 / x shows; NaN wins.
func.func @special() -> (!n5, !n5, !n5) {
  %a = nd.constant dense<[0.0, -0.0, 0x7F800000, 0x7FC00000, -1.0]> : tensor<5xf32> by [n] : !n5
  %b = nd.constant dense<[-0.0, 0.0, 0xFF800000, 1.0, 0x7FC00000]> : tensor<5xf32> by [n] : !n5
  %0 = nd.pointwise %a : (!n5) -> !n5 {
  ^bb0(%x: f32):
    %y = math.sin %x : f32
    nd.yield %y : f32
  }
  %1 = nd.pointwise %a, %b : (!n5, !n5) -> !n5 {
  ^bb0(%x: f32, %y: f32):
    %c = arith.constant 1.0 : f32
    %m = arith.maximumf %x, %y : f32
    %r = arith.divf %c, %m : f32
    nd.yield %r : f32
  }
  %2 = nd.pointwise %a, %b : (!n5, !n5) -> !n5 {
  ^bb0(%x: f32, %y: f32):
    %c = arith.constant 1.0 : f32
    %m = arith.minimumf %x, %y : f32
    %r = arith.divf %c, %m : f32
    nd.yield %r : f32
  }
  return %0, %1, %2 : !n5, !n5, !n5
}

// Functions that are accurate near 0, on doubles.
func.func @near_zero() -> (!f64_n6, !f64_n6, !f64_n6, !n6, !n6) {
  %a = nd.constant dense<[1.0e-12, -1.0e-9, 0.018, -0.03, 1.0e-300, 0.0]> : tensor<6xf64> by [n] : !f64_n6
  %b = nd.constant dense<[1.0e-12, -1.0e-9, 0.018, -0.03, 1.0e-30, 0.0]> : tensor<6xf32> by [n] : !n6
  %0 = nd.pointwise %a : (!f64_n6) -> !f64_n6 {
  ^bb0(%x: f64):
    %y = math.expm1 %x : f64
    nd.yield %y : f64
  }
  %1 = nd.pointwise %a : (!f64_n6) -> !f64_n6 {
  ^bb0(%x: f64):
    %y = math.log1p %x : f64
    nd.yield %y : f64
  }
  %2 = nd.pointwise %a : (!f64_n6) -> !f64_n6 {
  ^bb0(%x: f64):
    %y = math.tanh %x : f64
    nd.yield %y : f64
  }
  %3 = nd.pointwise %b : (!n6) -> !n6 {
  ^bb0(%x: f32):
    %y = math.expm1 %x : f32
    nd.yield %y : f32
  }
  %4 = nd.pointwise %b : (!n6) -> !n6 {
  ^bb0(%x: f32):
    %y = math.log1p %x : f32
    nd.yield %y : f32
  }
  return %0, %1, %2, %3, %4 : !f64_n6, !f64_n6, !f64_n6, !n6, !n6
}

// Halves, of which no lane is a full vector.
func.func @extrema_of_halves(%x: !f16_d, %y: !f16_d) -> (!f16_d, !f16_d) {
  %a = nd.pointwise %x, %y : (!f16_d, !f16_d) -> !f16_d {
  ^bb0(%u: f16, %v: f16):
    %0 = arith.maxnumf %u, %v : f16
    nd.yield %0 : f16
  }
  %b = nd.pointwise %x, %y : (!f16_d, !f16_d) -> !f16_d {
  ^bb0(%u: f16, %v: f16):
    %0 = arith.minnumf %u, %v : f16
    nd.yield %0 : f16
  }
  return %a, %b : !f16_d, !f16_d
}

// Widened afterwards.
func.func @extrema_of_halves_as_floats(%x: !f16_d, %y: !nd.tensor<f16, a: 5, d: 7>) -> !nd.tensor<f32, a: 5, d: 7> {
  %a = nd.pointwise %x, %y : (!f16_d, !nd.tensor<f16, a: 5, d: 7>) -> !nd.tensor<f32, a: 5, d: 7> {
  ^bb0(%u: f16, %v: f16):
    %0 = arith.maxnumf %u, %v : f16
    %1 = arith.minnumf %0, %u : f16
    %2 = arith.extf %1 : f16 to f32
    nd.yield %2 : f32
  }
  return %a : !nd.tensor<f32, a: 5, d: 7>
}

// Slopes from the flattest to the steepest.
func.func @arc_tangents() -> (!f64_n11, !nd.tensor<f32, n: 11>, !nd.tensor<f16, n: 11>, !nd.tensor<bf16, n: 11>) {
  %a = nd.constant dense<[1.0e-300, 0.26, -0.27, 0.41421, -0.41422, 1.0, -2.414, 2.415, 1.0e300, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<11xf64> by [n] : !f64_n11
  %0 = nd.pointwise %a : (!f64_n11) -> !f64_n11 {
  ^bb0(%x: f64):
    %y = math.atan %x : f64
    nd.yield %y : f64
  }
  %1 = nd.pointwise %a : (!f64_n11) -> !nd.tensor<f32, n: 11> {
  ^bb0(%x: f64):
    %w = arith.truncf %x : f64 to f32
    %y = math.atan %w : f32
    nd.yield %y : f32
  }
  %2 = nd.pointwise %a : (!f64_n11) -> !nd.tensor<f16, n: 11> {
  ^bb0(%x: f64):
    %w = arith.truncf %x : f64 to f16
    %y = math.atan %w : f16
    nd.yield %y : f16
  }
  %3 = nd.pointwise %a : (!f64_n11) -> !nd.tensor<bf16, n: 11> {
  ^bb0(%x: f64):
    %w = arith.truncf %x : f64 to bf16
    %y = math.atan %w : bf16
    nd.yield %y : bf16
  }
  return %0, %1, %2, %3 : !f64_n11, !nd.tensor<f32, n: 11>, !nd.tensor<f16, n: 11>, !nd.tensor<bf16, n: 11>
}
