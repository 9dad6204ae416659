// A program shrinks while the test still passes: one function, the window and its operands remain, as small as a window is.

// RUN: heddle-reduce %s --test sh --test %S/Inputs/has-window.sh -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: heddle-reduce %s --test sh --test %S/Inputs/has-window.sh | FileCheck %s
// CHECK:      module {
// CHECK-NEXT:   func.func @main(%[[X:.*]]: !nd.tensor<f32, k: 1, row: 3> {nd.name = "{{.*}}"}) -> (!nd.tensor<f32, k: 1, row: 1, tap: 3>
// CHECK-NEXT:     %[[W:.*]] = nd.window %[[X]] row -> tap size 3
// CHECK-NEXT:     return %[[W]]
// CHECK-NEXT:   }
// CHECK-NEXT: }

// The test must hold for the program itself; an output that is there stays as it is then.
// RUN: cp %s %t.kept
// RUN: not heddle-reduce %s --test false -o %t.kept 2>&1 | FileCheck %s --check-prefix=FALSE
// RUN: cmp %s %t.kept
// FALSE: error: the test does not exit with 0 for '{{.*}}reduce.mlir' itself
// RUN: not heddle-reduce %s --test no-such-program 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: there is no program 'no-such-program'
// RUN: not heddle-reduce %s 2>&1 | FileCheck %s --check-prefix=REQUIRED
// REQUIRED: --test is required

!k = !nd.tensor<f32, k: 4>

func.func @other(%x: !k {nd.name = "x"}) -> (!k {nd.name = "y"}) {
  return %x : !k
}

func.func private @twice(%x: !k) -> !k {
  %y = nd.pointwise %x : (!k) -> !k {
  ^bb0(%e: f32):
    %r = arith.addf %e, %e : f32
    nd.yield %r : f32
  }
  return %y : !k
}

func.func @main(%x: !nd.tensor<f32, row: 8, k: 4> {nd.name = "x"}, %y: !k {nd.name = "y"})
    -> (!k {nd.name = "a"}, !nd.tensor<f32, row: 6> {nd.name = "b"}) {
  %t = nd.call @twice(%y) : (!k) -> !k
  %p = nd.pointwise %x, %t : (!nd.tensor<f32, row: 8, k: 4>, !k) -> !nd.tensor<f32, row: 8, k: 4> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  %w = nd.window %p row -> tap size 3 : !nd.tensor<f32, row: 8, k: 4> -> !nd.tensor<f32, k: 4, row: 6, tap: 3>
  %s = nd.reduce %w over [k, tap] neutral [0.0 : f32] : (!nd.tensor<f32, k: 4, row: 6, tap: 3>) -> !nd.tensor<f32, row: 6> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.addf %a, %e : f32
    nd.yield %r : f32
  }
  return %t, %s : !k, !nd.tensor<f32, row: 6>
}
