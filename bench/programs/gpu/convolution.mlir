// 16 images of 64 channels, 56x56, convolved by 3x3 windows (heddle-bench conv).
module {
  func.func @function(%arg0: !nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56> {nd.name = "argument0"}, %arg1: !nd.tensor<f32, in: 64, kx: 3, ky: 3, out: 64> {nd.name = "argument1"}) -> (!nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56> {nd.name = "result"}) {
    %0 = nd.window %arg0 row -> ky size 3 pad 1, 1 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 16, column: 56, in: 64, row: 56> -> !nd.tensor<f32, batch: 16, column: 56, in: 64, ky: 3, row: 56>
    %1 = nd.window %0 column -> kx size 3 pad 1, 1 value 0.000000e+00 : f32 : !nd.tensor<f32, batch: 16, column: 56, in: 64, ky: 3, row: 56> -> !nd.tensor<f32, batch: 16, column: 56, in: 64, kx: 3, ky: 3, row: 56>
    %2 = nd.pointwise %1, %arg1 : (!nd.tensor<f32, batch: 16, column: 56, in: 64, kx: 3, ky: 3, row: 56>, !nd.tensor<f32, in: 64, kx: 3, ky: 3, out: 64>) -> !nd.tensor<f32, batch: 16, column: 56, in: 64, kx: 3, ky: 3, out: 64, row: 56> {
    ^bb0(%arg2: f32, %arg3: f32):
      %4 = arith.mulf %arg2, %arg3 : f32
      nd.yield %4 : f32
    }
    %3 = nd.reduce %2 over [in, ky, kx] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 16, column: 56, in: 64, kx: 3, ky: 3, out: 64, row: 56>) -> !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56> {
    ^bb0(%arg2: f32, %arg3: f32):
      %4 = arith.addf %arg2, %arg3 : f32
      nd.yield %4 : f32
    }
    return %3 : !nd.tensor<f32, batch: 16, column: 56, out: 64, row: 56>
  }
}
