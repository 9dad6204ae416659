// attention.mlir and its gradients.
module {
  func.func @function(%arg0: !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {nd.name = "argument0"}, %arg1: !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {nd.name = "argument1"}, %arg2: !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512> {nd.name = "argument2"}, %arg3: !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512> {nd.name = "argument3"}) -> (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {nd.name = "result0"}, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512> {nd.name = "result1"}, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512> {nd.name = "result2"}) {
    %0 = nd.constant dense<1.000000e+00> : tensor<f32> by [] : !nd.tensor<f32>
    %1:4 = nd.vjp @f(%arg1, %arg2, %arg3, %arg0) cotangents(%0) wrt [0, 1, 2] : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>)
    return %1#1, %1#2, %1#3 : !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>
  }
  func.func private @f(%arg0: !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>, %arg1: !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>, %arg2: !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>, %arg3: !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>) -> !nd.tensor<f32> {
    %0 = nd.pointwise %arg0 : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {
    ^bb0(%arg4: f32):
      %cst = arith.constant 1.250000e-01 : f32
      %13 = arith.mulf %arg4, %cst : f32
      nd.yield %13 : f32
    }
    %1 = nd.pointwise %0, %arg1 : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512, past: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.mulf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %2 = nd.reduce %1 over [feature] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.addf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %3 = nd.reduce %2 over [past] neutral [0xFF800000 : f32] : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.maximumf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %4 = nd.stop_gradient %3 : !nd.tensor<f32, batch: 8, head: 8, now: 512>
    %5 = nd.pointwise %2, %4 : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>, !nd.tensor<f32, batch: 8, head: 8, now: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.subf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %6 = nd.pointwise %5 : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512> {
    ^bb0(%arg4: f32):
      %13 = math.exp %arg4 : f32
      nd.yield %13 : f32
    }
    %7 = nd.reduce %6 over [past] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.addf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %8 = nd.pointwise %6, %7 : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>, !nd.tensor<f32, batch: 8, head: 8, now: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.divf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %9 = nd.pointwise %8, %arg2 : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512, past: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.mulf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %10 = nd.reduce %9 over [past] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.addf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %11 = nd.pointwise %10, %arg3 : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.mulf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    %12 = nd.reduce %11 over [batch, feature, head, now] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>) -> !nd.tensor<f32> {
    ^bb0(%arg4: f32, %arg5: f32):
      %13 = arith.addf %arg4, %arg5 : f32
      nd.yield %13 : f32
    }
    return %12 : !nd.tensor<f32>
  }
}
