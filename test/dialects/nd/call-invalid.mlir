// The constraints of nd.call and nd.vjp, which concern the callee.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

func.func @call_c1_no_function(%a: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{'@nobody' is not a function}}
  %0 = nd.call @nobody(%a) : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
func.func @call_c1_formals(%a: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{expected 1 operands for '@f', got 2}}
  %0 = nd.call @f(%a, %a) : (!nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
func.func @call_c1_results(%a: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{expected 1 results of '@f', got 2}}
  %0:2 = nd.call @f(%a) : (!nd.tensor<f32, k: 4>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(index) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
func.func @call_c1_not_tensors(%a: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{expected a callee on tensors, '@f' has 'index'}}
  %0 = nd.call @f(%a) : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, m: 4>'}}
func.func @call_c2_missing_name(%a: !nd.tensor<f32, m: 4>) {
  // expected-error @below {{expected an operand with the names {k: 4}, got {m: 4}}}
  %0 = nd.call @f(%a) : (!nd.tensor<f32, m: 4>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: K>, !nd.tensor<f32, k: 2 * K>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
func.func @call_c2_sizes(%a: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{expected size 8 for 'k' of {k: 2 * K}, got 4 in {k: 4}}}
  %0 = nd.call @f(%a, %a) : (!nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<i32, k: 4>'}}
func.func @call_c2_element(%a: !nd.tensor<i32, k: 4>) {
  // expected-error @below {{expected an operand of element type 'f32', got '!nd.tensor<i32, k: 4>'}}
  %0 = nd.call @f(%a) : (!nd.tensor<i32, k: 4>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, b: 2, k: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, b: 3, k: 4>'}}
func.func @call_c3_lifted_sizes(%a: !nd.tensor<f32, k: 4, b: 2>, %b: !nd.tensor<f32, k: 4, b: 3>) {
  // expected-error @below {{the name 'b' has size 2 in {b: 2} and size 3 in {b: 3}}}
  %0 = nd.call @f(%a, %b) : (!nd.tensor<f32, k: 4, b: 2>, !nd.tensor<f32, k: 4, b: 3>) -> !nd.tensor<f32, b: 2>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, b: 2, k: 4>'}}
func.func @call_c4_lifted_result(%a: !nd.tensor<f32, k: 4, b: 2>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, b: 2>', got '!nd.tensor<f32>'}}
  %0 = nd.call @f(%a) : (!nd.tensor<f32, k: 4, b: 2>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>, !nd.tensor<f32>) -> !nd.tensor<f32, k: 4>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
func.func @call_c4_captured(%a: !nd.tensor<f32, k: 4>, %b: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{the lifted name 'k' of the operand {k: 4} is a name of the callee's result {k: 4}}}
  %0 = nd.call @f(%a, %b) : (!nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 5>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32>'}}
func.func @vjp_c1_operands(%a: !nd.tensor<f32, k: 5>, %g: !nd.tensor<f32>) {
  // expected-error @below {{expected operands ('!nd.tensor<f32, k: 4>') and cotangents ('!nd.tensor<f32>'), got ('!nd.tensor<f32, k: 5>') and ('!nd.tensor<f32>')}}
  %0:2 = nd.vjp @f(%a) cotangents(%g) wrt [0] : (!nd.tensor<f32, k: 5>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, k: 5>)
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32>'}}
func.func @vjp_c2_position(%a: !nd.tensor<f32, k: 4>, %g: !nd.tensor<f32>) {
  // expected-error @below {{expected 'wrt' to list positions of arguments once each, got 1 of 1}}
  %0:2 = nd.vjp @f(%a) cotangents(%g) wrt [1] : (!nd.tensor<f32, k: 4>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32, k: 4>)
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<i32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<i32, k: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32>'}}
func.func @vjp_c2_integer(%a: !nd.tensor<i32, k: 4>, %g: !nd.tensor<f32>) {
  // expected-error @below {{expected 'wrt' to list arguments of float elements, argument 0 is '!nd.tensor<i32, k: 4>'}}
  %0:2 = nd.vjp @f(%a) cotangents(%g) wrt [0] : (!nd.tensor<i32, k: 4>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<i32, k: 4>)
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32>'}}
func.func @vjp_c3_results(%a: !nd.tensor<f32, k: 4>, %g: !nd.tensor<f32>) {
  // expected-error @below {{expected results ('!nd.tensor<f32>', '!nd.tensor<f32, k: 4>'), got ('!nd.tensor<f32>')}}
  %0 = nd.vjp @f(%a) cotangents(%g) wrt [0] : (!nd.tensor<f32, k: 4>, !nd.tensor<f32>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32>'}}
func.func @jvp_c1_tangents(%a: !nd.tensor<f32, k: 4>, %g: !nd.tensor<f32>) {
  // expected-error @below {{expected operands ('!nd.tensor<f32, k: 4>') and tangents ('!nd.tensor<f32, k: 4>'), got ('!nd.tensor<f32, k: 4>') and ('!nd.tensor<f32>')}}
  %0:2 = nd.jvp @f(%a) tangents(%g) wrt [0] : (!nd.tensor<f32, k: 4>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<i32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{operand 0 is of type '!nd.tensor<i32, k: 4>'}}
func.func @jvp_c1_integer(%a: !nd.tensor<i32, k: 4>) {
  // expected-error @below {{expected 'wrt' to list arguments of float elements, argument 0 is '!nd.tensor<i32, k: 4>'}}
  %0:2 = nd.jvp @f(%a) tangents(%a) wrt [0] : (!nd.tensor<i32, k: 4>, !nd.tensor<i32, k: 4>) -> (!nd.tensor<f32>, !nd.tensor<f32>)
  return
}

// -----

// expected-note @below {{'@f' is defined here}}
func.func private @f(!nd.tensor<f32, k: 4>) -> (!nd.tensor<f32>, !nd.tensor<i32>)
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
func.func @jvp_c2_results(%a: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{expected results ('!nd.tensor<f32>', '!nd.tensor<i32>', '!nd.tensor<f32>'), got ('!nd.tensor<f32>', '!nd.tensor<i32>')}}
  %0:2 = nd.jvp @f(%a) tangents(%a) wrt [0] : (!nd.tensor<f32, k: 4>, !nd.tensor<f32, k: 4>) -> (!nd.tensor<f32>, !nd.tensor<i32>)
  return
}

// -----

func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
// expected-note @below {{'@g' is defined here}}
func.func private @g(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 4>'}}
func.func @call_c5(%a: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{expected the gradient of '@f' to be of type '(!nd.tensor<f32, k: 4>, !nd.tensor<f32>) -> !nd.tensor<f32, k: 4>', got '(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>'}}
  %0 = nd.call @f(%a) gradient @g : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func private @f(!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
func.func private @g(!nd.tensor<f32, k: 4>, !nd.tensor<f32>) -> !nd.tensor<f32, k: 4>
func.func @call_c6(%a: !nd.tensor<f32, k: 4>) {
  // expected-error @below {{expected 'gradient' or 'checkpoint', got both}}
  %0 = nd.call @f(%a) gradient @g checkpoint : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{'@shorter' is defined here}}
func.func private @shorter(%x: !nd.tensor<f32, row: N>) -> !nd.tensor<f32, row: N - 3> {
  %0 = nd.slice %x row from 0 size N - 3 : !nd.tensor<f32, row: N> -> !nd.tensor<f32, row: N - 3>
  return %0 : !nd.tensor<f32, row: N - 3>
}
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 2>'}}
func.func @negative_size(%x: !nd.tensor<f32, row: 2>) {
  // expected-error @below {{expected a size of 0 to 2^60 for 'row', got -1}}
  %0 = nd.call @shorter(%x) : (!nd.tensor<f32, row: 2>) -> !nd.tensor<f32, row: 1>
  return
}
