// 64 lines of 8192 elements, sorted with their places (heddle-bench sort).
module {
  func.func @function(%arg0: !nd.tensor<f32, line: 64, n: 8192> {nd.name = "argument0"}) -> (!nd.tensor<f32, line: 64, n: 8192> {nd.name = "result0"}, !nd.tensor<i64, line: 64, n: 8192> {nd.name = "result1"}) {
    %0 = nd.iota n : !nd.tensor<i64, n: 8192>
    %1 = nd.broadcast %0 : !nd.tensor<i64, n: 8192> -> !nd.tensor<i64, line: 64, n: 8192>
    %2:2 = nd.sort %arg0, %1 along n : (!nd.tensor<f32, line: 64, n: 8192>, !nd.tensor<i64, line: 64, n: 8192>) -> (!nd.tensor<f32, line: 64, n: 8192>, !nd.tensor<i64, line: 64, n: 8192>)
    return %2#0, %2#1 : !nd.tensor<f32, line: 64, n: 8192>, !nd.tensor<i64, line: 64, n: 8192>
  }
}
