// Every numbered constraint of NestOps.td, by op and number.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

func.func @compute_c1_both(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the name 'n' is both produced and reduced}}
  %0 = nest.compute (n: 4) reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c2_unknown_tensor_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{unknown name 'm': the tensor read is '!nd.tensor<f32, n: 4>'}}
  %0 = nest.compute (n: 4) reads %a[m = n] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c2_map_names(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a map with the names {n: 4}, got #nest.map<>}}
  %0 = "nest.compute"(%a) <{produced = #nd.dims<n: 4>, reduced = #nd.dims<>, maps = [#nest.map<>], guards = [#nest.guard<[]>], neutral = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%x: f32):
    nest.yield %x : f32
  }, {}, {}) : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c2_number(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a map and a guard for each of 1 reads}}
  %0 = "nest.compute"(%a) <{produced = #nd.dims<n: 4>, reduced = #nd.dims<>, maps = [], guards = [], neutral = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%x: f32):
    nest.yield %x : f32
  }, {}, {}) : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c3_unknown_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{unknown iteration name 'k' in 'k + n', expected one of {n: 4}}}
  %0 = nest.compute (n: 4) reads %a[n = n + m - m + 0 * n + k] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c3_guard_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{unknown iteration name 'k' in 'k - 1'}}
  %0 = nest.compute (n: 4) reads %a[] if [k - 1 >= 0] else 0.0 : f32 {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c3_later_read(%a: !nd.tensor<f32, n: 4>, %i: !nd.tensor<i32, n: 4>) {
  // expected-error @below {{expected read(1) in 'read(1)' to be an earlier read with integer elements}}
  %0 = nest.compute (n: 4) reads %a[n = read(1)], %i[] {
  ^bb0(%x: f32, %y: i32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<i32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c3_float_read(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected read(0) in 'read(0)' to be an earlier read with integer elements}}
  %0 = nest.compute (n: 4) reads %a[], %a[n = read(0)] {
  ^bb0(%x: f32, %y: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c3_finish_reduced_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{unknown iteration name 'n' in 'n', expected one of {}}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] finish reads %a[] {
  ^bb0(%s: f32, %x: f32):
    nest.yield %s : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c3_finish_gathers(%a: !nd.tensor<f32, n: 4>, %i: !nd.tensor<i32, n: 4>) {
  // expected-error @below {{expected read(0) in 'read(0)' to be an earlier read with integer elements}}
  %0 = nest.compute (n: 4) reads %i[] {
  ^bb0(%x: i32):
    nest.yield %x : i32
  } finish reads %a[n = read(0)] {
  ^bb0(%s: i32, %x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<i32, n: 4>, !nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c4_beyond(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the read of 'n' at 'n + 1' reaches from 1 to 4; expected to stay in [0, 4)}}
  %0 = nest.compute (n: 4) reads %a[n = n + 1] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c4_below(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the read of 'n' at 'n - 1' reaches from -1 to 1; expected to stay in [0, 4)}}
  %0 = nest.compute (n: 3) reads %a[n = n - 1] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 3>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c5_body_arguments(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected body with arguments ('f32'), got ('f64')}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f64):
    nest.yield %x : f64
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c5_body_op(%a: !nd.tensor<f32, n: 4>) {
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
  // expected-error @below {{is not a scalar op; expected only scalar ops in a region of 'nest.compute'}}
    %y = math.cbrt %x : f32
    nest.yield %y : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c5_no_yield(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected body to end in nest.yield}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c5_empty_block(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected body to end in nest.yield}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c5_combine_arguments(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected combine with arguments ('f32', 'f32'), got ('f32')}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine [0.0 : f32] {
  ^bb0(%p: f32):
    nest.yield %p : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_c5_combine_index(%a: !nd.tensor<f32, n: 4>) {
  %0 = nest.compute (m: 2) reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine [0.0 : f32] {
  ^bb0(%p: f32, %e: f32):
  // expected-error @below {{is not a scalar op; expected only scalar ops in a region of 'nest.compute'}}
    %i = nest.index m
    nest.yield %p : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2>
  return
}

// -----

func.func @compute_c5_combine_blocks(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a region combine of one block}}
  %0 = "nest.compute"(%a) <{produced = #nd.dims<>, reduced = #nd.dims<n: 4>, maps = [#nest.map<n = n>], guards = [#nest.guard<[]>], neutral = [0.0 : f32], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%x: f32):
    nest.yield %x : f32
  }, {
  ^bb0(%p: f32, %e: f32):
    nest.yield %p : f32
  ^bb1:
    nest.yield
  }, {}) : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_c5_finish_yield(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected finish to yield ('f32'), got ()}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } finish {
  ^bb0(%x: f32):
    // expected-note @below {{() is what the region yields}}
    nest.yield
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c5_number_of_neutral(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected 1 neutral elements, got 2}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    // expected-note @below {{('f32') is what the region yields}}
    nest.yield %x : f32
  } combine [0.0 : f32, 1.0 : f32] {
  ^bb0(%p: f32, %q: f32, %e: f32, %f: f32):
    nest.yield %p, %q : f32, f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_c5_neutral_type(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected elements of type 'i32', got 'f32'}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    // expected-note @below {{('f32') is what the region yields}}
    nest.yield %x : f32
  } combine add [0 : i32] : (!nd.tensor<f32, n: 4>) -> !nd.tensor<i32>
  return
}

// -----

func.func @compute_c5_neutral_text(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected neutral elements that are numbers, got "zero"}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine ["zero"] {
  ^bb0(%p: f32, %e: f32):
    nest.yield %p : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_c5_result_element(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a result of element type 'f32', got 'i32'}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    // expected-note @below {{('f32') is what the region yields}}
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<i32, n: 4>
  return
}

// -----

func.func @compute_c5_number_of_results(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected 1 results, got 2}}
  %0:2 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    // expected-note @below {{('f32') is what the region yields}}
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> (!nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 4>)
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c5_otherwise_type(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a value of type 'f32' to be read instead, got 0 : i32}}
  %0 = nest.compute (n: 4) reads %a[] if [n - 1 >= 0] else 0 : i32 {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c6_no_combiner(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a combiner and neutral elements exactly where something is reduced}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_c6_nothing_reduced(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a combiner and neutral elements exactly where something is reduced}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c6_exclusion(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected `else` in a guard where nothing is reduced}}
  %0 = nest.compute (n: 4) reads %a[] if [n - 1 >= 0] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c7_result_names(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a result with the names {n: 4}, got {m: 4}}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 4>
  return
}

// -----

func.func @compute_c7_result_size(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a result with the names {n: 3}, got {n: 4}}}
  %0 = nest.compute (n: 3) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c8_layout_number(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a layout for each of 1 results, got 0}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {layouts = []} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c8_no_layout(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a layout or unit, got 3}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {layouts = [3]} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c8_unknown_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the layout mentions 'm', which the tensor does not have}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {layouts = [#nest.layout<[m]>]} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c8_missing_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the layout lacks 'n'}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {layouts = [#nest.layout<[]>]} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c9_unknown_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{unknown iteration name 'm', expected one of {n}}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop m by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c9_step(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected the last loop over 'n' to have step 1, got 2}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[cache n by 2]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c9_divides(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a step for 'n' that divides the tile of 4, got 3}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[cache n by 4, register n by 3, vector n by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c9_two_groups(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the name 'n' is in loops over different names, (m, n) and (n)}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[thread (m, n) by 1, loop n by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_c9_stage_copy(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{copy of read 0: unknown iteration name 'm', expected one of {n}}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop n by 1], [stage 0 at 0 in #nest.layout<[n]> copy [loop m by 1]]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @scan_c5(%s: !nd.tensor<f32, n: 4>, %x: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{expected a schedule for each of 2 copies, got 1}}
  %0 = nest.scan along <t: 3> init(%s) reads(%x) {copies = [#nest.schedule<[loop n by 1]>]} : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, t: 3>) -> !nd.tensor<f32, n: 4> {
  ^bb0(%state: !nd.tensor<f32, n: 4>, %each: !nd.tensor<f32>):
    nest.yield %state : !nd.tensor<f32, n: 4>
  }
  return
}

// -----

func.func @scan_c5_loops(%s: !nd.tensor<f32, m: N, n: N>, %x: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{copy 1: expected a number as the size of 'n', which shares a loop with 'm', got N; list it first}}
  %0 = nest.scan along <t: 3> init(%s) reads(%x) {copies = [#nest.schedule<[]>, #nest.schedule<[loop (m, n) by 1]>]} : (!nd.tensor<f32, m: N, n: N>, !nd.tensor<f32, t: 3>) -> !nd.tensor<f32, m: N, n: N> {
  ^bb0(%state: !nd.tensor<f32, m: N, n: N>, %each: !nd.tensor<f32>):
    nest.yield %state : !nd.tensor<f32, m: N, n: N>
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c9_stage_operand(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a stage of one of 1 reads, got 1}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop n by 1], [stage 1 at 0 in #nest.layout<[n]>]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c9_stage_place(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a stage at a loop below 1, got 1}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop n by 1], [stage 0 at 1 in #nest.layout<[n]>]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c9_stage_layout(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{stage of read 0: the layout mentions 'm', which the tensor does not have}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop n by 1], [stage 0 at 0 in #nest.layout<[m]>]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c9_partial_level(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected no loop but a vector in a partial schedule, got the cache over 'n'}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[cache n by 4, vector n by 1], partial>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @group_c4_partial(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a whole schedule, got a partial one, which a 'nest.compute' may have}}
  %0 = nest.group (n: 4) {
    %1 = nest.compute () reads %a[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
    nest.yield %1 : !nd.tensor<f32>
  } {schedule = #nest.schedule<[], partial>} : !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_c9_level(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{unknown level 'vectr' of the loop over 'n', expected one of block, cache, cluster, grid, lane, loop, register, thread, unit, vector, warp}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[vectr n by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_c9_step_zero(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a step of at least 1 for 'n', got 0}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[cache n by 0, loop n by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_c9_step_negative(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a step of at least 1 for 'n', got -2}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[cache n by -2]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_c9_unroll(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected an unroll factor of at least 1 for 'n', got 0}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop n by 1 unroll 0]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_c9_name_twice(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the name 'n' occurs twice in one group}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop (n, n) by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_c9_merged(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the names 'm' and 'n' are merged, of which one is produced and one reduced}}
  %0 = nest.compute (m: 2) reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop (m, n) by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2>
  return
}

// -----

func.func @compute_c9_thread_reduced(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a thread over produced names, got 'n'}}
  %0 = nest.compute (m: 2) reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread n by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2>
  return
}

// -----

func.func @compute_c9_vector_step(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected step 1 for the vector over 'n', got 2}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[vector n by 2, loop n by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_c9_two_vectors(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected one vector, got one over 'm' and one over 'n'}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[vector m by 1, vector n by 1]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_c9_buffers(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected at least 1 buffer for a stage, got 0}}
  %0 = nest.compute (m: 2, n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop n by 1], [stage 0 at 0 in #nest.layout<[n]> buffers 0]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @compute_operand_types(%a: !nd.tensor<f32, n: 4>) {
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  // expected-error @below {{expected 1 operand types, got 0}}
  } : () -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @compute_combiner_name(%a: !nd.tensor<f32, n: 4>) {
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  // expected-error @below {{unknown combiner 'plus'}}
  } combine plus [0.0 : f32] : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_combiner_type(%a: !nd.tensor<f32, n: 4>) {
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  // expected-error @below {{expected one neutral element of a type that 'or' combines}}
  } combine or [0.0 : f32] : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_c10_order_twice(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected `order` to list the reduced names {n: 4} once each, got ["n", "n"]}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine max [0xFF800000 : f32] {order = ["n", "n"]} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_c10_order_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected `order` to list the reduced names {n: 4} once each, got ["m"]}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine max [0xFF800000 : f32] {order = ["m"]} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @compute_c10_order_word(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected `order` to list the reduced names {n: 4} once each, got "n"}}
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine max [0xFF800000 : f32] {order = "n"} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @update_c2_dest_name(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{unknown name 'm': the tensor read is '!nd.tensor<f32, n: 4>'}}
  %0 = nest.update (p: 3) %d[m = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @update_c3_dest_map(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{unknown iteration name 'q' in 'q', expected one of {p: 3}}}
  %0 = nest.update (p: 3) %d[n = q] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @update_c3_dest_unmapped(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{unknown iteration name 'n' in 'n'}}
  %0 = nest.update (p: 3) %d[] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, n: 4>'}}
func.func @update_c3_float_target(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected read(0) in 'read(0)' to be an earlier read with integer elements}}
  %0 = nest.update (p: 3) %d[n = read(0)] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{the tensor read is of type '!nd.tensor<f32, p: 3>'}}
