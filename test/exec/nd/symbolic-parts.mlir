// Splits, merges, joins and parts whose sizes have symbols; what divides them is part of the size.
// RUN: heddle-run %s --compare --size N=1,2,3,7,16,33,0 --size M=5,1,64,2,0,40,16
// RUN: heddle-run %s --compare --row-major --managed --size N=1,12,0 --size M=5,0,3

!n8N = !nd.tensor<f32, n: 8 * N>
!nN = !nd.tensor<f32, n: N>
!nN2M = !nd.tensor<f32, n: N + 2 * M>

func.func @split(%x: !n8N) -> (!nd.tensor<f32, a: N, b: 8>, !nd.tensor<f32, b: N>) {
  %0 = nd.split %x n into [a, b] : !n8N -> !nd.tensor<f32, a: N, b: 8>
  %1 = nd.split %x n into [a, b] : !n8N -> !nd.tensor<f32, a: 8, b: N>
  %2 = nd.reduce %1 over [a] neutral [0.0 : f32] : (!nd.tensor<f32, a: 8, b: N>) -> !nd.tensor<f32, b: N> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  return %0, %2 : !nd.tensor<f32, a: N, b: 8>, !nd.tensor<f32, b: N>
}
func.func @merge(%x: !nd.tensor<f32, a: N, b: 8>, %y: !nd.tensor<f32, a: N, b: M>) -> (!n8N, !nd.tensor<f32, n: N * M>, !n8N) {
  %0 = nd.merge %x [a, b] into n : !nd.tensor<f32, a: N, b: 8> -> !n8N
  %1 = nd.merge %y [a, b] into n : !nd.tensor<f32, a: N, b: M> -> !nd.tensor<f32, n: N * M>
  %2 = nd.merge %x [b, a] into n : !nd.tensor<f32, a: N, b: 8> -> !n8N
  return %0, %1, %2 : !n8N, !nd.tensor<f32, n: N * M>, !n8N
}
// Heads of attention: merged names take part in a product.
func.func @heads(%x: !nd.tensor<f32, n: N, c: 8 * M>, %w: !nd.tensor<f32, d: M, e: 5>) -> !nd.tensor<f32, n: N, o: 40> {
  %0 = nd.split %x c into [h, d] : !nd.tensor<f32, c: 8 * M, n: N> -> !nd.tensor<f32, d: M, h: 8, n: N>
  %1 = nd.pointwise %0, %w : (!nd.tensor<f32, d: M, h: 8, n: N>, !nd.tensor<f32, d: M, e: 5>) -> !nd.tensor<f32, d: M, e: 5, h: 8, n: N> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.mulf %p, %q : f32
    nd.yield %s : f32
  }
  %2 = nd.reduce %1 over [d] neutral [0.0 : f32] : (!nd.tensor<f32, d: M, e: 5, h: 8, n: N>) -> !nd.tensor<f32, e: 5, h: 8, n: N> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  %3 = nd.merge %2 [h, e] into o : !nd.tensor<f32, e: 5, h: 8, n: N> -> !nd.tensor<f32, n: N, o: 40>
  return %3 : !nd.tensor<f32, n: N, o: 40>
}
func.func @concat(%x: !nN, %y: !nd.tensor<f32, n: M>, %z: !nN2M) -> (!nN2M, !nd.tensor<f32, n: M>, !nN) {
  %0 = nd.concat %x, %y, %y along n : (!nN, !nd.tensor<f32, n: M>, !nd.tensor<f32, n: M>) -> !nN2M
  %1 = nd.pointwise %0, %z : (!nN2M, !nN2M) -> !nN2M {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    nd.yield %s : f32
  }
  %2 = nd.slice %1 n from 0 size M : !nN2M -> !nd.tensor<f32, n: M>
  %3 = nd.slice %0 n from 0 size N : !nN2M -> !nN
  return %1, %2, %3 : !nN2M, !nd.tensor<f32, n: M>, !nN
}
// Every second element; pooled pairs; what windows make of sizes that divide.
func.func @halves(%x: !nd.tensor<f32, n: 2 * N>) -> (!nN, !nN) {
  %0 = nd.slice %x n from 1 size N stride 2 : !nd.tensor<f32, n: 2 * N> -> !nN
  %1 = nd.window %x n -> k size 2 stride 2 : !nd.tensor<f32, n: 2 * N> -> !nd.tensor<f32, k: 2, n: N>
  %2 = nd.reduce %1 over [k] neutral [0xFF800000 : f32] : (!nd.tensor<f32, k: 2, n: N>) -> !nN {
  ^bb0(%p: f32, %q: f32):
    %s = arith.maximumf %p, %q : f32
    nd.yield %s : f32
  }
  return %0, %2 : !nN, !nN
}
// Computed coordinates.
func.func @ranges(%x: !nd.tensor<f32, n: N + M>, %y: !nN, %s: !nd.tensor<i64>) -> (!nN, !nd.tensor<f32, n: N + M>) {
  %0 = nd.dynamic_slice %x n from %s size N : (!nd.tensor<f32, n: N + M>, !nd.tensor<i64>) -> !nN
  %1 = nd.update_slice %y into %x n from %s : (!nN, !nd.tensor<f32, n: N + M>, !nd.tensor<i64>) -> !nd.tensor<f32, n: N + M>
  return %0, %1 : !nN, !nd.tensor<f32, n: N + M>
}
