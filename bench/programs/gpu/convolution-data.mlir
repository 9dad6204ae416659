// The gradient of convolution.mlir by its images.
module {
  func.func @function(%arg0: !nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56> {nd.name = "argument0"}, %arg1: !nd.tensor<f32, in: 64, kx: 3, ky: 3, out: 64> {nd.name = "argument1"}, %arg2: !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56> {nd.name = "argument2"}) -> (!nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56> {nd.name = "result"}) {
    %0 = nd.constant dense<1.000000e+00> : tensor<f32> by [] : !nd.tensor<f32>
    %1:2 = nd.vjp @f(%arg0, %arg1, %arg2) cotangents(%0) wrt [0] : (!nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56>, !nd.tensor<f32, in: 64, kx: 3, ky: 3, out: 64>, !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56>)
    return %1#1 : !nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56>
  }
  func.func private @f(%arg0: !nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56>, %arg1: !nd.tensor<f32, in: 64, kx: 3, ky: 3, out: 64>, %arg2: !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56>) -> !nd.tensor<f32> {
    %0 = nd.window %arg0 row -> ky size 3 pad 1, 1 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56> -> !nd.tensor<f32, batch: 16, column: 56, in: 64, ky: 3, row: 56>
    %1 = nd.window %0 column -> kx size 3 pad 1, 1 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 16, column: 56, in: 64, ky: 3, row: 56> -> !nd.tensor<f32, batch: 16, column: 56, in: 64, kx: 3, ky: 3, row: 56>
    %2 = nd.pointwise %1, %arg1 : (!nd.tensor<f32, batch: 16, column: 56, in: 64, kx: 3, ky: 3, row: 56>, !nd.tensor<f32, in: 64, kx: 3, ky: 3, out: 64>) -> !nd.tensor<f32, batch: 16, column: 56, in: 64, kx: 3, ky: 3, out: 64, row: 56> {
    ^bb0(%arg3: f32, %arg4: f32):
      %6 = arith.mulf %arg3, %arg4 : f32
      nd.yield %6 : f32
    }
    %3 = nd.reduce %2 over [in, ky, kx] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 16, column: 56, in: 64, kx: 3, ky: 3, out: 64, row: 56>) -> !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56> {
    ^bb0(%arg3: f32, %arg4: f32):
      %6 = arith.addf %arg3, %arg4 : f32
      nd.yield %6 : f32
    }
    %4 = nd.pointwise %3, %arg2 : (!nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56>, !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56>) -> !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56> {
    ^bb0(%arg3: f32, %arg4: f32):
      %6 = arith.mulf %arg3, %arg4 : f32
      nd.yield %6 : f32
    }
    %5 = nd.reduce %4 over [batch, row, column, out] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56>) -> !nd.tensor<f32> {
    ^bb0(%arg3: f32, %arg4: f32):
      %6 = arith.addf %arg3, %arg4 : f32
      nd.yield %6 : f32
    }
    return %5 : !nd.tensor<f32>
  }
}
