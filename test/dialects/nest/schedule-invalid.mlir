// Schedules that are refused: order of levels, unrolled loops, positions of stages.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

func.func @order_of_hierarchy(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected the block over 'n' outside of the lane over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[lane m by 1, block n by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @order_of_grid(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected the grid over 'n' outside of the cluster over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[grid m by 4, cluster m by 1, grid n by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @order_over_one_name(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected the warp over 'm' outside of the lane over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[lane m by 4, warp m by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @thread_in_grid(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected threads or the levels of a grid, got a grid over 'm' and a thread over 'n'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[grid m by 1, thread n by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @grid_in_thread(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected threads or the levels of a grid, got a thread over 'm' and a warp over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread m by 4, warp m by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @block_reduced(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected a block over produced names, got 'k'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block k by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @loop_in_register(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected the loop over 'm' outside of the register over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[register m by 4, loop m by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @thread_in_register(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected the thread over 'm' outside of the register over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[register m by 4, thread m by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @register_in_vector(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected the register over 'm' outside of the vector over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[vector m by 1, register m by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @vector_in_unit(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected the vector over 'n' outside of the unit over 'n'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[unit n by 1, vector n by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @unit_step(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected step 1 for the unit over 'k', got 2}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[unit k by 2, loop k by 1]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @unroll_thread(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected an unroll factor of a cache or loop only, got 2 for the thread over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread m by 1 unroll 2]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @unroll_register(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected an unroll factor of a cache or loop only, got 2 for the register over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[register m by 1 unroll 2]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @unroll_much(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected unroll factors whose product is at most 64, got more with the cache over 'n'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop m by 1 unroll 33, cache n by 1 unroll 2]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @unroll_overflow(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected unroll factors whose product is at most 64, got more with the loop over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop m by 1 unroll 9223372036854775807]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @stage_in_registers(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected a stage at a parallel or sequential loop, got the register over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop k by 1, register m by 1], [stage 0 at 1 in #nest.layout<[m, k]>]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @stage_in_lanes(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected a stage in shared memory outside of the lane over 'm', got one at the loop over 'k'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 4, lane m by 1, loop k by 1], [stage 0 at 2 level "shared" in #nest.layout<[m, k]>]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

func.func @stage_without_block(%a: !nd.tensor<f32, k: 3, m: 8>, %b: !nd.tensor<f32, k: 3, n: 4>) {
  // expected-error @below {{expected a stage in shared memory inside of a block, got one at the grid over 'm'}}
  %0 = nest.compute (m: 8, n: 4) reduce (k: 3) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[grid m by 4, block m by 1], [stage 0 at 0 level "shared" in #nest.layout<[m, k]>]>} : (!nd.tensor<f32, k: 3, m: 8>, !nd.tensor<f32, k: 3, n: 4>) -> !nd.tensor<f32, m: 8, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
func.func @stage_without_layout(%a: !nd.tensor<f32, n: 4>) {
  // expected-error @below {{stage of read 0: the layout lacks 'n'}}
  %0 = nest.compute (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[loop n by 1], [stage 0 at 0 in #nest.layout<[]>]>} : (!nd.tensor<f32, n: 4>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<i32, n: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, r: 9>'}}
func.func @stage_of_gathered(%i: !nd.tensor<i32, n: 4>, %a: !nd.tensor<f32, r: 9>) {
  // expected-error @below {{expected a stage of a read whose coordinates follow from the iteration names, got #nest.map<r = read(0)> for read 1}}
  %0 = nest.compute (n: 4) reads %i[], %a[r = read(0)] {
  ^bb0(%x: i32, %y: f32):
    nest.yield %y : f32
  } {schedule = #nest.schedule<[loop n by 1], [stage 1 at 0 in #nest.layout<[r]>]>} : (!nd.tensor<i32, n: 4>, !nd.tensor<f32, r: 9>) -> !nd.tensor<f32, n: 4>
  return
}

// -----

// expected-note @below {{operand 0 is of type '!nd.tensor<f32, n: 4>'}}
// expected-note @below {{operand 1 is of type '!nd.tensor<f32, m: 2>'}}
func.func @stage_of_finish_read(%a: !nd.tensor<f32, n: 4>, %c: !nd.tensor<f32, m: 2>) {
  // expected-error @below {{expected a stage of one of 1 reads, got 1}}
  %0 = nest.compute (m: 2) reduce (n: 4) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] finish reads %c[] {
  ^bb0(%v: f32, %w: f32):
    %s = arith.addf %v, %w : f32
    nest.yield %s : f32
  } {schedule = #nest.schedule<[loop m by 1], [stage 1 at 0 in #nest.layout<[m]>]>} : (!nd.tensor<f32, n: 4>, !nd.tensor<f32, m: 2>) -> !nd.tensor<f32, m: 2>
  return
}

// -----

func.func @merged_symbol(%a: !nd.tensor<f32, m: 8, n: N>) {
  // expected-error @below {{expected a number as the size of 'n', which shares a loop with 'm', got N; list it first}}
  %0 = nest.compute (m: 8, n: N) reads %a[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } {schedule = #nest.schedule<[vector (m, n) by 1]>} : (!nd.tensor<f32, m: 8, n: N>) -> !nd.tensor<f32, m: 8, n: N>
  return
}

// -----

// expected-error @below {{expected the unit 'dot' to have sizes of k, m and n, got {k: 2, n: 16}}}
func.func private @unit_sizes() attributes {x = #nest.unit<"dot", (k: 2, n: 16), bf16 in [k] * bf16 in [n, k] + f32 in [n], rate 2.0>}

// -----

// expected-error @below {{right side of the unit 'dot': the layout lacks 'k'}}
func.func private @unit_lanes() attributes {x = #nest.unit<"dot", (k: 2, m: 1, n: 16), bf16 in [m, k] * bf16 in [n] + f32 in [m, n], rate 2.0>}

// -----

// expected-error @below {{total of the unit 'dot': expected a number}}
func.func private @unit_type() attributes {x = #nest.unit<"dot", (k: 2, m: 1, n: 16), bf16 in [m, k] * bf16 in [n, k] + index in [m, n], rate 2.0>}

// -----

// expected-error @below {{expected the unit 'dot' to have a rate of at least 0, got -1}}
func.func private @unit_rate() attributes {x = #nest.unit<"dot", (k: 2, m: 1, n: 16), bf16 in [m, k] * bf16 in [n, k] + f32 in [m, n], rate -1.0>}
