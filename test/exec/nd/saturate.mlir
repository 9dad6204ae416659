// Conversions of floats to integers saturate, and NaN becomes 0, in vector lanes and in scalar code, on every machine.
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --target-cpu x86-64
// RUN: heddle-run %s --compare --target-cpu haswell
// RUN: heddle-run %s --compare --threads 2

!n = !nd.tensor<f32, n: 25>
!i32_n = !nd.tensor<i32, n: 25>

func.func @from_f32() {
  %x = nd.constant dense<[0x7FC00000, 0x7F800000, 0xFF800000, 0x00000000, 0x80000000, 0x3F666666, 0xBF666666, 0x3FC00000, 0xBFC00000, 0x42FFCCCD, 0x43000000, 0xC300E666, 0xC3010000, 0x437F8000, 0x43800000, 0x46FFFE00, 0xC7000100, 0x477FE000, 0x4F000000, 0xCF000000, 0x4F800000, 0xCF800000, 0x5F01103D, 0xDF01103D, 0x7149F2CA]> : tensor<25xf32> by [n] : !n
  %0 = nd.pointwise %x : (!n) -> !nd.tensor<i8, n: 25> {
  ^bb0(%p: f32):
    %v = arith.fptosi %p : f32 to i8
    nd.yield %v : i8
  }
  check.expect_eq_const %0 is dense<[0, 127, -128, 0, 0, 0, 0, 1, -1, 127, 127, -128, -128, 127, 127, 127, -128, 127, 127, -128, 127, -128, 127, -128, 127]> : tensor<25xi8> by [n] : !nd.tensor<i8, n: 25>
  %1 = nd.pointwise %x : (!n) -> !nd.tensor<ui8, n: 25> {
  ^bb0(%p: f32):
    %v = arith.fptoui %p : f32 to i8
    nd.yield %v : i8
  }
  check.expect_eq_const %1 is dense<[0, 255, 0, 0, 0, 0, 0, 1, 0, 127, 128, 0, 0, 255, 255, 255, 0, 255, 255, 0, 255, 0, 255, 0, 255]> : tensor<25xi8> by [n] : !nd.tensor<ui8, n: 25>
  %2 = nd.pointwise %x : (!n) -> !nd.tensor<i16, n: 25> {
  ^bb0(%p: f32):
    %v = arith.fptosi %p : f32 to i16
    nd.yield %v : i16
  }
  check.expect_eq_const %2 is dense<[0, 32767, -32768, 0, 0, 0, 0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, -32768, 32767, 32767, -32768, 32767, -32768, 32767, -32768, 32767]> : tensor<25xi16> by [n] : !nd.tensor<i16, n: 25>
  %3 = nd.pointwise %x : (!n) -> !nd.tensor<ui16, n: 25> {
  ^bb0(%p: f32):
    %v = arith.fptoui %p : f32 to i16
    nd.yield %v : i16
  }
  check.expect_eq_const %3 is dense<[0, 65535, 0, 0, 0, 0, 0, 1, 0, 127, 128, 0, 0, 255, 256, 32767, 0, 65504, 65535, 0, 65535, 0, 65535, 0, 65535]> : tensor<25xi16> by [n] : !nd.tensor<ui16, n: 25>
  %4 = nd.pointwise %x : (!n) -> !i32_n {
  ^bb0(%p: f32):
    %v = arith.fptosi %p : f32 to i32
    nd.yield %v : i32
  }
  check.expect_eq_const %4 is dense<[0, 2147483647, -2147483648, 0, 0, 0, 0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, -32769, 65504, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647]> : tensor<25xi32> by [n] : !i32_n
  %5 = nd.pointwise %x : (!n) -> !nd.tensor<ui32, n: 25> {
  ^bb0(%p: f32):
    %v = arith.fptoui %p : f32 to i32
    nd.yield %v : i32
  }
  check.expect_eq_const %5 is dense<[0, 4294967295, 0, 0, 0, 0, 0, 1, 0, 127, 128, 0, 0, 255, 256, 32767, 0, 65504, 2147483648, 0, 4294967295, 0, 4294967295, 0, 4294967295]> : tensor<25xi32> by [n] : !nd.tensor<ui32, n: 25>
  %6 = nd.pointwise %x : (!n) -> !nd.tensor<i64, n: 25> {
  ^bb0(%p: f32):
    %v = arith.fptosi %p : f32 to i64
    nd.yield %v : i64
  }
  check.expect_eq_const %6 is dense<[0, 9223372036854775807, -9223372036854775808, 0, 0, 0, 0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, -32769, 65504, 2147483648, -2147483648, 4294967296, -4294967296, 9223372036854775807, -9223372036854775808, 9223372036854775807]> : tensor<25xi64> by [n] : !nd.tensor<i64, n: 25>
  %7 = nd.pointwise %x : (!n) -> !nd.tensor<ui64, n: 25> {
  ^bb0(%p: f32):
    %v = arith.fptoui %p : f32 to i64
    nd.yield %v : i64
  }
  check.expect_eq_const %7 is dense<[0, 18446744073709551615, 0, 0, 0, 0, 0, 1, 0, 127, 128, 0, 0, 255, 256, 32767, 0, 65504, 2147483648, 0, 4294967296, 0, 9300000300729368576, 0, 18446744073709551615]> : tensor<25xi64> by [n] : !nd.tensor<ui64, n: 25>
  return
}

