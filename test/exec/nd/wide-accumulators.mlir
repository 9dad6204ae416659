// Accumulators may be wider than the elements, whatever lies on lanes and however many elements
// there are; results are narrowed as they are stored, also into a reading nest.
// RUN: heddle-run %s --compare

!f16_k_m_n = !nd.tensor<f16, k: 37, m: 5, n: 19>
!f8E4M3FN_k_m_n = !nd.tensor<f8E4M3FN, k: 37, m: 5, n: 19>
!wide = !nd.tensor<f32, k: 37, m: 5, n: 19>
!narrow = !nd.tensor<bf16, k: 37, m: 5, n: 19>

func.func @f32(%x: !wide) -> (!nd.tensor<f32, m: 5, n: 19>, !nd.tensor<f32, k: 37, m: 5>, !nd.tensor<f32, k: 37, n: 19>, !nd.tensor<f32, m: 5>, !nd.tensor<f32>, !wide, !wide) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f64] : (!wide) -> !nd.tensor<f32, m: 5, n: 19> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %1 = nd.reduce %x over [n] neutral [0.0 : f64] : (!wide) -> !nd.tensor<f32, k: 37, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %2 = nd.reduce %x over [m] neutral [0.0 : f64] : (!wide) -> !nd.tensor<f32, k: 37, n: 19> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %3 = nd.reduce %x over [k, n] neutral [0.0 : f64] : (!wide) -> !nd.tensor<f32, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %4 = nd.reduce %x over [k, m, n] neutral [0.0 : f64] : (!wide) -> !nd.tensor<f32> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %5 = nd.scan %x along k neutral [0.0 : f64] : (!wide) -> !wide {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %6 = nd.reduce %x over [k, n] neutral [0xFFF0000000000000 : f64] : (!wide) -> !nd.tensor<f32, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.maximumf %p, %e : f64
    nd.yield %r : f64
  }
  %7 = nd.pointwise %6, %x : (!nd.tensor<f32, m: 5>, !wide) -> !wide {
  ^bb0(%a: f32, %b: f32):
    %r = arith.subf %b, %a : f32
    nd.yield %r : f32
  }
  return %0, %1, %2, %3, %4, %5, %7 : !nd.tensor<f32, m: 5, n: 19>, !nd.tensor<f32, k: 37, m: 5>, !nd.tensor<f32, k: 37, n: 19>, !nd.tensor<f32, m: 5>, !nd.tensor<f32>, !wide, !wide
}

func.func @bf16(%x: !narrow) -> (!nd.tensor<bf16, m: 5, n: 19>, !nd.tensor<bf16, k: 37, m: 5>, !nd.tensor<bf16, k: 37, n: 19>, !nd.tensor<bf16, m: 5>, !nd.tensor<bf16>, !narrow, !narrow) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f64] : (!narrow) -> !nd.tensor<bf16, m: 5, n: 19> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %1 = nd.reduce %x over [n] neutral [0.0 : f64] : (!narrow) -> !nd.tensor<bf16, k: 37, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %2 = nd.reduce %x over [m] neutral [0.0 : f64] : (!narrow) -> !nd.tensor<bf16, k: 37, n: 19> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %3 = nd.reduce %x over [k, n] neutral [0.0 : f64] : (!narrow) -> !nd.tensor<bf16, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %4 = nd.reduce %x over [k, m, n] neutral [0.0 : f64] : (!narrow) -> !nd.tensor<bf16> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %5 = nd.scan %x along k neutral [0.0 : f64] : (!narrow) -> !narrow {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %6 = nd.reduce %x over [k, n] neutral [0xFFF0000000000000 : f64] : (!narrow) -> !nd.tensor<bf16, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.maximumf %p, %e : f64
    nd.yield %r : f64
  }
  %7 = nd.pointwise %6, %x : (!nd.tensor<bf16, m: 5>, !narrow) -> !narrow {
  ^bb0(%a: bf16, %b: bf16):
    %r = arith.subf %b, %a : bf16
    nd.yield %r : bf16
  }
  return %0, %1, %2, %3, %4, %5, %7 : !nd.tensor<bf16, m: 5, n: 19>, !nd.tensor<bf16, k: 37, m: 5>, !nd.tensor<bf16, k: 37, n: 19>, !nd.tensor<bf16, m: 5>, !nd.tensor<bf16>, !narrow, !narrow
}