func.func @update_c4_beyond(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{the read of 'p' at 'p + 1' reaches from 1 to 3; expected to stay in [0, 3)}}
  %0 = nest.update (p: 3) %d[n = p] reads %a[p = p + 1] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @update_c5_body(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected body to yield ('f32'), got ()}}
  %0 = nest.update (p: 3) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    // expected-note @below {{() is what the region yields}}
    nest.yield
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, p: 3>'}}
func.func @update_c6_combine(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected combine with arguments ('f32', 'f32'), got ('f32')}}
  %0 = nest.update (p: 3) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32):
    nest.yield %old : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, p: 3>'}}
func.func @update_c7_result(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, n: 4>', got '!nd.tensor<f32, n: 5>'}}
  %0 = nest.update (p: 3) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 5>
  return
}

// -----

func.func @update_c8_layout(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{the layout mentions 'p', which the tensor does not have}}
  %0 = nest.update (p: 3) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } {layouts = [#nest.layout<[p]>]} : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @update_c9_unknown_name(%d: !nd.tensor<f32, n: 3>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{unknown iteration name 'n'}}
  %0 = nest.update (p: 3, q: 2) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[loop n by 1]>} : (!nd.tensor<f32, n: 3>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 3>
  return
}

// -----

func.func @update_c9_thread(%d: !nd.tensor<f32, n: 3>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected a thread over a name that is a coordinate of the destination, over its whole size, got 'q'}}
  %0 = nest.update (p: 3, q: 2) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[thread q by 1]>} : (!nd.tensor<f32, n: 3>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 3>
  return
}

