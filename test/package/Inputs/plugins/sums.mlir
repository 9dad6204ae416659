// Tiles of 8 rows and 2 vectors of 16 lanes; all data fit in L1.
func.func @product(%a: !nd.tensor<f32, m: 64, k: 16> {nd.layout = #nest.layout<[m, k]>}, %b: !nd.tensor<f32, k: 16, n: 32> {nd.layout = #nest.layout<[k, n]>})
    -> (!nd.tensor<f32, m: 64, n: 32> {nd.layout = #nest.layout<[m, n]>}) {
  %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] {
  ^bb0(%p: f32, %q: f32):
    %r = arith.mulf %p, %q : f32
    nest.yield %r : f32
  } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache m by 8, loop k by 1, register m by 1, register n by 16, vector n by 1]>}
    : (!nd.tensor<f32, m: 64, k: 16>, !nd.tensor<f32, k: 16, n: 32>) -> !nd.tensor<f32, m: 64, n: 32>
  return %c : !nd.tensor<f32, m: 64, n: 32>
}