func.func @from_f64() {
  %x = nd.constant dense<[0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x0000000000000000, 0x8000000000000000, 0x3FECCCCCCCCCCCCD, 0xBFECCCCCCCCCCCCD, 0x3FF8000000000000, 0xBFF8000000000000, 0x405FF9999999999A, 0x4060000000000000, 0xC0601CCCCCCCCCCD, 0xC060200000000000, 0x406FF00000000000, 0x4070000000000000, 0x40DFFFC000000000, 0xC0E0002000000000, 0x40EFFC0000000000, 0x41E0000000000000, 0xC1E0000000000000, 0x41F0000000000000, 0xC1F0000000000000, 0x43E02207973F6440, 0xC3E02207973F6440, 0x46293E5939A08CEA]> : tensor<25xf64> by [n] : !nd.tensor<f64, n: 25>
  %0 = nd.pointwise %x : (!nd.tensor<f64, n: 25>) -> !nd.tensor<i8, n: 25> {
  ^bb0(%p: f64):
    %v = arith.fptosi %p : f64 to i8
    nd.yield %v : i8
  }
  check.expect_eq_const %0 is dense<[0, 127, -128, 0, 0, 0, 0, 1, -1, 127, 127, -128, -128, 127, 127, 127, -128, 127, 127, -128, 127, -128, 127, -128, 127]> : tensor<25xi8> by [n] : !nd.tensor<i8, n: 25>
  %1 = nd.pointwise %x : (!nd.tensor<f64, n: 25>) -> !i32_n {
  ^bb0(%p: f64):
    %v = arith.fptosi %p : f64 to i32
    nd.yield %v : i32
  }
  check.expect_eq_const %1 is dense<[0, 2147483647, -2147483648, 0, 0, 0, 0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, -32769, 65504, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647]> : tensor<25xi32> by [n] : !i32_n
  %2 = nd.pointwise %x : (!nd.tensor<f64, n: 25>) -> !nd.tensor<ui32, n: 25> {
  ^bb0(%p: f64):
    %v = arith.fptoui %p : f64 to i32
    nd.yield %v : i32
  }
  check.expect_eq_const %2 is dense<[0, 4294967295, 0, 0, 0, 0, 0, 1, 0, 127, 128, 0, 0, 255, 256, 32767, 0, 65504, 2147483648, 0, 4294967295, 0, 4294967295, 0, 4294967295]> : tensor<25xi32> by [n] : !nd.tensor<ui32, n: 25>
  %3 = nd.pointwise %x : (!nd.tensor<f64, n: 25>) -> !nd.tensor<i64, n: 25> {
  ^bb0(%p: f64):
    %v = arith.fptosi %p : f64 to i64
    nd.yield %v : i64
  }
  check.expect_eq_const %3 is dense<[0, 9223372036854775807, -9223372036854775808, 0, 0, 0, 0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, -32769, 65504, 2147483648, -2147483648, 4294967296, -4294967296, 9223372036854775807, -9223372036854775808, 9223372036854775807]> : tensor<25xi64> by [n] : !nd.tensor<i64, n: 25>
  %4 = nd.pointwise %x : (!nd.tensor<f64, n: 25>) -> !nd.tensor<ui64, n: 25> {
  ^bb0(%p: f64):
    %v = arith.fptoui %p : f64 to i64
    nd.yield %v : i64
  }
  check.expect_eq_const %4 is dense<[0, 18446744073709551615, 0, 0, 0, 0, 0, 1, 0, 127, 128, 0, 0, 255, 256, 32767, 0, 65504, 2147483648, 0, 4294967296, 0, 9300000000000000000, 0, 18446744073709551615]> : tensor<25xi64> by [n] : !nd.tensor<ui64, n: 25>
  return
}

