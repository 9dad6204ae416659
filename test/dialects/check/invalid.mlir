// RUN: heddle-opt %s --split-input-file --verify-diagnostics

// expected-note @below {{prior use here}}
func.func @expect_eq_c1_types(%x: !nd.tensor<f32, row: 2>, %y: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{use of value '%y' expects different type than prior uses: '!nd.tensor<f32, row: 2>' vs '!nd.tensor<f32, row: 3>'}}
  check.expect_eq %x, %y : !nd.tensor<f32, row: 2>
  return
}

// -----

func.func @expect_close_c1_elements(%x: !nd.tensor<i32, row: 2>) {
  // expected-error @below {{expected float elements, got '!nd.tensor<i32, row: 2>'}}
  check.expect_close %x, %x : !nd.tensor<i32, row: 2>
  return
}

// -----

func.func @expect_close_c2_tolerance(%x: !nd.tensor<f32, row: 2>) {
  // expected-error @below {{expected tolerances that are finite and not negative, got -1.0}}
  check.expect_close %x, %x {atol = -1.0 : f64} : !nd.tensor<f32, row: 2>
  return
}

// -----

func.func @expect_eq_const_c1_order(%x: !nd.tensor<i32, row: 2, column: 2>) {
  // expected-error @below {{expected 'by' to list all of {column: 2, row: 2}}}
  check.expect_eq_const %x is dense<1> : tensor<i32> by [row] : !nd.tensor<i32, row: 2, column: 2>
  return
}

// -----

func.func @expect_eq_const_c2_shape(%x: !nd.tensor<i32, row: 2>) {
  // expected-error @below {{expected values for {row: 2} in the order written, got 'tensor<3xi32>'}}
  check.expect_eq_const %x is dense<[1, 2, 3]> : tensor<3xi32> by [row] : !nd.tensor<i32, row: 2>
  return
}

// -----

func.func @expect_close_const_c1_order(%x: !nd.tensor<f32, row: 2, column: 2>) {
  // expected-error @below {{expected 'by' to list all of {column: 2, row: 2}}}
  check.expect_close_const %x is dense<1.0> : tensor<f32> by [row] : !nd.tensor<f32, row: 2, column: 2>
  return
}

// -----

func.func @expect_close_const_c2_shape(%x: !nd.tensor<f32, row: 2>) {
  // expected-error @below {{expected values for {row: 2} in the order written, got 'tensor<3xf32>'}}
  check.expect_close_const %x is dense<[1.0, 2.0, 3.0]> : tensor<3xf32> by [row] : !nd.tensor<f32, row: 2>
  return
}

// -----

func.func @expect_close_const_c3_elements(%x: !nd.tensor<i32, row: 2>) {
  // expected-error @below {{expected float elements, got '!nd.tensor<i32, row: 2>'}}
  check.expect_close_const %x is dense<1> : tensor<i32> by [row] : !nd.tensor<i32, row: 2>
  return
}

// -----

func.func @expect_close_const_c4_tolerance(%x: !nd.tensor<f32, row: 2>) {
  // expected-error @below {{expected tolerances that are finite and not negative, got}}
  check.expect_close_const %x is dense<1.0> : tensor<f32> by [row] {rtol = 0x7FF0000000000000 : f64} : !nd.tensor<f32, row: 2>
  return
}
