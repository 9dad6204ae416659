// Two sums in one reduction, one in each width: any order of a sum is allowed, even if one order is exact.
// RUN: heddle-run %s --compare --size N=1,2,5,15,64
func.func @main(%x: !nd.tensor<f32, a: 3, d: 13, k: N>) -> (!nd.tensor<f32, a: 3, d: 13>, !nd.tensor<f32, a: 3, d: 13>) {
  %0:2 = nd.reduce %x, %x over [k] neutral [0.0 : f32, 0.0 : f64] : (!nd.tensor<f32, a: 3, d: 13, k: N>, !nd.tensor<f32, a: 3, d: 13, k: N>) -> (!nd.tensor<f32, a: 3, d: 13>, !nd.tensor<f32, a: 3, d: 13>) {
  ^bb0(%p: f32, %q: f64, %s: f32, %t: f64):
    %1 = arith.addf %p, %s : f32
    %2 = arith.addf %q, %t : f64
    nd.yield %1, %2 : f32, f64
  }
  return %0#1, %0#0 : !nd.tensor<f32, a: 3, d: 13>, !nd.tensor<f32, a: 3, d: 13>
}
