// Flags permit changes of floats, with the same names in each tool; without a flag none is permitted.
// RUN: heddlec %s --emit=nd | FileCheck %s --check-prefix=STRICT
// RUN: heddlec %s --emit=nd --fast-math reassociate,no-nans | FileCheck %s --check-prefix=FAST
// RUN: not heddlec %s --emit=nd --fast-math fast 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: heddle-run %s --compare --no-cache
// RUN: heddle-run %s --compare --no-cache --fast-math reassociate
// RUN: not heddle-run %s --fast-math reassociate,fast 2>&1 | FileCheck %s --check-prefix=WORD

// STRICT: nd.reduce %{{.*}} over [j, k]
// FAST: nd.reduce %{{.*}} over [k]
// FAST: nd.reduce %{{.*}} over [j]
// WORD: expected one of reassociate, no-nans, no-signed-zeros, reciprocal, excess-precision{{.*}}, got 'fast'
func.func @chain(%a: !nd.tensor<f32, i: 30, j: 30> {nd.name = "a"}, %b: !nd.tensor<f32, j: 30, k: 30> {nd.name = "b"},
                 %c: !nd.tensor<f32, k: 30> {nd.name = "c"}) -> (!nd.tensor<f32, i: 30> {nd.name = "y"}) {
  %0 = nd.pointwise %a, %b, %c : (!nd.tensor<f32, i: 30, j: 30>, !nd.tensor<f32, j: 30, k: 30>, !nd.tensor<f32, k: 30>) -> !nd.tensor<f32, i: 30, j: 30, k: 30> {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %m = arith.mulf %p, %q : f32
    %n = arith.mulf %m, %r : f32
    nd.yield %n : f32
  }
  %1 = nd.reduce %0 over [j, k] neutral [0.0 : f32] : (!nd.tensor<f32, i: 30, j: 30, k: 30>) -> !nd.tensor<f32, i: 30> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  return %1 : !nd.tensor<f32, i: 30>
}
