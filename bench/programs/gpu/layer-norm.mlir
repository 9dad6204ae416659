// Layer normalisation of 4096 rows of 1024 (heddle-bench normalise).
module {
  func.func @function(%arg0: !nd.tensor<f32, row: 4096, wide: 1024> {nd.name = "argument0"}) -> (!nd.tensor<f32, row: 4096, wide: 1024> {nd.name = "result"}) {
    %0 = nd.reduce %arg0 over [wide] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, row: 4096, wide: 1024>) -> !nd.tensor<f32, row: 4096> {
    ^bb0(%arg1: f32, %arg2: f32):
      %9 = arith.addf %arg1, %arg2 : f32
      nd.yield %9 : f32
    }
    %1 = nd.pointwise %0 : (!nd.tensor<f32, row: 4096>) -> !nd.tensor<f32, row: 4096> {
    ^bb0(%arg1: f32):
      %cst = arith.constant 9.765625E-4 : f32
      %9 = arith.mulf %arg1, %cst : f32
      nd.yield %9 : f32
    }
    %2 = nd.pointwise %arg0, %1 : (!nd.tensor<f32, row: 4096, wide: 1024>, !nd.tensor<f32, row: 4096>) -> !nd.tensor<f32, row: 4096, wide: 1024> {
    ^bb0(%arg1: f32, %arg2: f32):
      %9 = arith.subf %arg1, %arg2 : f32
      nd.yield %9 : f32
    }
    %3 = nd.pointwise %2, %2 : (!nd.tensor<f32, row: 4096, wide: 1024>, !nd.tensor<f32, row: 4096, wide: 1024>) -> !nd.tensor<f32, row: 4096, wide: 1024> {
    ^bb0(%arg1: f32, %arg2: f32):
      %9 = arith.mulf %arg1, %arg2 : f32
      nd.yield %9 : f32
    }
    %4 = nd.reduce %3 over [wide] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, row: 4096, wide: 1024>) -> !nd.tensor<f32, row: 4096> {
    ^bb0(%arg1: f32, %arg2: f32):
      %9 = arith.addf %arg1, %arg2 : f32
      nd.yield %9 : f32
    }
    %5 = nd.pointwise %4 : (!nd.tensor<f32, row: 4096>) -> !nd.tensor<f32, row: 4096> {
    ^bb0(%arg1: f32):
      %cst = arith.constant 9.765625E-4 : f32
      %9 = arith.mulf %arg1, %cst : f32
      nd.yield %9 : f32
    }
    %6 = nd.pointwise %5 : (!nd.tensor<f32, row: 4096>) -> !nd.tensor<f32, row: 4096> {
    ^bb0(%arg1: f32):
      %cst = arith.constant 9.99999974E-6 : f32
      %9 = arith.addf %arg1, %cst : f32
      nd.yield %9 : f32
    }
    %7 = nd.pointwise %6 : (!nd.tensor<f32, row: 4096>) -> !nd.tensor<f32, row: 4096> {
    ^bb0(%arg1: f32):
      %9 = math.rsqrt %arg1 : f32
      nd.yield %9 : f32
    }
    %8 = nd.pointwise %2, %7 : (!nd.tensor<f32, row: 4096, wide: 1024>, !nd.tensor<f32, row: 4096>) -> !nd.tensor<f32, row: 4096, wide: 1024> {
    ^bb0(%arg1: f32, %arg2: f32):
      %9 = arith.mulf %arg1, %arg2 : f32
      nd.yield %9 : f32
    }
    return %8 : !nd.tensor<f32, row: 4096, wide: 1024>
  }
}
