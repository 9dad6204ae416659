// A line that is scanned in blocks of 8 elements, the totals of which are scanned in the same way.
// RUN: heddle-run %s --compare
module attributes {heddle.machine = #nest.machine<{points_per_block = 8}>} {
func.func @sums(%x: !nd.tensor<f32, n: 70> {nd.name = "x"}, %y: !nd.tensor<i32, m: 2, n: 19> {nd.name = "y"}) -> (!nd.tensor<f32, n: 70>, !nd.tensor<i32, m: 2, n: 19>) {
  %a = nd.scan %x along n neutral [0.0 : f32] : (!nd.tensor<f32, n: 70>) -> !nd.tensor<f32, n: 70> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %b = nd.scan %y along n exclusive reverse neutral [0 : i32] : (!nd.tensor<i32, m: 2, n: 19>) -> !nd.tensor<i32, m: 2, n: 19> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.addi %p, %e : i32
    nd.yield %r : i32
  }
  return %a, %b : !nd.tensor<f32, n: 70>, !nd.tensor<i32, m: 2, n: 19>
}
}
