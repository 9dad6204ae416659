// Options of heddle-opt that observe passes.

// The IR after each pass that changed it.
// RUN: heddle-opt %s --nd-simplify --nd-cse --nd-cse --convert-nd-to-nest --mlir-print-ir-after-all --mlir-print-ir-after-change 2>&1 | FileCheck %s --check-prefix=CHANGE
// CHANGE:     IR Dump After {{.*}}nd-cse
// CHANGE-NOT: IR Dump After {{.*}}nd-cse
// CHANGE:     IR Dump After {{.*}}convert-nd-to-nest
// CHANGE:     nest.compute

// RUN: heddle-opt %s --nd-pipeline --mlir-timing --mlir-timing-display=list -o %t.out 2>&1 | FileCheck %s --check-prefix=TIMING
// TIMING:     Execution time report
// TIMING-DAG: NdCsePass
// TIMING-DAG: NdDifferentiatePass

// A reproducer holds the program and the passes; run again it gives the same.
// RUN: heddle-opt %s --nd-pipeline --nest-pipeline --mlir-generate-reproducer=%t.reproducer.mlir -o %t.first
// RUN: FileCheck %s --check-prefix=REPRODUCER < %t.reproducer.mlir
// RUN: heddle-opt %t.reproducer.mlir --run-reproducer -o %t.second && cmp %t.first %t.second
// REPRODUCER: func.func @f
// REPRODUCER: pipeline: "builtin.module({{.*}}nd-differentiate{{.*}}nest-assign-layouts

// The compiler is observed by the same means.
// RUN: heddlec %s --emit=nest --print-after-change -o %t.nest 2>&1 | FileCheck %s --check-prefix=HEDDLEC
// HEDDLEC: IR Dump After {{.*}}nd-cse
// HEDDLEC: IR Dump After {{.*}}convert-nd-to-nest
// HEDDLEC: IR Dump After {{.*}}nest-assign-layouts

// A pass that fails leaves its input behind.
// RUN: not heddlec %S/Inputs/while.mlir -o %t.heddle --reproducer %t.failed.mlir 2>&1 | FileCheck %s --check-prefix=FAILED
// RUN: not heddle-opt %t.failed.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED: error: {{.*}}the number of its steps is not known

!i = !nd.tensor<f32, i: 3>

func.func @f(%x: !i) -> !i {
  %a = nd.pointwise %x : (!i) -> !i {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    nd.yield %s : f32
  }
  %b = nd.pointwise %x : (!i) -> !i {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    nd.yield %s : f32
  }
  %c = nd.pointwise %a, %b : (!i, !i) -> !i {
  ^bb0(%e: f32, %g: f32):
    %s = arith.mulf %e, %g : f32
    nd.yield %s : f32
  }
  return %c : !i
}
