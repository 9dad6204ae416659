// Scalar ops that nothing uses go, also those that were dead from the beginning, and sizes shrink through renames and slices.

// RUN: heddle-reduce %s --test grep --test=-q --test math.exp | FileCheck %s
// CHECK:      func.func @main(%[[X:.*]]: !nd.tensor<f32, {{[a-z]+}}: 1>
// CHECK:        ^bb0(%[[A:.*]]: f32{{.*}}):
// CHECK-NEXT:     %[[E:.*]] = math.exp %[[A]]
// CHECK-NEXT:     nd.yield %[[E]]

// Equal sizes shrink together, whatever the names.
// RUN: heddle-reduce %s --test grep --test=-q --test nd.rename | FileCheck %s --check-prefix=RENAME
// RENAME: nd.rename {{.*}} : !nd.tensor<f32, k: 1> -> !nd.tensor<f32, j: 1>

// A slice states its size.
// RUN: heddle-reduce %s --test grep --test=-q --test nd.slice | FileCheck %s --check-prefix=SLICE
// SLICE: nd.slice {{.*}} from 0 size 1 : !nd.tensor<f32, {{[jk]}}: 1> -> !nd.tensor<f32, {{[jk]}}: 1>

func.func @main(%x: !nd.tensor<f32, k: 40> {nd.name = "x"}) -> (!nd.tensor<f32, j: 24> {nd.name = "y"}) {
  %p = nd.pointwise %x : (!nd.tensor<f32, k: 40>) -> !nd.tensor<f32, k: 40> {
  ^bb0(%a: f32):
    %dead = math.sqrt %a : f32
    %deader = arith.mulf %dead, %dead : f32
    %b = arith.addf %a, %a : f32
    %c = arith.mulf %b, %b : f32
    %d = math.exp %c : f32
    %e = arith.addf %d, %b : f32
    nd.yield %e : f32
  }
  %r = nd.rename %p [k] to [j] : !nd.tensor<f32, k: 40> -> !nd.tensor<f32, j: 40>
  %s = nd.slice %r j from 0 size 24 : !nd.tensor<f32, j: 40> -> !nd.tensor<f32, j: 24>
  return %s : !nd.tensor<f32, j: 24>
}
