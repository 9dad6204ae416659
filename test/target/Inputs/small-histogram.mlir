// A histogram in parts: blocks of lanes that meet at bins of their own, which a second kernel combines.
// RUN: heddle-run %s --compare
module attributes {heddle.machine = #nest.machine<{points_per_block = 8}>} {
func.func @sums(%t: !nd.tensor<f32, u: 2, v: 3> {nd.name = "t"}, %at: !nd.tensor<i32, n: 41> {nd.name = "at"}, %x: !nd.tensor<f32, n: 41> {nd.name = "x"}) -> !nd.tensor<f32, u: 2, v: 3> {
  %a = nest.update (n: 41) %t[u = n mod 2, v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, u: 2, v: 3>, !nd.tensor<i32, n: 41>, !nd.tensor<f32, n: 41>) -> !nd.tensor<f32, u: 2, v: 3>
  return %a : !nd.tensor<f32, u: 2, v: 3>
}
}
