// Updates and recurrences that the lanes of a block run together on a device that has lanes: elements that several points
// write, elements that one point writes, copies of destinations, sizes that nobody knows.
// RUN: heddle-run %s --threads 2 --compare --size N=37 --size M=601
// RUN: heddle-run %s --compare --size N=0,1,3 --size M=0,1,7

// The gradient of a table: rows are added up in order, each element by one lane. The destination is still used, so it is copied.
!b_i_t = !nd.tensor<f32, b: 3, i: N, t: 6>
!dM_v11 = !nd.tensor<f32, d: M, v: 11>
!d45_v1000 = !nd.tensor<f32, d: 45, v: 1000>
!b_i = !nd.tensor<f32, b: 3, i: N>
!i = !nd.tensor<f32, i: N>

func.func @adds(%t: !dM_v11 {nd.name = "t"}, %at: !nd.tensor<i32, n: N> {nd.name = "at"}, %x: !nd.tensor<f32, d: M, n: N> {nd.name = "x"})
    -> (!dM_v11, !dM_v11) {
  %a = nest.update (d: M, n: N) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!dM_v11, !nd.tensor<i32, n: N>, !nd.tensor<f32, d: M, n: N>) -> !dM_v11
  %b = nest.update (d: M, n: N) %t[v = n mod 11] reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.mulf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[block d by 12, lane d by 1, loop n by 1]>} : (!dM_v11, !nd.tensor<f32, d: M, n: N>) -> !dM_v11
  return %a, %b : !dM_v11, !dM_v11
}

// No element is written twice: lanes walk any names. Rows beyond the destination are dropped.
func.func @writes(%t: !d45_v1000 {nd.name = "t"}, %x: !nd.tensor<f32, d: 45, n: N> {nd.name = "x"}, %l: !nd.tensor<i64, v: 900> {nd.name = "l"}, %y: !nd.tensor<i64, p: 500> {nd.name = "y"})
    -> (!d45_v1000, !nd.tensor<i64, v: 900>, !d45_v1000) {
  %a = nest.update (d: 45, n: N) %t[v = 1003 - 7 * n] unique reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!d45_v1000, !nd.tensor<f32, d: 45, n: N>) -> !d45_v1000
  %b = nest.update (p: 500) %l[v = 5 * p mod 1001] unique reads %y[] {
  ^bb0(%v: i64):
    nest.yield %v : i64
  } combine {
  ^bb0(%old: i64, %new: i64):
    %r = arith.addi %old, %new : i64
    nest.yield %r : i64
  } : (!nd.tensor<i64, v: 900>, !nd.tensor<i64, p: 500>) -> !nd.tensor<i64, v: 900>
  %c = nest.update (d: 45, n: N) %t[v = n + 5] unique reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.subf %new, %old : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[block d by 4, loop n by 8, lane n by 1, lane d by 1]>} : (!d45_v1000, !nd.tensor<f32, d: 45, n: N>) -> !d45_v1000
  return %a, %b, %c : !d45_v1000, !nd.tensor<i64, v: 900>, !d45_v1000
}

// A recurrence whose states and steps lanes share, and one in a group, whose state starts in the memory of the group.
func.func @recurrence(%h: !b_i {nd.name = "h"}, %x: !b_i_t {nd.name = "x"}, %w: !nd.tensor<f32, i: N, j: N> {nd.name = "w"})
    -> (!b_i, !b_i_t, !b_i) {
  %a:2 = nest.scan along #nd.dims<t: 6> reverse init(%h) reads(%x) : (!b_i, !b_i_t) -> (!b_i, !b_i_t) {
  ^bb0(%state: !b_i, %slice: !b_i):
    %next = nest.compute (b: 3, i: N) reduce (j: N) reads %state[i = j], %w[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.mulf %u, %v : f32
      nest.yield %p : f32
    } combine add [0.0 : f32] finish reads %slice[] {
    ^bb0(%s: f32, %v: f32):
      %p = arith.addf %s, %v : f32
      %r = math.tanh %p : f32
      nest.yield %r : f32
    } : (!b_i, !nd.tensor<f32, i: N, j: N>, !b_i) -> !b_i
    nest.yield %next, %next : !b_i, !b_i
  }
  %g = nest.group (b: 3) {
    %start = nest.compute (i: N) reads %h[] {
    ^bb0(%v: f32):
      %r = arith.negf %v : f32
      nest.yield %r : f32
    } : (!b_i) -> !i
    %slices = nest.compute (i: N, t: 6) reads %x[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } : (!b_i_t) -> !nd.tensor<f32, i: N, t: 6>
    %last = nest.scan along #nd.dims<t: 6> init(%start) reads(%slices) : (!i, !nd.tensor<f32, i: N, t: 6>) -> !i {
    ^bb0(%state: !i, %slice: !i):
      %next = nest.compute (i: N) reads %state[i = N - i - 1], %slice[] {
      ^bb0(%u: f32, %v: f32):
        %p = arith.subf %v, %u : f32
        nest.yield %p : f32
      } : (!i, !i) -> !i
      nest.yield %next : !i
    }
    nest.yield %last : !i
  } : !b_i
  return %a#0, %a#1, %g : !b_i, !b_i_t, !b_i
}
