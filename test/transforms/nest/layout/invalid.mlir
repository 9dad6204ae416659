// RUN: heddle-opt %s -split-input-file -verify-diagnostics -nest-assign-layouts

// expected-error @+1 {{the layout of argument 'a' does not fit '!nd.tensor<f32, m: 20, n: 10>': the layout mentions 'k', which the tensor does not have}}
func.func @unknown(%a: !nd.tensor<f32, m: 20, n: 10> {nd.layout = #nest.layout<[m, k]>, nd.name = "a"}) {
  return
}

// -----

// expected-error @+1 {{the layout of argument 'a' does not fit '!nd.tensor<f32, m: 20, n: 10>': the factors of 'm' do not continue one another: below 'floordiv 4' expected one that ends there, such as 'mod 4', got 'mod 5'}}
func.func @blocks(%a: !nd.tensor<f32, m: 20, n: 10> {nd.layout = #nest.layout<[m floordiv 4, n, m mod 5]>, nd.name = "a"}) {
  return
}

// -----

// expected-error @+1 {{expected nd.layout of argument 'a' to be a #nest.layout or "any", got "some"}}
func.func @word(%a: !nd.tensor<f32, m: 20> {nd.layout = "some", nd.name = "a"}) {
  return
}

// -----

// expected-note @+1 {{its layout is [m, n] here}}
func.func @place(%a: !nd.tensor<f32, m: 20, n: 10> {nd.layout = #nest.layout<[m, n]>, nd.name = "a", heddle.donate = 0})
    -> !nd.tensor<f32, m: 20, n: 10> {
  // expected-error @+1 {{'a' is updated in place, so its layout can't be [m, n] before and [n, m] after}}
  %d = nest.compute (m: 20, n: 10) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.negf %x : f32
    nest.yield %p : f32
  } {layouts = [#nest.layout<[n, m]>]} : (!nd.tensor<f32, m: 20, n: 10>) -> !nd.tensor<f32, m: 20, n: 10>
  return %d : !nd.tensor<f32, m: 20, n: 10>
}