func.func @from_bf16() {
  %x = nd.constant dense<[0x7FC0, 0x7F80, 0xFF80, 0x0000, 0x8000, 0x3F66, 0xBF66, 0x3FC0, 0xBFC0, 0x4300, 0x4300, 0xC301, 0xC301, 0x437F, 0x4380, 0x4700, 0xC700, 0x4780, 0x4F00, 0xCF00, 0x4F80, 0xCF80, 0x5F01, 0xDF01, 0x714A]> : tensor<25xbf16> by [n] : !nd.tensor<bf16, n: 25>
  %0 = nd.pointwise %x : (!nd.tensor<bf16, n: 25>) -> !nd.tensor<i8, n: 25> {
  ^bb0(%p: bf16):
    %v = arith.fptosi %p : bf16 to i8
    nd.yield %v : i8
  }
  check.expect_eq_const %0 is dense<[0, 127, -128, 0, 0, 0, 0, 1, -1, 127, 127, -128, -128, 127, 127, 127, -128, 127, 127, -128, 127, -128, 127, -128, 127]> : tensor<25xi8> by [n] : !nd.tensor<i8, n: 25>
  %1 = nd.pointwise %x : (!nd.tensor<bf16, n: 25>) -> !nd.tensor<ui16, n: 25> {
  ^bb0(%p: bf16):
    %v = arith.fptoui %p : bf16 to i16
    nd.yield %v : i16
  }
  check.expect_eq_const %1 is dense<[0, 65535, 0, 0, 0, 0, 0, 1, 0, 128, 128, 0, 0, 255, 256, 32768, 0, 65535, 65535, 0, 65535, 0, 65535, 0, 65535]> : tensor<25xi16> by [n] : !nd.tensor<ui16, n: 25>
  %2 = nd.pointwise %x : (!nd.tensor<bf16, n: 25>) -> !i32_n {
  ^bb0(%p: bf16):
    %v = arith.fptosi %p : bf16 to i32
    nd.yield %v : i32
  }
  check.expect_eq_const %2 is dense<[0, 2147483647, -2147483648, 0, 0, 0, 0, 1, -1, 128, 128, -129, -129, 255, 256, 32768, -32768, 65536, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647]> : tensor<25xi32> by [n] : !i32_n
  return
}

func.func @from_f16() {
  %x = nd.constant dense<[0x7E00, 0x7C00, 0xFC00, 0x0000, 0x8000, 0x3B33, 0xBB33, 0x3E00, 0xBE00, 0x57FE, 0x5800, 0xD807, 0xD808, 0x5BFC, 0x5C00, 0x7800, 0xF800, 0x7BFF, 0x7C00, 0xFC00, 0x7C00, 0xFC00, 0x7C00, 0xFC00, 0x7C00]> : tensor<25xf16> by [n] : !nd.tensor<f16, n: 25>
  %0 = nd.pointwise %x : (!nd.tensor<f16, n: 25>) -> !nd.tensor<ui8, n: 25> {
  ^bb0(%p: f16):
    %v = arith.fptoui %p : f16 to i8
    nd.yield %v : i8
  }
  check.expect_eq_const %0 is dense<[0, 255, 0, 0, 0, 0, 0, 1, 0, 127, 128, 0, 0, 255, 255, 255, 0, 255, 255, 0, 255, 0, 255, 0, 255]> : tensor<25xi8> by [n] : !nd.tensor<ui8, n: 25>
  %1 = nd.pointwise %x : (!nd.tensor<f16, n: 25>) -> !nd.tensor<i16, n: 25> {
  ^bb0(%p: f16):
    %v = arith.fptosi %p : f16 to i16
    nd.yield %v : i16
  }
  check.expect_eq_const %1 is dense<[0, 32767, -32768, 0, 0, 0, 0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, -32768, 32767, 32767, -32768, 32767, -32768, 32767, -32768, 32767]> : tensor<25xi16> by [n] : !nd.tensor<i16, n: 25>
  %2 = nd.pointwise %x : (!nd.tensor<f16, n: 25>) -> !i32_n {
  ^bb0(%p: f16):
    %v = arith.fptosi %p : f16 to i32
    nd.yield %v : i32
  }
  check.expect_eq_const %2 is dense<[0, 2147483647, -2147483648, 0, 0, 0, 0, 1, -1, 127, 128, -128, -129, 255, 256, 32768, -32768, 65504, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647, -2147483648, 2147483647]> : tensor<25xi32> by [n] : !i32_n
  return
}
