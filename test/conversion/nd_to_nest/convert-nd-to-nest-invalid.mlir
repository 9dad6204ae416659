// RUN: heddle-opt %s --convert-nd-to-nest --split-input-file --verify-diagnostics

func.func @excluding(%x: !nd.tensor<f32, row: 8>) -> !nd.tensor<f32, ky: 3, row: 8> {
  // expected-error @+1 {{excludes taps along 'row': expected that only a reduction over 'ky' reads it}}
  %0 = nd.window %x row -> ky size 3 pad 1, 1 exclude : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, ky: 3, row: 8>
  return %0 : !nd.tensor<f32, ky: 3, row: 8>
}

// -----

func.func @excluding_with_a_stride(%x: !nd.tensor<f32, row: 2>) -> !nd.tensor<f32, ky: 2, row: 1> {
  // expected-error @+1 {{excludes taps along 'row': expected that only a reduction over 'ky' reads it}}
  %0 = nd.window %x row -> ky size 2 stride 2 pad 1, 0 exclude : !nd.tensor<f32, row: 2> -> !nd.tensor<f32, ky: 2, row: 1>
  return %0 : !nd.tensor<f32, ky: 2, row: 1>
}

// -----

func.func @excluding_at_the_end(%x: !nd.tensor<f32, row: 5>) -> !nd.tensor<f32, ky: 3, row: 3> {
  // expected-error @+1 {{excludes taps along 'row': expected that only a reduction over 'ky' reads it}}
  %0 = nd.window %x row -> ky size 3 stride 2 pad 0, 2 exclude : !nd.tensor<f32, row: 5> -> !nd.tensor<f32, ky: 3, row: 3>
  return %0 : !nd.tensor<f32, ky: 3, row: 3>
}

// -----

func.func private @g(%x: !nd.tensor<f32>) -> !nd.tensor<f32>
func.func @call(%x: !nd.tensor<f32>) -> !nd.tensor<f32> {
  // expected-error @+1 {{has no lowering to nests; expand calls and gradients first}}
  %0 = nd.call @g(%x) : (!nd.tensor<f32>) -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}

// -----

func.func private @nothing() {
  return
}
func.func @call_without_results() {
  // expected-error @+1 {{has no lowering to nests; expand calls and gradients first}}
  nd.call @nothing() : () -> ()
  return
}