// -----

func.func @update_c9_thread_part(%d: !nd.tensor<f32, n: 4>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected a thread over a name that is a coordinate of the destination, over its whole size, got 'p'}}
  %0 = nest.update (p: 3, q: 2) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[thread p by 1]>} : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @update_c9_thread_late(%d: !nd.tensor<f32, n: 3>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected the thread over 'p' before all other loops}}
  %0 = nest.update (p: 3, q: 2) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[loop q by 1, thread p by 1]>} : (!nd.tensor<f32, n: 3>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 3>
  return
}

// -----

func.func @update_c9_vector(%d: !nd.tensor<f32, n: 3>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected a vector over a name that alone gives a coordinate of the destination, got 'q'}}
  %0 = nest.update (p: 3, q: 2) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[vector q by 1]>} : (!nd.tensor<f32, n: 3>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 3>
  return
}

// -----

func.func @update_c9_stage(%d: !nd.tensor<f32, n: 3>, %a: !nd.tensor<f32, p: 3>) {
  // expected-error @below {{expected no stages}}
  %0 = nest.update (p: 3, q: 2) %d[n = p] reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[loop p by 1], [stage 0 at 0 in #nest.layout<[p]>]>} : (!nd.tensor<f32, n: 3>, !nd.tensor<f32, p: 3>) -> !nd.tensor<f32, n: 3>
  return
}

// -----

func.func @scan_along(%s: !nd.tensor<f32>, %a: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{expected one name to run along, got {t: 3, u: 2}}}
  %0 = nest.scan along #nd.dims<t: 3, u: 2> init(%s) reads() : (!nd.tensor<f32>) -> !nd.tensor<f32> {
  ^bb0(%state: !nd.tensor<f32>):
    nest.yield %state : !nd.tensor<f32>
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, t: 3>'}}
func.func @scan_c1_size(%s: !nd.tensor<f32>, %a: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{expected a read with 't: 4', got {t: 3}}}
  %0 = nest.scan along #nd.dims<t: 4> init(%s) reads(%a) : (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) -> !nd.tensor<f32> {
  ^bb0(%state: !nd.tensor<f32>, %x: !nd.tensor<f32>):
    nest.yield %state : !nd.tensor<f32>
  }
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, t: 3>'}}
func.func @scan_c2_arguments(%s: !nd.tensor<f32>, %a: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{expected a region with arguments ('!nd.tensor<f32>', '!nd.tensor<f32>'), got ('!nd.tensor<f32>', '!nd.tensor<f32, t: 3>')}}
  %0 = nest.scan along #nd.dims<t: 3> init(%s) reads(%a) : (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) -> !nd.tensor<f32> {
  ^bb0(%state: !nd.tensor<f32>, %x: !nd.tensor<f32, t: 3>):
    nest.yield %state : !nd.tensor<f32>
  }
  return
}

