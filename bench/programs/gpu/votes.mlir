// Convolutional capsules: 64 images, 32 capsules of 4x4 to 32, 3x3 windows (heddle-bench capsule).
module {
  func.func @function(%arg0: !nd.tensor<f32, c: 15, ci: 32, i: 4, k: 4, n: 64, r: 15> {nd.name = "argument0"}, %arg1: !nd.tensor<f32, ci: 32, co: 32, j: 4, k: 4, kc: 3, kr: 3> {nd.name = "argument1"}) -> (!nd.tensor<f32, c: 7, co: 32, i: 4, j: 4, n: 64, r: 7> {nd.name = "result"}) {
    %0 = nest.compute (c: 7, co: 32, i: 4, j: 4, n: 64, r: 7) reduce (ci: 32, k: 4, kc: 3, kr: 3) reads %arg0[c = 2 * c + kc, r = kr + 2 * r], %arg1[] {
    ^bb0(%arg2: f32, %arg3: f32):
      %1 = arith.mulf %arg2, %arg3 : f32
      nest.yield %1 : f32
    } combine add [0.000000e+00 : f32] : (!nd.tensor<f32, c: 15, ci: 32, i: 4, k: 4, n: 64, r: 15>, !nd.tensor<f32, ci: 32, co: 32, j: 4, k: 4, kc: 3, kr: 3>) -> !nd.tensor<f32, c: 7, co: 32, i: 4, j: 4, n: 64, r: 7>
    return %0 : !nd.tensor<f32, c: 7, co: 32, i: 4, j: 4, n: 64, r: 7>
  }
}
