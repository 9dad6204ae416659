// One program over positions and over names: x y, its transpose, with swapped operands, with loops in another order. MLIR's own
// CSE compares maps and operands as they are written, and merges none of the four; here all are one.
// RUN: mlir-opt %S/Inputs/transposed-linalg.mlir --cse | FileCheck %s --check-prefix=LINALG
// RUN: mlir-opt %S/Inputs/transposed-linalg.mlir --linalg-generalize-named-ops --canonicalize --cse | FileCheck %s --check-prefix=LINALG
// RUN: heddle-opt %s --nd-cse | FileCheck %s
// RUN: heddle-opt %s --convert-nd-to-nest --nest-fuse --nest-cse | FileCheck %s --check-prefix=NEST
// RUN: heddle-run %s --compare --no-cache

// LINALG-COUNT-4: linalg.generic
// LINALG-NOT: linalg.generic
// CHECK-COUNT-1: nd.reduce
// CHECK-NOT: nd.reduce
// NEST-COUNT-1: reduce (
// NEST-NOT: reduce (
!X = !nd.tensor<f32, m: 4, k: 4>
!Y = !nd.tensor<f32, k: 4, n: 4>
!XY = !nd.tensor<f32, m: 4, n: 4, k: 4>
!Z = !nd.tensor<f32, m: 4, n: 4>
func.func @shared(%x: !X {nd.name = "x"}, %y: !Y {nd.name = "y"}) -> (!Z, !Z, !Z, !nd.tensor<f32, p: 4, q: 4>) {
  %p0 = nd.pointwise %x, %y : (!X, !Y) -> !XY {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    nd.yield %p : f32
  }
  %0 = nd.reduce %p0 over [k] neutral [0.0 : f32] : (!XY) -> !Z {
  ^bb0(%c: f32, %p: f32):
    %s = arith.addf %c, %p : f32
    nd.yield %s : f32
  }
  %r0 = nd.rename %0 [m, n] to [n, m] : !Z -> !Z
  %p1 = nd.pointwise %y, %x : (!Y, !X) -> !XY {
  ^bb0(%b: f32, %a: f32):
    %p = arith.mulf %a, %b : f32
    nd.yield %p : f32
  }
  %1 = nd.reduce %p1 over [k] neutral [0.0 : f32] : (!XY) -> !Z {
  ^bb0(%c: f32, %p: f32):
    %s = arith.addf %p, %c : f32
    nd.yield %s : f32
  }
  %x2 = nd.rename %x [m, k] to [q, c] : !X -> !nd.tensor<f32, q: 4, c: 4>
  %y2 = nd.rename %y [k, n] to [c, p] : !Y -> !nd.tensor<f32, c: 4, p: 4>
  %p2 = nd.pointwise %y2, %x2 : (!nd.tensor<f32, c: 4, p: 4>, !nd.tensor<f32, q: 4, c: 4>) -> !nd.tensor<f32, p: 4, q: 4, c: 4> {
  ^bb0(%b: f32, %a: f32):
    %p = arith.mulf %b, %a : f32
    nd.yield %p : f32
  }
  %2 = nd.reduce %p2 over [c] neutral [0.0 : f32] : (!nd.tensor<f32, p: 4, q: 4, c: 4>) -> !nd.tensor<f32, p: 4, q: 4> {
  ^bb0(%c: f32, %p: f32):
    %s = arith.addf %c, %p : f32
    nd.yield %s : f32
  }
  return %0, %r0, %1, %2 : !Z, !Z, !Z, !nd.tensor<f32, p: 4, q: 4>
}