// -----

func.func @scan_c2_yield(%s: !nd.tensor<f32>, %a: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{expected results and a region that yields as many, 1 carried and then a slice of each output, got 1 results}}
  %0 = nest.scan along #nd.dims<t: 3> init(%s) reads(%a) : (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) -> !nd.tensor<f32> {
  ^bb0(%state: !nd.tensor<f32>, %x: !nd.tensor<f32>):
    // expected-note @below {{() is what the region yields}}
    nest.yield
  }
  return
}

// -----

func.func @scan_c2_op(%s: !nd.tensor<f32>, %a: !nd.tensor<f32, t: 3>) {
  %one = arith.constant 1 : i64
  %0 = nest.scan along #nd.dims<t: 3> init(%s) reads(%a) : (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) -> !nd.tensor<f32> {
  ^bb0(%state: !nd.tensor<f32>, %x: !nd.tensor<f32>):
  // expected-error @below {{is not a nest; expected only nests in 'nest.scan'}}
    %y = arith.addi %one, %one : i64
    nest.yield %state : !nd.tensor<f32>
  }
  return
}

// -----

func.func @scan_c3_output(%s: !nd.tensor<f32>, %a: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, t: 3>', got '!nd.tensor<f32>'}}
  %0:2 = nest.scan along #nd.dims<t: 3> init(%s) reads(%a) : (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  ^bb0(%state: !nd.tensor<f32>, %x: !nd.tensor<f32>):
    // expected-note @below {{('!nd.tensor<f32>', '!nd.tensor<f32>') is what the region yields}}
    nest.yield %state, %x : !nd.tensor<f32>, !nd.tensor<f32>
  }
  return
}

