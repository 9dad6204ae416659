// Passes that read layouts of arguments and results refuse those that do not fit.
// RUN: heddle-opt %s -split-input-file -verify-diagnostics -nest-choose-schedules
// RUN: heddle-opt %s -split-input-file -verify-diagnostics -nest-prepare-steps

// expected-error @+1 {{the layout of argument 0 does not fit '!nd.tensor<f32, m: 20, n: 10>': the layout mentions 'k', which the tensor does not have}}
func.func @argument(%a: !nd.tensor<f32, m: 20, n: 10> {nd.layout = #nest.layout<[m, k]>}) {
  return
}

// -----

// expected-error @+1 {{the layout of result 0 does not fit '!nd.tensor<f32, m: 7, n: 5>': the layout mentions 'pad', which the tensor does not have}}
func.func @result(%a: !nd.tensor<f32, m: 7, n: 5>) -> (!nd.tensor<f32, m: 7, n: 5> {nd.layout = #nest.layout<[(m, pad) floordiv 8, (m, n) mod 8]>}) {
  %r = nest.compute (m: 7, n: 5) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, m: 7, n: 5>) -> !nd.tensor<f32, m: 7, n: 5>
  return %r : !nd.tensor<f32, m: 7, n: 5>
}
