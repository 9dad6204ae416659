// Attention: 8 heads of 64 features, 512 places, a batch of 8 (heddle-bench attention).
module {
  func.func @function(%arg0: !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {nd.name = "argument0"}, %arg1: !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512> {nd.name = "argument1"}, %arg2: !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512> {nd.name = "argument2"}) -> (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {nd.name = "result"}) {
    %0 = nd.pointwise %arg0 : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {
    ^bb0(%arg3: f32):
      %cst = arith.constant 1.250000e-01 : f32
      %11 = arith.mulf %arg3, %cst : f32
      nd.yield %11 : f32
    }
    %1 = nd.pointwise %0, %arg1 : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512, past: 512> {
    ^bb0(%arg3: f32, %arg4: f32):
      %11 = arith.mulf %arg3, %arg4 : f32
      nd.yield %11 : f32
    }
    %2 = nd.reduce %1 over [feature] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512> {
    ^bb0(%arg3: f32, %arg4: f32):
      %11 = arith.addf %arg3, %arg4 : f32
      nd.yield %11 : f32
    }
    %3 = nd.reduce %2 over [past] neutral [0xFF800000 : f32] : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512> {
    ^bb0(%arg3: f32, %arg4: f32):
      %11 = arith.maximumf %arg3, %arg4 : f32
      nd.yield %11 : f32
    }
    %4 = nd.stop_gradient %3 : !nd.tensor<f32, batch: 8, head: 8, now: 512>
    %5 = nd.pointwise %2, %4 : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>, !nd.tensor<f32, batch: 8, head: 8, now: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512> {
    ^bb0(%arg3: f32, %arg4: f32):
      %11 = arith.subf %arg3, %arg4 : f32
      nd.yield %11 : f32
    }
    %6 = nd.pointwise %5 : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512> {
    ^bb0(%arg3: f32):
      %11 = math.exp %arg3 : f32
      nd.yield %11 : f32
    }
    %7 = nd.reduce %6 over [past] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512> {
    ^bb0(%arg3: f32, %arg4: f32):
      %11 = arith.addf %arg3, %arg4 : f32
      nd.yield %11 : f32
    }
    %8 = nd.pointwise %6, %7 : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>, !nd.tensor<f32, batch: 8, head: 8, now: 512>) -> !nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512> {
    ^bb0(%arg3: f32, %arg4: f32):
      %11 = arith.divf %arg3, %arg4 : f32
      nd.yield %11 : f32
    }
    %9 = nd.pointwise %8, %arg2 : (!nd.tensor<f32, batch: 8, head: 8, now: 512, past: 512>, !nd.tensor<f32, batch: 8, feature: 64, head: 8, past: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512, past: 512> {
    ^bb0(%arg3: f32, %arg4: f32):
      %11 = arith.mulf %arg3, %arg4 : f32
      nd.yield %11 : f32
    }
    %10 = nd.reduce %9 over [past] neutral [0.000000e+00 : f32] : (!nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512, past: 512>) -> !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512> {
    ^bb0(%arg3: f32, %arg4: f32):
      %11 = arith.addf %arg3, %arg4 : f32
      nd.yield %11 : f32
    }
    return %10 : !nd.tensor<f32, batch: 8, feature: 64, head: 8, now: 512>
  }
}