// -----

func.func @scan_c4_layouts(%s: !nd.tensor<f32>, %a: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{expected a layout for each of 2 results, got 1}}
  %0:2 = nest.scan along #nd.dims<t: 3> init(%s) reads(%a) {layouts = [#nest.layout<[]>]} : (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) -> (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) {
  ^bb0(%state: !nd.tensor<f32>, %x: !nd.tensor<f32>):
    nest.yield %state, %x : !nd.tensor<f32>, !nd.tensor<f32>
  }
  return
}

// -----

func.func @group_c1_inner_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-note @below {{the enclosing group is over {n: 4}}}
  %0 = nest.group (n: 4) {
  // expected-error @below {{iterates over 'n', which is a name of the enclosing group}}
    %1 = nest.compute (n: 4) reads %a[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
    nest.yield %1 : !nd.tensor<f32, n: 4>
  } : !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @group_c1_outer_name(%a: !nd.tensor<f32, n: 4>) {
  // expected-note @below {{the enclosing group is over {g: 2}}}
  %0 = nest.group (g: 2) {
  // expected-error @below {{iterates over 'g', which is a name of the enclosing group}}
    %1 = nest.group (g: 2) {
      nest.yield %a : !nd.tensor<f32, n: 4>
    } : !nd.tensor<f32, g: 2, n: 4>
    %2 = nest.compute (n: 4) reduce (h: 2) reads %1[g = h] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, g: 2, n: 4>) -> !nd.tensor<f32, n: 4>
    nest.yield %2 : !nd.tensor<f32, n: 4>
  } : !nd.tensor<f32, g: 2, n: 4>
  return
}

// -----

func.func @group_c3_name_twice(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected to yield tensors without 'n', got {n: 4}}}
  %0 = nest.group (n: 4) {
    // expected-note @below {{('!nd.tensor<f32, n: 4>') is what the region yields}}
    nest.yield %a : !nd.tensor<f32, n: 4>
  } : !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @scan_c3_name_twice(%s: !nd.tensor<f32>, %a: !nd.tensor<f32, t: 3>) {
  // expected-error @below {{expected slices of outputs without 't', got {t: 3}}}
  %0:2 = nest.scan along #nd.dims<t: 3> init(%s) reads(%a) : (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) -> (!nd.tensor<f32>, !nd.tensor<f32, t: 3>) {
  ^bb0(%state: !nd.tensor<f32>, %x: !nd.tensor<f32>):
    // expected-note @below {{('!nd.tensor<f32>', '!nd.tensor<f32, t: 3>') is what the region yields}}
    nest.yield %state, %a : !nd.tensor<f32>, !nd.tensor<f32, t: 3>
  }
  return
}

