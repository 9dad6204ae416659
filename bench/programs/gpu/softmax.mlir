// Softmax of 4096 rows of 1024 (heddle-bench normalise).
module {
  func.func @function(%arg0: !nd.tensor<f32, row: 4096, wide: 1024> {nd.name = "argument0"}) -> (!nd.tensor<f32, row: 4096, wide: 1024> {nd.name = "result"}) {
    %0 = nd.reduce %arg0 over [wide] neutral [0xFF800000 : f32] : (!nd.tensor<f32, row: 4096, wide: 1024>) -> !nd.tensor<f32, row: 4096> {
    ^bb0(%arg1: f32, %arg2: f32):
      %5 = arith.maximumf %arg1, %arg2 : f32
      nd.yield %5 : f32
    }
    %1 = nd.pointwise %arg0, %0 : (!nd.tensor<f32, row: 4096, wide: 1024>, !nd.tensor<f32, row: 4096>) -> !nd.tensor<f32, row: 4096, wide: 1024> {
    ^bb0(%arg1: f32, %arg2: f32):
      %5 = arith.subf %arg1, %arg2 : f32
      nd.yield %5 : f32
    }
    %2 = nd.pointwise %1 : (!nd.tensor<f32, row: 4096, wide: 1024>) -> !nd.tensor<f32, row: 4096, wide: 1024> {
    ^bb0(%arg1: f32):
      %5 = math.exp %arg1 : f32
      nd.yield %5 : f32
    }
    %3 = nd.reduce %2 over [wide] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, row: 4096, wide: 1024>) -> !nd.tensor<f32, row: 4096> {
    ^bb0(%arg1: f32, %arg2: f32):
      %5 = arith.addf %arg1, %arg2 : f32
      nd.yield %5 : f32
    }
    %4 = nd.pointwise %2, %3 : (!nd.tensor<f32, row: 4096, wide: 1024>, !nd.tensor<f32, row: 4096>) -> !nd.tensor<f32, row: 4096, wide: 1024> {
    ^bb0(%arg1: f32, %arg2: f32):
      %5 = arith.divf %arg1, %arg2 : f32
      nd.yield %5 : f32
    }
    return %4 : !nd.tensor<f32, row: 4096, wide: 1024>
  }
}
