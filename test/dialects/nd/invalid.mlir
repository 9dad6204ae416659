// Every numbered constraint of NdOps.td, by op and number.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

func.func @constant_c1_unknown_name() {
  // expected-error @below {{expected 'by' to list each name of {column: 2, row: 2} once, got 'depth'}}
  %0 = nd.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> by [row, depth] : !nd.tensor<i32, column: 2, row: 2>
  return
}

// -----

func.func @constant_c1_missing_name() {
  // expected-error @below {{expected 'by' to list all of {column: 2, row: 2}}}
  %0 = nd.constant dense<[1, 2]> : tensor<2xi32> by [row] : !nd.tensor<i32, column: 2, row: 2>
  return
}

// -----

func.func @constant_c2_shape() {
  // expected-error @below {{expected values for {column: 2, row: 3} in the order written, got 'tensor<2x3xi32>'}}
  %0 = nd.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [row, column] : !nd.tensor<i32, column: 2, row: 3>
  return
}

// -----

func.func @constant_c3() {
  // expected-error @below {{expected a layout for each of 1 results, got 2}}
  %0 = nd.constant dense<1.0> : tensor<f32> by [] {layouts = [unit, unit]} : !nd.tensor<f32>
  return
}

// -----

func.func @constant_c2_symbolic(%x: !nd.tensor<f32, row: N>) {
  // expected-error @below {{expected values for {row: N} in the order written, got 'tensor<2xi32>'}}
  %0 = nd.constant dense<[1, 2]> : tensor<2xi32> by [row] : !nd.tensor<i32, row: N>
  return
}

// -----

