// Invalid types, sizes and expressions.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{the name 'row' occurs twice}}
func.func private @tensor_name_twice(!nd.tensor<f32, row: 3, column: 2, row: 3>)

// -----

// expected-error @below {{expected a size of at least 0 for 'row', got -1}}
func.func private @tensor_negative_size(!nd.tensor<f32, row: 2 - 3>)

// -----

// expected-error @below {{unsupported element type 'index'; expected f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i1 or an integer of 8 to 64 bits}}
func.func private @tensor_element_index(!nd.tensor<index, row: 3>)

// -----

// expected-error @below {{expected an integer element type of 1, 8, 16, 32 or 64 bits, got 'i7'}}
func.func private @tensor_element_width(!nd.tensor<i7, row: 3>)

// -----

// expected-error @below {{expected i8 for signed elements, got 'si8'}}
func.func private @tensor_element_signed(!nd.tensor<si8, row: 3>)

// -----

// expected-error @below {{expected a positive divisor after 'floordiv', got 0}}
func.func private @expr_division_by_zero(!nd.tensor<f32, row: N floordiv 0>)

// -----

// expected-error @below {{expected a name, an integer or '(' in an expression}}
func.func private @expr_empty(!nd.tensor<f32, row: >)

// -----

// expected-error @below {{expected ')'}}
func.func private @expr_open(!nd.tensor<f32, row: (N + 1 N)>)

// -----

// expected-error @below {{expected integer value}}
func.func private @expr_division_by_symbol(!nd.tensor<f32, row: N floordiv M>)

// -----

// expected-error @below {{the name 'a' occurs twice}}
func.func private @dims_name_twice() attributes {x = #nd.dims<a: 1, a: 2>}

// -----

// expected-error @below {{expected ':'}}
func.func private @dims_without_size() attributes {x = #nd.dims<a>}

// -----

// expected-error @below {{expected coefficients up to 2^62 in an expression}}
func.func private @coefficients_multiply(!nd.tensor<f32, row: 1099511627776 * N * 1099511627776>)

// -----

// expected-error @below {{expected coefficients up to 2^62 in an expression}}
func.func private @coefficients_add(!nd.tensor<f32, row: 4611686018427387904 * N + 4611686018427387904 * N>)
