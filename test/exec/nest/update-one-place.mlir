// Lanes that write to the same element write one after another: most of these are out of bounds of the only element.
// RUN: heddle-run %s --compare

func.func @main(%x: !nd.tensor<f32, n: 13> {nd.name = "x"}, %y: !nd.tensor<f32, a: 1> {nd.name = "y"}) -> (!nd.tensor<f32, a: 1> {nd.name = "z"}) {
  %z = nest.update (n: 13) %y[a = n - 3] reads %x[] {
  ^bb0(%e: f32):
    nest.yield %e : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %sum = arith.addf %old, %new : f32
    nest.yield %sum : f32
  } {schedule = #nest.schedule<[loop n by 8, register n by 4, vector n by 1]>} : (!nd.tensor<f32, a: 1>, !nd.tensor<f32, n: 13>) -> !nd.tensor<f32, a: 1>
  return %z : !nd.tensor<f32, a: 1>
}
