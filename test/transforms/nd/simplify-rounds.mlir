// A rewrite that exceeds the limit of iterations is refused; here the limit is too low.
// RUN: not heddle-opt %s --pass-pipeline='builtin.module(func.func(nd-simplify{most-rounds=1}))' 2>&1 | FileCheck %s --check-prefix=SIMPLIFY
// RUN: not heddle-opt %s --pass-pipeline='builtin.module(func.func(nd-fold-pad-into-window{most-rounds=1}))' 2>&1 | FileCheck %s --check-prefix=FOLD
// RUN: heddle-opt %s --nd-simplify=most-rounds=9 --nd-fold-pad-into-window=most-rounds=9 | FileCheck %s

// SIMPLIFY: simplify-rounds.mlir:[[# @LINE + 4]]:1: error: simplification does not terminate
// FOLD: simplify-rounds.mlir:[[# @LINE + 3]]:1: error: folding pads into windows does not terminate
// CHECK: nd.window
// CHECK-NOT: nd.pad
func.func @padded(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, k: 3, row: 8> {
  %0 = nd.slice %x row from 0 size 8 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 8>
  %1 = nd.pad %0 row low 1 high 1 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 10>
  %2 = nd.window %1 row -> k size 3 : !nd.tensor<f32, row: 10> -> !nd.tensor<f32, k: 3, row: 8>
  return %2 : !nd.tensor<f32, k: 3, row: 8>
}