func.func @f16(%x: !f16_k_m_n) -> (!nd.tensor<f16, m: 5, n: 19>, !nd.tensor<f16, k: 37, m: 5>, !nd.tensor<f16, k: 37, n: 19>, !nd.tensor<f16, m: 5>, !nd.tensor<f16>, !f16_k_m_n, !f16_k_m_n) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f64] : (!f16_k_m_n) -> !nd.tensor<f16, m: 5, n: 19> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %1 = nd.reduce %x over [n] neutral [0.0 : f64] : (!f16_k_m_n) -> !nd.tensor<f16, k: 37, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %2 = nd.reduce %x over [m] neutral [0.0 : f64] : (!f16_k_m_n) -> !nd.tensor<f16, k: 37, n: 19> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %3 = nd.reduce %x over [k, n] neutral [0.0 : f64] : (!f16_k_m_n) -> !nd.tensor<f16, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %4 = nd.reduce %x over [k, m, n] neutral [0.0 : f64] : (!f16_k_m_n) -> !nd.tensor<f16> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %5 = nd.scan %x along k neutral [0.0 : f64] : (!f16_k_m_n) -> !f16_k_m_n {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %6 = nd.reduce %x over [k, n] neutral [0xFFF0000000000000 : f64] : (!f16_k_m_n) -> !nd.tensor<f16, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.maximumf %p, %e : f64
    nd.yield %r : f64
  }
  %7 = nd.pointwise %6, %x : (!nd.tensor<f16, m: 5>, !f16_k_m_n) -> !f16_k_m_n {
  ^bb0(%a: f16, %b: f16):
    %r = arith.subf %b, %a : f16
    nd.yield %r : f16
  }
  return %0, %1, %2, %3, %4, %5, %7 : !nd.tensor<f16, m: 5, n: 19>, !nd.tensor<f16, k: 37, m: 5>, !nd.tensor<f16, k: 37, n: 19>, !nd.tensor<f16, m: 5>, !nd.tensor<f16>, !f16_k_m_n, !f16_k_m_n
}

func.func @f8E4M3FN(%x: !f8E4M3FN_k_m_n) -> (!nd.tensor<f8E4M3FN, m: 5, n: 19>, !nd.tensor<f8E4M3FN, k: 37, m: 5>, !nd.tensor<f8E4M3FN, k: 37, n: 19>, !nd.tensor<f8E4M3FN, m: 5>, !nd.tensor<f8E4M3FN>, !f8E4M3FN_k_m_n, !f8E4M3FN_k_m_n) {
  %0 = nd.reduce %x over [k] neutral [0.0 : f64] : (!f8E4M3FN_k_m_n) -> !nd.tensor<f8E4M3FN, m: 5, n: 19> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %1 = nd.reduce %x over [n] neutral [0.0 : f64] : (!f8E4M3FN_k_m_n) -> !nd.tensor<f8E4M3FN, k: 37, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %2 = nd.reduce %x over [m] neutral [0.0 : f64] : (!f8E4M3FN_k_m_n) -> !nd.tensor<f8E4M3FN, k: 37, n: 19> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %3 = nd.reduce %x over [k, n] neutral [0.0 : f64] : (!f8E4M3FN_k_m_n) -> !nd.tensor<f8E4M3FN, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %4 = nd.reduce %x over [k, m, n] neutral [0.0 : f64] : (!f8E4M3FN_k_m_n) -> !nd.tensor<f8E4M3FN> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %5 = nd.scan %x along k neutral [0.0 : f64] : (!f8E4M3FN_k_m_n) -> !f8E4M3FN_k_m_n {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %6 = nd.reduce %x over [k, n] neutral [0xFFF0000000000000 : f64] : (!f8E4M3FN_k_m_n) -> !nd.tensor<f8E4M3FN, m: 5> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.maximumf %p, %e : f64
    nd.yield %r : f64
  }
  %7 = nd.pointwise %6, %x : (!nd.tensor<f8E4M3FN, m: 5>, !f8E4M3FN_k_m_n) -> !f8E4M3FN_k_m_n {
  ^bb0(%a: f8E4M3FN, %b: f8E4M3FN):
    %r = arith.subf %b, %a : f8E4M3FN
    nd.yield %r : f8E4M3FN
  }
  return %0, %1, %2, %3, %4, %5, %7 : !nd.tensor<f8E4M3FN, m: 5, n: 19>, !nd.tensor<f8E4M3FN, k: 37, m: 5>, !nd.tensor<f8E4M3FN, k: 37, n: 19>, !nd.tensor<f8E4M3FN, m: 5>, !nd.tensor<f8E4M3FN>, !f8E4M3FN_k_m_n, !f8E4M3FN_k_m_n
}
