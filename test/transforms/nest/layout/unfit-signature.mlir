// Passes that read layouts of arguments and results refuse those that do not fit.
// RUN: heddle-opt %s -split-input-file -verify-diagnostics -nest-choose-schedules
// RUN: heddle-opt %s -split-input-file -verify-diagnostics -nest-prepare-steps

// expected-error @+1 {{the layout of argument 0 does not fit '!nd.tensor<f32, m: 20, n: 10>': the layout mentions 'k', which the tensor does not have}}
func.func @argument(%a: !nd.tensor<f32, m: 20, n: 10> {nd.layout = #nest.layout<[m, k]>}) {
  return
}

// -----

// "any" is no layout yet.
func.func @any(%a: !nd.tensor<f32, m: 20> {nd.layout = "any"}) {
  return
}

// -----

// expected-error @+1 {{expected nd.layout of argument 'x' to be a #nest.layout or "any", got "columns"}}
func.func @word(%a: !nd.tensor<f32, m: 20> {nd.name = "x", nd.layout = "columns"}) {
  return
}

// -----

// expected-error @+1 {{argument 0 is too large: the sizes multiply to more than 2^48 elements at 'n', got '!nd.tensor<f32, m: 16777216, n: 33554432>'}}
func.func @large(%a: !nd.tensor<f32, m: 16777216, n: 33554432> {nd.layout = #nest.layout<[n, m]>}) {
  return
}

// -----

// expected-error @+1 {{the layout of result 0 does not fit '!nd.tensor<f32, m: 7, n: 5>': the layout mentions 'pad', which the tensor does not have}}
func.func @result(%a: !nd.tensor<f32, m: 7, n: 5>) -> (!nd.tensor<f32, m: 7, n: 5> {nd.layout = #nest.layout<[(m, pad) floordiv 8, (m, n) mod 8]>}) {
  // expected-note @+1 {{the value with this layout is defined here, with the names {m: 7, n: 5}}}
  %r = nest.compute (m: 7, n: 5) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, m: 7, n: 5>) -> !nd.tensor<f32, m: 7, n: 5>
  return %r : !nd.tensor<f32, m: 7, n: 5>
}