func.func @constant_c2_element() {
  // expected-error @below {{expected values of type 'i8', got 'f32'}}
  %0 = nd.constant dense<1.0> : tensor<f32> by [row] : !nd.tensor<ui8, row: 2>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @below {{expected a result with exactly the name 'row', got {column: 2, row: 3}}}
  %0 = nd.iota row : !nd.tensor<i64, row: 3, column: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<i64>'}}
func.func @random_c1_key(%key: !nd.tensor<i64>) {
  // expected-error @below {{expected a key of element type ui64, got '!nd.tensor<i64>'}}
  %0 = nd.random %key by [row] : !nd.tensor<i64> -> !nd.tensor<ui32, row: 3>
  return
}

// -----

func.func @random_c1_result(%key: !nd.tensor<ui64>) {
  // expected-error @below {{expected a result of element type ui32, got '!nd.tensor<f32, row: 3>'}}
  %0 = nd.random %key by [row] : !nd.tensor<ui64> -> !nd.tensor<f32, row: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<ui64, row: 3>'}}
func.func @random_c2_not_disjoint(%key: !nd.tensor<ui64, row: 3>) {
  // expected-error @below {{expected 'by' to list names of the result {row: 3} that the key {row: 3} lacks, once each, got 'row'}}
  %0 = nd.random %key by [row] : !nd.tensor<ui64, row: 3> -> !nd.tensor<ui32, row: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<ui64, step: 2>'}}
func.func @random_c2_names(%key: !nd.tensor<ui64, step: 2>) {
  // expected-error @below {{expected a result with the names of the key and of 'by', {row: 3, step: 2}, got {row: 3}}}
  %0 = nd.random %key by [row] : !nd.tensor<ui64, step: 2> -> !nd.tensor<ui32, row: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 2, row: 3>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, column: 2, row: 4>'}}
func.func @pointwise_c1_two_sizes(%a: !nd.tensor<f32, row: 3, column: 2>, %b: !nd.tensor<f32, row: 4, column: 2>) {
  // expected-error @below {{the name 'row' has size 3 in {column: 2, row: 3} and size 4 in {column: 2, row: 4}}}
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, row: 3, column: 2>, !nd.tensor<f32, row: 4, column: 2>) -> !nd.tensor<f32, row: 3, column: 2> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 2, row: 3>'}}
func.func @pointwise_c2_result_names(%a: !nd.tensor<f32, row: 3, column: 2>) {
  // expected-error @below {{expected a result with the names {column: 2, row: 3}, got {row: 3}}}
  %0 = nd.pointwise %a : (!nd.tensor<f32, row: 3, column: 2>) -> !nd.tensor<f32, row: 3> {
  ^bb0(%x: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<ui8, row: 3>'}}
func.func @pointwise_c3_arguments(%a: !nd.tensor<ui8, row: 3>) {
  // expected-error @below {{expected a region with arguments ('i8'), got ('ui8')}}
  %0 = nd.pointwise %a : (!nd.tensor<ui8, row: 3>) -> !nd.tensor<ui8, row: 3> {
  ^bb0(%x: ui8):
    nd.yield %x : ui8
  }
  return
}

// -----

func.func @pointwise_c3_yield(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected a region that yields ('f64'), got ('f32')}}
  %0 = nd.pointwise %a : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f64, row: 3> {
  ^bb0(%x: f32):
    nd.yield %x : f32
  }
  return
}

// -----

func.func @pointwise_c3_terminator(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected a region that ends in nd.yield}}
  %0 = nd.pointwise %a : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32, row: 3> {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
  }
  return
}

// -----

func.func @pointwise_c4_not_scalar(%a: !nd.tensor<f32, row: 3>) {
  %0 = nd.pointwise %a : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32, row: 3> {
  ^bb0(%x: f32):
    // expected-error @below {{is not a scalar op; expected only scalar ops in a region of 'nd.pointwise'}}
    %m = memref.alloc() : memref<f32>
    nd.yield %x : f32
  }
  return
}

// -----

func.func @pointwise_c4_vectors(%a: !nd.tensor<f32, row: 3>) {
  %0 = nd.pointwise %a : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32, row: 3> {
  ^bb0(%x: f32):
    // expected-error @below {{is not a scalar op; expected only scalar ops in a region of 'nd.pointwise'}}
    %m = arith.constant dense<0.0> : vector<4xf32>
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
// expected-note @below {{operand 1 is of type}}
func.func @pointwise_c5_outer_product(%a: !nd.tensor<f32, row: 3>, %b: !nd.tensor<f32, column: 2>) {
  // expected-error @below {{expected operands that share a name, got {row: 3} and {column: 2}; an outer product is written with 'crossed', or as an explicit broadcast}}
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, row: 3>, !nd.tensor<f32, column: 2>) -> !nd.tensor<f32, row: 3, column: 2> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<i64, row: 4>'}}
func.func @reduce_c1_sizes(%a: !nd.tensor<f32, row: 3>, %b: !nd.tensor<i64, row: 4>) {
  // expected-error @below {{expected operands with the same names and sizes, got {row: 3} and {row: 4}}}
  %0:2 = nd.reduce %a, %b over [row] neutral [0.0 : f32, 0 : i64] : (!nd.tensor<f32, row: 3>, !nd.tensor<i64, row: 4>) -> (!nd.tensor<f32>, !nd.tensor<i64>) {
  ^bb0(%x: f32, %xi: i64, %y: f32, %yi: i64):
    nd.yield %x, %xi : f32, i64
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 2, row: 3>'}}
func.func @reduce_c2_unknown_name(%a: !nd.tensor<f32, row: 3, column: 2>) {
  // expected-error @below {{unknown name 'depth'; the tensor has {column: 2, row: 3}}}
  %0 = nd.reduce %a over [depth] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3, column: 2>) -> !nd.tensor<f32, column: 2> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 2, row: 3>'}}
func.func @reduce_c2_listed_twice(%a: !nd.tensor<f32, row: 3, column: 2>) {
  // expected-error @below {{the name 'row' is listed twice}}
  %0 = nd.reduce %a over [row, row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3, column: 2>) -> !nd.tensor<f32, column: 2> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @reduce_c2_no_names(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected names to reduce over; the tensor has {row: 3}}}
  %0 = nd.reduce %a over [] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32, row: 3> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 2, row: 3>'}}
func.func @reduce_c3_result_names(%a: !nd.tensor<f32, row: 3, column: 2>) {
  // expected-error @below {{expected a result with the names {column: 2}, got {row: 3}}}
  %0 = nd.reduce %a over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3, column: 2>) -> !nd.tensor<f32, row: 3> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

func.func @reduce_c3_number_of_results(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected 1 results, got 2}}
  %0:2 = nd.reduce %a over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3>) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<i32, row: 3>'}}
func.func @reduce_c3_element(%a: !nd.tensor<i32, row: 3>) {
  // expected-error @below {{expected a result with elements of type 'i32', got 'i64'}}
  %0 = nd.reduce %a over [row] neutral [0 : i32] : (!nd.tensor<i32, row: 3>) -> !nd.tensor<i64> {
  ^bb0(%x: i32, %y: i32):
    nd.yield %x : i32
  }
  return
}

// -----

func.func @reduce_c4_number(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected 1 neutral elements, got 2}}
  %0 = nd.reduce %a over [row] neutral [0.0 : f32, 0.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @reduce_c4_type(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected a neutral element of type 'f32' or a wider float, got 'bf16'}}
  %0 = nd.reduce %a over [row] neutral [0.0 : bf16] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%x: bf16, %y: bf16):
    nd.yield %x : bf16
  }
  return
}

// -----

func.func @reduce_c4_no_number(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected neutral elements that are numbers, got}}
  %0 = nd.reduce %a over [row] neutral [[]] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @reduce_c5_arguments(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected a region with arguments ('f32', 'f32'), got ('f32')}}
  %0 = nd.reduce %a over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%x: f32):
    nd.yield %x : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<i64, row: 3>'}}
