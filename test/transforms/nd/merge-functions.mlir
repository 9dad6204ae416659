// RUN: heddle-opt %s --nd-merge-functions | FileCheck %s
// RUN: heddle-opt %s --nd-merge-functions --nd-inline-calls --nd-simplify --nd-cse --symbol-dce | FileCheck %s --check-prefix=INLINED
// RUN: heddle-run %s --entry main --compare --no-cache
// RUN: heddle-run %s --entry callers --compare --no-cache
// RUN: heddle-opt %s --nd-merge-functions > %t.mlir
// RUN: heddle-run %s --entry main --interpret --seed 3 > %t.before
// RUN: heddle-run %t.mlir --entry main --interpret --seed 3 > %t.after
// RUN: diff %t.before %t.after
// RUN: heddle-run %s --entry callers --interpret --seed 3 > %t.before
// RUN: heddle-run %t.mlir --entry callers --interpret --seed 3 > %t.after
// RUN: diff %t.before %t.after

// One function under other names, with swapped operands of commutative code.
// CHECK: func.func private @scores
// CHECK-NOT: @similar
// CHECK: func.func private @difference
!m_k = !nd.tensor<f32, m: 4, k: 3>
!k_c = !nd.tensor<f32, k: 4, c: 2>
!k_z_c = !nd.tensor<f32, k: 4, z: 3, c: 2>
!k = !nd.tensor<f32, k: 3>
!m = !nd.tensor<f32, m: 4>
!z = !nd.tensor<f32, z: 3>
!m_b = !nd.tensor<f32, m: 4, b: 2>

