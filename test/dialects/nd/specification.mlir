// Programs that each rule of docs/specification.md refuses, by its number.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{the name 'row' occurs twice}}
func.func private @s1_name_twice(!nd.tensor<f32, row: 3, row: 3>)

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 3, row: 3>'}}
func.func @s1_renamed_into_another(%a: !nd.tensor<f32, row: 3, column: 3>) {
  // expected-error @below {{the name 'column' would occur twice}}
  %0 = nd.rename %a [row] to [column] : !nd.tensor<f32, row: 3, column: 3> -> !nd.tensor<f32, column: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, column: 2>'}}
func.func @s2_outer_product(%a: !nd.tensor<f32, row: 3>, %b: !nd.tensor<f32, column: 2>) {
  // expected-error @below {{expected operands that share a name, got {row: 3} and {column: 2}}}
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, row: 3>, !nd.tensor<f32, column: 2>) -> !nd.tensor<f32, column: 2, row: 3> {
  ^bb0(%x: f32, %y: f32):
    %r = arith.mulf %x, %y : f32
    nd.yield %r : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 2, row: 3>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, row: 4>'}}
func.func @s3_two_sizes(%a: !nd.tensor<f32, row: 3, column: 2>, %b: !nd.tensor<f32, row: 4>) {
  // expected-error @below {{the name 'row' has size 3 in {column: 2, row: 3} and size 4 in {row: 4}}}
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, row: 3, column: 2>, !nd.tensor<f32, row: 4>) -> !nd.tensor<f32, column: 2, row: 3> {
  ^bb0(%x: f32, %y: f32):
    %r = arith.mulf %x, %y : f32
    nd.yield %r : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, ky: 3, row: 8>'}}
func.func @s4_tap_taken(%a: !nd.tensor<f32, row: 8, ky: 3>) {
  // expected-error @below {{the tensor has the name 'ky' already: {ky: 3, row: 8}}}
  %0 = nd.window %a row -> ky size 3 : !nd.tensor<f32, row: 8, ky: 3> -> !nd.tensor<f32, row: 6, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @s4_window_does_not_fit(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{the window of 3 along 'row' does not fit: expected at least 5 elements, got 3}}
  %0 = nd.window %a row -> ky size 3 dilation 2 : !nd.tensor<f32, row: 3> -> !nd.tensor<f32, row: 0, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
// expected-note @below {{operand 1 is of type}}
func.func @s5_zipped_sizes(%a: !nd.tensor<f32, row: 8, batch: 2>, %i: !nd.tensor<i32, batch: 3>) {
  // expected-error @below {{the name 'batch' has size 2 in {batch: 2} and size 3 in {batch: 3}}}
  %0 = nd.gather %a [row] at %i : (!nd.tensor<f32, row: 8, batch: 2>, !nd.tensor<i32, batch: 3>) -> !nd.tensor<f32, batch: 2>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(%x: !nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  %s = nd.reduce %x over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.addf %a, %e : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32>
}
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32>'}}
func.func @s7_gradient_without_names(%x: !nd.tensor<f32, row: 3>, %g: !nd.tensor<f32>) {
  // expected-error-re @below {{expected {{.*}}'!nd.tensor<f32, row: 3>'{{.*}}got {{.*}}'!nd.tensor<f32>'}}
  %0:2 = nd.vjp @f(%x) cotangents(%g) wrt [0] : (!nd.tensor<f32, row: 3>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(%x: !nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  %s = nd.reduce %x over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %e: f32):
    %r = arith.addf %a, %e : f32
    nd.yield %r : f32
  }
  return %s : !nd.tensor<f32>
}
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, batch: 2, row: 3>'}}
func.func @s8_lifted_name_swallowed(%x: !nd.tensor<f32, batch: 2, row: 3>) {
  // expected-error-re @below {{expected {{.*}}'!nd.tensor<f32, batch: 2>'{{.*}}got {{.*}}'!nd.tensor<f32>'}}
  %0 = nd.call @f(%x) : (!nd.tensor<f32, batch: 2, row: 3>) -> !nd.tensor<f32>
  return
}

// -----

func.func @s10_constant_without_order() {
  // expected-error @below {{expected 'by' to list all of {column: 2, row: 1}}}
  %0 = nd.constant dense<[[1, 2]]> : tensor<1x2xi32> by [row] : !nd.tensor<i32, column: 2, row: 1>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, row: N>, !nd.tensor<f32, column: N>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, column: 5>'}}
func.func @s11_symbol_with_two_values(%a: !nd.tensor<f32, row: 4>, %b: !nd.tensor<f32, column: 5>) {
  // expected-error @below {{expected size 4 for 'column' of {column: N}, got 5 in {column: 5}}}
  %0 = nd.call @f(%a, %b) : (!nd.tensor<f32, row: 4>, !nd.tensor<f32, column: 5>) -> !nd.tensor<f32>
  return
}

// -----

// expected-error @below {{declares a range for 'M', which is in no size of an argument}}
func.func @s11_range_of_no_symbol(%a: !nd.tensor<f32, row: N>) attributes {nd.ranges = {M = [1, 2]}} {
  return
}

// -----

// expected-error @below {{expected the least and the largest value of 'N', from 0 to 2147483648, got [4, 2]}}
func.func @s11_empty_range(%a: !nd.tensor<f32, row: N>) attributes {nd.ranges = {N = [4, 2]}} {
  return
}

// -----

func.func @s11_symbol_of_no_argument(%a: !nd.tensor<f32, row: N>) -> !nd.tensor<f32> {
  // expected-error @below {{has a size with the symbol 'M', which is in no size of an argument of '@s11_symbol_of_no_argument'}}
  %0 = nd.constant dense<1.0> : tensor<f32> by [row] : !nd.tensor<f32, row: M>
  %1 = nd.reduce %0 over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: M>) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %e: f32):
    %r = arith.addf %x, %e : f32
    nd.yield %r : f32
  }
  return %1 : !nd.tensor<f32>
}

// -----

// expected-note @below {{operand 0 is of type}}
func.func @s11_symbol_of_an_attribute(%a: !nd.tensor<f32, row: N>) -> !nd.tensor<f32, row: 2> {
  // expected-error @below {{has a size with the symbol 'M'}}
  %0 = nd.slice %a row from M size 2 : !nd.tensor<f32, row: N> -> !nd.tensor<f32, row: 2>
  return %0 : !nd.tensor<f32, row: 2>
}

// -----

func.func @s11_symbol_of_a_kernel() -> !nd.tensor<f32> {
  // expected-error @below {{has a size with the symbol 'N'}}
  %0 = nest.compute () reduce (row: N) {
    %c = arith.constant 1.0 : f32
    nest.yield %c : f32
  } combine add [0.0 : f32] : () -> !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}

// -----

func.func private @count(%x: !nd.tensor<f32, row: N>) -> !nd.tensor<i64, column: M>
// expected-note @below {{operand 0 is of type}}
func.func @s11_symbol_that_a_call_gives(%a: !nd.tensor<f32, row: N>) {
  // expected-error @below {{has a size with the symbol 'M'}}
  %0 = nd.call @count(%a) : (!nd.tensor<f32, row: N>) -> !nd.tensor<i64, column: M>
  return
}

// -----

// The caller of a private function has the symbols that its arguments do not determine.
func.func private @lengths() -> !nd.tensor<i64, row: N> {
  %0 = nd.iota row : !nd.tensor<i64, row: N>
  return %0 : !nd.tensor<i64, row: N>
}
func.func @s11_symbol_of_the_caller(%a: !nd.tensor<f32, row: N>) -> !nd.tensor<i64, row: N> {
  %0 = nd.call @lengths() : () -> !nd.tensor<i64, row: N>
  return %0 : !nd.tensor<i64, row: N>
}
