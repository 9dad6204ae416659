// Casts round their operand and their result, in every narrow type and on every machine.
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --target-cpu x86-64
// RUN: heddle-run %s --compare --target-cpu haswell
// If casts may keep excess precision, the oracle has larger bounds.
// RUN: heddle-run %s --compare --fast-math=excess-precision --threads 2

// A product that a cast rounds before it is summed, a sum that one rounds behind, a chain there and back, whole numbers.
!m_n = !nd.tensor<f32, m: 19, n: 21>
!m = !nd.tensor<f32, m: 19>
!i32_m = !nd.tensor<i32, m: 19>
!f64_m = !nd.tensor<f64, m: 19>

func.func @bf16(%a: !nd.tensor<bf16, k: 37, m: 19>, %b: !nd.tensor<bf16, k: 37, n: 21>, %c: !m, %i: !i32_m) -> (!m_n, !f64_m, !m, !m, !i32_m) {
  %0 = nest.compute (m: 19, n: 21) reduce (k: 37) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %p = arith.mulf %x, %y : bf16
    %w = arith.extf %p : bf16 to f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<bf16, k: 37, m: 19>, !nd.tensor<bf16, k: 37, n: 21>) -> !m_n
  %1 = nd.reduce %a over [k] neutral [0.0 : f32] : (!nd.tensor<bf16, k: 37, m: 19>) -> !nd.tensor<bf16, m: 19> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!nd.tensor<bf16, m: 19>) -> !f64_m {
  ^bb0(%x: bf16):
    %w = arith.extf %x : bf16 to f64
    nd.yield %w : f64
  }
  %3 = nd.pointwise %1, %c : (!nd.tensor<bf16, m: 19>, !m) -> !m {
  ^bb0(%x: bf16, %y: f32):
    %n = arith.truncf %y : f32 to bf16
    %m = arith.maximumf %n, %x : bf16
    %e = arith.negf %m : bf16
    %p = arith.mulf %e, %n : bf16
    %w = arith.extf %p : bf16 to f32
    %v = arith.extf %e : bf16 to f32
    %r = arith.subf %w, %v : f32
    nd.yield %r : f32
  }
  %4 = nd.pointwise %i : (!i32_m) -> !m {
  ^bb0(%x: i32):
    %n = arith.sitofp %x : i32 to bf16
    %w = arith.extf %n : bf16 to f32
    nd.yield %w : f32
  }
  %5 = nd.pointwise %1 : (!nd.tensor<bf16, m: 19>) -> !i32_m {
  ^bb0(%x: bf16):
    %half = arith.constant 0.5 : bf16
    %p = arith.mulf %x, %half : bf16
    %n = arith.fptosi %p : bf16 to i32
    nd.yield %n : i32
  }
  return %0, %2, %3, %4, %5 : !m_n, !f64_m, !m, !m, !i32_m
}

// A product that a cast rounds before it is summed, a sum that one rounds behind, a chain there and back, whole numbers.
func.func @f16(%a: !nd.tensor<f16, k: 37, m: 19>, %b: !nd.tensor<f16, k: 37, n: 21>, %c: !m, %i: !i32_m) -> (!m_n, !f64_m, !m, !m, !i32_m) {
  %0 = nest.compute (m: 19, n: 21) reduce (k: 37) reads %a[], %b[] {
  ^bb0(%x: f16, %y: f16):
    %p = arith.mulf %x, %y : f16
    %w = arith.extf %p : f16 to f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<f16, k: 37, m: 19>, !nd.tensor<f16, k: 37, n: 21>) -> !m_n
  %1 = nd.reduce %a over [k] neutral [0.0 : f32] : (!nd.tensor<f16, k: 37, m: 19>) -> !nd.tensor<f16, m: 19> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!nd.tensor<f16, m: 19>) -> !f64_m {
  ^bb0(%x: f16):
    %w = arith.extf %x : f16 to f64
    nd.yield %w : f64
  }
  %3 = nd.pointwise %1, %c : (!nd.tensor<f16, m: 19>, !m) -> !m {
  ^bb0(%x: f16, %y: f32):
    %n = arith.truncf %y : f32 to f16
    %m = arith.maximumf %n, %x : f16
    %e = arith.negf %m : f16
    %p = arith.mulf %e, %n : f16
    %w = arith.extf %p : f16 to f32
    %v = arith.extf %e : f16 to f32
    %r = arith.subf %w, %v : f32
    nd.yield %r : f32
  }
  %4 = nd.pointwise %i : (!i32_m) -> !m {
  ^bb0(%x: i32):
    %n = arith.sitofp %x : i32 to f16
    %w = arith.extf %n : f16 to f32
    nd.yield %w : f32
  }
  %5 = nd.pointwise %1 : (!nd.tensor<f16, m: 19>) -> !i32_m {
  ^bb0(%x: f16):
    %half = arith.constant 0.5 : f16
    %p = arith.mulf %x, %half : f16
    %n = arith.fptosi %p : f16 to i32
    nd.yield %n : i32
  }
  return %0, %2, %3, %4, %5 : !m_n, !f64_m, !m, !m, !i32_m
}