func.func @scan_c1_unknown_name(%a: !nd.tensor<i64, row: 3>) {
  // expected-error @below {{unknown name 'column'; the tensor has {row: 3}}}
  %0 = nd.scan %a along column neutral [0 : i64] : (!nd.tensor<i64, row: 3>) -> !nd.tensor<i64, row: 3> {
  ^bb0(%x: i64, %y: i64):
    nd.yield %x : i64
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<i64, row: 3>'}}
func.func @scan_c2_result_names(%a: !nd.tensor<i64, row: 3>) {
  // expected-error @below {{expected a result with the names {row: 3}, got {}}}
  %0 = nd.scan %a along row neutral [0 : i64] : (!nd.tensor<i64, row: 3>) -> !nd.tensor<i64> {
  ^bb0(%x: i64, %y: i64):
    nd.yield %x : i64
  }
  return
}

// -----

func.func @scan_c3_yield(%a: !nd.tensor<i64, row: 3>) {
  // expected-error @below {{expected a region that yields ('i64'), got ('i64', 'i64')}}
  %0 = nd.scan %a along row neutral [0 : i64] : (!nd.tensor<i64, row: 3>) -> !nd.tensor<i64, row: 3> {
  ^bb0(%x: i64, %y: i64):
    nd.yield %x, %y : i64, i64
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @round_c1_wider(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected an element type of floats no wider than 'f32', got 'f64'}}
  %0 = nd.round %a to f64 : !nd.tensor<f32, row: 3> -> !nd.tensor<f32, row: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<i32, row: 3>'}}
func.func @round_c1_integer(%a: !nd.tensor<i32, row: 3>) {
  // expected-error @below {{expected an element type of floats no wider than 'i32', got 'f32'}}
  %0 = nd.round %a to f32 : !nd.tensor<i32, row: 3> -> !nd.tensor<i32, row: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @round_c1_result(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, row: 3>', got '!nd.tensor<bf16, row: 3>'}}
  %0 = nd.round %a to bf16 : !nd.tensor<f32, row: 3> -> !nd.tensor<bf16, row: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @window_c1_unknown_name(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{unknown name 'column'; the tensor has {row: 8}}}
  %0 = nd.window %a column -> kx size 3 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 6, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, ky: 3, row: 8>'}}
func.func @window_c1_tap_taken(%a: !nd.tensor<f32, row: 8, ky: 3>) {
  // expected-error @below {{the tensor has the name 'ky' already: {ky: 3, row: 8}}}
  %0 = nd.window %a row -> ky size 3 : !nd.tensor<f32, row: 8, ky: 3> -> !nd.tensor<f32, row: 6, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @window_c2_stride(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected size, stride and dilation of at least 1 along 'row', got 3, 0, 1}}
  %0 = nd.window %a row -> ky size 3 stride 0 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 6, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @window_c2_padding(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected padding of at least 0 along 'row', got -1 and 0}}
  %0 = nd.window %a row -> ky size 3 pad -1, 0 exclude : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 6, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @window_c3_result(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, ky: 3, row: 6>', got '!nd.tensor<f32, ky: 3, row: 5>'}}
  %0 = nd.window %a row -> ky size 3 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 5, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 4>'}}
func.func @window_c3_does_not_fit(%a: !nd.tensor<f32, row: 4>) {
  // expected-error @below {{the window of 7 along 'row' does not fit: expected at least 7 elements, got 4}}
  %0 = nd.window %a row -> ky size 7 : !nd.tensor<f32, row: 4> -> !nd.tensor<f32, row: 0, ky: 7>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @window_c4_padding_type(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected padding of type 'f32', got 'f64'}}
  %0 = nd.window %a row -> ky size 3 pad 1, 1 value 0.0 : f64 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 8, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 6>'}}
func.func @unwindow_c1_tap(%a: !nd.tensor<f32, row: 6>) {
  // expected-error @below {{unknown name 'ky'; the tensor has {row: 6}}}
  %0 = nd.unwindow %a row -> ky size 3 : !nd.tensor<f32, row: 6> -> !nd.tensor<f32, row: 8>
  return
}

// -----

func.func @unwindow_c1_name(%a: !nd.tensor<f32, row: 6, ky: 3>) {
  // expected-error @below {{expected a result with the name 'row', got {column: 8}}}
  %0 = nd.unwindow %a row -> ky size 3 : !nd.tensor<f32, row: 6, ky: 3> -> !nd.tensor<f32, column: 8>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, ky: 3, row: 6>'}}
func.func @unwindow_c2(%a: !nd.tensor<f32, row: 6, ky: 3>) {
  // expected-error @below {{expected an operand with the names {ky: 3, row: 7}, which is the window of {row: 9}, got {ky: 3, row: 6}}}
  %0 = nd.unwindow %a row -> ky size 3 : !nd.tensor<f32, row: 6, ky: 3> -> !nd.tensor<f32, row: 9>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @slice_c1_unknown_name(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{unknown name 'column'; the tensor has {row: 8}}}
  %0 = nd.slice %a column from 0 size 2 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @slice_c1_negative_start(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected start >= 0, size >= 0 and a stride other than 0 along 'row', got -1, 2, 1}}
  %0 = nd.slice %a row from -1 size 2 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @slice_c2_outside(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{the slice of 'row' reads element 9; expected one of at least 0 and less than the size 8}}
  %0 = nd.slice %a row from 1 size 5 stride 2 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 5>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @slice_c3_size(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, row: 2>', got '!nd.tensor<f32, row: 3>'}}
  %0 = nd.slice %a row from 0 size 2 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @pad_c1_unknown_name(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{unknown name 'column'; the tensor has {row: 8}}}
  %0 = nd.pad %a column low 1 high 1 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 10>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @pad_c1_negative(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected low, high and interior of at least 0 along 'row', got 1, -1, 0}}
  %0 = nd.pad %a row low 1 high -1 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 8>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @pad_c2_value(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected a value of type 'f32', got 'i32'}}
  %0 = nd.pad %a row low 1 high 1 value 0 : i32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 10>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @pad_c3_size(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, row: 17>', got '!nd.tensor<f32, row: 10>'}}
  %0 = nd.pad %a row low 1 high 1 interior 1 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 10>
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
// expected-note @below {{operand 1 is of type}}
func.func @concat_c1_others_differ(%a: !nd.tensor<f32, row: 8, column: 2>, %b: !nd.tensor<f32, row: 3, column: 5>) {
  // expected-error @below {{expected operands that differ in the size of 'row' alone, got '!nd.tensor<f32, column: 2, row: 8>' and '!nd.tensor<f32, column: 5, row: 3>'}}
  %0 = nd.concat %a, %b along row : (!nd.tensor<f32, row: 8, column: 2>, !nd.tensor<f32, row: 3, column: 5>) -> !nd.tensor<f32, row: 11, column: 2>
  return
}

// -----

func.func @concat_c1_no_operand() {
  // expected-error @below {{expected an operand}}
  %0 = nd.concat along row : () -> !nd.tensor<f32, row: 11>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, row: N>'}}
func.func @concat_c2_sum(%a: !nd.tensor<f32, row: 8>, %b: !nd.tensor<f32, row: N>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, row: N + 8>', got '!nd.tensor<f32, row: 8>'}}
  %0 = nd.concat %a, %b along row : (!nd.tensor<f32, row: 8>, !nd.tensor<f32, row: N>) -> !nd.tensor<f32, row: 8>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 4, row: 8>'}}
func.func @split_c1_taken(%a: !nd.tensor<f32, row: 8, column: 4>) {
  // expected-error @below {{the name 'column' would occur twice; the other names are {column: 4}}}
  %0 = nd.split %a row into [column, inner] : !nd.tensor<f32, row: 8, column: 4> -> !nd.tensor<f32, column: 4, inner: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @split_c2_product(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected sizes whose product is the size of 'row', 8, got 6}}
  %0 = nd.split %a row into [outer, inner] : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, outer: 3, inner: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 3, row: 8>'}}
func.func @split_c3_result(%a: !nd.tensor<f32, row: 8, column: 3>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, column: 3, inner: 2, outer: 4>', got '!nd.tensor<f32, inner: 2, outer: 4>'}}
  %0 = nd.split %a row into [outer, inner] : !nd.tensor<f32, row: 8, column: 3> -> !nd.tensor<f32, outer: 4, inner: 2>
  return
}

// -----

func.func @split_c3_missing(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected a result with the name 'inner', got {outer: 8}}}
  %0 = nd.split %a row into [outer, inner] : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, outer: 8>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2, j: 3>'}}
func.func @merge_c1_unknown_name(%a: !nd.tensor<f32, i: 2, j: 3>) {
  // expected-error @below {{unknown name 'k'; the tensor has {i: 2, j: 3}}}
  %0 = nd.merge %a [i, k] into m : !nd.tensor<f32, i: 2, j: 3> -> !nd.tensor<f32, m: 6>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2, j: 3, k: 4>'}}
func.func @merge_c1_taken(%a: !nd.tensor<f32, i: 2, j: 3, k: 4>) {
  // expected-error @below {{the name 'k' would occur twice; the other names are {k: 4}}}
  %0 = nd.merge %a [i, j] into k : !nd.tensor<f32, i: 2, j: 3, k: 4> -> !nd.tensor<f32, k: 6>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2, j: 3>'}}
func.func @merge_c2_product(%a: !nd.tensor<f32, i: 2, j: 3>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, k: 6>', got '!nd.tensor<f32, k: 5>'}}
  %0 = nd.merge %a [i, j] into k : !nd.tensor<f32, i: 2, j: 3> -> !nd.tensor<f32, k: 5>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2, j: 3>'}}
func.func @rename_c1_unknown_name(%a: !nd.tensor<f32, i: 2, j: 3>) {
  // expected-error @below {{unknown name 'k'; the tensor has {i: 2, j: 3}}}
  %0 = nd.rename %a [k] to [m] : !nd.tensor<f32, i: 2, j: 3> -> !nd.tensor<f32, i: 2, m: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2, j: 3>'}}
func.func @rename_c1_number(%a: !nd.tensor<f32, i: 2, j: 3>) {
  // expected-error @below {{expected as many new names as old ones, got 1 and 2}}
  %0 = nd.rename %a [i, j] to [m] : !nd.tensor<f32, i: 2, j: 3> -> !nd.tensor<f32, m: 2, j: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2, j: 3>'}}
func.func @rename_c2_taken(%a: !nd.tensor<f32, i: 2, j: 3>) {
  // expected-error @below {{the name 'j' would occur twice; the other names are {j: 2}}}
  %0 = nd.rename %a [i] to [j] : !nd.tensor<f32, i: 2, j: 3> -> !nd.tensor<f32, j: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2, j: 3>'}}
func.func @rename_c2_result(%a: !nd.tensor<f32, i: 2, j: 3>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, j: 3, m: 2>', got '!nd.tensor<f32, j: 2, m: 3>'}}
  %0 = nd.rename %a [i] to [m] : !nd.tensor<f32, i: 2, j: 3> -> !nd.tensor<f32, m: 3, j: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2>'}}
func.func @broadcast_c1_size(%a: !nd.tensor<f32, i: 2>) {
  // expected-error @below {{expected 'i' of size 2, as in {i: 2}, got 4}}
  %0 = nd.broadcast %a : !nd.tensor<f32, i: 2> -> !nd.tensor<f32, i: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2>'}}
func.func @broadcast_c1_missing(%a: !nd.tensor<f32, i: 2>) {
  // expected-error @below {{expected a result that has all of {i: 2}, got {j: 4}}}
  %0 = nd.broadcast %a : !nd.tensor<f32, i: 2> -> !nd.tensor<f32, j: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, i: 2>'}}
func.func @broadcast_c1_element(%a: !nd.tensor<f32, i: 2>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, i: 2, j: 4>', got '!nd.tensor<f64, i: 2, j: 4>'}}
  %0 = nd.broadcast %a : !nd.tensor<f32, i: 2> -> !nd.tensor<f64, i: 2, j: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
// expected-note @below {{operand 1 is of type}}
func.func @gather_c1_unknown_name(%a: !nd.tensor<f32, word: 9>, %i: !nd.tensor<i32, p: 2>) {
  // expected-error @below {{unknown name 'token'; the tensor has {word: 9}}}
  %0 = nd.gather %a [token] at %i : (!nd.tensor<f32, word: 9>, !nd.tensor<i32, p: 2>) -> !nd.tensor<f32, p: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
// expected-note @below {{operand 1 is of type}}
func.func @gather_c1_number(%a: !nd.tensor<f32, word: 9, sense: 2>, %i: !nd.tensor<i32, p: 2>) {
  // expected-error @below {{expected one index tensor for each of 2 names, got 1}}
  %0 = nd.gather %a [word, sense] at %i : (!nd.tensor<f32, word: 9, sense: 2>, !nd.tensor<i32, p: 2>) -> !nd.tensor<f32, p: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
// expected-note @below {{operand 1 is of type}}
func.func @gather_c2_element(%a: !nd.tensor<f32, word: 9>, %i: !nd.tensor<f32, p: 2>) {
  // expected-error @below {{expected an index of integer elements, got '!nd.tensor<f32, p: 2>'}}
  %0 = nd.gather %a [word] at %i : (!nd.tensor<f32, word: 9>, !nd.tensor<f32, p: 2>) -> !nd.tensor<f32, p: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
// expected-note @below {{operand 1 is of type}}
func.func @gather_c2_two_sizes(%a: !nd.tensor<f32, word: 9, p: 3>, %i: !nd.tensor<i32, p: 2>) {
  // expected-error @below {{the name 'p' has size 3 in {p: 3} and size 2 in {p: 2}}}
  %0 = nd.gather %a [word] at %i : (!nd.tensor<f32, word: 9, p: 3>, !nd.tensor<i32, p: 2>) -> !nd.tensor<f32, p: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, feature: 3, word: 9>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<i32, p: 2>'}}
func.func @gather_c3_names(%a: !nd.tensor<f32, word: 9, feature: 3>, %i: !nd.tensor<i32, p: 2>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, feature: 3, p: 2>', got '!nd.tensor<f32, p: 2>'}}
  %0 = nd.gather %a [word] at %i : (!nd.tensor<f32, word: 9, feature: 3>, !nd.tensor<i32, p: 2>) -> !nd.tensor<f32, p: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
// expected-note @below {{operand 1 is of type}}
// expected-note @below {{operand 2 is of type}}
func.func @scatter_c1_unknown_name(%d: !nd.tensor<f32, word: 9>, %u: !nd.tensor<f32, p: 2>, %i: !nd.tensor<i32, p: 2>) {
  // expected-error @below {{unknown name 'token'; the tensor has {word: 9}}}
  %0 = nd.scatter %u into %d [token] at %i : (!nd.tensor<f32, word: 9>, !nd.tensor<f32, p: 2>, !nd.tensor<i32, p: 2>) -> !nd.tensor<f32, word: 9> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %y : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, word: 9>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, p: 2, q: 3>'}}
// expected-note @below {{operand 2 is of type '!nd.tensor<i32, p: 2>'}}
func.func @scatter_c2_updates(%d: !nd.tensor<f32, word: 9>, %u: !nd.tensor<f32, p: 2, q: 3>, %i: !nd.tensor<i32, p: 2>) {
  // expected-error @below {{expected updates of type '!nd.tensor<f32, p: 2>', got '!nd.tensor<f32, p: 2, q: 3>'}}
  %0 = nd.scatter %u into %d [word] at %i : (!nd.tensor<f32, word: 9>, !nd.tensor<f32, p: 2, q: 3>, !nd.tensor<i32, p: 2>) -> !nd.tensor<f32, word: 9> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %y : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, word: 9>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, p: 2>'}}
// expected-note @below {{operand 2 is of type '!nd.tensor<i32, p: 2>'}}
func.func @scatter_c3_result(%d: !nd.tensor<f32, word: 9>, %u: !nd.tensor<f32, p: 2>, %i: !nd.tensor<i32, p: 2>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, word: 9>', got '!nd.tensor<f32, word: 8>'}}
  %0 = nd.scatter %u into %d [word] at %i : (!nd.tensor<f32, word: 9>, !nd.tensor<f32, p: 2>, !nd.tensor<i32, p: 2>) -> !nd.tensor<f32, word: 8> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %y : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, word: 9>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, p: 2>'}}
// expected-note @below {{operand 2 is of type '!nd.tensor<i32, p: 2>'}}
func.func @scatter_c4_region(%d: !nd.tensor<f32, word: 9>, %u: !nd.tensor<f32, p: 2>, %i: !nd.tensor<i32, p: 2>) {
  // expected-error @below {{expected a region with arguments ('f32', 'f32'), got ('f32')}}
  %0 = nd.scatter %u into %d [word] at %i : (!nd.tensor<f32, word: 9>, !nd.tensor<f32, p: 2>, !nd.tensor<i32, p: 2>) -> !nd.tensor<f32, word: 9> {
  ^bb0(%x: f32):
    nd.yield %x : f32
  }
  return
}

// -----

func.func @yield_outside() {
  // expected-error @below {{expects parent op to be one of 'nd.pointwise, nd.reduce, nd.scan, nd.scatter'}}
  nd.yield
}

// -----

// expected-error @below {{expected 'nd.name' of argument 0 to be a non-empty string, got 3}}
func.func private @name_no_string(!nd.tensor<f32> {nd.name = 3 : i64})

// -----

// expected-error @below {{expected distinct names, argument 0 and 2 are called 'x'}}
func.func private @name_twice(!nd.tensor<f32> {nd.name = "x"}, !nd.tensor<f32>, !nd.tensor<f32> {nd.name = "x"})

// -----

// expected-error @below {{expected distinct names, result 0 and 1 are called 'y'}}
func.func private @name_of_results_twice(!nd.tensor<f32> {nd.name = "y"}) -> (!nd.tensor<f32> {nd.name = "y"}, !nd.tensor<f32> {nd.name = "y"})

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @slice_c2_backwards(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{the slice of 'row' reads element -1; expected one of at least 0 and less than the size 8}}
  %0 = nd.slice %a row from 3 size 5 stride -1 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 5>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32>'}}
func.func @dynamic_slice_c1_start(%a: !nd.tensor<f32, row: 8>, %s: !nd.tensor<f32>) {
  // expected-error @below {{expected a start of integer elements without the name 'row', got '!nd.tensor<f32>'}}
  %0 = nd.dynamic_slice %a row from %s size 2 : (!nd.tensor<f32, row: 8>, !nd.tensor<f32>) -> !nd.tensor<f32, row: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, k: 2, row: 8>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<i32, k: 3>'}}
func.func @dynamic_slice_c2_sizes(%a: !nd.tensor<f32, k: 2, row: 8>, %s: !nd.tensor<i32, k: 3>) {
  // expected-error @below {{the name 'k' has size 2}}
  %0 = nd.dynamic_slice %a row from %s size 2 : (!nd.tensor<f32, k: 2, row: 8>, !nd.tensor<i32, k: 3>) -> !nd.tensor<f32, k: 2, row: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<i32>'}}
func.func @dynamic_slice_c3_size(%a: !nd.tensor<f32, row: 8>, %s: !nd.tensor<i32>) {
  // expected-error @below {{expected at most the size of 'row', 8, got 9}}
  %0 = nd.dynamic_slice %a row from %s size 9 : (!nd.tensor<f32, row: 8>, !nd.tensor<i32>) -> !nd.tensor<f32, row: 9>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<i32, k: 2>'}}
func.func @dynamic_slice_c4_result(%a: !nd.tensor<f32, row: 8>, %s: !nd.tensor<i32, k: 2>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, k: 2, row: 3>', got '!nd.tensor<f32, row: 3>'}}
  %0 = nd.dynamic_slice %a row from %s size 3 : (!nd.tensor<f32, row: 8>, !nd.tensor<i32, k: 2>) -> !nd.tensor<f32, row: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 2>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, row: 8>'}}
// expected-note @below {{operand 2 is of type '!nd.tensor<i32, k: 2>'}}
func.func @update_slice_c1_start(%p: !nd.tensor<f32, row: 2>, %a: !nd.tensor<f32, row: 8>, %s: !nd.tensor<i32, k: 2>) {
  // expected-error @below {{expected a start of integer elements with some of the names {}, got '!nd.tensor<i32, k: 2>'}}
  %0 = nd.update_slice %p into %a row from %s : (!nd.tensor<f32, row: 2>, !nd.tensor<f32, row: 8>, !nd.tensor<i32, k: 2>) -> !nd.tensor<f32, row: 8>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 9>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, row: 8>'}}
// expected-note @below {{operand 2 is of type '!nd.tensor<i32>'}}
func.func @update_slice_c2_part(%p: !nd.tensor<f32, row: 9>, %a: !nd.tensor<f32, row: 8>, %s: !nd.tensor<i32>) {
  // expected-error @below {{expected a part of type '!nd.tensor<f32, row: 8>' with at most as many 'row', got '!nd.tensor<f32, row: 9>'}}
  %0 = nd.update_slice %p into %a row from %s : (!nd.tensor<f32, row: 9>, !nd.tensor<f32, row: 8>, !nd.tensor<i32>) -> !nd.tensor<f32, row: 8>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 2>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, row: 8>'}}
// expected-note @below {{operand 2 is of type '!nd.tensor<i32>'}}
func.func @update_slice_c3_result(%p: !nd.tensor<f32, row: 2>, %a: !nd.tensor<f32, row: 8>, %s: !nd.tensor<i32>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, row: 8>', got '!nd.tensor<f32, row: 2>'}}
  %0 = nd.update_slice %p into %a row from %s : (!nd.tensor<f32, row: 2>, !nd.tensor<f32, row: 8>, !nd.tensor<i32>) -> !nd.tensor<f32, row: 2>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<i32, k: 2, row: 8>'}}
func.func @sort_c1_names(%a: !nd.tensor<f32, row: 8>, %b: !nd.tensor<i32, k: 2, row: 8>) {
  // expected-error @below {{expected operands with the same names and sizes, got {row: 8} and {k: 2, row: 8}}}
  %0:2 = nd.sort %a, %b along row : (!nd.tensor<f32, row: 8>, !nd.tensor<i32, k: 2, row: 8>) -> (!nd.tensor<f32, row: 8>, !nd.tensor<i32, k: 2, row: 8>)
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @sort_c1_unknown_name(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected results with the name 'k', got '!nd.tensor<f32, row: 8>'}}
  %0 = nd.sort %a along k : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 8>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @sort_c2_elements(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected results of types '!nd.tensor<f32, row: 8>', got '!nd.tensor<f64, row: 8>'}}
  %0 = nd.sort %a along row : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f64, row: 8>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @sort_c3_size(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected at most the size of 'row', 8, got 9}}
  %0 = nd.sort %a along row : (!nd.tensor<f32, row: 8>) -> !nd.tensor<f32, row: 9>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<i1, k: 4>'}}
func.func @item_c1(%a: !nd.tensor<i1, k: 4>) {
  // expected-error @below {{expected a tensor without names and 'i1', or 'index' for elements of i64, got '!nd.tensor<i1, k: 4>' and 'i1'}}
  %0 = nd.item %a : !nd.tensor<i1, k: 4> -> i1
  return
}

// -----

// expected-note @below {{operand 0 is of type 'index'}}
func.func @from_item_c1(%a: index) {
  // expected-error @below {{expected a tensor without names and 'index', or 'index' for elements of i64, got '!nd.tensor<i32>' and 'index'}}
  %0 = nd.from_item %a : index -> !nd.tensor<i32>
  return
}

// -----

// Both sides of a branch have the same names.
func.func @branch_names(%x: !nd.tensor<f32, k: 4>, %y: !nd.tensor<f32, m: 4>, %b: !nd.tensor<i1>) {
  %c = nd.item %b : !nd.tensor<i1> -> i1
  // expected-error @below {{successor operand type #0 '!nd.tensor<f32, m: 4>' should match successor input type #0 '!nd.tensor<f32, k: 4>'}}
  %0 = scf.if %c -> (!nd.tensor<f32, k: 4>) {
    scf.yield %x : !nd.tensor<f32, k: 4>
  } else {
    // expected-note @below {{region branch point}}
    scf.yield %y : !nd.tensor<f32, m: 4>
  }
  return
}

// -----

// Sizes that do not fit 64 bits with room to spare are refused before they are computed.

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, column: 4000000000, row: 4000000000>'}}
func.func @merge_too_large(%a: !nd.tensor<f32, row: 4000000000, column: 4000000000>) {
  // expected-error @below {{expected a size of 0 to 2^60 for 'all', got more}}
  %0 = nd.merge %a [row, column] into all : !nd.tensor<f32, row: 4000000000, column: 4000000000> -> !nd.tensor<f32, all: 5>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 0>'}}
func.func @split_product_wraps(%a: !nd.tensor<f32, row: 0>) {
  // expected-error @below {{expected a size of 0 to 2^60 for 'row', got more}}
  %0 = nd.split %a row into [outer, inner] : !nd.tensor<f32, row: 0> -> !nd.tensor<f32, outer: 4611686018427387904, inner: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 9000000000000000000>'}}
func.func @concat_too_large(%a: !nd.tensor<f32, row: 9000000000000000000>) {
  // expected-error @below {{expected a size of 0 to 2^60 for 'row', got more}}
  %0 = nd.concat %a, %a along row : (!nd.tensor<f32, row: 9000000000000000000>, !nd.tensor<f32, row: 9000000000000000000>) -> !nd.tensor<f32, row: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @pad_too_large(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected a size of 0 to 2^60 for 'row', got more}}
  %0 = nd.pad %a row low 0 high 0 interior 9000000000000000000 value 0.0 : f32 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 1>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @window_too_large(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected a size of 0 to 2^60 for 'ky', got more}}
  %0 = nd.window %a row -> ky size 9000000000000000000 dilation 9000000000000000000 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 1, ky: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 8>'}}
func.func @slice_too_large(%a: !nd.tensor<f32, row: 8>) {
  // expected-error @below {{expected a size of 0 to 2^60 for 'row', got more}}
  %0 = nd.slice %a row from 0 size 3000000000 stride 9000000000 : !nd.tensor<f32, row: 8> -> !nd.tensor<f32, row: 3000000000>
  return
}

// -----

// expected-note @below {{operand 0 is of type}}
func.func @merged_coefficients(%x: !nd.tensor<f32, row: 1099511627776 * N, column: 1099511627776>) {
  // expected-error @below {{expected a size of 0 to 2^60 for 'all', got more}}
  %0 = nd.merge %x [row, column] into all : !nd.tensor<f32, column: 1099511627776, row: 1099511627776 * N> -> !nd.tensor<f32, all: 0>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @reduce_c6_addition_with_one(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{expected a neutral element, which combined with a value gives that value, got 1.000000e+00: combining 1.000000e+00 and 3.000000e+00 gives 4.000000e+00}}
  %0 = nd.reduce %a over [row] neutral [1.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    nd.yield %s : f32
  }
  return
}

// -----

// From the right zero is neutral, from the left it is not.
// expected-note @below {{operand 0 is of type '!nd.tensor<i32, row: 3>'}}
func.func @reduce_c6_subtraction(%a: !nd.tensor<i32, row: 3>) {
  // expected-error @below {{got 0: combining 0 and 3 gives -3}}
  %0 = nd.reduce %a over [row] neutral [0 : i32] : (!nd.tensor<i32, row: 3>) -> !nd.tensor<i32> {
  ^bb0(%x: i32, %y: i32):
    %s = arith.subi %x, %y : i32
    nd.yield %s : i32
  }
  return
}

// -----

// The first of two, and the last.
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @reduce_c6_last(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{got 0.000000e+00: combining 3.000000e+00 and 0.000000e+00 gives 0.000000e+00}}
  %0 = nd.reduce %a over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %y : f32
  }
  return
}

// -----

// Results that do not hang together are looked at one by one.
// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @reduce_c6_one_of_two(%a: !nd.tensor<f32, row: 3>, %b: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{got 0.000000e+00: combining 0.000000e+00 and 3.000000e+00 gives 0.000000e+00}}
  %0:2 = nd.reduce %a, %b over [row] neutral [0.0 : f32, 0.0 : f32] : (!nd.tensor<f32, row: 3>, !nd.tensor<f32, row: 3>) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  ^bb0(%x: f32, %u: f32, %y: f32, %v: f32):
    %s = arith.addf %x, %y : f32
    %p = arith.mulf %u, %v : f32
    nd.yield %s, %p : f32, f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @reduce_c6_functions(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{got 0.000000e+00: combining}}
  %0 = nd.reduce %a over [row] neutral [0.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %y: f32):
    %ex = math.exp %x : f32
    %ey = math.exp %y : f32
    %s = arith.addf %ex, %ey : f32
    %l = math.log %s : f32
    nd.yield %l : f32
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, row: 3>'}}
func.func @scan_c4_left(%a: !nd.tensor<f32, row: 3>) {
  // expected-error @below {{got 0.000000e+00: combining 0.000000e+00 and 3.000000e+00 gives 0.000000e+00}}
  %0 = nd.scan %a along row neutral [0.0 : f32] : (!nd.tensor<f32, row: 3>) -> !nd.tensor<f32, row: 3> {
  ^bb0(%x: f32, %y: f32):
    nd.yield %x : f32
  }
  return
}