func.func private @scores(%x: !m_k, %y: !k) -> !m {
  %p = nd.pointwise %x, %y : (!m_k, !k) -> !m_k {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f32] : (!m_k) -> !m {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  return %r : !m
}
func.func private @similar(%x: !nd.tensor<f32, k: 4, z: 3>, %y: !z) -> !nd.tensor<f32, k: 4> {
  %p = nd.pointwise %x, %y : (!nd.tensor<f32, k: 4, z: 3>, !z) -> !nd.tensor<f32, k: 4, z: 3> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %b, %a : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [z] neutral [0.0 : f32] : (!nd.tensor<f32, k: 4, z: 3>) -> !nd.tensor<f32, k: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  return %r : !nd.tensor<f32, k: 4>
}
// Not this one: the operands of a difference may not be swapped.
func.func private @difference(%x: !m_k, %y: !k) -> !m {
  %p = nd.pointwise %x, %y : (!m_k, !k) -> !m_k {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [k] neutral [0.0 : f32] : (!m_k) -> !m {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  return %r : !m
}

// Operands and results are renamed, lifted names pass. Once inlined, equal work of both callees is done once.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = nd.call @scores(%arg0, %arg1)
// CHECK: %[[X:.*]] = nd.rename %{{.*}} [k, z] to [m, k]
// CHECK: %[[Y:.*]] = nd.rename %{{.*}} [z] to [k]
// CHECK: %[[B:.*]] = nd.call @scores(%[[X]], %[[Y]])
// CHECK: nd.rename %[[B]] [m] to [k]
// CHECK: nd.call @difference
// INLINED-LABEL: func.func @main
// INLINED-COUNT-1: arith.mulf
// INLINED-NOT: arith.mulf
func.func @main(%x: !nd.tensor<f32, m: 4, k: 3, batch: 2> {nd.name = "x"}, %y: !k {nd.name = "y"}) -> (!nd.tensor<f32, m: 4, batch: 2>, !nd.tensor<f32, k: 4, batch: 2>, !nd.tensor<f32, m: 4, batch: 2>) {
  %0 = nd.call @scores(%x, %y) : (!nd.tensor<f32, m: 4, k: 3, batch: 2>, !k) -> !nd.tensor<f32, m: 4, batch: 2>
  %1 = nd.rename %x [m, k] to [k, z] : !nd.tensor<f32, m: 4, k: 3, batch: 2> -> !nd.tensor<f32, k: 4, z: 3, batch: 2>
  %2 = nd.rename %y [k] to [z] : !k -> !z
  %3 = nd.call @similar(%1, %2) : (!nd.tensor<f32, k: 4, z: 3, batch: 2>, !z) -> !nd.tensor<f32, k: 4, batch: 2>
  %4 = nd.call @difference(%x, %y) : (!nd.tensor<f32, m: 4, k: 3, batch: 2>, !k) -> !nd.tensor<f32, m: 4, batch: 2>
  return %0, %3, %4 : !nd.tensor<f32, m: 4, batch: 2>, !nd.tensor<f32, k: 4, batch: 2>, !nd.tensor<f32, m: 4, batch: 2>
}

// A call that lifts over a name of the other function is not redirected.
// INLINED-LABEL: func.func @lifted
// CHECK-LABEL: func.func @lifted
// CHECK: nd.call @scores_again
func.func private @scores_again(%x: !nd.tensor<f32, p: 4, q: 3>, %y: !nd.tensor<f32, q: 3>) -> !nd.tensor<f32, p: 4> {
  %p = nd.pointwise %x, %y : (!nd.tensor<f32, p: 4, q: 3>, !nd.tensor<f32, q: 3>) -> !nd.tensor<f32, p: 4, q: 3> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [q] neutral [0.0 : f32] : (!nd.tensor<f32, p: 4, q: 3>) -> !nd.tensor<f32, p: 4> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    nd.yield %0 : f32
  }
  return %r : !nd.tensor<f32, p: 4>
}
func.func @lifted(%x: !nd.tensor<f32, p: 4, q: 3, m: 2> {nd.name = "x"}, %y: !nd.tensor<f32, q: 3> {nd.name = "y"}) -> !nd.tensor<f32, p: 4, m: 2> {
  %0 = nd.call @scores_again(%x, %y) : (!nd.tensor<f32, p: 4, q: 3, m: 2>, !nd.tensor<f32, q: 3>) -> !nd.tensor<f32, p: 4, m: 2>
  return %0 : !nd.tensor<f32, p: 4, m: 2>
}

// Functions that call equal functions are equal, whatever names lie between; with lifted names as well.
// CHECK: func.func private @soft
// CHECK-NOT: @gentle
// CHECK: func.func private @marked
// CHECK: func.func private @turned
// CHECK-LABEL: func.func @callers
// CHECK: nd.call @soft
// CHECK: nd.call @soft
// CHECK: nd.call @marked
func.func private @soft(%x: !nd.tensor<f32, m: 4, k: 3, b: 2>, %y: !k) -> !m_b {
  %0 = nd.call @scores(%x, %y) : (!nd.tensor<f32, m: 4, k: 3, b: 2>, !k) -> !m_b
  %1 = nd.pointwise %0 : (!m_b) -> !m_b {
  ^bb0(%a: f32):
    %e = math.tanh %a : f32
    nd.yield %e : f32
  }
  return %1 : !m_b
}
func.func private @gentle(%x: !k_z_c, %y: !z) -> !k_c {
  %0 = nd.call @similar(%x, %y) : (!k_z_c, !z) -> !k_c
  %1 = nd.pointwise %0 : (!k_c) -> !k_c {
  ^bb0(%a: f32):
    %e = math.tanh %a : f32
    nd.yield %e : f32
  }
  return %1 : !k_c
}
// Not this one: it asks for another backward pass.
func.func private @marked(%x: !k_z_c, %y: !z) -> !k_c {
  %0 = nd.call @similar(%x, %y) checkpoint : (!k_z_c, !z) -> !k_c
  %1 = nd.pointwise %0 : (!k_c) -> !k_c {
  ^bb0(%a: f32):
    %e = math.tanh %a : f32
    nd.yield %e : f32
  }
  return %1 : !k_c
}
// Nor these two: the operands of the difference are swapped.
func.func private @less(%x: !m_k, %y: !m_k, %w: !k) -> !m {
  %0 = nd.call @scores(%x, %w) : (!m_k, !k) -> !m
  %1 = nd.call @difference(%y, %w) : (!m_k, !k) -> !m
  %2 = nd.pointwise %0, %1 : (!m, !m) -> !m {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    nd.yield %s : f32
  }
  return %2 : !m
}
func.func private @turned(%x: !m_k, %y: !m_k, %w: !k) -> !m {
  %0 = nd.call @scores(%y, %w) : (!m_k, !k) -> !m
  %1 = nd.call @difference(%x, %w) : (!m_k, !k) -> !m
  %2 = nd.pointwise %0, %1 : (!m, !m) -> !m {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    nd.yield %s : f32
  }
  return %2 : !m
}
func.func @callers(%x: !nd.tensor<f32, m: 4, k: 3, b: 2> {nd.name = "x"}, %y: !k {nd.name = "y"}, %u: !m_k {nd.name = "u"}, %v: !m_k {nd.name = "v"}) -> (!m_b, !k_c, !k_c, !m, !m) {
  %0 = nd.call @soft(%x, %y) : (!nd.tensor<f32, m: 4, k: 3, b: 2>, !k) -> !m_b
  %1 = nd.rename %x [m, k, b] to [k, z, c] : !nd.tensor<f32, m: 4, k: 3, b: 2> -> !k_z_c
  %2 = nd.rename %y [k] to [z] : !k -> !z
  %3 = nd.call @gentle(%1, %2) : (!k_z_c, !z) -> !k_c
  %4 = nd.call @marked(%1, %2) : (!k_z_c, !z) -> !k_c
  %5 = nd.call @less(%u, %v, %y) : (!m_k, !m_k, !k) -> !m
  %6 = nd.call @turned(%u, %v, %y) : (!m_k, !m_k, !k) -> !m
  return %0, %3, %4, %5, %6 : !m_b, !k_c, !k_c, !m, !m
}