// A product that a cast rounds before it is summed, a sum that one rounds behind, a chain there and back, whole numbers.
func.func @f8E5M2(%a: !nd.tensor<f8E5M2, k: 37, m: 19>, %b: !nd.tensor<f8E5M2, k: 37, n: 21>, %c: !m, %i: !i32_m) -> (!m_n, !f64_m, !m, !m, !i32_m) {
  %0 = nest.compute (m: 19, n: 21) reduce (k: 37) reads %a[], %b[] {
  ^bb0(%x: f8E5M2, %y: f8E5M2):
    %p = arith.mulf %x, %y : f8E5M2
    %w = arith.extf %p : f8E5M2 to f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<f8E5M2, k: 37, m: 19>, !nd.tensor<f8E5M2, k: 37, n: 21>) -> !m_n
  %1 = nd.reduce %a over [k] neutral [0.0 : f32] : (!nd.tensor<f8E5M2, k: 37, m: 19>) -> !nd.tensor<f8E5M2, m: 19> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!nd.tensor<f8E5M2, m: 19>) -> !f64_m {
  ^bb0(%x: f8E5M2):
    %w = arith.extf %x : f8E5M2 to f64
    nd.yield %w : f64
  }
  %3 = nd.pointwise %1, %c : (!nd.tensor<f8E5M2, m: 19>, !m) -> !m {
  ^bb0(%x: f8E5M2, %y: f32):
    %n = arith.truncf %y : f32 to f8E5M2
    %m = arith.maximumf %n, %x : f8E5M2
    %e = arith.negf %m : f8E5M2
    %p = arith.mulf %e, %n : f8E5M2
    %w = arith.extf %p : f8E5M2 to f32
    %v = arith.extf %e : f8E5M2 to f32
    %r = arith.subf %w, %v : f32
    nd.yield %r : f32
  }
  %4 = nd.pointwise %i : (!i32_m) -> !m {
  ^bb0(%x: i32):
    %n = arith.sitofp %x : i32 to f8E5M2
    %w = arith.extf %n : f8E5M2 to f32
    nd.yield %w : f32
  }
  %5 = nd.pointwise %1 : (!nd.tensor<f8E5M2, m: 19>) -> !i32_m {
  ^bb0(%x: f8E5M2):
    %half = arith.constant 0.5 : f8E5M2
    %p = arith.mulf %x, %half : f8E5M2
    %n = arith.fptosi %p : f8E5M2 to i32
    nd.yield %n : i32
  }
  return %0, %2, %3, %4, %5 : !m_n, !f64_m, !m, !m, !i32_m
}

// A product that a cast rounds before it is summed, a sum that one rounds behind, a chain there and back, whole numbers.
func.func @f8E4M3FN(%a: !nd.tensor<f8E4M3FN, k: 37, m: 19>, %b: !nd.tensor<f8E4M3FN, k: 37, n: 21>, %c: !m, %i: !i32_m) -> (!m_n, !f64_m, !m, !m, !i32_m) {
  %0 = nest.compute (m: 19, n: 21) reduce (k: 37) reads %a[], %b[] {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN):
    %p = arith.mulf %x, %y : f8E4M3FN
    %w = arith.extf %p : f8E4M3FN to f32
    nest.yield %w : f32
  } combine add [0.0 : f32] : (!nd.tensor<f8E4M3FN, k: 37, m: 19>, !nd.tensor<f8E4M3FN, k: 37, n: 21>) -> !m_n
  %1 = nd.reduce %a over [k] neutral [0.0 : f32] : (!nd.tensor<f8E4M3FN, k: 37, m: 19>) -> !nd.tensor<f8E4M3FN, m: 19> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    nd.yield %s : f32
  }
  %2 = nd.pointwise %1 : (!nd.tensor<f8E4M3FN, m: 19>) -> !f64_m {
  ^bb0(%x: f8E4M3FN):
    %w = arith.extf %x : f8E4M3FN to f64
    nd.yield %w : f64
  }
  %3 = nd.pointwise %1, %c : (!nd.tensor<f8E4M3FN, m: 19>, !m) -> !m {
  ^bb0(%x: f8E4M3FN, %y: f32):
    %n = arith.truncf %y : f32 to f8E4M3FN
    %m = arith.maximumf %n, %x : f8E4M3FN
    %e = arith.negf %m : f8E4M3FN
    %p = arith.mulf %e, %n : f8E4M3FN
    %w = arith.extf %p : f8E4M3FN to f32
    %v = arith.extf %e : f8E4M3FN to f32
    %r = arith.subf %w, %v : f32
    nd.yield %r : f32
  }
  %4 = nd.pointwise %i : (!i32_m) -> !m {
  ^bb0(%x: i32):
    %n = arith.sitofp %x : i32 to f8E4M3FN
    %w = arith.extf %n : f8E4M3FN to f32
    nd.yield %w : f32
  }
  %5 = nd.pointwise %1 : (!nd.tensor<f8E4M3FN, m: 19>) -> !i32_m {
  ^bb0(%x: f8E4M3FN):
    %half = arith.constant 0.5 : f8E4M3FN
    %p = arith.mulf %x, %half : f8E4M3FN
    %n = arith.fptosi %p : f8E4M3FN to i32
    nd.yield %n : i32
  }
  return %0, %2, %3, %4, %5 : !m_n, !f64_m, !m, !m, !i32_m
}