// -----

func.func @group_c2_op(%a: !nd.tensor<f32, n: 4>) {
  %0 = nest.group (g: 2) {
  // expected-error @below {{is not a nest; expected only nests in 'nest.group'}}
    %1 = nd.broadcast %a : !nd.tensor<f32, n: 4> -> !nd.tensor<f32, m: 2, n: 4>
    nest.yield %1 : !nd.tensor<f32, m: 2, n: 4>
  } : !nd.tensor<f32, g: 2, m: 2, n: 4>
  return
}

// -----

func.func @group_c2_arguments(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a region without arguments}}
  %0 = nest.group (g: 2) {
  ^bb0(%b: !nd.tensor<f32, n: 4>):
    nest.yield %b : !nd.tensor<f32, n: 4>
  } : !nd.tensor<f32, g: 2, n: 4>
  return
}

// -----

func.func @group_c3_number(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected 2 results, got 1}}
  %0 = nest.group (g: 2) {
    // expected-note @below {{('!nd.tensor<f32, n: 4>', '!nd.tensor<f32, n: 4>') is what the region yields}}
    nest.yield %a, %a : !nd.tensor<f32, n: 4>, !nd.tensor<f32, n: 4>
  } : !nd.tensor<f32, g: 2, n: 4>
  return
}

// -----

func.func @group_c3_result(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a result of type '!nd.tensor<f32, g: 2, n: 4>', got '!nd.tensor<f32, n: 4>'}}
  %0 = nest.group (g: 2) {
    // expected-note @below {{('!nd.tensor<f32, n: 4>') is what the region yields}}
    nest.yield %a : !nd.tensor<f32, n: 4>
  } : !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @index_c1_unknown(%a: !nd.tensor<f32, n: 4>) {
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
  // expected-error @below {{no enclosing nest has the name 'm' here}}
    %i = nest.index m
    nest.yield %x : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @index_c1_reduced_in_finish(%a: !nd.tensor<f32, n: 4>) {
  %0 = nest.compute () reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] finish {
  ^bb0(%s: f32):
  // expected-error @below {{no enclosing nest has the name 'n' here}}
    %i = nest.index n
    nest.yield %s : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}

// -----

func.func @index_outside(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{no enclosing nest has the name 'n' here}}
  %i = nest.index n
  return
}

// -----

func.func @yield_outside() {
  // expected-error @below {{expects parent op to be one of 'nest.compute, nest.update, nest.scan, nest.group'}}
  nest.yield
}

// -----

