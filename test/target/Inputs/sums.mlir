// Sums that lanes share: of all elements, of each row, and a product.
module attributes {heddle.machine = #nest.machine<{warp = WARP}>} {
  func.func @sums(%a: !nd.tensor<f32, k: 300, n: 7>, %b: !nd.tensor<f32, k: 300, m: 70>) -> (!nd.tensor<f32>, !nd.tensor<f32, n: 7>, !nd.tensor<f32, m: 70, n: 7>) {
    %all = nest.compute () reduce (k: 300, n: 7) reads %a[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, k: 300, n: 7>) -> !nd.tensor<f32>
    %rows = nest.compute (n: 7) reduce (k: 300) reads %a[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, k: 300, n: 7>) -> !nd.tensor<f32, n: 7>
    %product = nest.compute (m: 70, n: 7) reduce (k: 300) reads %a[], %b[] {
    ^bb0(%x: f32, %y: f32):
      %p = arith.mulf %x, %y : f32
      nest.yield %p : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, k: 300, n: 7>, !nd.tensor<f32, k: 300, m: 70>) -> !nd.tensor<f32, m: 70, n: 7>
    return %all, %rows, %product : !nd.tensor<f32>, !nd.tensor<f32, n: 7>, !nd.tensor<f32, m: 70, n: 7>
  }
}
