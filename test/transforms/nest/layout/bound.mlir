// The lanes that run need not be among those that the first choice of layouts knew: they cost half of its cheapest. The bound is one
// of both, so the gap is never negative.
// RUN: heddlec %s --emit=nest --explain --target-cpu haswell 2>&1 >%t.mlir | FileCheck %s
// CHECK: remark: 4 values, 1 nests, {{.*}} cycles, at least {{[0-9.]+}}k (gap {{[0-9.]+}} %)
func.func @f(%rel: !nd.tensor<f32, a: 5, h: 2>, %x: !nd.tensor<f32, a: 5, c: 16, h: 2, r: 9>, %m: !nd.tensor<f32, c: 16, h: 2, r: 9>)
    -> !nd.tensor<f32, a: 5, c: 16, h: 2, r: 9> {
  %y = nd.pointwise %x, %rel, %m : (!nd.tensor<f32, a: 5, c: 16, h: 2, r: 9>, !nd.tensor<f32, a: 5, h: 2>, !nd.tensor<f32, c: 16, h: 2, r: 9>)
      -> !nd.tensor<f32, a: 5, c: 16, h: 2, r: 9> {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %d = arith.subf %p, %q : f32
    %e = arith.addf %d, %s : f32
    nd.yield %e : f32
  }
  return %y : !nd.tensor<f32, a: 5, c: 16, h: 2, r: 9>
}