func.func @group_c4_level(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a parallel or sequential loop over 'n', got a vector}}
  %0 = nest.group (n: 4) {
    %1 = nest.compute () reads %a[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
    nest.yield %1 : !nd.tensor<f32>
  } {schedule = #nest.schedule<[vector n by 1]>} : !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @group_c4_stage(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected no stages, got 1}}
  %0 = nest.group (n: 4) {
    %1 = nest.compute () reads %a[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
    nest.yield %1 : !nd.tensor<f32>
  } {schedule = #nest.schedule<[thread n by 1], [stage 0 at 0 in #nest.layout<[n]>]>} : !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @group_c4_layout(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the layout mentions 'm', which the tensor does not have}}
  %0 = nest.group (n: 4) {
    %1 = nest.compute () reads %a[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
    nest.yield %1 : !nd.tensor<f32>
  } {layouts = [#nest.layout<[m]>]} : !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @sort_c1_along(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected an operand with 'n: 5', got {n: 4}}}
  %0 = nest.sort %a along <n: 5> : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @sort_c1_one_name(%a: !nd.tensor<f32, m: 2, n: 4>) {
  // expected-error @below {{expected one name to sort along, got {m: 2, n: 4}}}
  %0 = nest.sort %a along <m: 2, n: 4> : (!nd.tensor<f32, m: 2, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @sort_c2_results(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected results of types '!nd.tensor<f32, n: 4>', got '!nd.tensor<i32, n: 4>'}}
  %0 = nest.sort %a along <n: 4> : (!nd.tensor<f32, n: 4>) -> !nd.tensor<i32, n: 4>
  return
}

// -----

func.func @sort_c4_vector(%a: !nd.tensor<f32, m: 2, n: 4>) {
  // expected-error @below {{expected a parallel or sequential loop over 'm', got a vector}}
  %0 = nest.sort %a along <n: 4> {schedule = #nest.schedule<[vector m by 1]>} : (!nd.tensor<f32, m: 2, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @sort_c4_along(%a: !nd.tensor<f32, m: 2, n: 4>) {
  // expected-error @below {{expected a thread over produced names, got 'n'}}
  %0 = nest.sort %a along <n: 4> {schedule = #nest.schedule<[thread n by 1]>} : (!nd.tensor<f32, m: 2, n: 4>) -> !nd.tensor<f32, m: 2, n: 4>
  return
}

// -----

func.func @sort_c4_layout(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{the layout mentions 'm', which the tensor does not have}}
  %0 = nest.sort %a along <n: 4> {layouts = [#nest.layout<[m]>]} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

func.func @control_c1_functions(%c: !nd.tensor<i1>) {
  // expected-error @below {{expected one function (a loop) or two (a branch), got 0}}
  nest.control [] %c : (!nd.tensor<i1>) -> ()
  return
}

// -----

// expected-note @below {{'@body' is defined here}}
func.func private @body(%c: !nd.tensor<i1>, %x: !nd.tensor<f32, n: 4>) -> !nd.tensor<i1> {
  return %c : !nd.tensor<i1>
}
// expected-note @below {{operand 0 is of type '!nd.tensor<i1>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, m: 4>'}}
func.func @control_c1_types(%c: !nd.tensor<i1>, %x: !nd.tensor<f32, m: 4>) {
  // expected-error @below {{expected '@body' to be a function of type '(!nd.tensor<i1>, !nd.tensor<f32, m: 4>) -> !nd.tensor<i1>', got '(!nd.tensor<i1>, !nd.tensor<f32, n: 4>) -> !nd.tensor<i1>'}}
  %0 = nest.control [@body] %c, %x : (!nd.tensor<i1>, !nd.tensor<f32, m: 4>) -> !nd.tensor<i1>
  return
}

// -----

func.func private @side() {
  return
}
// expected-note @below {{operand 0 is of type '!nd.tensor<i1, n: 2>'}}
func.func @control_c2_condition(%c: !nd.tensor<i1, n: 2>) {
  // expected-error @below {{expected a condition of type '!nd.tensor<i1>', got '!nd.tensor<i1, n: 2>'}}
  nest.control [@side, @side] %c : (!nd.tensor<i1, n: 2>) -> ()
  return
}

// -----

func.func private @body(%c: !nd.tensor<i1>) -> !nd.tensor<f32> {
  %0 = nd.constant dense<1.0> : tensor<f32> by [] : !nd.tensor<f32>
  return %0 : !nd.tensor<f32>
}
// expected-note @below {{operand 0 is of type '!nd.tensor<i1>'}}
func.func @control_c3_results(%c: !nd.tensor<i1>) {
  // expected-error @below {{expected results of the types of its first operands, got '!nd.tensor<f32>'}}
  %0 = nest.control [@body] %c : (!nd.tensor<i1>) -> !nd.tensor<f32>
  return
}

// -----

func.func private @body(%c: !nd.tensor<i1>) -> !nd.tensor<i1> {
  return %c : !nd.tensor<i1>
}
func.func @control_c4_layout(%c: !nd.tensor<i1>) {
  // expected-error @below {{the layout mentions 'm', which the tensor does not have}}
  %0 = nest.control [@body] %c {layouts = [#nest.layout<[m]>]} : (!nd.tensor<i1>) -> !nd.tensor<i1>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @compute_c11_product_with_zero(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{expected a neutral element, which combined with a value gives that value, got 0.000000e+00: combining 0.000000e+00 and 3.000000e+00 gives 0.000000e+00}}
  %0 = nest.compute () reduce (n: 4) reads %a[n = n] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine [0.0 : f32] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32>
  return
}
